/**
 * What handlers see of an object: its body and the usual stanzas of it, always there and never changeable.
 *
 * A stanza that the object does not have looks like an empty mapping, and so does one that is not a mapping at all
 * (a text in `status`, say): then it can still be seen as it is in the body. Nothing is ever added by looking.
 */
import type { AnyObject, Body, ObjectMeta } from './body.js';
import type { DeepReadonly, Mapping } from './json.js';
import { deepFreeze, getOwn, isMapping } from './json.js';
import { VIEW } from './patch-view.js';
import type { SpecOf, StatusOf } from './resource.js';

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

/** An object that is replaced by its newer states while someone is looking at it: for daemons and timers. */
export interface LiveBody<T extends object = AnyObject> extends Stanzas<T> {
  /** Always shows the newest state. To keep what is seen, copy it: `{ ...body }` or `deepCopy(body)`. */
  readonly body: Body<T>;
  /** The newest state itself, which is not going to change. */
  readonly newest: Body<T>;
  /** Shows a newer state from now on, in all the views that were ever taken. */
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

/** The stanzas and the identity of one state of an object, which gets frozen by that. */
export function bodyViews<T extends object = AnyObject>(body: Body<T>): BodyViews<T> {
  deepFreeze(body);
  // Spelled out: it is done for each event of each object, and for the callbacks of their handlers.
  const meta = mappingIn(body, 'metadata');
  const views = {
    spec: mappingIn(body, 'spec'),
    meta,
    status: mappingIn(body, 'status'),
    labels: mappingIn(meta, 'labels'),
    annotations: mappingIn(meta, 'annotations'),
    uid: textIn(meta, 'uid'),
    name: textIn(meta, 'name'),
    namespace: textIn(meta, 'namespace'),
  };
  // What the user has declared of the stanzas cannot be verified: these types are a promise of the user's.
  return views as unknown as BodyViews<T>;
}

/** A body with the stanzas, all of which follow the object as it changes. */
export function makeLiveBody<T extends object = AnyObject>(initial: Body<T>): LiveBody<T> {
  let newest = freeze(initial);
  return {
    ...stanzas<T>((name) => liveView(name, () => mappingAt(newest, STANZAS[name]))),
    body: liveView('body', () => newest as Mapping) as Body<T>,
    get newest() {
      return newest;
    },
    replace(newer) {
      newest = freeze(newer);
    },
  };
}

function freeze<T extends object>(body: Body<T>): Body<T> {
  deepFreeze(body);
  return body;
}

function stanzas<T extends object>(view: (name: StanzaName) => Mapping): Stanzas<T> {
  // What the user has declared of the stanzas cannot be verified: these types are a promise of the user's.
  return {
    spec: view('spec'),
    meta: view('meta'),
    status: view('status'),
    labels: view('labels'),
    annotations: view('annotations'),
  } as unknown as Stanzas<T>;
}

function mappingAt(body: object, path: readonly string[]): Mapping {
  let found: object = body;
  for (const key of path) found = mappingIn(found, key);
  return found as Mapping;
}

function mappingIn(source: object, key: string): Mapping {
  const found = getOwn(source, key);
  return isMapping(found) ? found : EMPTY;
}

function textIn(metadata: Mapping, key: string): string | undefined {
  const value = getOwn(metadata, key);
  return typeof value === 'string' ? value : undefined;
}

const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/**
 * A read-only mapping that shows whatever the source is at the moment.
 *
 * The proxy stands over an empty object instead of the source: the language demands that a proxy be true to its
 * target where that is frozen, and then it would be stuck with the first state for ever.
 */
function liveView(label: string, source: () => Mapping): Mapping {
  const target = {};
  // Node prints the target of a proxy, that is `{}` in our case, unless the target knows better.
  Object.defineProperty(target, INSPECT, { value: source, configurable: true });
  const refuse = (_target: object, key?: unknown): never => {
    const what = typeof key === 'string' ? `'${key}' of the ${label}` : `The ${label}`;
    throw new TypeError(
      `${what} is read-only: the object is seen as it is in the cluster; change it through the patch.`,
    );
  };
  return new Proxy<Mapping>(target, {
    has: (_target, key) => key === VIEW || Object.hasOwn(source(), key) || Reflect.has(target, key),
    get: (_target, key) => {
      const mapping = source();
      return Object.hasOwn(mapping, key) ? Reflect.get(mapping, key) : Reflect.get(target, key);
    },
    ownKeys: () => Reflect.ownKeys(source()),
    getOwnPropertyDescriptor: (_target, key) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(source(), key);
      // What the target does not have cannot be reported as there for ever. It is indeed not: the source changes.
      return descriptor && { ...descriptor, configurable: true };
    },
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: (view) => refuse(view),
    preventExtensions: refuse,
  });
}
