/** What a watch-stream has shown so far: to notice what has vanished while the stream was not connected. */

import { deepCopy } from '../../../values/json.js';
import type { AnyObject } from '../../../values/objects/body.js';

export class KnownObjects {
  // At any moment, there is only one object of a name: so there is no need to know the uids beforehand.
  readonly #entries = new Map<string, Entry>();
  #listing = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** Remembers the object. If it takes the place of another one of the same name, the latter is given: it has vanished. */
  see(object: AnyObject): AnyObject | undefined {
    const key = keyOf(object);
    const known = this.#entries.get(key);
    if (known !== undefined && !known.isOfAnother(object)) {
      known.update(object, this.#listing);
      return undefined;
    }
    this.#entries.set(key, new Entry(object, this.#listing));
    return known?.object;
  }

  /** The object of this name is there, though there is nothing to learn of it. */
  keep({ namespace, name }: { readonly namespace?: unknown; readonly name?: unknown }): void {
    const entry = this.#entries.get(`${namespace ?? ''}/${name ?? ''}`);
    if (entry !== undefined) entry.listing = this.#listing;
  }

  /** The object is deleted, and it is known that it is. */
  forget(object: AnyObject): void {
    const key = keyOf(object);
    if (this.#entries.get(key)?.isOfAnother(object) === false) this.#entries.delete(key);
  }

  /** From now on, all existing objects are going to be seen. */
  beginListing(): void {
    this.#listing += 1;
  }

  /** All existing objects have been seen. Those not seen have vanished: gives and forgets them. */
  endListing(): AnyObject[] {
    const vanished: AnyObject[] = [];
    for (const [key, entry] of this.#entries) {
      if (entry.listing === this.#listing) continue;
      vanished.push(entry.object);
      this.#entries.delete(key);
    }
    return vanished;
  }
}

type Metadata = NonNullable<AnyObject['metadata']>;

/**
 * What is remembered of one object: only what tells it from another, and what it can be reported by when it is gone.
 * Flat and updated in place, as it is done for each event of each object. All the strings belong to the object itself,
 * which somebody else remembers anyway.
 */
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

  constructor(object: AnyObject, listing: number) {
    const metadata = object.metadata ?? {};
    this.#name = metadata.name;
    this.#namespace = metadata.namespace;
    this.#uid = metadata.uid;
    this.#creationTimestamp = metadata.creationTimestamp;
    this.listing = listing;
    this.update(object, listing);
  }

  update(object: AnyObject, listing: number): void {
    this.listing = listing;
    this.#apiVersion = object.apiVersion;
    this.#kind = object.kind;
    this.#resourceVersion = object.metadata?.resourceVersion;
    this.#labels = object.metadata?.labels;
  }

  /** Very few have no uid: those are told apart by the time. */
  isOfAnother({ metadata }: AnyObject): boolean {
    if (this.#uid !== metadata?.uid) return true;
    return this.#uid === undefined && this.#creationTimestamp !== metadata?.creationTimestamp;
  }

  /** How it is reported when it has vanished. What is absent stays so. */
  get object(): AnyObject {
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
