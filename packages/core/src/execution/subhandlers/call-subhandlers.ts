/** The sub-handlers of one call of one handler. Few handlers have any, so nothing is made before it is needed. */
import { createChangeHandlers, type Handlers } from '../../intents/handler-set.js';
import type { HandlerId } from '../../values/ids.js';
import type { Subhandling } from '../context.js';

export class CallSubhandlers implements Subhandling {
  isExecuted = false;
  token: string | undefined;
  beginning: Promise<string> | undefined;
  readonly #above: readonly Set<HandlerId>[];
  #handlers: Handlers['changing'] | undefined;
  #executions: Promise<void>[] | undefined;
  #steps: Set<HandlerId> | undefined;
  #subrefs: readonly [own: Set<HandlerId>, ...above: Set<HandlerId>[]] | undefined;

  constructor(above: readonly Set<HandlerId>[] = []) {
    this.#above = above;
  }

  get handlers(): Handlers['changing'] {
    this.#handlers ??= createChangeHandlers();
    return this.#handlers;
  }

  get hasHandlers(): boolean {
    return this.#handlers !== undefined && this.#handlers.size > 0;
  }

  get executions(): Promise<void>[] {
    this.#executions ??= [];
    return this.#executions;
  }

  /** Whether the function has executed sub-handlers or steps by itself, which may be still under way. */
  get hasBegun(): boolean {
    return this.#executions !== undefined && this.#executions.length > 0;
  }

  /** Whether there is something to be done, or to be waited for, after the function. */
  get isPending(): boolean {
    return this.hasHandlers || this.hasBegun;
  }

  /** The ids go to all handlers above, too: each of them has to purge the records when it is done. */
  get subrefs(): readonly Set<HandlerId>[] {
    this.#subrefs ??= [new Set(), ...this.#above];
    return this.#subrefs;
  }

  get steps(): Set<HandlerId> {
    this.#steps ??= new Set();
    return this.#steps;
  }

  /** Of all sub-handlers that were executed so far, however deep. */
  get ids(): readonly HandlerId[] {
    return this.#subrefs === undefined ? NOBODY : [...this.#subrefs[0]].sort();
  }
}

const NOBODY: readonly HandlerId[] = [];
