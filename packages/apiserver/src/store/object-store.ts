/** All objects of a cluster, their versions, and the listeners to their changes. */
import type { Collection, Journal, KeptChange, Revision, Store, StoreEvent } from '../contracts/store.js';
import { expired, StatusError } from '../http/status-errors.js';
import { widened } from '../text/narrow-json.js';
import { type HistoryLimits, makeHistory } from './history.js';
import { keptRevision, makeRevision, withVersion } from './revision.js';
import { byText, keyOf, makeSortedCollection, type SortedCollection } from './sorted-collection.js';

type Listener = (event: StoreEvent) => void;

const DEFAULT_LIMITS: HistoryLimits = { events: 20_000, characters: 64 * 1024 * 1024 };

/** As much as etcd takes at once, by default; what else there is in its requests is not counted here. */
const MAX_OBJECT_BYTES = 1.5 * 1024 * 1024;

function requireRoom({ json }: Revision): void {
  // A character is three bytes at most, so that small objects need not be counted.
  if (json.length * 3 <= MAX_OBJECT_BYTES || Buffer.byteLength(widened(json)) <= MAX_OBJECT_BYTES) return;
  throw new StatusError(500, '', 'etcdserver: request is too large');
}

const byKey = (a: Revision, b: Revision): number => byText(keyOf(a.namespace, a.name), keyOf(b.namespace, b.name));

/** Both in order, with no key in common; the others are few. */
function merged(many: readonly Revision[], few: readonly Revision[]): Revision[] {
  const all: Revision[] = [];
  let taken = 0;
  for (const one of few) {
    const position = positionOf(one, many, taken);
    for (; taken < position; taken++) all.push(many[taken] as Revision);
    all.push(one);
  }
  for (; taken < many.length; taken++) all.push(many[taken] as Revision);
  return all;
}

/** Where the revision belongs among those in order, from an index on. */
function positionOf(revision: Revision, inOrder: readonly Revision[], from: number): number {
  let low = from;
  let high = inOrder.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byKey(inOrder[middle] as Revision, revision) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function restoredPut(change: KeptChange & { kind: 'put' }, objects: SortedCollection): StoreEvent {
  const object = keptRevision(change.collection, change.json, change.version);
  const key = keyOf(object.namespace, object.name);
  const previous = objects.get(key);
  objects.set(key, object);
  return { type: previous === undefined ? 'ADDED' : 'MODIFIED', version: change.version, object, previous };
}

function restoredRemoval(change: KeptChange & { kind: 'remove' }, objects: SortedCollection): StoreEvent {
  const key = keyOf(change.namespace, change.name);
  const previous = objects.get(key);
  if (previous === undefined) throw new Error(`it removes ${key}, which is not there`);
  objects.delete(key);
  const object = withVersion(previous, change.version);
  return { type: 'DELETED', version: change.version, object, previous };
}

export interface RestorableStore extends Store {
  /** It goes on from that version. What was before is forgotten, but for the objects that follow. */
  begin(version: number): void;
  /** In order; before anybody listens. What comes after the beginning is remembered for watches and pages. */
  restore(change: KeptChange): void;
}

/** An empty store. */
export function makeStore(limits: HistoryLimits = DEFAULT_LIMITS, journal?: Journal): RestorableStore {
  const byCollection = new Map<Collection, SortedCollection>();
  const history = makeHistory(limits);
  const listeners = new Map<Collection | undefined, Set<Listener>>();
  /** Changes made by listeners wait here until all others have seen the change that caused them. */
  const undelivered: StoreEvent[] = [];
  let isDelivering = false;
  let version = 1;

  const objectsOf = (collection: Collection): SortedCollection => {
    let objects = byCollection.get(collection);
    if (objects === undefined) {
      objects = makeSortedCollection();
      byCollection.set(collection, objects);
    }
    return objects;
  };

  const deliver = (event: StoreEvent): void => {
    history.append(event);
    undelivered.push(event);
    if (isDelivering) return;
    isDelivering = true;
    try {
      for (let next = undelivered.shift(); next !== undefined; next = undelivered.shift()) {
        for (const listener of [...(listeners.get(next.object.collection) ?? [])]) listener(next);
        for (const listener of [...(listeners.get(undefined) ?? [])]) listener(next);
      }
    } finally {
      isDelivering = false;
    }
  };

  const requireKnown = (wanted: number): void => {
    if (wanted < history.compactedVersion) {
      throw expired(`too old resource version: ${wanted} (${history.compactedVersion})`);
    }
  };

  return {
    get version() {
      return version;
    },
    get compactedVersion() {
      return history.compactedVersion;
    },
    collections: () => byCollection.keys(),
    get: (collection, namespace, name) => byCollection.get(collection)?.get(keyOf(namespace, name)),
    list: (collection, namespace) =>
      byCollection.get(collection)?.sorted(namespace === undefined ? undefined : `${namespace}/`) ?? [],
    count: (collection) => byCollection.get(collection)?.size ?? 0,

    listAt(collection, namespace, wanted) {
      if (wanted >= version) return this.list(collection, namespace);
      requireKnown(wanted);
      /** What was there, by key, of those that have changed since; `undefined` where there was nothing. */
      const before = new Map<string, Revision | undefined>();
      for (const { object, previous } of history.after(wanted)) {
        if (object.collection !== collection || (namespace !== undefined && object.namespace !== namespace)) continue;
        const key = keyOf(object.namespace, object.name);
        if (!before.has(key)) before.set(key, previous);
      }
      const unchanged = this.list(collection, namespace).filter((revision) => revision.version <= wanted);
      const others = [...before.values()].filter((revision) => revision !== undefined);
      return merged(unchanged, others.sort(byKey));
    },

    since(collection, wanted) {
      requireKnown(wanted);
      return history.after(wanted).filter(({ object }) => object.collection === collection);
    },

    observe(collection, listener) {
      const all = listeners.get(collection) ?? new Set();
      listeners.set(collection, all);
      all.add(listener);
      return () => void all.delete(listener);
    },

    put(collection, object, expected, schemaEpoch = 0) {
      const objects = objectsOf(collection);
      const key = keyOf(object.metadata.namespace ?? '', object.metadata.name ?? '');
      if (objects.get(key) !== expected) return undefined;
      const revision = makeRevision(collection, object, version + 1, schemaEpoch);
      requireRoom(revision);
      journal?.put(revision);
      version++;
      objects.set(key, revision);
      deliver({ type: expected === undefined ? 'ADDED' : 'MODIFIED', version, object: revision, previous: expected });
      return revision;
    },

    remove(expected: Revision) {
      const objects = objectsOf(expected.collection);
      const key = keyOf(expected.namespace, expected.name);
      if (objects.get(key) !== expected) return undefined;
      const last = withVersion(expected, version + 1);
      journal?.remove(last);
      version++;
      objects.delete(key);
      deliver({ type: 'DELETED', version, object: last, previous: expected });
      return last;
    },

    compact(upTo = version) {
      history.compact(Math.min(upTo, version));
    },

    begin(first) {
      version = first;
      history.compact(first);
    },
    restore(change) {
      const objects = objectsOf(change.collection);
      const event = change.kind === 'put' ? restoredPut(change, objects) : restoredRemoval(change, objects);
      if (change.version <= version) return;
      version = change.version;
      history.append(event);
    },
  };
}
