/**
 * All objects that belong to others, in memory: by their parents. They come from the streams, and from what this operator
 * itself has written, whichever is the first to tell.
 *
 * Each parent has a stamp for each relation: it is another one whenever something has changed among the children. So nobody
 * has to be told of changes to learn of them: who remembers the stamp can tell.
 */
import type { AnyObject, Body, Resource } from '@kopf-ts/core';
import { compareVersions, deepFreeze, objectKey, type Relation, type WatchedEvent } from '@kopf-ts/core/engine';

/** When the children of a parent changed: by anyone, and by others than this operator. */
export interface Stamp {
  readonly any: number;
  readonly others: number;
}

/** One place where children come from: a kind in a namespace, or in all of them. */
interface Place {
  readonly resource: Resource;
  /** Incremented with each new stream. */
  stream: number;
  /** Incremented with each listing. */
  listing: number;
  isListed: boolean;
  /** Those that we have deleted, while the stream may still tell of them: of the current listing and of the one before. */
  gone: Set<string>;
  goneBefore: Set<string>;
  /** Those that the stream has told to be gone, the latest ones: answers to our requests may come later than that. */
  readonly left: Set<string>;
}

interface RelatedObject {
  body: AnyObject;
  readonly place: Place;
  stream: number;
  listing: number;
  /** The stream has told of it. Until then, it is known by our own words. */
  isSeen: boolean;
  /** The cluster was restored to an earlier state: whatever comes is newer. */
  isOutdated: boolean;
  homes: readonly Home[];
  /** Since others seem to have written it: when that was for each home, and when they had changed something before. */
  byOthers: readonly ByOthers[];
}

interface ByOthers {
  readonly home: Home;
  readonly at: number;
  readonly before: number;
}

/** All children of one parent in one relation. */
interface Home {
  readonly relation: Relation;
  readonly key: string;
  readonly children: Map<string, AnyObject>;
  list: readonly AnyObject[] | undefined;
  stamp: Stamp;
}

export interface RelatedObjectsOptions {
  relationsOfChild(resource: Resource): readonly Relation[];
  /** By which keys the parents are found. */
  parentsOf(relation: Relation, resource: Resource, child: AnyObject): readonly string[];
  /** Whether the parent is known to be there: then it is remembered when it was left by its last child. */
  isKnown(relation: Relation, key: string): boolean;
  /** The children of that parent have changed. */
  onChanged(relation: Relation, key: string): void;
}

/** So many may go while an answer is on its way to us. If it takes even longer, the next listing puts it right. */
const LEFT_LIMIT = 10_000;

const NOBODY: readonly AnyObject[] = Object.freeze([]);
const NO_OTHERS: readonly ByOthers[] = [];
const NEVER: Stamp = Object.freeze({ any: 0, others: 0 });

export class RelatedObjects {
  readonly #options: RelatedObjectsOptions;
  readonly #places = new Map<string, Place>();
  readonly #objects = new Map<string, RelatedObject>();
  readonly #homes = new Map<string, Map<string, Home>>();
  #now = 0;

  constructor(options: RelatedObjectsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#objects.size;
  }

  children(relation: Relation, key: string): readonly AnyObject[] {
    return this.lookup(relation)(key);
  }

  /** The same for whoever asks again and again by the same relation. */
  lookup(relation: Relation): (key: string) => readonly AnyObject[] {
    const homes = this.#homesBy(relation);
    return (key) => {
      const home = homes.get(key);
      if (home === undefined) return NOBODY;
      home.list ??= Object.freeze([...home.children.values()]);
      return home.list;
    };
  }

  stamp(relation: Relation, key: string): Stamp {
    return this.#homes.get(relation.key)?.get(key)?.stamp ?? NEVER;
  }

  isListed(resource: Resource, namespace: string | null): boolean {
    return this.#places.get(placeKey(resource, namespace))?.isListed ?? false;
  }

  /** A stream begins: what is known from before is doubtful until it is listed. */
  begin(resource: Resource, namespace: string | null): void {
    const key = placeKey(resource, namespace);
    const place = this.#places.get(key);
    if (place === undefined) {
      const nobody = { gone: new Set<string>(), goneBefore: new Set<string>(), left: new Set<string>() };
      this.#places.set(key, { resource, stream: 1, listing: 1, isListed: false, ...nobody });
      return;
    }
    place.stream += 1;
    place.isListed = false;
  }

