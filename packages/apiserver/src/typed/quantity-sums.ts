/** Sums of quantities, in the form in which the real server writes them. */
import { canonicalQuantity, inNano } from './quantity.js';

const BINARY = /[KMGTPE]i$/;
const NANO = 10n ** 9n;

/** The form is that of the first one, unless that is zero. */
export function addQuantities(a: string, b: string): string {
  return written(inNano(a) + inNano(b), inNano(a) === 0n ? b : a);
}

export function subtractQuantities(a: string, b: string): string {
  return written(inNano(a) - inNano(b), inNano(a) === 0n ? b : a);
}

/** How many times the second one is in the first. */
export function ratioOf(a: string, b: string): number {
  return Number(inNano(a)) / Number(inNano(b));
}

function written(nano: bigint, like: string): string {
  if (BINARY.test(like) && nano % NANO === 0n) return inBinary(nano / NANO);
  return canonicalQuantity(`${nano}n`) ?? '0';
}

function inBinary(value: bigint): string {
  // A number with a suffix is written in that family of suffixes, whatever its size.
  const isLarge = value !== 0n && value % 1024n === 0n;
  return isLarge ? (canonicalQuantity(`${value / 1024n}Ki`) ?? '0') : String(value);
}
