/** Compares resource versions of objects and lists. */

const DIGITS = /^(0|[1-9]\d*)$/;

/**
 * Negative if the first is older, positive if it is newer, zero if it is the same; `undefined` if that cannot be
 * told. All storages that Kubernetes is run with number their versions; but it promises so only of late.
 */
export function compareVersions(one: string | undefined, two: string | undefined): number | undefined {
  if (one === undefined || two === undefined) return undefined;
  if (one === two) return 0;
  if (!DIGITS.test(one) || !DIGITS.test(two)) return undefined;
  // They may exceed the range of numbers, but texts of the same length have the same order.
  if (one.length !== two.length) return one.length - two.length;
  return one < two ? -1 : 1;
}
