/**
 * The views of an object for handlers: its body and the usual stanzas, always present and read-only.
 *
 * A stanza that the object does not have looks like an empty mapping, and so does one that is not a mapping at all
 * (a text in `status`, say): then it can still be seen as it is in the body. Nothing is ever added by looking.
 */

import type { DeepReadonly, Mapping } from '../json.js';
import { deepFreeze } from '../json.js';
import { VIEW } from '../patches/patch-view.js';
import type { SpecOf, StatusOf } from '../resources/resource.js';
import type { AnyObject, Body, ObjectMeta } from './body.js';

/** The stanzas of an object. */
interface Stanzas<T extends object = AnyObject> {
  readonly spec: DeepReadonly<SpecOf<T>>;
  readonly meta: DeepReadonly<ObjectMeta>;
  readonly status: DeepReadonly<StatusOf<T>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface BodyViews<T extends object = AnyObject> extends Stanzas<T> {
  readonly uid: string | undefined;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

/** An object that follows its newest state: for daemons and timers. */
export interface LiveBody<T extends object = AnyObject> extends Stanzas<T> {
  /** Always shows the newest state. To keep a state, copy it: `{ ...body }` or `deepCopy(body)`. */
  readonly body: Body<T>;
  /** The newest state itself, which never changes. */
  readonly newest: Body<T>;
  /** Shows a newer state from now on in all existing views. */
  replace(newer: Body<T>): void;
}

const EMPTY: Mapping = Object.freeze({});

type StanzaName = keyof Stanzas;

/** Where each stanza is in the object. */
const STANZAS: Readonly<Record<StanzaName, readonly string[]>> = {
  spec: ['spec'],
  meta: ['metadata'],
  status: ['status'],
  labels: ['metadata', 'labels'],
  annotations: ['metadata', 'annotations'],
};

/** The stanzas and the identity of one state of an object. Freezes the state. */
export function bodyViews<T extends object = AnyObject>(body: Body<T>): BodyViews<T> {
  deepFreeze(body);
  // Spelled out for speed: it runs for each event of each object, and for callbacks of handlers.
  const { spec, metadata, status } = body as Mapping;
  const meta = asMapping(metadata);
  const { labels, annotations, uid, name, namespace } = meta;
  const views = {
    spec: asMapping(spec),
    meta,
    status: asMapping(status),
    labels: asMapping(labels),
    annotations: asMapping(annotations),
    uid: typeof uid === 'string' ? uid : undefined,
    name: typeof name === 'string' ? name : undefined,
    namespace: typeof namespace === 'string' ? namespace : undefined,
  };
  // The user's types of stanzas cannot be verified: they are the user's promise.
  return views as unknown as BodyViews<T>;
}

/** A body and its stanzas, which follow the object as it changes. */
export function makeLiveBody<T extends object = AnyObject>(initial: Body<T>): LiveBody<T> {
  return new FollowedBody(initial) as LiveBody as LiveBody<T>;
}

/** A class, since each object with daemons has one. */
class FollowedBody implements LiveBody {
  newest: Body;
  readonly body = liveView(this, 'body');
  readonly spec = liveView(this, 'spec');
  readonly meta = liveView(this, 'meta');
  readonly status = liveView(this, 'status');
  readonly labels = liveView(this, 'labels') as Stanzas['labels'];
  readonly annotations = liveView(this, 'annotations') as Stanzas['annotations'];

  constructor(initial: Body) {
    deepFreeze(initial);
    this.newest = initial;
  }

  replace(newer: Body): void {
    deepFreeze(newer);
    this.newest = newer;
  }
}

function mappingAt(body: object, path: readonly string[]): Mapping {
  let found: object = body;
  for (const key of path) found = asMapping((found as Mapping)[key]);
  return found as Mapping;
}

/** These are stanzas of known names, which no prototype has. */
function asMapping(value: unknown): Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Mapping) : EMPTY;
}

const INSPECT = Symbol.for('nodejs.util.inspect.custom');
const CURRENT = Symbol('kopf-ts.current');
const NAME = Symbol('kopf-ts.name');

/** Shared by all views of one object. */
interface Current {
  readonly newest: object;
}

type ViewName = StanzaName | 'body';

/** The internals of a view, under keys that the view does not show. */
interface ViewTarget {
  readonly [CURRENT]: Current;
  readonly [NAME]: ViewName;
  readonly [INSPECT]: (this: object) => Mapping;
}

/**
 * A read-only mapping that shows the present state of the object.
 *
 * The proxy stands over an object of its own instead of the shown one: the language demands that a proxy be true to its
 * target where that is frozen, and then it would be stuck with the first state for ever. All proxies have the same
 * traps, since there are six views of each object that has daemons.
 */
function liveView(current: Current, name: ViewName): Mapping {
  return new Proxy(new Target(current, name), liveTraps) as unknown as Mapping;
}

/**
 * A constructor, because a literal with computed keys takes twice the memory; not a class, because views must look like
 * plain objects.
 */
const Target = function (
  this: { -readonly [Key in keyof ViewTarget]: ViewTarget[Key] },
  current: Current,
  name: ViewName,
) {
  this[CURRENT] = current;
  this[NAME] = name;
  this[INSPECT] = snapshot;
} as unknown as new (
  current: Current,
  name: ViewName,
) => ViewTarget;
Target.prototype = Object.prototype;

/** Node prints the target of a proxy, unless the target knows better. */
function snapshot(this: object): Mapping {
  return { ...this };
}

function shown({ [CURRENT]: current, [NAME]: name }: ViewTarget): Mapping {
  return name === 'body' ? (current.newest as Mapping) : mappingAt(current.newest, STANZAS[name]);
}

function refuse({ [NAME]: name }: ViewTarget, key?: unknown): never {
  const what = typeof key === 'string' ? `'${key}' of the ${name}` : `The ${name}`;
  throw new TypeError(`${what} is read-only: the object is seen as it is in the cluster; change it through the patch.`);
}

const liveTraps: ProxyHandler<ViewTarget> = {
  has: (target, key) => key === VIEW || Object.hasOwn(shown(target), key) || Reflect.has(target, key),
  get: (target, key) => {
    const mapping = shown(target);
    return Object.hasOwn(mapping, key) ? Reflect.get(mapping, key) : Reflect.get(target, key);
  },
  ownKeys: (target) => Reflect.ownKeys(shown(target)),
  getOwnPropertyDescriptor: (target, key) => {
    const descriptor = Reflect.getOwnPropertyDescriptor(shown(target), key);
    // What the target does not have cannot be reported as there for ever. It is indeed not: the object changes.
    return descriptor && { ...descriptor, configurable: true };
  },
  set: refuse,
  defineProperty: refuse,
  deleteProperty: refuse,
  setPrototypeOf: (target) => refuse(target),
  preventExtensions: refuse,
};
