/** Server-side apply, and who manages what after any write. */
import { deepEqual } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import type { FieldType } from '../schemas/field-types.js';
import { type Conflict, ConflictsError } from './conflicts.js';
import { difference, type FieldSet, intersection, isEmpty, NOTHING, setOf, union, withoutTrees } from './field-sets.js';
import { distinct, entryOf, type Identity, isOf, type ManagerEntry, settled } from './managers.js';
import { misfits } from './walks/applied-check.js';
import { appliedFields } from './walks/applied-fields.js';
import { type Changes, changesOf } from './walks/comparison.js';
import { merged } from './walks/merging.js';
import { pruned } from './walks/pruning.js';

/** The kind of an object, as far as its fields matter. */
export interface FieldedKind {
  /** In the version of the request. */
  readonly type: FieldType;
  /** What a write of this kind does not change, whatever is sent; nobody becomes its manager by that. */
  readonly resets: FieldSet;
  /** The same object in another version with the type of that version; `undefined` if there is none. */
  inVersion(apiVersion: string): VersionedKind | undefined;
}

interface VersionedKind {
  readonly type: FieldType;
  convert(object: ServedObject): ServedObject;
}

export interface Writing {
  readonly kind: FieldedKind;
  /** Who writes. */
  readonly identity: Identity;
  /** As it is before; without managed fields, as it does not manage them. */
  readonly live: ServedObject;
  readonly managers: readonly ManagerEntry[];
  /** As it is written into the entries. */
  readonly now: string;
}

/** Nobody manages these: they are of the server, or make the object what it is. */
const STRIPPED: FieldSet = {
  ...setOf('f:apiVersion'),
  ...setOf('f:kind'),
  'f:metadata': {
    '.': NOTHING,
    'f:name': NOTHING,
    'f:namespace': NOTHING,
    'f:creationTimestamp': NOTHING,
    'f:selfLink': NOTHING,
    'f:uid': NOTHING,
    'f:clusterName': NOTHING,
    'f:generation': NOTHING,
    'f:managedFields': NOTHING,
    'f:resourceVersion': NOTHING,
  },
};

/** The managers after the object was replaced by another one, whatever the way. */
export function managersAfter(writing: Writing, object: ServedObject): readonly ManagerEntry[] {
  const { kind, identity, live, now } = writing;
  const managers = distinct(writing.managers);
  const own = filteredBy(kind, changesOf(live, object, kind.type));
  const isSame = isEmpty(own.changed) && isEmpty(own.removed);
  // Whoever writes in another version may see more of a change than there is: what it does not know, for instance.
  if (isSame && managers.every(({ apiVersion }) => apiVersion === identity.apiVersion)) return managers;
  const taken = difference(own.changed, STRIPPED);
  const changesFor = perVersion(writing, own, object);
  let isKnown = false;
  const entries: ManagerEntry[] = [];
  for (const entry of managers) {
    const changes = changesFor(entry.apiVersion);
    if (changes === undefined) continue;
    const isOwn = isOf(entry, identity);
    isKnown ||= isOwn;
    const left = difference(difference(entry.fieldsV1, changes.removed), changes.changed);
    const fields = isOwn ? union(difference(entry.fieldsV1, changes.removed), taken) : left;
    entries.push(withFields(entry, fields, isOwn && !isEmpty(taken) ? now : entry.time));
  }
  if (!isKnown) entries.push(entryOf(identity, taken, now));
  return settled(entries);
}

function withFields(entry: ManagerEntry, fieldsV1: FieldSet, time: string | undefined): ManagerEntry {
  if (fieldsV1 === entry.fieldsV1 && time === entry.time) return entry;
  return { ...entry, ...(time === undefined ? {} : { time }), fieldsV1 };
}

function filteredBy({ resets }: FieldedKind, changes: Changes): Changes {
  if (isEmpty(resets)) return changes;
  return { changed: withoutTrees(changes.changed, resets), removed: withoutTrees(changes.removed, resets) };
}

/** The same changes as managers in other versions see them; `undefined` for versions that are no more. */
function perVersion(writing: Writing, own: Changes, object: ServedObject): (apiVersion: string) => Changes | undefined {
  const { kind, identity, live } = writing;
  const known = new Map<string, Changes | undefined>([[identity.apiVersion, own]]);
  return (apiVersion) => {
    if (!known.has(apiVersion)) {
      const other = kind.inVersion(apiVersion);
      known.set(apiVersion, other && filteredBy(kind, changesIn(other, live, object)));
    }
    return known.get(apiVersion);
  };
}

function changesIn({ type, convert }: VersionedKind, live: ServedObject, object: ServedObject): Changes {
  const [before, after] = [convert(live), convert(object)];
  // What the other version does not know, it cannot be compared by.
  refuseMisfits(before, type);
  refuseMisfits(after, type);
  return changesOf(before, after, type);
}

/** Says where an object does not fit into the type by which its managers know it. */
export class MisfitError extends Error {}

/** Throws a `MisfitError`. */
export function refuseMisfits(object: ServedObject, type: FieldType): void {
  const [problem] = misfits(object, type);
  if (problem !== undefined) throw new MisfitError(problem);
}

/** An application drops what was applied before, as the managers know it, each in its version. */
function refuseUnknownTo(managers: readonly ManagerEntry[], { kind, identity }: Writing, whole: ServedObject): void {
  for (const version of new Set(managers.map(({ apiVersion }) => apiVersion))) {
    const other = version === identity.apiVersion ? undefined : kind.inVersion(version);
    if (other !== undefined) refuseMisfits(other.convert(whole), other.type);
  }
}

export interface Applied {
  /** Not yet defaulted nor validated; `undefined` if nothing in it changes. */
  readonly object: ServedObject | undefined;
  readonly managers: readonly ManagerEntry[];
}

/** Applies a configuration that fits the type. Throws a `ConflictsError`, unless it is forced. */
export function applied(writing: Writing, configuration: ServedObject, isForced: boolean): Applied {
  const { kind, identity, live, now } = writing;
  const managers = distinct(writing.managers);
  const fields = withoutTrees(appliedFields(configuration, kind.type), kind.resets);
  const former = managers.find((entry) => isOf(entry, identity));
  const others = managers.filter((entry) => entry !== former);
  const whole = merged(live, configuration, kind.type) as ServedObject;
  const owned = others.reduce((all, entry) => union(all, entry.fieldsV1), fields);
  const formerFields = former === undefined ? NOTHING : withoutTrees(former.fieldsV1, kind.resets);
  if (!isEmpty(formerFields)) refuseUnknownTo(managers, writing, whole);
  const object = pruned(whole, formerFields, owned, kind.type) as ServedObject;

  const changesFor = perVersion(writing, filteredBy(kind, changesOf(live, object, kind.type)), object);
  const remaining: ManagerEntry[] = [];
  const conflicts: Conflict[] = [];
  for (const entry of others) {
    const changes = changesFor(entry.apiVersion);
    if (changes === undefined) continue;
    const contested = intersection(entry.fieldsV1, changes.changed);
    if (!isEmpty(contested)) conflicts.push({ with: entry, fields: contested });
    remaining.push(withFields(entry, difference(difference(entry.fieldsV1, contested), changes.removed), entry.time));
  }
  if (conflicts.length > 0 && !isForced) throw new ConflictsError(conflicts);
  const isSame = deepEqual(live, object);
  const entry = entryOf(identity, difference(fields, STRIPPED), isSame ? former?.time : now);
  return { object: isSame ? undefined : object, managers: settled([...remaining, entry]) };
}
