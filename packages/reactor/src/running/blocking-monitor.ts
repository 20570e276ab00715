/**
 * Who holds the event loop. All handlers of an operator share one thread: while one of them computes, or waits in a
 * synchronous way, nothing else goes on, neither other handlers nor keep-alives.
 *
 * A loop also stands still if the machine has no CPU for it: another process takes it all, or the container is at its
 * limit. No handler is to blame for that, so lost time alone proves nothing. It is a handler's own doing if the process
 * was computing meanwhile; or if it did not compute, but nobody has taken the CPU from it either: then it was waiting.
 * Whatever else it may be is told at the debug level only.
 */
import type { Clock, FactOf, Logger, Observer, Seconds, Service } from '@kopf-ts/core';
import { condition, isCancellation, isEnabled } from '@kopf-ts/core/engine';
import { callNameOf } from './call-names.js';
import { type LoopUsage, loopUsage } from './loop-usage.js';

/**
 * How long is too long, and by which clock.
 *
 * ```ts
 * const options: kopf.reactor.BlockingMonitorOptions = { clock, logger, threshold: 1 };
 * ```
 */
export interface BlockingMonitorOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** What is too long. Default: 0.2. */
  readonly threshold?: Seconds | undefined;
  /** What the thread does with its time. Default: as the system tells it. */
  readonly usage?: (() => LoopUsage) | undefined;
}

/**
 * Sees how long handlers keep the thread from everything else.
 *
 * ```ts
 * const observersOf = ({ observer }: kopf.reactor.BlockingMonitor): kopf.Observer[] => [observer];
 * ```
 */
export interface BlockingMonitor {
  /** Sees all calls, and measures their synchronous parts by itself. */
  readonly observer: Observer;
  /** Measures what is between these parts, by the delays of its own timer; only while there are handlers running. */
  readonly service: Service;
}

/** One call, while it lasts. */
interface Running {
  readonly call: FactOf<'call.began'>;
  readonly since: Seconds;
  readonly usage: LoopUsage;
  /** All the time that was spent in synchronous parts before it. */
  readonly synchronous: Seconds;
  readonly synchronousCpu: Seconds;
}

/** The shorter, the less of a blocking can hide between two ticks; and the more it costs. */
const TICKS_PER_THRESHOLD = 4;

/** How fresh a sample of what the thread does must be when a call begins. */
const SAMPLES_PER_THRESHOLD = 2;

/** How often the same handler is complained about. */
const SILENCE: Seconds = 10;

/** For how many handlers it is remembered when they were complained about. */
const MAX_REMEMBERED = 1000;

/** How many handlers are named at most. */
const MAX_NAMES = 5;

interface Sample {
  readonly at: Seconds;
  readonly usage: LoopUsage;
}

/** A loop that stood still, with what the process did meanwhile. */
interface Standstill {
  readonly duration: Seconds;
  readonly cpu: Seconds;
  readonly preemptions: number;
}

/**
 * Warns of handlers that block the event loop.
 *
 * ```ts
 * const monitor = kopf.reactor.blockingMonitor({ clock: kopf.reactor.systemClock, logger, threshold: 0.5 });
 * await kopf.run({ observers: [monitor.observer] });
 * ```
 */
