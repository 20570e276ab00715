/**
 * Sets of fields, in the very form in which objects carry them (`FieldsV1`): a tree with a key for each step of a path.
 *
 * `{ "f:data": { ".": {}, "f:a": {} } }` has two members: `.data` and `.data.a`. An empty node is a member; a node with
 * something beneath it is one only if it has a dot. So the sets are read and written without any conversion. They never
 * change: operations return new sets, and share what is the same.
 */
export interface FieldSet {
  readonly [step: string]: FieldSet;
}

type Growing = Record<string, FieldSet>;

const DOT = '.';

/** A member with nothing beneath it; and, at the top, the set of nothing. */
export const LEAF: FieldSet = Object.freeze({});
export const NOTHING: FieldSet = Object.freeze({});

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Is the step itself in the set, and not only something beneath it? */
export function isMember(node: FieldSet): boolean {
  return node[DOT] !== undefined || isEmpty(node);
}

/** Is there anything beneath it? */
export function hasInside(node: FieldSet): boolean {
  for (const step in node) if (step !== DOT) return true;
  return false;
}

/** A node as its parts say; `undefined` if there is nothing in it. */
function nodeOf(isMemberItself: boolean, inside: FieldSet | undefined): FieldSet | undefined {
  if (inside === undefined || isEmpty(inside)) return isMemberItself ? LEAF : undefined;
  return isMemberItself ? { [DOT]: LEAF, ...inside } : inside;
}

/** A node that is a member with these beneath it. */
export function memberWith(inside: FieldSet): FieldSet {
  return nodeOf(true, inside) as FieldSet;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  let result: Growing | undefined;
  for (const step in b) {
    if (step === DOT) continue;
    const mine = a[step];
    const other = b[step] as FieldSet;
    const joined = mine === undefined ? other : joinedNode(mine, other);
    if (joined === mine) continue;
    result ??= { ...a };
    result[step] = joined;
  }
  return result ?? a;
}

function joinedNode(a: FieldSet, b: FieldSet): FieldSet {
  const isMemberOfA = isMember(a);
  const inside = hasInside(b) ? union(hasInside(a) ? a : NOTHING, withoutDot(b)) : a;
  if (inside === a && (isMemberOfA || !isMember(b))) return a;
  return nodeOf(isMemberOfA || isMember(b), withoutDot(inside)) as FieldSet;
}

function withoutDot(node: FieldSet): FieldSet {
  if (node[DOT] === undefined) return node;
  const { [DOT]: _dot, ...inside } = node;
  return inside;
}

/** The members of the first one that are not members of the second one. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return filtered(a, b, (mine, other) => nodeOf(isMember(mine) && !isMember(other), insideOf(difference, mine, other)));
}

/** As the difference, but what is beneath the members of the second one goes, too. */
export function withoutTrees(a: FieldSet, b: FieldSet): FieldSet {
  return filtered(a, b, (mine, other) =>
    isMember(other) ? undefined : nodeOf(isMember(mine), insideOf(withoutTrees, mine, other)),
  );
}

function insideOf(operation: typeof difference, a: FieldSet, b: FieldSet): FieldSet {
  return hasInside(b) ? operation(withoutDot(a), b) : withoutDot(a);
}

/** The first one itself, if nothing of it is in the second one. */
function filtered(
  a: FieldSet,
  b: FieldSet,
  remaining: (mine: FieldSet, other: FieldSet) => FieldSet | undefined,
): FieldSet {
  let result: Growing | undefined;
  for (const step in a) {
    const mine = a[step] as FieldSet;
    const other = step === DOT ? undefined : b[step];
    if (other === undefined) continue;
    const left = remaining(mine, other);
    if (left !== undefined && isSame(left, mine)) continue;
    result ??= { ...a };
    if (left === undefined) delete result[step];
    else result[step] = left;
  }
  return result ?? a;
}

/** As far as one step can tell: what is beneath is shared, unless it differs. */
function isSame(a: FieldSet, b: FieldSet): boolean {
  let count = 0;
  for (const step in a) {
    if (a[step] !== b[step]) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const result: Growing = {};
  for (const step in a) {
    const mine = a[step] as FieldSet;
    const other = step === DOT ? undefined : b[step];
    if (other === undefined) continue;
    const inside = hasInside(mine) && hasInside(other) ? intersection(mine, other) : undefined;
    const both = nodeOf(isMember(mine) && isMember(other), inside);
    if (both !== undefined) result[step] = both;
  }
  return result;
}

/** The members, each as the steps to it, in the order in which Kubernetes tells them. */
export function* membersOf(set: FieldSet, before: readonly string[] = []): Iterable<readonly string[]> {
  const steps = Object.keys(set)
    .filter((step) => step !== DOT)
    .sort();
  for (const step of steps) if (isMember(set[step] as FieldSet)) yield [...before, step];
  for (const step of steps) yield* membersOf(set[step] as FieldSet, [...before, step]);
}

/** The set with the one member at the end of the steps. */
export function setOf(...steps: readonly string[]): FieldSet {
  return steps.reduceRight<FieldSet>((inside, step) => ({ [step]: inside }), LEAF);
}
