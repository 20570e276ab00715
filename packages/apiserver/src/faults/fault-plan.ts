/** Faults on demand. One plan serves the embedded server and the proxy alike; what differs is behind `ServerControl`. */
import type { Awaitable, Clock, Seconds } from '@kopf-ts/core';
import type { FaultPlan, RequestFault, ServerControl, StreamControl, StreamFault } from '../contracts/faults.js';
import type { StreamLine } from '../contracts/request.js';
import {
  type FaultMatch,
  type FaultRule,
  type FaultyRequest,
  isMatching,
  renderAnswer,
  type StreamFaults,
} from './fault-rules.js';

/**
 * A fault that is in force until it is removed or used up.
 *
 * ```ts
 * import { type FaultHandle, localCluster } from 'kopf-ts/testing';
 * await using cluster = await localCluster();
 * const outage: FaultHandle = cluster.faults.add({ answer: { status: 503 } });
 * outage.remove();
 * expect(outage.hits).toBeGreaterThan(0);
 * ```
 */
export interface FaultHandle {
  /** How many requests (or streams) it has met so far. */
  readonly hits: number;
  /** Ends the fault; what was held back by it goes on. */
  remove(): void;
}

interface ActiveRule {
  readonly rule: FaultRule;
  seen: number;
  hits: number;
  isRemoved: boolean;
  /** Called when the rule is removed. */
  readonly whenRemoved: Set<() => void>;
}

interface OpenStream {
  readonly request: FaultyRequest;
  readonly control: StreamControl;
  readonly rules: ActiveRule[];
  lines: number;
  isClosed: boolean;
}

/**
 * What can go wrong, by name.
 *
 * ```ts
 * import { type Faults, localCluster } from 'kopf-ts/testing';
 * await using cluster = await localCluster();
 * const faults: Faults = cluster.faults;
 * faults.add({ match: { method: 'PATCH' }, answer: { status: 429, retryAfter: 1 }, times: 3 });
 * ```
 */
export class Faults implements FaultPlan {
  readonly #clock: Clock;
  readonly #control: ServerControl;
  readonly #rules = new Set<ActiveRule>();
  readonly #streams = new Set<OpenStream>();

  constructor(clock: Clock, control: ServerControl) {
    this.#clock = clock;
    this.#control = control;
  }

  /** Adds a fault. The earliest matching one is applied, one per request. */
  add(rule: FaultRule): FaultHandle {
    const active: ActiveRule = { rule, seen: 0, hits: 0, isRemoved: false, whenRemoved: new Set() };
    this.#rules.add(active);
    if (rule.stream?.freeze === true) this.#joinOpenStreams(active);
    return {
      get hits() {
        return active.hits;
      },
      remove: () => this.#remove(active),
    };
  }

