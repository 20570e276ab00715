/** Patches of one daemon or timer on their way to the cluster. Whatever happens to them, the daemon goes on. */
import { ApiError, type Body, type Logger, type Patch, type Resource, type Seconds } from '@kopf-ts/core';
import {
  describeError,
  type LiveBody,
  NO_FACTS,
  OutpacedError,
  type OwnWrite,
  retryable,
  toError,
} from '@kopf-ts/core/engine';
import { compareVersions, versionOf } from '../objects/versions.js';
import { tellerOfDropped } from '../observing/patch-facts.js';
import type { OperatorParts } from '../parts.js';
import { type ApplyFn, isBrokenOffByPause } from '../sending/apply.js';
import type { SpawnSubject } from './daemons.js';

/** The sender of the patches. */
export interface Sender {
  readonly title: string;
  readonly logger: Logger;
}

export interface OutboxOptions {
  readonly resource: Resource;
  readonly live: LiveBody;
  readonly subject: Pick<SpawnSubject, 'newerThan' | 'noteWrite' | 'takeTurn' | 'beginWrite'>;
  readonly parts: Pick<OperatorParts, 'settings' | 'facts'>;
  readonly apply: ApplyFn;
}

export class DaemonOutbox {
  /** Patches of finished attempts: to be sent with the next one, or again. */
  unsent: Patch | undefined;
  /** Consecutive failures to send it. */
  #failures = 0;
  readonly #sender: Sender;
  readonly #options: OutboxOptions;

  constructor(sender: Sender, options: OutboxOptions) {
    this.#sender = sender;
    this.#options = options;
  }

  /**
   * Whether sending has failed. In the mode of Kopf, leftovers of a patch do not count: they wait for the next attempt.
   */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** How long to wait before sending again. */
  get delay(): Seconds {
    return delayAfter(this.#failures, this.#options.parts.settings.queueing.errorDelays);
  }

  async sendAgain(): Promise<void> {
    if (this.unsent === undefined) return;
    const refused = await this.send(this.unsent);
    if (refused === undefined) return;
    const { title, logger } = this.#sender;
    const what = describeError(refused);
    logger.error(`${title} has a patch that cannot be applied. The patch is dropped: ${what}`, { error: refused });
  }

  /**
   * Sends the patch, which must include what was not sent before. Never rejects. If cancelled halfway, it is given up;
   * but a daemon that is already cancelled may still send its last patch. What the cluster refuses is dropped, and the
   * refusal is returned, for the handler to fail with it.
   */
  async send(patch: Patch, cancelled?: AbortSignal): Promise<Error | undefined> {
    const { resource, live, apply, subject } = this.#options;
    this.unsent = undefined;
    if (patch.isEmpty) {
      this.#failures = 0;
      return undefined;
    }
    const signal = cancelled?.aborted ? undefined : cancelled;
    const endWrite = subject.beginWrite();
    try {
      const { logger } = this.#sender;
      const newerThan = (body: Body): Body | undefined => subject.newerThan(body)?.body;
      const onWrite = (write: OwnWrite): void => subject.noteWrite({ ...write, asked: patch });
      const known = newerThan(live.newest) ?? live.newest;
      const turn = () => subject.takeTurn();
      const sending = { resource, body: known, patch, logger, signal, newerThan, turn, onWrite };
      const { body, remaining } = await apply(sending);
      this.#failures = 0;
      this.unsent = remaining;
      const isNewer = body !== undefined && (compareVersions(versionOf(body), versionOf(live.newest)) ?? 0) > 0;
      if (isNewer) live.replace(body);
      return undefined;
    } catch (error) {
      return signal?.aborted ? undefined : this.#keepOrDrop(patch, toError(error));
    } finally {
      endWrite();
    }
  }

  #tellDropped(why: string): void {
    const { resource, live, parts } = this.#options;
    const { facts = NO_FACTS } = parts;
    if (!facts.wants['patch.dropped']) return;
    tellerOfDropped(facts, { resource, body: live.newest })(`the patch of ${this.#sender.title}`, why);
  }

  #keepOrDrop(patch: Patch, error: Error): Error | undefined {
    const { title, logger } = this.#sender;
    const what = describeError(error);
    if (isBrokenOffByPause(error)) {
      this.#failures = 0;
      logger.debug(`${title} has a patch that is dropped because of the pause. ${what}`);
      this.#tellDropped(what);
      return undefined;
    }
    // What cannot be serialised, or is refused for good, would spoil every patch it is sent with.
    if (retryable(error) === 'never' || error instanceof TypeError || error instanceof RangeError) {
      this.#failures = 0;
      if (error instanceof ApiError) {
        this.#tellDropped(what);
        return error;
      }
      logger.error(`${title} has a patch that cannot be applied. The patch is dropped: ${what}`, { error });
      this.#tellDropped(what);
      return undefined;
    }
    this.#failures += 1;
    this.unsent = patch;
    const when = `in ${this.delay} seconds or with the next attempt`;
    if (error instanceof OutpacedError) {
      logger.info(
        `${title} has a patch for an object that changes faster than it can be patched. Will try again ${when}.`,
      );
    } else {
      logger.error(`${title} has a patch that could not be applied, will try again ${when}: ${what}`, { error });
    }
    return undefined;
  }
}

/** The delay after so many consecutive failures; the last one repeats. */
export function delayAfter(failures: number, delays: Iterable<Seconds>): Seconds {
  let found: Seconds = 1;
  let count = 0;
  for (const delay of delays) {
    found = delay;
    count += 1;
    if (count >= failures) break;
  }
  return found;
}
