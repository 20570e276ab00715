/** How daemons are stopped: asked first, then forced, then left alone. And why. */
import { ContextError, KopfError } from '../errors.js';
import type { Seconds } from '../seams/clock.js';
import { requireContext } from './context.js';

/**
 * They accumulate: a daemon may be asked to stop for several reasons, and step by step.
 *
 * ```ts
 * const isOver: kopf.StopReason[] = ['resource-deleted', 'filters-mismatch'];
 * ```
 */
export type StopReason =
  | 'done'
  | 'filters-mismatch'
  | 'resource-deleted'
  | 'operator-pausing'
  | 'operator-exiting'
  | 'daemon-signalled'
  | 'daemon-cancelled'
  | 'daemon-abandoned';

const DAEMON_STOP = 'KOPF_DAEMON_STOP';

/**
 * The reason of a daemon's `stopped` signal: tells why the daemon is to stop, also as more reasons come.
 *
 * ```ts
 * kopf.daemon('kopfexamples', async ({ stopped, logger }) => {
 *   await kopf.sleep(3600, stopped);
 *   const { reason } = stopped;
 *   if (reason instanceof kopf.DaemonStop && reason.reasons.has('resource-deleted')) logger.info('Farewell.');
 * });
 * ```
 */
export class DaemonStop extends KopfError {
  /** Live: grows while the daemon is being stopped. */
  readonly reasons: ReadonlySet<StopReason>;
  constructor(reasons: ReadonlySet<StopReason>) {
    super(`The daemon is asked to stop: ${[...reasons].join(', ')}.`, { code: DAEMON_STOP });
    this.reasons = reasons;
  }

  /** By the code, so that one copy of this package recognises the stops of another. */
  static override [Symbol.hasInstance](instance: unknown): boolean {
    return KopfError[Symbol.hasInstance](instance) && (instance as KopfError).code === DAEMON_STOP;
  }
}
Object.defineProperty(DaemonStop.prototype, 'name', { value: 'DaemonStop', configurable: true, writable: true });

/**
 * Sleeps in a handler, by the clock of its operator. Resolves with the seconds left unslept, if woken up early.
 *
 * With `stopped` of a daemon, it wakes up as soon as the daemon is to stop, so that the daemon can look and leave.
 * With any other signal, it rejects when that aborts; and in any case, when the handler's own one does.
 *
 * ```ts
 * kopf.daemon('kopfexamples', async ({ stopped, logger }) => {
 *   while (!stopped.aborted) {
 *     logger.info('Still here.');
 *     await kopf.sleep(60, stopped);
 *   }
 * });
 * ```
 */
export async function sleep(seconds: Seconds, signal?: AbortSignal): Promise<Seconds | undefined> {
  const { clock, signal: own } = requireContext('sleep()');
  if (clock === undefined)
    throw new ContextError('sleep() works only in handlers of an operator: elsewhere, there is no clock to sleep by.');
  // It is only known from the reason, and thus afterwards, which of the two kinds of signals it is.
  const wakeup = signal ?? own;
  const options: { wakeup?: AbortSignal; signal?: AbortSignal } = {};
  if (wakeup !== undefined) options.wakeup = wakeup;
  if (own !== undefined && own !== wakeup) options.signal = own;
  const left = wakeup?.aborted ? seconds : await clock.sleep(seconds, options);
  if (wakeup?.aborted && !(wakeup.reason instanceof DaemonStop)) throw wakeup.reason;
  return left;
}

export interface StoppingFacts {
  /** Since the daemon was first asked to stop. */
  readonly age: Seconds;
  /** `cancellationBackoff`: how long it may take to stop by itself. */
  readonly backoff: Seconds | undefined;
  /** `cancellationTimeout`: how long it may take to stop after it is forced to. */
  readonly timeout: Seconds | undefined;
  /** How often to look at a daemon that is never forced. */
  readonly polling: Seconds;
  readonly exited: boolean;
  /** Which of the steps are already made. */
  readonly signalled: boolean;
  readonly cancelled: boolean;
  readonly abandoned: boolean;
}

/** What to do with the daemon now; and when to look at it again, if it is still running then. */
export type StoppingDecision =
  | { readonly action: 'none' | 'signal' | 'cancel'; readonly delay?: Seconds }
  | { readonly action: 'abandon' }
  | { readonly action: 'poll'; readonly delay: Seconds };

/** The next step in stopping a daemon. The first answer that fits is the answer; each step is made once. */
export function decideStopping(facts: StoppingFacts): StoppingDecision {
  const { age, backoff, timeout, polling, exited, signalled, cancelled, abandoned } = facts;
  const forcedAt = backoff ?? 0;

  if (exited) return { action: 'none' };

  // First, it is left to the daemon how it stops.
  if (backoff !== undefined && age < backoff) return { action: signalled ? 'none' : 'signal', delay: backoff - age };

  // Then, it is forced; and it has the whole timeout since then.
  if (timeout !== undefined && age < timeout + forcedAt) {
    return { action: cancelled ? 'none' : 'cancel', delay: timeout + forcedAt - age };
  }

  // Nothing more can be done: the object is not to be held by a daemon that does not obey.
  if (timeout !== undefined) return { action: abandoned ? 'none' : 'abandon' };

  // Never forced, and so never abandoned.
  return { action: 'poll', delay: polling };
}
