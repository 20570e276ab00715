/** What a watch-stream has shown so far: to notice what has vanished while the stream was not connected. */
import type { AnyObject } from '../values/body.js';
import { LAST_APPLIED } from '../values/essence.js';

export interface KnownObjects {
  readonly size: number;
  /** Remembers the object. If it takes the place of another one of the same name, the latter is given: it has vanished. */
  see(object: AnyObject): AnyObject | undefined;
  /** The object is deleted, and it is known that it is. */
  forget(object: AnyObject): void;
  /** From now on, all existing objects are going to be seen. */
  beginListing(): void;
  /** All existing objects have been seen. Those not seen have vanished: gives and forgets them. */
  endListing(): AnyObject[];
}

interface Entry {
  readonly object: AnyObject;
  /** The listing in which or after which it was last seen. */
  readonly listing: number;
}

/** `bodies` remembers all that handlers can see of the objects; `identity`, only what tells one from another. */
export function knownObjects(remember: 'bodies' | 'identity'): KnownObjects {
  // At any moment, there is only one object of a name: so there is no need to know the uids beforehand.
  const entries = new Map<string, Entry>();
  let listing = 0;
  return {
    get size() {
      return entries.size;
    },
    see(object) {
      const key = keyOf(object);
      const previous = entries.get(key)?.object;
      entries.set(key, { object: remember === 'bodies' ? visibleOf(object) : identityOf(object), listing });
      return previous !== undefined && isAnother(previous, object) ? previous : undefined;
    },
    forget(object) {
      const key = keyOf(object);
      const known = entries.get(key)?.object;
      if (known !== undefined && !isAnother(known, object)) entries.delete(key);
    },
    beginListing() {
      listing += 1;
    },
    endListing() {
      const vanished: AnyObject[] = [];
      for (const [key, entry] of entries) {
        if (entry.listing === listing) continue;
        vanished.push(entry.object);
        entries.delete(key);
      }
      return vanished;
    },
  };
}

function keyOf({ metadata }: AnyObject): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

function isAnother(one: AnyObject, two: AnyObject): boolean {
  if (one.metadata?.uid !== two.metadata?.uid) return true;
  return one.metadata?.uid === undefined && one.metadata?.creationTimestamp !== two.metadata?.creationTimestamp;
}

/** Spelled out, not spread: it is done for each event of each object. What is absent stays so. */
function identityOf({ apiVersion, kind, metadata: source }: AnyObject): AnyObject {
  const { name, namespace, uid, creationTimestamp, resourceVersion, labels } = source ?? {};
  const metadata: Mutable<NonNullable<AnyObject['metadata']>> = {};
  if (name !== undefined) metadata.name = name;
  if (namespace !== undefined) metadata.namespace = namespace;
  if (uid !== undefined) metadata.uid = uid;
  // Very few have no uid: those are told apart by the time.
  else if (creationTimestamp !== undefined) metadata.creationTimestamp = creationTimestamp;
  if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion;
  if (labels !== undefined) metadata.labels = labels;
  const identity: Mutable<AnyObject> = { metadata };
  if (apiVersion !== undefined) identity.apiVersion = apiVersion;
  if (kind !== undefined) identity.kind = kind;
  return identity;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Without what is big and is seen by nobody: it can take more memory than all the rest. */
function visibleOf(object: AnyObject): AnyObject {
  if (object.metadata === undefined) return object;
  const { managedFields: _unseen, annotations, ...metadata } = object.metadata;
  if (annotations === undefined) return { ...object, metadata };
  const { [LAST_APPLIED]: _duplicate, ...visible } = annotations;
  return { ...object, metadata: { ...metadata, annotations: visible } };
}
