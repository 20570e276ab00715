/** The order of API versions: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`, and then the rest by name. */

const PATTERN = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STABILITY: Readonly<Record<string, number>> = { alpha: 1, beta: 2 };

/** Sorts the preferred version first. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1;
    if (right !== undefined) return 1;
    return a < b ? -1 : Number(a > b);
  }
  for (const [index, rank] of left.entries()) {
    const difference = (right[index] as number) - rank;
    if (difference !== 0) return difference;
  }
  return 0;
}

function rankOf(version: string): readonly number[] | undefined {
  const match = PATTERN.exec(version);
  if (match === null) return undefined;
  const [, major = '0', stage, minor = '0'] = match;
  return [stage === undefined ? 3 : (STABILITY[stage] ?? 0), Number(major), Number(minor)];
}
