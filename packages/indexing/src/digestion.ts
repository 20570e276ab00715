/** One event of one object, as it goes through the index functions: called one after another, then applied at once. */
import type { Clock, HandlerId, Indexer, Indices, KubeClient, Registry, Seconds, Settings } from '@kopf-ts/core';
import { Patch } from '@kopf-ts/core';
import {
  describeError,
  type ExecutionMonitor,
  executePromptly,
  type IndexHandler,
  type IndexingCause,
  match,
  type Outcome,
  objectLogger,
  terseLogger,
  titleOf,
  toError,
} from '@kopf-ts/core/engine';
import { type Entry, entriesOf, NOTHING } from './entries.js';
import { type Attempt, type Exclusion, type ExclusionsOfObject, exclusionAfter } from './exclusions.js';
import type { SlotOf } from './structural-keys.js';

type Handlers = readonly IndexHandler[];

/** What the indexer is told of an event. */
export type Sighting = Parameters<Indexer['digest']>[0];

export interface DigestionParts {
  // biome-ignore lint/suspicious/noExplicitAny: an indexer runs handlers of any environment alike
  readonly registry: Registry<any>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly client?: KubeClient | undefined;
  readonly monitor?: ExecutionMonitor | undefined;
  readonly random?: (() => number) | undefined;
  readonly indices: Indices;
  readonly slotOf: SlotOf;
}

export interface DigestionOptions {
  readonly key: string;
  readonly at: Sighting;
  /** Looked at before each function, since asynchronous ones take time. */
  readonly excluded: { of(key: string): ExclusionsOfObject | undefined };
  /** Only the functions whose time for another attempt has come. */
  readonly isRetry: boolean;
}

/**
 * What is to be changed because of one event; it changes nothing itself.
 * A plain object with functions around it: there is one for each event of each object, and this is the cheapest.
 */
export interface Digestion extends DigestionOptions {
  readonly parts: DigestionParts;
  readonly cause: IndexingCause;
  /** At most one of each index. Where there is none, the index keeps what it has of the object. */
  readonly replacements: Replacement[];
  /** Those which have begun, and those which are over. Few events change anything in that. */
  exclusions: Map<HandlerId, Exclusion | undefined> | undefined;
  cancelling: AbortController | undefined;
}

/** What an index is to have of the object from now on; `undefined` for what it has now. */
interface Replacement {
  readonly id: HandlerId;
  entries: readonly Entry[] | undefined;
}

export function newDigestion(parts: DigestionParts, { key, at, excluded, isRetry }: DigestionOptions): Digestion {
  const cause = causeOf(parts, at);
  return { parts, key, at, excluded, isRetry, cause, replacements: [], exclusions: undefined, cancelling: undefined };
}

/** A list is enough for them: there are few functions for one kind. Of one index, the last word is what counts. */
function replace({ replacements }: Digestion, id: HandlerId, entries: readonly Entry[] | undefined): void {
  for (const known of replacements) {
    if (known.id !== id) continue;
    known.entries = entries;
    return;
  }
  replacements.push({ id, entries });
}

/** Calls the functions. Done when it returns, if all of them are synchronous; rejects only if cancelled. */
export function runDigestion(digestion: Digestion): Promise<void> | undefined {
  const all = digestion.parts.registry.handlers.indexing.of(digestion.at.resource);
  const { selected, broken } = select(digestion);
  if (selected.length < all.length) leaveOut(digestion, all, selected, broken);
  return handleFrom(digestion, selected, 0);
}

/** Tells the function that runs now, if any, that it is not needed any more. */
export function cancelDigestion({ cancelling }: Digestion): void {
  cancelling?.abort();
}

/** Those whose filters do not fit lose the object; those of which it is not known keep what they have. */
function leaveOut(digestion: Digestion, all: Handlers, selected: Handlers, broken: Handlers): void {
  const wanting = new Set(selected.map(({ id }) => id));
  const unknown = new Set(broken.map(({ id }) => id));
  for (const { id } of all) {
    if (wanting.has(id)) continue;
    if (!unknown.has(id)) replace(digestion, id, NOTHING);
    const exclusion = exclusionOf(digestion, id);
    if (exclusion !== undefined) exclusion.isWanted = false;
  }
}

/** One after another, as long as they are synchronous; and then the rest, when the asynchronous one has ended. */
function handleFrom(digestion: Digestion, handlers: Handlers, first: number): Promise<void> | undefined {
  for (let n = first; n < handlers.length; n++) {
    const pending = handle(digestion, handlers[n] as IndexHandler);
    if (pending !== undefined) return pending.then(() => handleFrom(digestion, handlers, n + 1));
  }
  return undefined;
}

