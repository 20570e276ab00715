/** One connection for listing or watching, and the lines it delivers. */
import type { Awaitable } from '../../seams/awaitable.js';
import type { KubeClient, KubeRequest } from '../../seams/client.js';
import type { Clock, Seconds } from '../../seams/clock.js';
import { type ChildController, childController, onAbort } from '../../sync/abort.js';
import { alarm } from '../../sync/alarm.js';
import type { ToggleView } from '../../sync/named-toggle.js';
import type { StreamHealth } from './health.js';

/**
 * Why we have ended a connection before its time:
 *
 * - `paused`: the operator is paused;
 * - `inactive`: not a single byte has come for too long;
 * - `overdue`: the bytes of one line come, but the line is not complete for too long;
 * - `endless`: the initial listing goes on for too long;
 * - `doubtful`: something malformed has come, so that only a new listing can tell what there is;
 * - `rewound`: the cluster was restored to an earlier state.
 */
export type Interruption = 'paused' | 'inactive' | 'overdue' | 'endless' | 'doubtful' | 'rewound';

/** Aborted with the whole stream, or when the operator is paused. */
export class Connection {
  readonly #controller: ChildController;
  #interruption: Interruption | undefined;

  constructor(signal: AbortSignal, paused: ToggleView | undefined) {
    this.#controller = childController(signal);
    paused?.whenOn(this.signal).then(
      () => this.interrupt('paused'),
      () => {}, // It ended before any pause.
    );
  }

  /** Covers everything: connecting, waiting for headers, reading, and the pauses before and in between. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get interruption(): Interruption | undefined {
    return this.#interruption;
  }

  interrupt(why: Interruption): void {
    if (this.signal.aborted) return;
    this.#interruption = why;
    this.#controller.abort(new Error(`The connection is interrupted: ${why}.`));
  }

  /** Aborts whatever is still running. */
  close(): void {
    this.#controller.abort();
  }
}

/** How to process the lines, and how long to wait for them. The limits are read anew each time. */
export interface LineReaderOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Accepts one line. If it returns a promise, no more lines are read until it settles. */
  accept(line: unknown): Awaitable<void>;
  /** The longest silence. */
  silenceLimit(): Seconds;
  /** The longest time for one line to arrive. */
  lineLimit(): Seconds;
  /** The longest time for the initial listing, from the start of the connection; infinite once it is over. */
  listingLimit(): Seconds;
  /** After this time without errors, the connection is presumed to be made. */
  readonly steadyAfter: Seconds;
  /** The same, once the client has reported that the server has agreed. */
  readonly steadyAfterOpening: Seconds;
  /** Called once. */
  onSteady(): void;
  /** Called once, when the server has agreed or something has arrived. */
  onOpened(): void;
  /** Records the times of arriving lines or parts of lines. */
  readonly signs: Pick<StreamHealth, 'touch' | 'progress'>;
}

/**
 * Reads the lines until the stream ends. Silence for too long interrupts the connection; time when we do not read does
 * not count as silence. Ends in time even if the client ignores the signal.
 *
 * It uses one promise for the whole reading, and no closure per line: otherwise, most of the time between a line and
 * its handlers would be spent on promises.
 */
export class LineReader {
  readonly #options: LineReaderOptions;
  readonly #iterator: AsyncIterator<unknown>;
  readonly #whole: Promise<void>;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};
  /** Since when the next line is awaited. */
  #waitsSince: Seconds | undefined;
  /** When the first bytes of the next line arrived. */
  #lineSince: Seconds | undefined;
  #lastByteAt = Number.NEGATIVE_INFINITY;
  #isOpen = false;
  #isSteady = false;
  #isOver = false;
  #forgetSteady: () => void = () => {};
  readonly #stopListening: () => void;