  /** Nothing is heard of it any more, until it is listed again. */
  suspend(resource: Resource, namespace: string | null): void {
    const place = this.#places.get(placeKey(resource, namespace));
    if (place !== undefined) place.isListed = false;
  }

  /** All that is there has been told. What has not been is gone: unless we have written it in the meantime. */
  listed(resource: Resource, namespace: string | null): void {
    const place = this.#places.get(placeKey(resource, namespace));
    if (place === undefined) return;
    for (const [key, object] of this.#objects) {
      if (object.place !== place) continue;
      const isOfBefore = object.stream !== place.stream;
      const isMissed = !object.isSeen && object.listing < place.listing;
      if (isOfBefore || isMissed) this.#drop(key, object, true);
    }
    place.listing += 1;
    place.goneBefore = place.gone;
    place.gone = new Set();
    place.isListed = true;
  }

  /** The objects are no longer ours. */
  leave(resource: Resource, namespace: string | null): void {
    const place = this.#places.get(placeKey(resource, namespace));
    if (place === undefined) return;
    this.#places.delete(placeKey(resource, namespace));
    for (const [key, object] of this.#objects) if (object.place === place) this.#drop(key, object, true);
  }

  rewind(resource: Resource, namespace: string | null): void {
    const place = this.#places.get(placeKey(resource, namespace));
    if (place === undefined) return;
    for (const object of this.#objects.values()) if (object.place === place) object.isOutdated = true;
    place.gone.clear();
    place.goneBefore.clear();
    place.left.clear();
  }

  /** The stream reports an object. */
  accept(resource: Resource, namespace: string | null, { type, object: body }: WatchedEvent): void {
    const place = this.#places.get(placeKey(resource, namespace));
    if (place === undefined) return;
    const key = objectKey(body);
    const known = this.#objects.get(key);
    if (type === 'DELETED') {
      place.gone.delete(key);
      place.goneBefore.delete(key);
      remember(place.left, key);
      if (known !== undefined) this.#drop(key, known, true);
      return;
    }
    place.left.delete(key);
    if (place.gone.has(key) || place.goneBefore.has(key)) return;
    if (known !== undefined) {
      known.isSeen = true;
      known.stream = place.stream;
      if (!known.isOutdated && !isNewer(body, known.body)) return;
    }
    this.#put(key, known, body, place, { isSeen: true, isByOthers: true });
  }

  /** This operator has written it. What is in no place of ours, or is not served, is not followed. */
  written(resource: Resource, body: AnyObject, { isServed = true }: { readonly isServed?: boolean } = {}): void {
    const place = this.#placeOf(resource, body);
    const key = objectKey(body);
    if (place === undefined || place.gone.has(key) || place.goneBefore.has(key) || place.left.has(key)) return;
    if (isGone(resource, body)) {
      this.deleted(key);
      return;
    }
    const known = this.#objects.get(key);
    if (known !== undefined && !known.isOutdated && !isNewer(body, known.body)) {
      if (isSame(body, known.body)) disown(known);
      return;
    }
    if (!isServed) {
      if (known !== undefined) this.#drop(key, known, false);
      return;
    }
    this.#put(key, known, body, place, { isSeen: known?.isSeen ?? false, isByOthers: false });
  }

  /** This operator has deleted it, and it is gone. */
  deleted(uid: string): void {
    const known = this.#objects.get(uid);
    if (known === undefined) return;
    known.place.gone.add(uid);
    this.#drop(uid, known, false);
  }

  /** The parent is gone; its children will follow. */
  forget(relation: Relation, key: string): void {
    const ofRelation = this.#homes.get(relation.key);
    if (ofRelation?.get(key)?.children.size === 0) ofRelation.delete(key);
  }

  #placeOf(resource: Resource, { metadata }: Body): Place | undefined {
    const { namespace } = metadata ?? {};
    const own = namespace === undefined ? undefined : this.#places.get(placeKey(resource, namespace));
    return own ?? this.#places.get(placeKey(resource, null));
  }

  #put(
    key: string,
    known: RelatedObject | undefined,
    body: AnyObject,
    place: Place,
    { isSeen, isByOthers }: { readonly isSeen: boolean; readonly isByOthers: boolean },
  ): void {
    const kept = withoutNoise(body);
    deepFreeze(kept);
    const homes = this.#homesOf(place.resource, kept);
    const before = known?.homes ?? [];
    const { stream, listing } = place;
    const object = { body: kept, place, stream, listing, isSeen, isOutdated: false, homes, byOthers: NO_OTHERS };
    this.#objects.set(key, object);
    for (const home of before) if (!homes.includes(home)) this.#change(home, key, undefined, isByOthers);
    if (!isByOthers) {
      for (const home of homes) this.#change(home, key, kept, false);
      return;
    }
    object.byOthers = homes.map((home) => {
      const { others: before } = home.stamp;
      return { home, before, at: this.#change(home, key, kept, true) };
    });
  }

  #drop(key: string, { homes }: RelatedObject, isByOthers: boolean): void {
    this.#objects.delete(key);
    for (const home of homes) this.#change(home, key, undefined, isByOthers);
  }

