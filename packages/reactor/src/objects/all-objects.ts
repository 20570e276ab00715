/** All objects that an operator knows, and their memos. */
import type { Body, Logger, Memos, Resource, Seconds } from '@kopf-ts/core';
import { copyMemo, type OwnerOf, objectKey, objectLogger } from '@kopf-ts/core/engine';
import type { NotedWrite } from './news.js';
import { HandledObject, type ObjectReference } from './object.js';

/**
 * All objects that an operator knows, each with its owner.
 *
 * ```ts
 * const objects: kopf.reactor.AllObjects = kopf.reactor.allObjects({ now: () => clock.now(), logger });
 * logger.info(`${objects.size} objects are known.`);
 * ```
 */
export interface AllObjects extends Memos, Iterable<HandledObject> {
  readonly size: number;
  /** Returns the object, creating it if it was never seen. */
  of(body: Body, options: { readonly isListed: boolean }): HandledObject;
  find(body: Body): HandledObject | undefined;
  forget(body: Body): void;
  /** All objects of that name, of any kind. */
  named(namespace: string | undefined, name: string): Iterable<HandledObject>;
  /**
   * The owner for changes by verbs: only for handled objects, and only if the operator tracks whose changes are whose.
   */
  readonly ownerOf: OwnerOf;
}

/**
 * What new objects start with.
 *
 * ```ts
 * const options: kopf.reactor.AllObjectsOptions = { memo: { calls: 0 }, now: () => clock.now(), logger };
 * ```
 */
export interface AllObjectsOptions {
  /** The operator's memo: each object gets a copy of it. */
  readonly memo?: unknown;
  /** Whether to behave exactly as Kopf: then the authors of changes are not tracked. Default: no. */
  readonly isCompat?: (() => boolean) | undefined;
  readonly now: () => Seconds;
  readonly logger: Logger;
}

/**
 * How many objects that were only looked up keep their memos: nothing reports when those of unwatched kinds are gone.
 * Least recently used first.
 */
const MAX_ASKED = 1000;

/** How many changes are kept for objects that are not known yet. Most of these are discovered at once. */
const MAX_EARLY = 100;

/**
 * An empty collection of objects.
 *
 * ```ts
 * const objects = kopf.reactor.allObjects({ now: () => clock.now(), logger });
 * objects.forget(body);
 * ```
 */
export function allObjects({ memo, now, logger, isCompat }: AllObjectsOptions): AllObjects {
  const all = new Map<string, HandledObject>();
  // Created on first use: most operators never write objects by their names.
  let byName: Map<string, Set<HandledObject>> | undefined;
  const nameOf = ({ namespace = '', name = '' }: Pick<HandledObject, 'namespace' | 'name'>) => `${namespace}/${name}`;
  const addName = (object: HandledObject): void => {
    if (byName === undefined) return;
    const namesakes = byName.get(nameOf(object)) ?? new Set();
    byName.set(nameOf(object), namesakes.add(object));
  };
  const dropName = (object: HandledObject | undefined): void => {
    const namesakes = object && byName?.get(nameOf(object));
    if (object === undefined || namesakes === undefined) return;
    namesakes.delete(object);
    if (namesakes.size === 0) byName?.delete(nameOf(object));
  };
  const namesakesOf = (namespace: string | undefined, name: string): ReadonlySet<HandledObject> => {
    if (byName === undefined) {
      byName = new Map();
      for (const object of all.values()) addName(object);
    }
    return byName.get(nameOf({ namespace, name })) ?? NOBODY;
  };
  const early = new Set<NotedWrite>();
  const passOn = (write: NotedWrite): void => {
    early.add(write);
    const [longest] = early;
    if (early.size > MAX_EARLY && longest !== undefined) early.delete(longest);
  };
  const takeOver = (object: HandledObject): void => {
    for (const write of early) {
      if (write.after.metadata?.uid !== object.uid) continue;
      early.delete(write);
      object.noteWrite(write);
    }
  };
  // Separate, as the first event of an object determines the rest of what is known of it.
  const asked = new Map<string, unknown>();
  const memoOf = (key: string): unknown => (asked.has(key) ? asked.get(key) : copyMemo(memo));
  return {
    get size() {
      return all.size;
    },
    [Symbol.iterator]: () => all.values(),
    of(body, { isListed: isNoticedByListing }) {
      const key = objectKey(body);
      let object = all.get(key);
      if (object === undefined) {
        const ofObject = objectLogger({ logger, body });
        object = new HandledObject({
          key,
          reference: referenceTo(body),
          memo: memoOf(key),
          isNoticedByListing,
          noticedAt: now(),
          logger: ofObject,
          passOn,
        });
        all.set(key, object);
        addName(object);
        takeOver(object);
        asked.delete(key);
      }
      return object;
    },
    find: (body) => all.get(objectKey(body)),
    forget(body) {
      const key = objectKey(body);
      dropName(all.get(key));
      all.delete(key);
      asked.delete(key);
    },
    named: namesakesOf,
    ownerOf({ resource, namespace, name }) {
      if (isCompat?.()) return undefined;
      return [...namesakesOf(namespace, name)].findLast(
        (object) => object.isServed && isSameKind(object.resource, resource),
      );
    },
    recall(body, { ephemeral = false } = {}) {
      const key = objectKey(body as Body);
      const object = all.get(key);
      if (object !== undefined) return object.memo;
      const recalled = memoOf(key);
      if (ephemeral) return recalled;
      // Moved to the end.
      asked.delete(key);
      asked.set(key, recalled);
      const [longest] = asked.keys();
      if (asked.size > MAX_ASKED && longest !== undefined) asked.delete(longest);
      return recalled;
    },
  };
}

const NOBODY: ReadonlySet<HandledObject> = new Set();

/** In any version. */
function isSameKind(one: Resource, two: Resource): boolean {
  return one.group === two.group && one.plural === two.plural;
}

function referenceTo({ kind, metadata }: Body): ObjectReference {
  const { namespace, name, uid } = metadata ?? {};
  return { kind, namespace, name, uid };
}
