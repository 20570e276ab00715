/** What a watch-stream has shown so far: to notice what has vanished while the stream was not connected. */

import { deepCopy } from '../values/json.js';
import type { AnyObject } from '../values/objects/body.js';
import { LAST_APPLIED } from '../values/objects/essence.js';

export interface KnownObjects {
  readonly size: number;
  /** Remembers the object. If it takes the place of another one of the same name, the latter is given: it has vanished. */
  see(object: AnyObject): AnyObject | undefined;
  /** The object of this name is there, though there is nothing to learn of it. */
  keep(address: { readonly namespace?: unknown; readonly name?: unknown }): void;
  /** The object is deleted, and it is known that it is. */
  forget(object: AnyObject): void;
  /** From now on, all existing objects are going to be seen. */
  beginListing(): void;
  /** All existing objects have been seen. Those not seen have vanished: gives and forgets them. */
  endListing(): AnyObject[];
}

/** `bodies` remembers all that handlers can see of the objects; `identity`, only what tells one from another. */
export function knownObjects(remember: 'bodies' | 'identity'): KnownObjects {
  // At any moment, there is only one object of a name: so there is no need to know the uids beforehand.
  const entries = new Map<string, Entry>();
  const keepsBodies = remember === 'bodies';
  let listing = 0;
  return {
    get size() {
      return entries.size;
    },
    see(object) {
      const key = keyOf(object);
      const known = entries.get(key);
      if (known !== undefined && !known.isOfAnother(object)) {
        known.update(object, keepsBodies, listing);
        return undefined;
      }
      entries.set(key, new Entry(object, keepsBodies, listing));
      return known?.object;
    },
    keep({ namespace, name }) {
      const entry = entries.get(`${namespace ?? ''}/${name ?? ''}`);
      if (entry !== undefined) entry.listing = listing;
    },
    forget(object) {
      const key = keyOf(object);
      if (entries.get(key)?.isOfAnother(object) === false) entries.delete(key);
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

type Metadata = NonNullable<AnyObject['metadata']>;

/** What is remembered of one object: flat and updated in place, as it is done for each event of each object. */
class Entry {
  /** The listing in which or after which it was last seen. */
  listing: number;
  #apiVersion: string | undefined;
  #kind: string | undefined;
  readonly #name: string | undefined;
  readonly #namespace: string | undefined;
  readonly #uid: string | undefined;
  readonly #creationTimestamp: string | undefined;
  #resourceVersion: string | undefined;
  #labels: Metadata['labels'];
  /** Instead of all that, if it is to be remembered as a whole. */
  #body: AnyObject | undefined;

  constructor(object: AnyObject, keepsBody: boolean, listing: number) {
    const metadata = object.metadata ?? {};
    this.#name = metadata.name;
    this.#namespace = metadata.namespace;
    this.#uid = metadata.uid;
    this.#creationTimestamp = metadata.creationTimestamp;
    this.listing = listing;
    this.update(object, keepsBody, listing);
  }

  update(object: AnyObject, keepsBody: boolean, listing: number): void {
    this.listing = listing;
    this.#apiVersion = object.apiVersion;
    this.#kind = object.kind;
    this.#resourceVersion = object.metadata?.resourceVersion;
    this.#labels = object.metadata?.labels;
    if (keepsBody) this.#body = visibleOf(object);
  }

  /** Very few have no uid: those are told apart by the time. */
  isOfAnother({ metadata }: AnyObject): boolean {
    if (this.#uid !== metadata?.uid) return true;
    return this.#uid === undefined && this.#creationTimestamp !== metadata?.creationTimestamp;
  }

  /** As it is to be told of when it has vanished. What is absent stays so. */
  get object(): AnyObject {
    if (this.#body !== undefined) return this.#body;
    const identity = {
      apiVersion: this.#apiVersion,
      kind: this.#kind,
      metadata: {
        name: this.#name,
        namespace: this.#namespace,
        uid: this.#uid,
        creationTimestamp: this.#uid === undefined ? this.#creationTimestamp : undefined,
        resourceVersion: this.#resourceVersion,
        labels: this.#labels,
      },
    };
    return deepCopy(identity) as AnyObject;
  }
}

function keyOf({ metadata }: AnyObject): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

/** Without what is big and is seen by nobody: it can take more memory than all the rest. */
function visibleOf(object: AnyObject): AnyObject {
  if (object.metadata === undefined) return object;
  const { managedFields: _unseen, annotations, ...metadata } = object.metadata;
  if (annotations === undefined) return { ...object, metadata };
  const { [LAST_APPLIED]: _duplicate, ...visible } = annotations;
  return { ...object, metadata: { ...metadata, annotations: visible } };
}
