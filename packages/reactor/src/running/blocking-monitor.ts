/**
 * Who holds the event loop. All handlers of an operator share one thread: while one of them computes, or waits in a
 * synchronous way, nothing else goes on, neither other handlers nor keep-alives.
 */
import type { Clock, Logger, Seconds, Service } from '@kopf-ts/core';
import { condition, type ExecutionMonitor, isCancellation, type MonitoredCall } from '@kopf-ts/core/engine';
import { callNameOf } from './call-names.js';

export interface BlockingMonitorOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** What is too long. Default: 0.2. */
  readonly threshold?: Seconds | undefined;
}

export interface BlockingMonitor {
  /** Is told of all calls; it measures their synchronous parts by itself. */
  readonly monitor: ExecutionMonitor;
  /** Measures what is between these parts, by the delays of its own timer; only while there are handlers running. */
  readonly service: Service;
}

/** One call, while it lasts. */
interface Running {
  readonly call: MonitoredCall;
  readonly since: Seconds;
}

/** The shorter, the less of a blocking can hide between two ticks; and the more it costs. */
const TICKS_PER_THRESHOLD = 4;

/** How often the same handler is complained about. */
const SILENCE: Seconds = 10;

/** For how many handlers it is remembered when they were complained about. */
const MAX_REMEMBERED = 1000;

/** How many handlers are named at most. */
const MAX_NAMES = 5;

export function blockingMonitor({ clock, logger, threshold = 0.2 }: BlockingMonitorOptions): BlockingMonitor {
  const running = new Set<Running>();
  const interval = threshold / TICKS_PER_THRESHOLD;
  const begun = condition();
  const isAllowed = repetitionLimit(clock);
  /** All the time spent in synchronous parts: they are complained about one by one, not by the ticks. */
  let synchronous: Seconds = 0;
  /** When the next tick is due, while it ticks. */
  let nextTickAt = Number.POSITIVE_INFINITY;
  /** Those who have ended when the tick was already late. */
  let suspects: Running[] = [];

  const complain = (call: MonitoredCall, verb: string, duration: Seconds): void => {
    const suppressed = isAllowed(call.handler.id);
    if (suppressed === undefined) return;
    call.cause.logger.warn(
      `${callNameOf(call)} ${verb} the event loop for ${duration.toFixed(2)} s.${repeated(suppressed)}`,
    );
  };

  const monitor: ExecutionMonitor = {
    enter(call) {
      const one: Running = { call, since: clock.now() };
      const synchronousBefore = synchronous;
      running.add(one);
      if (begun.isAwaited) begun.notify();
      return {
        returned() {
          // Sub-handlers may be called from inside, and have already been accounted for.
          const own = clock.now() - one.since - (synchronous - synchronousBefore);
          synchronous += own;
          if (own > threshold) complain(call, 'has blocked', own);
        },
        settled() {
          running.delete(one);
          if (nextTickAt !== Number.POSITIVE_INFINITY && clock.now() > nextTickAt + threshold) suspects.push(one);
        },
      };
    },
    *running() {
      for (const { call } of running) yield call;
    },
  };

  const accuse = (lag: Seconds): void => {
    // Whoever runs for a shorter time than that, has come later.
    const latest = clock.now() - lag;
    const possible = [...suspects, ...running].filter(({ since }) => since <= latest).map(({ call }) => call);
    const [only] = possible;
    if (only === undefined) return;
    if (possible.length === 1) {
      complain(only, 'has probably blocked', lag);
      return;
    }
    const suppressed = isAllowed('');
    if (suppressed === undefined) return;
    const names = possible.slice(0, MAX_NAMES).map(callNameOf).join(', ');
    const others = possible.length > MAX_NAMES ? `, and ${possible.length - MAX_NAMES} more` : '';
    logger.warn(
      `Probably, one of these has blocked the event loop for ${lag.toFixed(2)} s: ${names}${others}.${repeated(suppressed)}`,
    );
  };

  const tick = async (signal: AbortSignal): Promise<void> => {
    await begun.until(() => running.size > 0, signal);
    const synchronousBefore = synchronous;
    nextTickAt = clock.now() + interval;
    await clock.sleep(interval, { signal });
    const lag = clock.now() - nextTickAt - (synchronous - synchronousBefore);
    if (lag > threshold) accuse(lag);
    suspects = [];
  };

  const service: Service = {
    name: 'monitor of the event loop',
    async run(signal) {
      try {
        for (;;) await tick(signal);
      } catch (error) {
        if (!isCancellation(error, signal)) throw error;
      } finally {
        nextTickAt = Number.POSITIVE_INFINITY;
        suspects = [];
      }
    },
  };

  return { monitor, service };
}

function repeated(times: number): string {
  return times === 0 ? '' : ` The same, ${times} more ${times === 1 ? 'time' : 'times'} since the last warning.`;
}

/** Tells how many complaints were suppressed since the last one, or `undefined` if this one is to be suppressed, too. */
function repetitionLimit(clock: Clock): (key: string) => number | undefined {
  const lines = new Map<string, { readonly at: Seconds; suppressed: number }>();
  return (key) => {
    const now = clock.now();
    const last = lines.get(key);
    if (last !== undefined && now - last.at < SILENCE) {
      last.suppressed += 1;
      return undefined;
    }
    // There may be any number of ids, as sub-handlers are made up on the fly.
    if (lines.size >= MAX_REMEMBERED) lines.clear();
    lines.set(key, { at: now, suppressed: 0 });
    return last?.suppressed ?? 0;
  };
}
