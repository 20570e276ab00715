/**
 * The events about objects that are not posted yet. Nothing here does I/O or waits: it is told
 * what has happened, and says what to post and when to ask again.
 *
 * Repeats of an event within a window are one event with a count. An object that reports too much has the excess
 * merged into one summary. What does not fit into the memory is dropped, the oldest first, and is counted.
 */
import type { KubeEvent, Seconds } from '@kopf-ts/core';
import type { EventRepeats } from '@kopf-ts/core/engine';
import { describeEvent, type EventSeries, joinedRepeats, type OutgoingEvent, summaryOf } from './series.js';
import { type BucketLimits, type TokenBucket, tokenBucket } from './token-bucket.js';

export interface AggregationLimits {
  /** For how long repeats of a posted event are collected before they are posted as one. */
  readonly window: Seconds;
  /** How often events are posted about one object. */
  readonly perObject: BucketLimits;
  /** How often events are posted at all. */
  readonly overall: BucketLimits;
  /** How many different events may wait. */
  readonly waiting: number;
  /** How many times an event is tried to be posted, once per window. */
  readonly attempts: number;
}

export interface EventAggregation {
  /** How many times of events are not posted yet. */
  readonly pending: number;
  /** Notes the event. Never fails because of the limits; how many were dropped for it is told by `takeDropped()`. */
  add(event: KubeEvent, at: { readonly now: Seconds; readonly utc: Date }): void;
  /** The next event to be posted now, if any. In a hurry, neither windows nor limits of objects are waited for. */
  take(now: Seconds, options?: { readonly isHurrying?: boolean }): OutgoingEvent | undefined;
  /** The event could not be posted for a passing reason. Tells whether it will be taken once more. */
  giveBack(outgoing: OutgoingEvent, now: Seconds): boolean;
  /** When to ask next; `undefined` if there is nothing to wait for. */
  nextAt(now: Seconds, options?: { readonly isHurrying?: boolean }): Seconds | undefined;
  /** How many were dropped since this was last asked. */
  takeDropped(): number;
}

/** All that is remembered of an object. */
interface Reported {
  readonly bucket: TokenBucket;
  /** What was too much for this object. */
  excess: Excess | undefined;
}

interface Excess {
  /** The last one of those that were merged. */
  readonly last: EventSeries;
  readonly repeats: EventRepeats;
  readonly isMixed: boolean;
  readonly type: string;
  readonly failures: number;
}

/** From so many remembered objects on, those are looked for that can be forgotten. */
const FORGETTING_FROM = 1000;

