/** JSON-patches (RFC 6902) made from two states of an object. */
import type { FieldPath } from '../fields.js';
import { deepEqual, isMapping, type Mapping } from '../json.js';

/** The operations that are ever made here. `test` makes a patch conditional. */
export type JsonPatchOp =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * The operations that turn one value into the other, to be applied in their order; none if the two are equal.
 *
 * Neither of the values is changed, but parts of the second one are in the operations as they are, not copied.
 * Lists are compared by elements: an element that is added to or removed from a list is one operation. What is nested
 * deeper than 50 levels is replaced as a whole.
 */
export function jsonPatch(before: unknown, after: unknown): JsonPatchOp[] {
  const ops: JsonPatchOp[] = [];
  compare(before, after, { path: '', depth: 0 }, ops);
  return ops;
}

/** A key as it is spelled inside of a JSON-pointer. */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The path that a JSON-pointer means. */
export function parsePointer(pointer: string): FieldPath {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Elements of lists are compared at each level anew: deeper than that, a shorter patch is not worth the time. */
const MAX_POINTER_DEPTH = 50;

interface Place {
  readonly path: string;
  readonly depth: number;
}

function placeIn({ path, depth }: Place, key: string | number): Place {
  return { path: `${path}/${typeof key === 'number' ? key : escapePointer(key)}`, depth: depth + 1 };
}

function compare(before: unknown, after: unknown, at: Place, ops: JsonPatchOp[]): void {
  if (before === after) return;
  const isShallow = at.depth <= MAX_POINTER_DEPTH;
  if (isShallow && isMapping(before) && isMapping(after)) compareMappings(before, after, at, ops);
  else if (isShallow && Array.isArray(before) && Array.isArray(after)) compareLists(before, after, at, ops);
  else if (isShallow || !deepEqual(before, after)) ops.push({ op: 'replace', path: at.path, value: after });
}

function compareMappings(before: Mapping, after: Mapping, at: Place, ops: JsonPatchOp[]): void {
  const isIn = (source: Mapping, key: string) => Object.hasOwn(source, key) && source[key] !== undefined;
  for (const key of Object.keys(before)) {
    if (!isIn(before, key)) continue;
    if (!isIn(after, key)) ops.push({ op: 'remove', path: placeIn(at, key).path });
    else if (before[key] !== after[key]) compare(before[key], after[key], placeIn(at, key), ops);
  }
  for (const key of Object.keys(after)) {
    if (isIn(after, key) && !isIn(before, key)) {
      ops.push({ op: 'add', path: placeIn(at, key).path, value: after[key] });
    }
  }
}

function compareLists(before: readonly unknown[], after: readonly unknown[], at: Place, ops: JsonPatchOp[]): void {
  let indexBefore = 0;
  let indexAfter = 0;
  const fillGap = (endBefore: number, endAfter: number): void => {
    // Everything to the left is already as it should be, so the positions are those of the new list.
    for (; indexBefore < endBefore && indexAfter < endAfter; indexBefore++, indexAfter++) {
      compare(before[indexBefore], after[indexAfter], placeIn(at, indexAfter), ops);
    }
    for (; indexBefore < endBefore; indexBefore++) ops.push({ op: 'remove', path: placeIn(at, indexAfter).path });
    for (; indexAfter < endAfter; indexAfter++) {
      ops.push({ op: 'add', path: placeIn(at, indexAfter).path, value: after[indexAfter] });
    }
  };
  for (const [keptBefore, keptAfter] of keptElements(before, after)) {
    fillGap(keptBefore, keptAfter);
    indexBefore++;
    indexAfter++;
  }
  fillGap(before.length, after.length);
}

type Kept = readonly [indexBefore: number, indexAfter: number];

/** Beyond that many comparisons, a shorter patch is not worth the time; pairing by position is correct, too. */
const MAX_COMPARISONS = 10_000;

/** Which elements stay, and where: equal heads, equal tails, and the longest common subsequence between them. */
function keptElements(before: readonly unknown[], after: readonly unknown[]): Kept[] {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && deepEqual(before[head], after[head])) head++;
  let tail = 0;
  while (tail < shortest - head && deepEqual(before.at(-1 - tail), after.at(-1 - tail))) tail++;

  const kept: Kept[] = [];
  for (let index = 0; index < head; index++) kept.push([index, index]);
  const middleBefore = before.slice(head, before.length - tail);
  const middleAfter = after.slice(head, after.length - tail);
  if (middleBefore.length * middleAfter.length <= MAX_COMPARISONS) {
    for (const [i, j] of longestCommonSubsequence(middleBefore, middleAfter)) kept.push([head + i, head + j]);
  }
  for (let index = tail; index > 0; index--) kept.push([before.length - index, after.length - index]);
  return kept;
}

function longestCommonSubsequence(before: readonly unknown[], after: readonly unknown[]): Kept[] {
  const width = after.length + 1;
  // The cell [i, j] is the length of the longest subsequence that before[i…] and after[j…] share.
  const lengths = new Uint32Array((before.length + 1) * width);
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] = deepEqual(before[i], after[j])
        ? lengthAt(i + 1, j + 1) + 1
        : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const kept: Kept[] = [];
  for (let i = 0, j = 0; lengthAt(i, j) > 0; ) {
    if (lengthAt(i, j) === lengthAt(i + 1, j)) i++;
    else if (lengthAt(i, j) === lengthAt(i, j + 1)) j++;
    else kept.push([i++, j++]);
  }
  return kept;
}
