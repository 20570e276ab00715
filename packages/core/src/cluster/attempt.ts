/** One attempt to list or to watch, and the live events of it. */
import type { KubeClient, KubeRequest } from '../seams/client.js';
import type { Clock, Seconds } from '../seams/clock.js';
import { childController, onAbort } from '../sync/abort.js';
import type { ToggleView } from '../sync/toggle.js';

/** Why an attempt was ended by us before its time. */
type Interruption = 'paused' | 'inactive';

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
  /** How long there may be nothing; asked for anew each time. */
  readonly silenceLimit: () => Seconds;
  /** After this time without errors, the connection must have been made. */
  readonly steadyAfter: Seconds;
  readonly onSteady: () => void;
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
  request: Omit<KubeRequest, 'signal'>,
  options: LiveEventsOptions,
): LiveEvents {
  const { attempt, clock } = options;
  const { signal } = attempt;
  const reading: Reading = { waitsSince: undefined };
  const iterator = client.stream({ ...request, signal })[Symbol.asyncIterator]();
  let fail: (error: unknown) => void = () => {};
  const stopListening = onAbort(signal, (reason) => fail(reason));
  void guardSilence(reading, options);
  return {
    next: () =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        fail = reject;
        reading.waitsSince = clock.now();
        iterator.next().then((result) => {
          reading.waitsSince = undefined;
          resolve(result);
        }, reject);
      }),
    close() {
      reading.isOver = true;
      stopListening();
      // Not awaited: an iterator that ignores the signal would keep us here for as long as its connection hangs.
      closeQuietly(iterator);
    },
  };
}

interface Reading {
  waitsSince: Seconds | undefined;
  isOver?: true;
}

/** One loop for the whole attempt, instead of a timer for each event: there can be thousands of them in a second. */
async function guardSilence(reading: Reading, options: LiveEventsOptions): Promise<void> {
  const { attempt, clock, silenceLimit, steadyAfter, onSteady } = options;
  const steadyAt = clock.now() + steadyAfter;
  let isSteady = false;
  try {
    while (!reading.isOver) {
      const now = clock.now();
      if (!isSteady && now >= steadyAt) {
        isSteady = true;
        onSteady();
      }
      const silence = reading.waitsSince === undefined ? 0 : now - reading.waitsSince;
      const untilTooLong = silenceLimit() - silence;
      if (untilTooLong <= 0) return attempt.interrupt('inactive');
      const nextLook = isSteady ? untilTooLong : Math.min(untilTooLong, steadyAt - now);
      await clock.sleep(nextLook, { signal: attempt.signal });
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
