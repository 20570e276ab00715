/**
 * Objects on which some index functions have failed: for good, or until the next attempt. Nothing is kept of any
 * other object.
 */
import type { Clock, HandlerId, Seconds } from '@kopf-ts/core';
import type { Outcome } from '@kopf-ts/core/engine';
import { type Alarm, alarm } from './alarm.js';

/** Of one function on one object. */
export interface Exclusion {
  readonly isPermanent: boolean;
  /** Attempts so far. */
  readonly retries: number;
  readonly started: Date;
  readonly startedAt: Seconds;
  /** From then on, an event of the object makes the next attempt. */
  readonly dueAt: Seconds;
  /** Then the next attempt is made without any event. */
  readonly retryAt: Seconds;
  /** Whether the function still wants this object, by its filters. If not, nobody waits for the next attempt. */
  isWanted: boolean;
}

export type ExclusionsOfObject = ReadonlyMap<HandlerId, Exclusion>;

/** What has changed in the exclusions of one object; `undefined` for the ones that are over. */
type ExclusionChanges = ReadonlyMap<HandlerId, Exclusion | undefined>;

export interface Exclusions<At> {
  of(key: string): ExclusionsOfObject | undefined;
  /** The object as it was last seen, if it waits for another attempt. */
  stateOf(key: string): At | undefined;
  /** Remembers the exclusions, and the state of the object if it will be needed for the next attempt. */
  update(key: string, changes: ExclusionChanges | undefined, at: At): void;
  forget(key: string): void;
  close(): void;
}

/**
 * A function that asks for another attempt with no delay gets it with the next event. Without events, it is not
 * called more often than that: it would be called in an endless loop.
 */
const SHORTEST_PAUSE: Seconds = 1;

export function exclusions<At>(clock: Clock, retry: (key: string, at: At) => void): Exclusions<At> {
  const objects = new Map<string, { readonly functions: Map<HandlerId, Exclusion>; at: At | undefined }>();
  const retries: Alarm = alarm(clock, (key) => {
    const at = objects.get(key)?.at;
    if (at !== undefined) retry(key, at);
  });

  return {
    of: (key) => objects.get(key)?.functions,
    stateOf: (key) => objects.get(key)?.at,
    update(key, changes, at) {
      const object = objects.get(key) ?? { functions: new Map<HandlerId, Exclusion>(), at: undefined };
      for (const [id, exclusion] of changes ?? []) {
        if (exclusion === undefined) object.functions.delete(id);
        else object.functions.set(id, exclusion);
      }
      const retryAt = earliestRetry(object.functions.values());
      object.at = retryAt === undefined ? undefined : at;
      if (retryAt === undefined) retries.drop(key);
      else retries.set(key, retryAt);
      if (object.functions.size === 0) objects.delete(key);
      else objects.set(key, object);
    },
    forget(key) {
      objects.delete(key);
      retries.drop(key);
    },
    close: () => retries.close(),
  };
}

function earliestRetry(functions: Iterable<Exclusion>): Seconds | undefined {
  let earliest: Seconds | undefined;
  for (const { isPermanent, isWanted, retryAt } of functions) {
    if (isPermanent || !isWanted) continue;
    earliest = Math.min(retryAt, earliest ?? retryAt);
  }
  return earliest;
}

type Failure = Extract<Outcome, { readonly error: Error }>;

/** When the function was first called for the object, and how many times. */
export type Attempt = Pick<Exclusion, 'retries' | 'started' | 'startedAt'>;

/** What to remember after a failure. */
export function exclusionAfter(outcome: Failure, attempt: Attempt, now: Seconds): Exclusion {
  const { retries, started, startedAt } = attempt;
  const asked = outcome.final ? Number.POSITIVE_INFINITY : (outcome.delay ?? 0);
  const delay = Number.isNaN(asked) ? 0 : Math.max(0, asked);
  const dueAt = now + delay;
  const retryAt = now + Math.max(SHORTEST_PAUSE, delay);
  return { isPermanent: outcome.final, retries: retries + 1, started, startedAt, dueAt, retryAt, isWanted: true };
}
