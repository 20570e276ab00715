/** The arithmetic of rollouts: how many replicas each of the sets may have next. */

export interface Rollout {
  /** How many are wanted. */
  readonly replicas: number;
  /** How many there may be beyond those. */
  readonly maxSurge: number;
  /** How many of those may be unavailable. */
  readonly maxUnavailable: number;
}

export interface SetSize {
  /** By its specification. */
  readonly replicas: number;
  readonly available: number;
}

/** A number, or a percentage of the replicas: `1`, `"25%"`. */
type NumberOrPercentage = number | string | undefined;

/** A surge is rounded up, what may be missing is rounded down; but something has to be possible. */
export function rolloutOf(
  replicas: number,
  strategy: { readonly maxSurge?: NumberOrPercentage; readonly maxUnavailable?: NumberOrPercentage } | undefined,
): Rollout {
  const maxSurge = scaled(strategy?.maxSurge, replicas, Math.ceil);
  const maxUnavailable = scaled(strategy?.maxUnavailable, replicas, Math.floor);
  return { replicas, maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

export function scaled(value: NumberOrPercentage, total: number, round: (value: number) => number): number {
  if (typeof value !== 'string') return value ?? 0;
  return round((Number.parseInt(value, 10) * total) / 100);
}

/** How many may be unavailable at most: never more than there are. */
export const mostUnavailable = ({ replicas, maxUnavailable }: Rollout): number => Math.min(maxUnavailable, replicas);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** How big the new set becomes, beside the old ones: as far as the surge allows. */
export function newSetSize(rollout: Rollout, current: number, old: readonly SetSize[]): number {
  const { replicas, maxSurge } = rollout;
  if (current >= replicas) return replicas;
  const total = current + sum(old.map((set) => set.replicas));
  const room = replicas + maxSurge - total;
  return room <= 0 ? current : current + Math.min(room, replicas - current);
}

/**
 * How big the old sets become, from the oldest on. First go the replicas that are of no use anyway, then as many of the
 * others as the new ones can stand in for.
 */
export function oldSetSizes(rollout: Rollout, fresh: SetSize, old: readonly SetSize[]): readonly number[] {
  const sizes = old.map(({ replicas }) => replicas);
  const minAvailable = rollout.replicas - mostUnavailable(rollout);
  let room = sum(sizes) + fresh.replicas - minAvailable - (fresh.replicas - fresh.available);
  if (room <= 0) return sizes;
  for (const [index, { replicas, available }] of old.entries()) {
    const useless = Math.max(0, Math.min(room, replicas - available));
    sizes[index] = replicas - useless;
    room -= useless;
  }
  let spare = fresh.available + sum(old.map(({ available }) => available)) - minAvailable;
  for (const [index, size] of sizes.entries()) {
    if (spare <= 0) break;
    // Those that were of no use are not available either.
    const less = Math.min(size, spare);
    sizes[index] = size - less;
    spare -= less;
  }
  return sizes;
}

export interface ProportionalSet {
  readonly replicas: number;
  /** How many there could be in all when it was scaled the last time; unknown if it never was. */
  readonly maxReplicas: number | undefined;
}

/**
 * How big the sets become when the deployment is scaled in the midst of a rollout: each grows or shrinks by its share.
 * They come in the order in which they are served; what is left by rounding goes to the first.
 */
export function proportionalSizes(
  rollout: Rollout,
  sets: readonly ProportionalSet[],
  total: number,
): readonly number[] {
  const { replicas, maxSurge } = rollout;
  const most = replicas > 0 ? replicas + maxSurge : 0;
  const wanted = most - sum(sets.map((set) => set.replicas));
  let added = 0;
  const sizes = sets.map((set) => {
    const left = wanted - added;
    if (wanted === 0 || set.replicas === 0 || left === 0) return set.replicas;
    const share = shareOf(set, rollout, total);
    const change = wanted > 0 ? Math.min(share, left) : Math.max(share, left);
    added += change;
    return set.replicas + change;
  });
  const [first, ...others] = sizes;
  return first === undefined ? [] : [Math.max(0, first + wanted - added), ...others];
}

function shareOf({ replicas, maxReplicas }: ProportionalSet, rollout: Rollout, total: number): number {
  if (rollout.replicas === 0) return -replicas;
  const before = maxReplicas ?? total;
  if (before === 0) return 0;
  return Math.round((replicas * (rollout.replicas + rollout.maxSurge)) / before) - replicas;
}