  /** Removes all faults. */
  clear(): void {
    for (const rule of [...this.#rules]) this.#remove(rule);
    this.#control.refuseConnections(false);
  }

  /** Holds back all lines of open and new watches until the handle is removed; connections stay open. */
  freezeStreams(match: FaultMatch = {}): FaultHandle {
    return this.add({ match: { ...match, watch: true }, stream: { freeze: true } });
  }

  /** Bookmarks do not come, neither in open nor in new watches. */
  dropBookmarks(match: FaultMatch = {}): FaultHandle {
    return this.#addForAllStreams(match, { dropBookmarks: true });
  }

  /** Bookmarks come later, and everything behind them too. */
  delayBookmarks(delay: Seconds, match: FaultMatch = {}): FaultHandle {
    return this.#addForAllStreams(match, { delayBookmarks: delay });
  }

  /** Puts a line of garbage into the open watches at once. Returns into how many. */
  garbleStreams(garbage = '{"type":"ADD', match: FaultMatch = {}): number {
    let count = 0;
    for (const { request, control } of this.#streams) {
      if (!isMatching(request, match) || control.write === undefined) continue;
      control.write(`${garbage}\n`);
      count++;
    }
    return count;
  }

  /** Ends the open watches properly, as a server does at a timeout. Returns how many. */
  endStreams(match: FaultMatch = {}): number {
    return this.#eachStream(match, (control) => control.end());
  }

  /** Breaks the connections of the open watches. Returns how many. */
  resetStreams(match: FaultMatch = {}): number {
    return this.#eachStream(match, (control) => control.reset());
  }

  /** Breaks all connections that are open now. */
  cutConnections(): void {
    for (const { control } of [...this.#streams]) control.reset();
    this.#control.dropConnections();
  }

  /** Nobody can connect until the handle is removed. */
  refuseConnections(): FaultHandle {
    this.#control.refuseConnections(true);
    return { hits: 0, remove: () => this.#control.refuseConnections(false) };
  }

  /** Forgets the history: watches from older versions get 410. */
  compact(): void {
    this.#control.compact();
  }

  /** Stops and starts the server; the data stay. All connections and streams break. */
  async restart(options: { readonly downFor?: Seconds } = {}): Promise<void> {
    for (const { control } of [...this.#streams]) control.reset();
    await this.#control.restart(options);
  }

  beforeRequest(request: FaultyRequest): Awaitable<RequestFault | undefined> {
    // Most servers have no faults at all, and should not wait for anything.
    return this.#rules.size === 0 ? undefined : this.#meet(request);
  }

  async #meet(request: FaultyRequest): Promise<RequestFault | undefined> {
    const active = this.#take(request, ({ stream, answer, reset, latency }) =>
      stream === undefined ? true : answer !== undefined || reset === true || latency !== undefined,
    );
    if (active === undefined) return undefined;
    const { latency, answer, reset } = active.rule;
    if (latency !== undefined) await this.#wait(active, latency);
    if (reset === true) return { kind: 'reset' };
    return answer === undefined ? undefined : { kind: 'answer', answer: renderAnswer(answer) };
  }

  onStream(request: FaultyRequest, control: StreamControl): StreamFault {
    const stream: OpenStream = { request, control, rules: [], lines: 0, isClosed: false };
    for (const active of [...this.#rules]) {
      if (active.rule.stream !== undefined && isMatching(request, active.rule.match) && this.#use(active)) {
        stream.rules.push(active);
      }
    }
    this.#streams.add(stream);
    return {
      pass: (line) => (stream.rules.length === 0 ? 'send' : this.#pass(stream, line)),
      closed: () => {
        stream.isClosed = true;
        this.#streams.delete(stream);
        for (const active of stream.rules) for (const wake of [...active.whenRemoved]) wake();
      },
    };
  }

  async #pass(stream: OpenStream, line: StreamLine): Promise<'send' | 'drop'> {
    stream.lines++;
    for (const active of [...stream.rules]) {
      const { freeze, dropBookmarks, delayBookmarks, garbage, endAfter, resetAfter } = active.rule.stream ?? {};
      while (freeze === true && !active.isRemoved && !stream.isClosed) await whenRemoved(active);
      if (active.isRemoved) continue;
      if (garbage !== undefined && stream.lines === 1) stream.control.write?.(`${garbage}\n`);
      if (line.type === 'BOOKMARK' && dropBookmarks === true) return 'drop';
      if (line.type === 'BOOKMARK' && delayBookmarks !== undefined) await this.#clock.sleep(delayBookmarks);
      if (endAfter !== undefined && stream.lines > endAfter) {
        stream.control.end();
        return 'drop';
      }
      if (resetAfter !== undefined && stream.lines > resetAfter) {
        stream.control.reset();
        return 'drop';
      }
    }
    return 'send';
  }

  /** Less, if the fault is removed meanwhile. */
  async #wait(active: ActiveRule, delay: Seconds): Promise<void> {
    const removal = new AbortController();
    const wake = (): void => removal.abort();
    active.whenRemoved.add(wake);
    try {
      await this.#clock.sleep(delay, { wakeup: removal.signal });
    } finally {
      active.whenRemoved.delete(wake);
    }
  }

  #addForAllStreams(match: FaultMatch, stream: StreamFaults): FaultHandle {
    const handle = this.add({ match: { ...match, watch: true }, stream });
    const active = [...this.#rules].at(-1);
    if (active !== undefined) this.#joinOpenStreams(active);
    return handle;
  }

  #joinOpenStreams(active: ActiveRule): void {
    for (const stream of this.#streams) {
      if (isMatching(stream.request, active.rule.match) && this.#use(active)) stream.rules.push(active);
    }
  }

  #eachStream(match: FaultMatch, action: (control: StreamControl) => void): number {
    const streams = [...this.#streams].filter(({ request }) => isMatching(request, match));
    for (const { control } of streams) action(control);
    return streams.length;
  }

  #take(request: FaultyRequest, isApplicable: (rule: FaultRule) => boolean): ActiveRule | undefined {
    for (const active of this.#rules) {
      if (isApplicable(active.rule) && isMatching(request, active.rule.match) && this.#use(active)) return active;
    }
    return undefined;
  }

  /** Counts the request. Says whether the rule is in force for it. */
  #use(active: ActiveRule): boolean {
    const { after = 0, times = Number.POSITIVE_INFINITY } = active.rule;
    active.seen++;
    if (active.seen <= after || active.hits >= times) return false;
    active.hits++;
    // A rule for streams stays, although used up: it still holds for those that it has met.
    if (active.hits >= times && active.rule.stream === undefined) this.#rules.delete(active);
    return true;
  }

  #remove(active: ActiveRule): void {
    this.#rules.delete(active);
    active.isRemoved = true;
    for (const wake of [...active.whenRemoved]) wake();
  }
}

function whenRemoved(active: ActiveRule): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      active.whenRemoved.delete(wake);
      resolve();
    };
    active.whenRemoved.add(wake);
  });
}
