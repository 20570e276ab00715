/** Patches of one daemon or timer on their way to the cluster. Whatever happens there, the daemon goes on. */
import { ApiError, type Logger, type Patch, type Resource, type Seconds } from '@kopf-ts/core';
import { describeError, type LiveBody, toError } from '@kopf-ts/core/engine';
import { type ApplyFn, isBrokenOffByPause } from '../handling/applier.js';
import type { OperatorParts } from '../parts.js';
import { compareVersions, versionOf } from '../versions.js';

/** Whose patches these are. */
export interface Sender {
  readonly title: string;
  readonly logger: Logger;
}

export interface OutboxOptions {
  readonly of: { readonly resource: Resource };
  readonly live: LiveBody;
  readonly parts: Pick<OperatorParts, 'settings'>;
  readonly apply: ApplyFn;
}

export class DaemonOutbox {
  /** Of the attempts that are over: to be sent with the next one, or again. */
  unsent: Patch | undefined;
  /** To send it, in a row. */
  #failures = 0;
  readonly #sender: Sender;
  readonly #options: OutboxOptions;

  constructor(sender: Sender, options: OutboxOptions) {
    this.#sender = sender;
    this.#options = options;
  }

  /** Whether it was tried in vain: not by conflicts with others, but by errors. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** How long to wait before sending again. */
  get delay(): Seconds {
    return delayAfter(this.#failures, this.#options.parts.settings.queueing.errorDelays);
  }

  async sendAgain(): Promise<void> {
    if (this.unsent !== undefined) await this.send(this.unsent);
  }

  /**
   * Sends the patch, which must include what was not sent before. Never rejects. When cancelled on the way, it is
   * given up; but whoever is cancelled already may say its last word.
   */
  async send(patch: Patch, cancelled?: AbortSignal): Promise<void> {
    const { of, live, apply } = this.#options;
    this.unsent = undefined;
    if (patch.isEmpty) {
      this.#failures = 0;
      return;
    }
    const signal = cancelled?.aborted ? undefined : cancelled;
    try {
      const { resource } = of;
      const { logger } = this.#sender;
      const { body, remaining } = await apply({ resource, body: live.newest, patch, logger, signal });
      this.#failures = 0;
      this.unsent = remaining;
      const isNewer = body !== undefined && (compareVersions(versionOf(body), versionOf(live.newest)) ?? 0) > 0;
      if (isNewer) live.replace(body);
    } catch (error) {
      if (!signal?.aborted) this.#keepOrDrop(patch, toError(error));
    }
  }

  #keepOrDrop(patch: Patch, error: Error): void {
    const { title, logger } = this.#sender;
    const what = describeError(error);
    if (isBrokenOffByPause(error)) {
      this.#failures = 0;
      logger.debug(`${title} has a patch that is dropped because of the pause. ${what}`);
      return;
    }
    if (!isPassing(error)) {
      this.#failures = 0;
      logger.error(`${title} has a patch that cannot be applied, and is dropped: ${what}`, { error });
      return;
    }
    this.#failures += 1;
    this.unsent = patch;
    const when = `in ${this.delay} seconds or with the next attempt`;
    logger.error(`${title} has a patch that could not be applied, will try again ${when}: ${what}`, { error });
  }
}

/** After so many failures in a row. The last of the delays is repeated. */
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

/** Statuses of answers that may be others next time. */
const PASSING: ReadonlySet<number> = new Set([401, 403, 408, 409, 429]);

/** Whether the same patch may be accepted later: if not, it would spoil all the patches that it is sent with. */
function isPassing(error: Error): boolean {
  if (error instanceof ApiError) return error.status >= 500 || PASSING.has(error.status);
  return !(error instanceof TypeError || error instanceof RangeError);
}
