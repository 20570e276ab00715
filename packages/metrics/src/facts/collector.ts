/** What each group of metrics is made of: functions for the facts that it is about. */
import type {
  FactKind,
  FactOf,
  HandlerId,
  Indices,
  ObservedHandler,
  ObservedObject,
  ObservedStream,
  Resource,
  Seconds,
} from '@kopf-ts/core';
import type { Registry } from '../registry/registry.js';

/** Functions by the kinds of facts. */
export type Collector = { readonly [K in FactKind]?: (fact: FactOf<K>) => void };

export interface CollectorParts {
  readonly registry: Registry;
  readonly names: Names;
  now(): Seconds;
  readonly indices: Indices | undefined;
  /** How many objects of a kind are worked on at once. */
  workerLimit(): number | undefined;
  /** By how many versions the stream was behind when that was measured. */
  lagOf(stream: ObservedStream): number | undefined;
}

/** How much there can be of each metric of the operator; what is beyond is counted as `other`. */
export const LIMIT = 500;

/** Things by their names in labels. Of objects, there are only their kinds. */
export interface Names {
  resource(resource: Resource): string;
  /** Of objects; empty if there is none. */
  kindOf(object: ObservedObject | undefined): string;
  /** As declared. Those that handlers make for themselves may have any ids, so they have one name: `parent/*`. */
  handler(handler: ObservedHandler): string;
}

export function namesOf(declared: () => Iterable<HandlerId>): Names {
  const resources = new WeakMap<Resource, string>();
  const handlers = new WeakMap<ObservedHandler, string>();
  let ids: ReadonlySet<HandlerId> = new Set();

  const resource = (one: Resource): string => {
    let name = resources.get(one);
    if (name === undefined) {
      name = one.group === '' ? one.plural : `${one.plural}.${one.group}`;
      resources.set(one, name);
    }
    return name;
  };
  const nameOf = (id: HandlerId): string => {
    if (ids.has(id)) return id;
    ids = new Set(declared());
    if (ids.has(id)) return id;
    const parts = id.split('/');
    for (let count = parts.length - 1; count > 0; count--) {
      const parent = parts.slice(0, count).join('/');
      if (ids.has(parent)) return `${parent}/*`;
    }
    return parts.length > 1 ? `${parts[0]}/*` : id;
  };
  return {
    resource,
    kindOf: (object) => (object === undefined ? '' : resource(object.resource)),
    handler(one) {
      let name = handlers.get(one);
      if (name === undefined) {
        name = nameOf(one.id);
        handlers.set(one, name);
      }
      return name;
    },
  };
}

/** What is made once for each name, and not for more names than there may be series: others get new ones each time. */
export function byName<V>(make: (name: string) => V): (name: string) => V {
  const all = new Map<string, V>();
  return (name) => {
    let made = all.get(name);
    if (made === undefined) {
      made = make(name);
      if (all.size < LIMIT) all.set(name, made);
    }
    return made;
  };
}

/** Something to tell objects apart by, within the operator. */
export function keyOf({ uid, resource, namespace, name }: ObservedObject): string {
  return uid ?? `${resource.plural}.${resource.group}/${namespace ?? ''}/${name ?? ''}`;
}
