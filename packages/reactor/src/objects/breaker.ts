/**
 * The breaker: slows down handlers that patch the same fields again and again without a pause. An object has one for
 * change handlers, and one for event handlers.
 *
 * The cause does not matter: a handler that is triggered by its own change, or another writer that undoes the change
 * each time. Fields that nobody undoes do not count, nor do retries: handlers pace these themselves. Timers and daemons
 * have their own pace. Pure.
 */
import type { HandlerId, Seconds } from '@kopf-ts/core';

export interface Breaker {
  readonly flaps: ReadonlyMap<string, Flap>;
  /** Consecutive trips. */
  readonly trips: number;
  /** Until then, these handlers are not called, except for a deletion. */
  readonly until: Seconds | undefined;
  /** The versions made by our own latest changes: handlers called for these are called for our own doing. */
  readonly versions: readonly string[];
}

/** One field that was patched. */
interface Flap {
  readonly count: number;
  readonly at: Seconds;
  /** The field right after the patch, as JSON. */
  readonly left: string | undefined;
}

/** A field that a handler has patched. */
export interface PatchedField {
  readonly field: string;
  readonly handler: HandlerId;
  /** Before and after the patch, as JSON. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface PatchFacts {
  readonly now: Seconds;
  readonly patched: readonly PatchedField[];
  /** Whether the handlers were called for the result of our own previous patch. */
  readonly isOwnDoing: boolean;
  /** The versions made by our changes since then. */
  readonly versions?: readonly string[];
}

export interface Tripping {
  readonly delay: Seconds;
  readonly fields: readonly string[];
  readonly handlers: readonly HandlerId[];
  /** Whether this is the first trip of a row: only that one is logged. */
  readonly isFirst: boolean;
}

export interface AfterPatch {
  readonly breaker: Breaker;
  /** Present if it has tripped. */
  readonly tripping?: Tripping;
}

export const UNBROKEN: Breaker = Object.freeze({
  flaps: new Map<string, Flap>(),
  trips: 0,
  until: undefined,
  versions: [],
});

/** How many patches in a row are still normal. */
const MAX_IN_ROW = 10;
/** A pause of that length ends the row. */
const QUIET: Seconds = 1;
/** How many versions are kept: the stream may lag far behind. */
const MAX_VERSIONS = 16;
const MIN_DELAY: Seconds = 1;
const MAX_DELAY: Seconds = 300;

/** The state after a patch by handlers. */
export function afterPatch(breaker: Breaker, facts: PatchFacts): AfterPatch {
  const { now, patched, isOwnDoing } = facts;
  if (patched.length === 0 && breaker === UNBROKEN) return { breaker };
  const versions = [...breaker.versions, ...(facts.versions ?? [])].slice(-MAX_VERSIONS);
  // Our marks come and go: what is seen next is still our own doing.
  if (patched.length === 0) return { breaker: { ...breaker, versions } };
  const flaps = new Map<string, Flap>();
  const limit = breaker.trips > 0 ? 1 : MAX_IN_ROW;
  const isQuiet = ({ at }: Flap): boolean => now - Math.max(at, breaker.until ?? at) >= QUIET;
  for (const [field, flap] of breaker.flaps) if (!isQuiet(flap)) flaps.set(field, flap);
  const isCalm = flaps.size === 0;
  for (const { field, before, after } of patched) {
    const earlier = flaps.get(field);
    const isUndone = earlier !== undefined && earlier.left !== before;
    const isFlapping = earlier !== undefined && (isOwnDoing || isUndone);
    flaps.set(field, { count: isFlapping ? earlier.count + 1 : 1, at: now, left: after });
  }
  const flapping = patched.filter(({ field }) => (flaps.get(field)?.count ?? 0) > limit);
  if (flapping.length === 0)
    return { breaker: { flaps, trips: isCalm ? 0 : breaker.trips, until: undefined, versions } };

  const trips = isCalm ? 1 : breaker.trips + 1;
  const delay = Math.min(MAX_DELAY, MIN_DELAY * 2 ** (trips - 1));
  return {
    breaker: { flaps, trips, until: now + delay, versions },
    tripping: {
      delay,
      fields: [...new Set(flapping.map(({ field }) => field))],
      handlers: [...new Set(flapping.map(({ handler }) => handler))],
      isFirst: trips === 1,
    },
  };
}

/** How long the handlers are held back; `undefined` if they are not. */
export function timeLeft({ until }: Breaker, now: Seconds): Seconds | undefined {
  return until !== undefined && until > now ? until - now : undefined;
}
