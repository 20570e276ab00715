/** Telling others which handlers run, and how they end: those who look for whoever holds the event loop, and tests. */
import type { Cause } from '../intents/causes.js';
import type { AnyHandler } from '../intents/handlers.js';
import { isThenable } from './deadlines.js';
import type { Outcome } from './outcomes.js';

/** One call of one handler. */
export interface MonitoredCall {
  readonly handler: AnyHandler;
  readonly cause: Cause;
}

/** Is told of each call of each handler, sub-handlers included. Must not throw. */
export interface ExecutionMonitor {
  /** The function is about to be called. */
  enter(call: MonitoredCall): {
    /** It has returned, maybe only a promise; or has thrown. Nothing else could run until now. */
    returned(): void;
    /** All is over: also the promise, if there was one. Comes after `returned`. */
    settled(): void;
  };
  /** Those that are entered and not yet settled, if it keeps count of them. */
  running?(): Iterable<MonitoredCall>;
  /**
   * What became of the handler, sub-handlers included: comes last, and also for those handlers that were not called
   * because they are out of their time or attempts. `retry` is the number of the attempts before this one.
   */
  judged?(call: MonitoredCall, outcome: Outcome, retry: number): void;
}

/** Two monitors as one. Those that run are asked of the first one. */
export function bothMonitors(first: ExecutionMonitor, second: ExecutionMonitor): ExecutionMonitor {
  return {
    enter(call) {
      const calls = [first.enter(call), second.enter(call)];
      return {
        returned: () => calls.forEach((one) => void one.returned()),
        settled: () => calls.forEach((one) => void one.settled()),
      };
    },
    running: () => first.running?.() ?? [],
    judged(call, outcome, retry) {
      first.judged?.(call, outcome, retry);
      second.judged?.(call, outcome, retry);
    },
  };
}

/** Calls the function, and tells the monitor of it. */
export function monitored(call: MonitoredCall, monitor: ExecutionMonitor | undefined, fn: () => unknown): unknown {
  if (monitor === undefined) return fn();
  const { returned, settled } = monitor.enter(call);
  let result: unknown;
  try {
    result = fn();
  } catch (error) {
    returned();
    settled();
    throw error;
  }
  returned();
  if (!isThenable(result)) settled();
  else Promise.resolve(result).then(settled, settled);
  return result;
}
