/** Comparing what an object was when it was last handled with what it is now. */
import { type Diff, diff } from '../diff.js';
import { digestOf, isDigestOnly } from '../digest.js';
import type { Essence } from './essence.js';

export interface Comparison {
  readonly diff: Diff;
  /** Whether there was anything to compare with. */
  readonly wasHandled: boolean;
  /** What handlers can be shown of the past; `undefined` if there was none, or if only its digest is known. */
  readonly old: Essence | undefined;
  /** Whether it was handled, but only its digest could be kept: it is known that it has changed, but not what. */
  readonly oldIsUnavailable: boolean;
}

/**
 * The difference of two essences. If all that is known of the old one is its digest, then either nothing has changed,
 * or everything may have: the latter is one change of the whole object, so that no handler misses what it waits for.
 */
export function compareEssences(stored: Essence | undefined, current: Essence | undefined): Comparison {
  if (stored === undefined || !isDigestOnly(stored)) {
    const wasHandled = stored !== undefined;
    return { diff: diff(stored, current), wasHandled, old: stored, oldIsUnavailable: false };
  }
  const isSame = current !== undefined && digestOf(stored) === digestOf(current);
  const changes: Diff = isSame ? [] : [['change', [], undefined, current]];
  return { diff: changes, wasHandled: true, old: undefined, oldIsUnavailable: true };
}