  #homesOf(resource: Resource, body: AnyObject): readonly Home[] {
    const homes: Home[] = [];
    for (const relation of this.#options.relationsOfChild(resource)) {
      for (const key of this.#options.parentsOf(relation, resource, body)) homes.push(this.#home(relation, key));
    }
    return homes;
  }

  #homesBy({ key }: Relation): Map<string, Home> {
    let ofRelation = this.#homes.get(key);
    if (ofRelation === undefined) {
      ofRelation = new Map();
      this.#homes.set(key, ofRelation);
    }
    return ofRelation;
  }

  #home(relation: Relation, key: string): Home {
    const ofRelation = this.#homesBy(relation);
    let home = ofRelation.get(key);
    if (home === undefined) {
      home = { relation, key, children: new Map(), list: undefined, stamp: NEVER };
      ofRelation.set(key, home);
    }
    return home;
  }

  #change(home: Home, key: string, child: AnyObject | undefined, isByOthers: boolean): number {
    if (child === undefined) home.children.delete(key);
    else home.children.set(key, child);
    home.list = undefined;
    const any = ++this.#now;
    home.stamp = { any, others: isByOthers ? any : home.stamp.others };
    const { isKnown } = this.#options;
    if (home.children.size === 0 && !isKnown(home.relation, home.key)) this.forget(home.relation, home.key);
    this.#options.onChanged(home.relation, home.key);
    return any;
  }
}

/** It was being deleted, and with this write, nothing holds it any more: it is answered once more, but it is not there. */
function isGone({ group, plural }: Resource, { metadata, spec }: AnyObject): boolean {
  if (metadata?.deletionTimestamp === undefined || (metadata.finalizers?.length ?? 0) > 0) return false;
  // Somebody still has to stop what runs, or to empty the namespace.
  if (Number(metadata['deletionGracePeriodSeconds'] ?? 0) > 0) return false;
  const isNamespace = group === '' && plural === 'namespaces';
  const { finalizers } = (spec ?? {}) as { readonly finalizers?: unknown };
  return !(isNamespace && Array.isArray(finalizers) && finalizers.length > 0);
}

function remember(latest: Set<string>, key: string): void {
  latest.add(key);
  if (latest.size <= LEFT_LIMIT) return;
  for (const oldest of latest) {
    latest.delete(oldest);
    return;
  }
}

/** The stream was faster than the answer to our own request: it was not by others. */
function disown({ byOthers }: RelatedObject): void {
  for (const { home, at, before } of byOthers) {
    // If it is not the latest one by others, these have something to tell anyway.
    if (home.stamp.others === at) home.stamp = { any: home.stamp.any, others: before };
  }
}

function isSame(one: AnyObject, two: AnyObject): boolean {
  return one.metadata?.resourceVersion === two.metadata?.resourceVersion;
}

function isNewer(body: AnyObject, known: AnyObject): boolean {
  const order = compareVersions(body.metadata?.resourceVersion, known.metadata?.resourceVersion);
  return order === undefined ? body.metadata?.resourceVersion !== known.metadata?.resourceVersion : order > 0;
}

/** Who has set which field is of no use to handlers, and is often larger than all the rest. */
function withoutNoise(body: AnyObject): AnyObject {
  if (body.metadata?.['managedFields'] === undefined) return body;
  const { managedFields: _, ...metadata } = body.metadata as AnyObject['metadata'] & { managedFields?: unknown };
  return { ...body, metadata } as AnyObject;
}

function placeKey({ group, version, plural }: Resource, namespace: string | null): string {
  return `${group}/${version}/${plural}@${namespace ?? ''}`;
}