  constructor(client: KubeClient, request: Omit<KubeRequest, 'signal' | 'onProgress'>, options: LineReaderOptions) {
    const { connection, clock } = options;
    const { signal } = connection;
    this.#options = options;
    const onProgress = ({ bytes }: { readonly bytes: number }): void => this.#progress(bytes);
    this.#iterator = client.stream({ ...request, onProgress, signal })[Symbol.asyncIterator]();
    if (!this.#isOpen) this.#forgetSteady = alarm(clock, options.steadyAfter, () => this.#beSteady());
    this.#whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The line being accepted is awaited: only the reading is cut off at once.
    this.#stopListening = onAbort(signal, (reason) => {
      if (this.#waitsSince !== undefined) this.#reject(reason);
    });
    void this.#guard();
  }

  /** Resolves at the end of the stream. Rejects with its error, or with the reason of the signal. */
  read(): Promise<void> {
    this.#resume();
    return this.#whole;
  }

  close(): void {
    this.#isOver = true;
    this.#forgetSteady();
    this.#stopListening();
    // Not awaited: an iterator that ignores the signal would keep us here for as long as its connection hangs.
    closeQuietly(this.#iterator);
  }

  readonly #resume = (): void => this.#next(this.#options.clock.now());

  #next(since: Seconds): void {
    const { connection } = this.#options;
    if (connection.signal.aborted) {
      this.#reject(connection.signal.reason);
      return;
    }
    this.#waitsSince = since;
    this.#iterator.next().then(this.#onLine, this.#onFailure);
  }

  readonly #onLine = (result: IteratorResult<unknown, unknown>): void => {
    if (this.#isOver) return;
    this.#waitsSince = undefined;
    this.#lineSince = undefined;
    if (result.done) {
      this.#resolve();
      return;
    }
    this.#open();
    const { clock, signs } = this.#options;
    const now = clock.now();
    signs.touch(now);
    try {
      const accepted = this.#options.accept(result.value);
      if (accepted === undefined) this.#next(now);
      else accepted.then(this.#resume, this.#onFailure);
    } catch (error) {
      this.#reject(error);
    }
  };

  readonly #onFailure = (error: unknown): void => this.#reject(error);

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#options.onOpened();
  }

  #progress(bytes: number): void {
    if (this.#isOver) return;
    const { clock, signs, steadyAfterOpening, steadyAfter } = this.#options;
    const isFirst = this.#lastByteAt === Number.NEGATIVE_INFINITY;
    this.#lastByteAt = clock.now();
    if (bytes > 0) this.#lineSince ??= this.#lastByteAt;
    if (isFirst) {
      this.#open();
      if (!this.#isSteady) {
        this.#forgetSteady();
        this.#forgetSteady = alarm(clock, Math.min(steadyAfterOpening, steadyAfter), () => this.#beSteady());
      }
    }
    signs.progress(this.#lastByteAt);
  }

  #beSteady(): void {
    if (this.#isOver || this.#isSteady) return;
    this.#isSteady = true;
    this.#options.onSteady();
  }

  /** How long nothing has arrived while it was awaited. */
  #silenceAt(now: Seconds): Seconds {
    return this.#waitsSince === undefined ? 0 : now - Math.max(this.#waitsSince, this.#lastByteAt);
  }

  /** One loop for the whole connection instead of a timer per event: there can be thousands of events per second. */
  async #guard(): Promise<void> {
    const { connection, clock } = this.#options;
    const startedAt = clock.now();
    try {
      while (!this.#isOver) {
        const now = clock.now();
        const untilInactive = this.#options.silenceLimit() - this.#silenceAt(now);
        if (untilInactive <= 0) return connection.interrupt('inactive');
        const isLineAwaited = this.#waitsSince !== undefined && this.#lineSince !== undefined;
        const untilOverdue = this.#options.lineLimit() - (isLineAwaited ? now - (this.#lineSince ?? now) : 0);
        if (untilOverdue <= 0) return connection.interrupt('overdue');
        const untilEndless = this.#options.listingLimit() - (now - startedAt);
        if (untilEndless <= 0) return connection.interrupt('endless');
        await clock.sleep(Math.min(untilInactive, untilOverdue, untilEndless), { signal: connection.signal });
      }
    } catch {
      // The connection is over: there is nothing to guard.
    }
  }
}

function closeQuietly(iterator: AsyncIterator<unknown>): void {
  iterator.return?.().then(
    () => {},
    () => {},
  );
}