export function blockingMonitor(options: BlockingMonitorOptions): BlockingMonitor {
  const { clock, logger, threshold = 0.2, usage = loopUsage } = options;
  /** By the numbers of the calls. */
  const running = new Map<number, Running>();
  const interval = threshold / TICKS_PER_THRESHOLD;
  const begun = condition();
  const isAllowed = repetitionLimit(clock);
  /** All the time spent in synchronous parts: they are complained about one by one, not by the ticks. */
  let synchronous: Seconds = 0;
  let synchronousCpu: Seconds = 0;
  /** When the next tick is due, while it ticks. */
  let nextTickAt = Number.POSITIVE_INFINITY;
  /** The calls that have ended when the tick was already late. */
  let suspects: Running[] = [];
  let sample: Sample | undefined;

  /**
   * Asking the system costs more than most handlers do, and on some systems as much as a thousand of them. What is too
   * long is at least twice as long as a sample is old, so what happened before does not change the judgement.
   */
  const recentUsage = (now: Seconds): Sample => {
    if (sample === undefined || now - sample.at > threshold / SAMPLES_PER_THRESHOLD) {
      sample = { at: now, usage: usage() };
    }
    return sample;
  };

  const complain = (call: Running['call'], verb: string, duration: Seconds): void => {
    const suppressed = isAllowed(call.handler.id);
    if (suppressed === undefined) return;
    call.logger.warn(`${callNameOf(call)} ${verb} the event loop for ${duration.toFixed(2)} s.${repeated(suppressed)}`);
  };

  const isOurs = ({ duration, cpu, preemptions }: Standstill): boolean =>
    cpu > threshold || cpu > duration / 2 || preemptions === 0;

  const tellOfOthers = ({ duration, cpu }: Standstill): void => {
    if (!isEnabled(logger, 'debug')) return;
    logger.debug(
      `The event loop stood still for ${duration.toFixed(2)} s, of which ${cpu.toFixed(2)} s were spent computing. ` +
        'The machine is overloaded, or a handler waits synchronously.',
    );
  };

  const enter = (call: FactOf<'call.began'>): void => {
    const since = call.at;
    running.set(call.call, { call, since, usage: recentUsage(since).usage, synchronous, synchronousCpu });
    if (begun.isAwaited) begun.notify();
  };

  const takeReturn = (one: Running, at: Seconds): void => {
    // Sub-handlers may be called from inside, and have already been accounted for.
    const own = at - one.since - (synchronous - one.synchronous);
    synchronous += own;
    if (own <= threshold) return;
    const now = usage();
    const cpu = now.cpu - one.usage.cpu - (synchronousCpu - one.synchronousCpu);
    synchronousCpu += cpu;
    const standstill = { duration: own, cpu, preemptions: now.preemptions - one.usage.preemptions };
    if (isOurs(standstill)) complain(one.call, 'has blocked', own);
    else tellOfOthers(standstill);
  };

  const settle = (number: number, one: Running, at: Seconds): void => {
    running.delete(number);
    if (nextTickAt !== Number.POSITIVE_INFINITY && at > nextTickAt + threshold) suspects.push(one);
  };

  const observer: Observer = {
    wants: ['call.began', 'call.returned', 'call.settled'],
    observe(fact) {
      if (fact.kind === 'call.began') return enter(fact);
      if (fact.kind !== 'call.returned' && fact.kind !== 'call.settled') return;
      const one = running.get(fact.call);
      if (one === undefined) return;
      if (fact.kind === 'call.returned') takeReturn(one, fact.at);
      else settle(fact.call, one, fact.at);
    },
  };

  const accuse = (lag: Seconds): void => {
    // A call that runs for a shorter time than that has come later.
    const latest = clock.now() - lag;
    const possible = [...suspects, ...running.values()].filter(({ since }) => since <= latest).map(({ call }) => call);
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
    const synchronousCpuBefore = synchronousCpu;
    const begunAt = clock.now();
    const { at: sampledAt, usage: before } = recentUsage(begunAt);
    nextTickAt = begunAt + interval;
    await clock.sleep(interval, { signal });
    const now = clock.now();
    const lag = now - nextTickAt - (synchronous - synchronousBefore);
    if (lag > threshold) {
      const after = usage();
      const busy = now - sampledAt - (after.idle - before.idle) - (synchronous - synchronousBefore);
      const cpu = after.cpu - before.cpu - (synchronousCpu - synchronousCpuBefore);
      const standstill = { duration: Math.min(lag, busy), cpu, preemptions: after.preemptions - before.preemptions };
      // A loop with nothing to do that gets no CPU in time is late, but nobody holds it.
      if (standstill.duration > threshold && isOurs(standstill)) accuse(standstill.duration);
      else tellOfOthers({ ...standstill, duration: lag });
    }
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

  return { observer, service };
}

function repeated(times: number): string {
  return times === 0 ? '' : ` The same, ${times} more ${times === 1 ? 'time' : 'times'} since the last warning.`;
}

/** Tells how many complaints were suppressed since the last one, or `undefined` if this one is suppressed, too. */
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
