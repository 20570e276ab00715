/** The cluster as the simulated controllers see it: always the newest state, as objects that nobody may change. */
import type { Clock } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import type { Collection, Revision, StoreReader } from '../contracts/store.js';
import { parseRevision } from '../store/revision.js';

export class World {
  readonly #store: StoreReader;
  readonly #clock: Clock;
  readonly #parsed = new WeakMap<Revision, ServedObject>();

  constructor(store: StoreReader, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** In milliseconds. */
  get now(): number {
    return this.#clock.utc().getTime();
  }

  /** As it is written into objects. */
  get timestamp(): string {
    return `${this.#clock.utc().toISOString().slice(0, 19)}Z`;
  }

  get(collection: Collection, namespace: string, name: string): ServedObject | undefined {
    const revision = this.#store.get(collection, namespace, name);
    return revision === undefined ? undefined : this.read(revision);
  }

  /** Those that are chosen by what is known without reading them. */
  list(collection: Collection, namespace?: string, isWanted?: (revision: Revision) => boolean): ServedObject[] {
    const all = this.#store.list(collection, namespace);
    return (isWanted === undefined ? all : all.filter(isWanted)).map((revision) => this.read(revision));
  }

  revisions(collection: Collection, namespace?: string): readonly Revision[] {
    return this.#store.list(collection, namespace);
  }

  read(revision: Revision): ServedObject {
    let object = this.#parsed.get(revision);
    if (object === undefined) {
      object = parseRevision(revision);
      this.#parsed.set(revision, object);
    }
    return object;
  }
}