function handle(digestion: Digestion, handler: IndexHandler): Promise<void> | undefined {
  const { parts, cause } = digestion;
  const { clock, settings, random, monitor } = parts;
  const exclusion = exclusionOf(digestion, handler.id);
  if (exclusion === undefined && digestion.isRetry) return undefined;
  if (exclusion !== undefined) {
    exclusion.isWanted = true;
    if (exclusion.isPermanent || clock.now() < exclusion.dueAt) {
      replace(digestion, handler.id, NOTHING);
      return undefined;
    }
  }
  const attempt = new TimedAttempt(exclusion, clock);
  const cancellation = (): AbortSignal => {
    digestion.cancelling ??= new AbortController();
    return digestion.cancelling.signal;
  };
  const outcome = executePromptly({ handler, cause, attempt, settings, clock, random, monitor, cancellation });
  if (!('then' in outcome)) {
    take(digestion, handler, outcome, attempt);
    return undefined;
  }
  return Promise.resolve(outcome).then((settled) => take(digestion, handler, settled, attempt));
}

function take(digestion: Digestion, handler: IndexHandler, outcome: Outcome, attempt: Attempt): void {
  const { id } = handler;
  if ('error' in outcome) {
    digestion.exclusions ??= new Map();
    digestion.exclusions.set(id, exclusionAfter(outcome, attempt, digestion.parts.clock.now()));
    replace(digestion, id, NOTHING);
    return;
  }
  if (exclusionOf(digestion, id) !== undefined) {
    digestion.exclusions ??= new Map();
    digestion.exclusions.set(id, undefined);
  }
  replace(digestion, id, understood(digestion, handler, outcome.result));
}

function exclusionOf({ excluded, key }: Digestion, id: HandlerId): Exclusion | undefined {
  return excluded.of(key)?.get(id);
}

/** Nothing, or nothing that can be indexed, is no reason to forget what was; the same as with an ignored error. */
function understood({ parts, cause }: Digestion, handler: IndexHandler, result: unknown): readonly Entry[] | undefined {
  if (result === undefined || result === null) return undefined;
  try {
    return entriesOf(result, parts.slotOf);
  } catch (thrown) {
    const error = toError(thrown);
    cause.logger.error(`${titleOf(handler)} returned a value that cannot be indexed: ${describeError(error)}`, {
      error,
    });
    return undefined;
  }
}

/** An attempt that knows how long it lasts: of a function that has failed before, or the first one. */
class TimedAttempt implements Attempt {
  readonly retries: number;
  readonly started: Date;
  readonly startedAt: Seconds;
  readonly clock: Clock;

  constructor(previous: Attempt | undefined, clock: Clock) {
    this.retries = previous?.retries ?? 0;
    this.started = previous?.started ?? clock.utc();
    this.startedAt = previous?.startedAt ?? clock.now();
    this.clock = clock;
  }

  get runtime(): Seconds {
    return this.clock.now() - this.startedAt;
  }
}

/** The patch is there because all handlers have one; but an index function changes nothing, and it goes nowhere. */
function causeOf({ indices, client }: DigestionParts, { event, resource, memo, logger }: Sighting): IndexingCause {
  const body = event.object;
  const terse = terseLogger(objectLogger({ logger, body }));
  const patch = new Patch();
  // Not spread, for the same reason as above.
  if (client === undefined) return { kind: 'indexing', logger: terse, memo, indices, resource, body, patch };
  return { kind: 'indexing', logger: terse, memo, indices, client, resource, body, patch };
}

interface Selection {
  readonly selected: Handlers;
  /** Those whose filters have failed, so that it is not known whether they want the object. */
  readonly broken: Handlers;
}

/** A filter that fails is a matter of its own function: the others go on, and the index keeps what it has. */
function select({ parts, cause }: Digestion): Selection {
  const { indexing } = parts.registry.handlers;
  try {
    return { selected: indexing.select(cause), broken: [] };
  } catch {
    const broken = indexing.of(cause.resource).filter((handler) => filtersFail(handler, cause));
    const excluded = new Set(broken.map(({ id }) => id));
    return { selected: indexing.select(cause, { excluded }), broken };
  }
}

function filtersFail(handler: IndexHandler, cause: IndexingCause): boolean {
  try {
    match(handler, cause);
    return false;
  } catch (thrown) {
    const error = toError(thrown);
    const text = `${titleOf(handler)} has filters that failed with an exception and will ignore it: ${describeError(error)}`;
    cause.logger.error(text, { error });
    return true;
  }
}
