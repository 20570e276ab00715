/** One attempt to list or to watch, and the live events of it. */
import type { KubeClient, KubeRequest } from '../seams/client.js';
import type { Clock, Seconds } from '../seams/clock.js';
import { childController, onAbort } from '../sync/abort.js';
import { alarm } from '../sync/alarm.js';
import type { ToggleView } from '../sync/named-toggle.js';

/**
 * Why an attempt was ended by us before its time:
 *
 * - `paused`: the operator is paused;
 * - `inactive`: not a single byte has come for too long;
 * - `overdue`: the bytes of one line come, but the line is not complete for too long;
 * - `endless`: the initial listing goes on for too long;
 * - `doubtful`: something malformed has come, so that only a new listing can tell what there is;
 * - `rewound`: the cluster was restored to an earlier state.
 */
type Interruption = 'paused' | 'inactive' | 'overdue' | 'endless' | 'doubtful' | 'rewound';

export interface Attempt {
  /** Covers everything: connecting, waiting for headers, reading, and sleeping in between. */
  readonly signal: AbortSignal;
  readonly interruption: Interruption | undefined;
  interrupt(why: Interruption): void;
  /** Ends whatever still goes on. */
  dispose(): void;
}

/** The attempt ends with the whole stream, or when the stream is to be paused. */
export function startAttempt(signal: AbortSignal, paused: ToggleView | undefined): Attempt {
  const controller = childController(signal);
  let interruption: Interruption | undefined;
  const interrupt = (why: Interruption): void => {
    if (controller.signal.aborted) return;
    interruption = why;
    controller.abort(new Error(`The attempt is interrupted: ${why}.`));
  };
  paused?.whenOn(controller.signal).then(
    () => interrupt('paused'),
    () => {}, // It has ended before any pause.
  );
  return {
    signal: controller.signal,
    get interruption() {
      return interruption;
    },
    interrupt,
    dispose: () => controller.abort(),
  };
}

export interface LiveEventsOptions {
  readonly attempt: Attempt;
  readonly clock: Clock;
  /** How long there may be nothing at all; asked for anew each time, as the other limits are. */
  readonly silenceLimit: () => Seconds;
  /** How long one line may be on its way. */
  readonly lineLimit: () => Seconds;
  /** How long the initial listing may take, from the beginning of the attempt on; infinite once it is over. */
  readonly listingLimit: () => Seconds;
  /** After this time without errors, the connection must have been made. */
  readonly steadyAfter: Seconds;
  /** The same, once the client has told that the server has agreed. */
  readonly steadyAfterOpening: Seconds;
  /** Called once. */
  readonly onSteady: () => void;
  /** Something has come, even if it is only a part of a line. */
  readonly onProgress: () => void;
}

/** What comes through the stream; to be closed when it is not read to its end. */
export interface LiveEvents {
  /** The next one, or the end. Not to be called again before it has settled. */
  next(): Promise<IteratorResult<unknown, unknown>>;
  close(): void;
}

/**
 * What comes through the stream, until it ends. Silence for too long interrupts the attempt; the time when nobody
 * reads from here is not silence. Ends in time even if the client does not obey the signal.
 *
 * It is no generator, and waits for the signal once for all events: otherwise, most of the time between the line and
 * the handlers would be spent on promises.
 */
export function liveEvents(
  client: KubeClient,
  request: Omit<KubeRequest, 'signal' | 'onProgress'>,
  options: LiveEventsOptions,
): LiveEvents {
  const { attempt, clock } = options;
  const { signal } = attempt;
  const reading = new Reading(options);
  const onProgress = ({ bytes }: { readonly bytes: number }): void => reading.progress(bytes);
  const iterator = client.stream({ ...request, onProgress, signal })[Symbol.asyncIterator]();
  let fail: (error: unknown) => void = () => {};
  const stopListening = onAbort(signal, (reason) => fail(reason));
  void guard(reading, options);
  return {
    next: () =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        fail = reject;
        reading.waitsSince = clock.now();
        iterator.next().then((result) => {
          reading.waitsSince = undefined;
          reading.lineSince = undefined;
          resolve(result);
        }, reject);
      }),
    close() {
      reading.close();
      stopListening();
      // Not awaited: an iterator that ignores the signal would keep us here for as long as its connection hangs.
      closeQuietly(iterator);
    },
  };
}

/** What is known of the reading: since when it is waited for, and what has come of it. */
class Reading {
  /** Since when somebody waits for the next line. */
  waitsSince: Seconds | undefined;
  /** When the first bytes of the next line came. */
  lineSince: Seconds | undefined;
  isOver = false;
  readonly #options: LiveEventsOptions;
  #lastByteAt = Number.NEGATIVE_INFINITY;
  #isSteady = false;
  #forgetSteady: (() => void) | undefined;

  constructor(options: LiveEventsOptions) {
    this.#options = options;
    this.#forgetSteady = alarm(options.clock, options.steadyAfter, () => this.#beSteady());
  }

  progress(bytes: number): void {
    if (this.isOver) return;
    const { clock, steadyAfterOpening, steadyAfter, onProgress } = this.#options;
    const isFirst = this.#lastByteAt === Number.NEGATIVE_INFINITY;
    this.#lastByteAt = clock.now();
    if (bytes > 0) this.lineSince ??= this.#lastByteAt;
    if (isFirst && !this.#isSteady) {
      this.#forgetSteady?.();
      this.#forgetSteady = alarm(clock, Math.min(steadyAfterOpening, steadyAfter), () => this.#beSteady());
    }
    onProgress();
  }

  /** How long nothing has come, though somebody has waited. */
  silenceAt(now: Seconds): Seconds {
    return this.waitsSince === undefined ? 0 : now - Math.max(this.waitsSince, this.#lastByteAt);
  }

  close(): void {
    this.isOver = true;
    this.#forgetSteady?.();
  }

  #beSteady(): void {
    if (this.isOver || this.#isSteady) return;
    this.#isSteady = true;
    this.#options.onSteady();
  }
}

/** One loop for the whole attempt, instead of a timer for each event: there can be thousands of them in a second. */
async function guard(reading: Reading, options: LiveEventsOptions): Promise<void> {
  const { attempt, clock, silenceLimit, lineLimit, listingLimit } = options;
  const startedAt = clock.now();
  try {
    while (!reading.isOver) {
      const now = clock.now();
      const untilInactive = silenceLimit() - reading.silenceAt(now);
      if (untilInactive <= 0) return attempt.interrupt('inactive');
      const isLineAwaited = reading.waitsSince !== undefined && reading.lineSince !== undefined;
      const untilOverdue = lineLimit() - (isLineAwaited ? now - (reading.lineSince ?? now) : 0);
      if (untilOverdue <= 0) return attempt.interrupt('overdue');
      const untilEndless = listingLimit() - (now - startedAt);
      if (untilEndless <= 0) return attempt.interrupt('endless');
      await clock.sleep(Math.min(untilInactive, untilOverdue, untilEndless), { signal: attempt.signal });
    }
  } catch {
    // The attempt is over: there is nothing to guard.
  }
}

function closeQuietly(iterator: AsyncIterator<unknown>): void {
  iterator.return?.().then(
    () => {},
    () => {},
  );
}
