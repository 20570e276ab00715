/** Whether our finalizer must hold an object's deletion or release it. Pure. */

export interface BlockingFacts {
  /** Some handler wants to be called before the object vanishes: a daemon, a timer, a mandatory deletion handler. */
  readonly deletionMustBeBlocked: boolean;
  /** Our finalizer is on the object. */
  readonly deletionIsBlocked: boolean;
  readonly deletionIsOngoing: boolean;
}

/**
 * `block` and `release` change the finalizers and leave the change handlers to the next cycle, since that change
 * must be on the object before (or after) any of their side effects. `release-when-done` handles the deletion first.
 */
export type BlockingDecision = 'block' | 'release' | 'release-when-done' | 'nothing';

export function decideBlocking(facts: BlockingFacts): BlockingDecision {
  const { deletionMustBeBlocked, deletionIsBlocked, deletionIsOngoing } = facts;
  if (deletionMustBeBlocked && !deletionIsBlocked && !deletionIsOngoing) return 'block';
  if (!deletionMustBeBlocked && deletionIsBlocked) return 'release';
  if (deletionMustBeBlocked && deletionIsBlocked && deletionIsOngoing) return 'release-when-done';
  // Objects being deleted can no longer be blocked; others that are already right need no change.
  return 'nothing';
}