export function eventAggregation(limits: AggregationLimits): EventAggregation {
  const overall = tokenBucket(limits.overall);
  const known = new Map<string, EventSeries>();
  const objects = new Map<string, Reported>();
  /** In the order of becoming ready. */
  const ready = new Set<EventSeries>();
  /** In the order of the ends of the windows, as all windows are equally long. */
  const collecting = new Set<EventSeries>();
  /** The objects with an excess, by their keys. */
  const exceeding = new Set<string>();
  /** What was taken, to be given back. */
  const origins = new WeakMap<OutgoingEvent, { readonly series: EventSeries; readonly excess?: Excess }>();
  let forgetFrom = FORGETTING_FROM;
  let dropped = 0;

  const reported = (objectKey: string, now: Seconds): Reported => {
    let object = objects.get(objectKey);
    if (object === undefined) {
      if (objects.size >= forgetFrom) forgetQuietObjects(now);
      object = { bucket: tokenBucket(limits.perObject), excess: undefined };
      objects.set(objectKey, object);
    }
    return object;
  };

  const forgetQuietObjects = (now: Seconds): void => {
    for (const [key, { bucket, excess }] of objects) {
      if (excess === undefined && bucket.isFull(now)) objects.delete(key);
    }
    // Not to look through all of them for every next one.
    forgetFrom = Math.max(FORGETTING_FROM, objects.size * 2);
  };

  const forget = (series: EventSeries): void => {
    known.delete(series.key);
    ready.delete(series);
    collecting.delete(series);
  };

  /** Has the series posted as soon as possible; or merges it with the excess, if there is too much about its object. */
  const makeReady = (series: EventSeries, now: Seconds): void => {
    const object = reported(series.objectKey, now);
    // While there is an excess, the next token is for it: otherwise, it would wait for as long as there is more.
    if (object.excess !== undefined || !object.bucket.take(now)) {
      mergeIntoExcess(series, object);
      return;
    }
    collecting.delete(series);
    ready.add(series);
    if (ready.size > limits.waiting) dropOldest();
  };

  const dropOldest = (): void => {
    for (const oldest of ready) {
      dropped += oldest.repeats?.count ?? 0;
      objects.get(oldest.objectKey)?.bucket.giveBack();
      forget(oldest);
      return;
    }
  };

  const mergeIntoExcess = (series: EventSeries, object: Reported): void => {
    const { event, repeats, objectKey } = series;
    forget(series);
    if (repeats === undefined) return;
    const { excess } = object;
    object.excess = {
      last: series,
      repeats: joinedRepeats(excess?.repeats, repeats),
      isMixed: excess !== undefined && (excess.isMixed || excess.last.key !== series.key),
      type: excess === undefined || excess.type === event.type ? event.type : 'Warning',
      failures: Math.max(excess?.failures ?? 0, series.failures),
    };
    exceeding.add(objectKey);
  };

  const restoreExcess = (excess: Excess, failures: number, now: Seconds): void => {
    const { objectKey } = excess.last;
    const object = reported(objectKey, now);
    const { excess: newer = excess } = object;
    object.excess = {
      last: newer.last,
      repeats: newer === excess ? excess.repeats : joinedRepeats(excess.repeats, newer.repeats),
      isMixed: excess.isMixed || newer.isMixed || excess.last.key !== newer.last.key,
      type: excess.type === newer.type ? excess.type : 'Warning',
      failures,
    };
    exceeding.add(objectKey);
  };

  const restoreSeries = (origin: EventSeries, repeats: EventRepeats, failures: number, now: Seconds): void => {
    const series = known.get(origin.key) ?? origin;
    series.repeats = joinedRepeats(repeats, series.repeats);
    series.failures = failures;
    if (known.has(series.key)) return;
    known.set(series.key, series);
    series.windowEndsAt = now + limits.window;
    collecting.add(series);
  };

  /** What was waiting for its time, and the time has come. */
  const promote = (now: Seconds, isHurrying: boolean): void => {
    for (const series of collecting) {
      if (!isHurrying && series.windowEndsAt > now) break;
      if (series.repeats === undefined) forget(series);
      else makeReady(series, now);
    }
  };

  const takeExcess = (now: Seconds, isHurrying: boolean): OutgoingEvent | undefined => {
    for (const objectKey of exceeding) {
      const object = objects.get(objectKey);
      if (object?.excess === undefined || !(object.bucket.take(now) || isHurrying)) continue;
      const { excess } = object;
      const { last, repeats, isMixed, type, failures } = excess;
      object.excess = undefined;
      exceeding.delete(objectKey);
      const event = isMixed ? { ...last.event, type, message: summaryOf(last.event, repeats.count) } : last.event;
      const outgoing = { event, repeats, isSummary: isMixed, attempt: failures + 1 };
      origins.set(outgoing, { series: last, excess });
      return outgoing;
    }
    return undefined;
  };

  const takeReady = (now: Seconds): OutgoingEvent | undefined => {
    for (const series of ready) {
      const { event, repeats, failures } = series;
      ready.delete(series);
      if (repeats === undefined) continue;
      series.repeats = undefined;
      series.failures = 0;
      series.windowEndsAt = now + limits.window;
      collecting.add(series);
      const outgoing = { event, repeats, isSummary: false, attempt: failures + 1 };
      origins.set(outgoing, { series });
      return outgoing;
    }
    return undefined;
  };

  return {
    get pending() {
      let count = 0;
      for (const { repeats } of known.values()) count += repeats?.count ?? 0;
      for (const objectKey of exceeding) count += objects.get(objectKey)?.excess?.repeats.count ?? 0;
      return count;
    },

    add(event, { now, utc }) {
      const described = describeEvent(event);
      if (described === undefined) return;
      const once: EventRepeats = { count: 1, first: utc, last: utc };
      const series = known.get(described.key);
      if (series !== undefined) {
        series.repeats = joinedRepeats(series.repeats, once);
        return;
      }
      const fresh: EventSeries = { ...described, repeats: once, windowEndsAt: now, failures: 0 };
      known.set(fresh.key, fresh);
      makeReady(fresh, now);
    },

    take(now, { isHurrying = false } = {}) {
      promote(now, isHurrying);
      if (!overall.take(now)) return undefined;
      const outgoing = takeReady(now) ?? takeExcess(now, isHurrying);
      if (outgoing === undefined) overall.giveBack();
      return outgoing;
    },

    giveBack(outgoing, now) {
      const origin = origins.get(outgoing);
      if (origin === undefined || outgoing.attempt >= limits.attempts) return false;
      if (origin.excess === undefined) restoreSeries(origin.series, outgoing.repeats, outgoing.attempt, now);
      else restoreExcess(origin.excess, outgoing.attempt, now);
      return true;
    },

    nextAt(now, { isHurrying = false } = {}) {
      if (isHurrying) return ready.size + exceeding.size > 0 ? overall.nextAt(now) : undefined;
      const times: Seconds[] = [];
      for (const { windowEndsAt } of collecting) {
        times.push(windowEndsAt);
        break;
      }
      let excessAt = Number.POSITIVE_INFINITY;
      for (const objectKey of exceeding) {
        const object = objects.get(objectKey);
        if (object !== undefined) excessAt = Math.min(excessAt, object.bucket.nextAt(now));
      }
      if (ready.size > 0) times.push(overall.nextAt(now));
      if (Number.isFinite(excessAt)) times.push(Math.max(excessAt, overall.nextAt(now)));
      return times.length > 0 ? Math.min(...times) : undefined;
    },

    takeDropped() {
      const count = dropped;
      dropped = 0;
      return count;
    },
  };
}
