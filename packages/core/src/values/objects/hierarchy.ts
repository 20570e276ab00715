/**
 * Parents and children: making new objects belong to an owner, be named after it, and live beside it.
 *
 * The functions change the given objects, which are yet to be created in the cluster; so they are either plain
 * objects or instances of some client's classes, with the fields named as in Kubernetes. Nothing is changed at all
 * if any of the objects or the owner is unfit. The implicit owner is not known here: it is the callers' business.
 */
import { ContextError, FieldError, KopfError } from '../../errors.js';
import type { FieldPath, FieldSpec } from '../fields.js';
import { formatField, parseField } from '../fields.js';
import type { Mapping } from '../json.js';
import { getOwn, isMapping, setOwn } from '../json.js';
import type { AnyObject, Body, OwnerReference } from './body.js';
import type { OwnerReferenceOptions } from './references.js';
import { buildOwnerReference } from './references.js';

/**
 * One object, or any iterables of them, however nested. Absent ones are skipped.
 *
 * ```ts
 * const children: kopf.ObjectsToChange = [{ kind: 'Service' }, [{ kind: 'Pod' }, undefined]];
 * kopf.on.create('kopfexamples', () => kopf.adopt(children));
 * ```
 */
export type ObjectsToChange = object | null | undefined | Iterable<ObjectsToChange>;

/**
 * How {@link harmonizeNaming} chooses the name.
 *
 * ```ts
 * const options: kopf.NamingOptions = { name: 'web', strict: true };
 * ```
 */
export interface NamingOptions {
  /** Instead of the owner's name. */
  readonly name?: string | undefined;
  /** Rename also what already has a name. */
  readonly forced?: boolean | undefined;
  /** Use the name as it is, instead of as a prefix for a generated one. */
  readonly strict?: boolean | undefined;
}

/**
 * How {@link adjustNamespace} chooses the namespace.
 *
 * ```ts
 * const options: kopf.NamespaceOptions = { namespace: 'backups', forced: true };
 * ```
 */
export interface NamespaceOptions {
  /** Instead of the owner's namespace; `null` for none. */
  readonly namespace?: string | null | undefined;
  /** Move also what already has a namespace. */
  readonly forced?: boolean | undefined;
}

/**
 * How {@link label} labels objects.
 *
 * ```ts
 * const options: kopf.LabelOptions = { labels: { app: 'web' }, nested: ['spec.template'], forced: true };
 * ```
 */
export interface LabelOptions {
  /** Instead of the owner's labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Overwrite also the labels that are already there. */
  readonly forced?: boolean | undefined;
  /**
   * Where else in the objects there are templates of other objects to be labelled, e.g. `spec.template`; one dotted
   * path, or several paths. Templates that are absent are not created.
   */
  readonly nested?: string | Iterable<FieldSpec> | undefined;
}

/**
 * How {@link adopt} names and labels the children.
 *
 * ```ts
 * const options: kopf.AdoptOptions = { nested: 'spec.template' };
 * ```
 */
export type AdoptOptions = Pick<NamingOptions & LabelOptions, 'forced' | 'strict' | 'nested'>;

/** Makes the objects belong to the owner in all regards: the reference, the name, the namespace, the labels. */
export function adoptBy(owner: Body | undefined, objects: ObjectsToChange, options: AdoptOptions = {}): void {
  const parent = required(owner);
  // Any of these may refuse. Let them refuse before the first change, not in the middle.
  const steps = [
    planOwnerReference(parent, {}),
    planNaming(parent, options),
    planNamespace(parent, options),
    planLabels(parent, options),
  ];
  apply(steps, objects, options.nested);
}

/** Adds a reference to the owner, unless the object already has one with the same uid. */
export function appendOwnerReferenceBy(
  owner: Body | undefined,
  objects: ObjectsToChange,
  options: OwnerReferenceOptions = {},
): void {
  apply([planOwnerReference(required(owner), options)], objects);
}

/** Removes all references to the owner, told by its uid. The list of references remains, even if empty. */
export function removeOwnerReferenceBy(owner: Body | undefined, objects: ObjectsToChange): void {
  const uid = required(owner).metadata?.uid;
  const step: Step = (meta) => {
    setOwn(
      meta,
      'ownerReferences',
      ownerReferencesOf(meta).filter((reference) => reference.uid !== uid),
    );
  };
  apply([step], objects);
}

/** Names the objects after the owner: with a generated suffix, or strictly the same. Named ones keep their names. */
export function harmonizeNamingBy(
  owner: Body | undefined,
  objects: ObjectsToChange,
  options: NamingOptions = {},
): void {
  apply([planNaming(owner, options)], objects);
}

/** Puts the objects into the namespace of the owner (or into none, if it has none), unless they have theirs. */
export function adjustNamespaceBy(
  owner: Body | undefined,
  objects: ObjectsToChange,
  options: NamespaceOptions = {},
): void {
  apply([planNamespace(owner, options)], objects);
}

/** Gives the labels to the objects. Those that are there with other values stay, unless forced. */
export function labelBy(owner: Body | undefined, objects: ObjectsToChange, options: LabelOptions = {}): void {
  apply([planLabels(owner, options)], objects, options.nested);
}

/** What to do to the metadata of each object. */
type Step = (meta: Mapping, object: { readonly isNested: boolean }) => void;

function planOwnerReference(owner: Body, options: OwnerReferenceOptions): Step {
  const reference = buildOwnerReference(owner, options);
  return (meta, { isNested }) => {
    if (isNested) return;
    const references = ownerReferencesOf(meta);
    const isOwned = references.some(({ uid }) => uid === reference.uid);
    setOwn(meta, 'ownerReferences', isOwned ? references : [...references, { ...reference }]);
  };
}

function planNaming(owner: Body | undefined, { name: explicitName, forced, strict }: NamingOptions): Step {
  const name = explicitName === undefined ? required(owner).metadata?.name : explicitName;
  if (!name) {
    throw new ContextError('Name must be set explicitly: the owner has none. Give the owner a name, or pass `name`.', {
      code: 'KOPF_NO_NAME',
    });
  }
  return (meta, { isNested }) => {
    const isNamed = getOwn(meta, 'name') !== undefined || getOwn(meta, 'generateName') !== undefined;
    if (isNested || (isNamed && !forced)) return;
    setOwn(meta, strict ? 'name' : 'generateName', strict ? name : `${name}-`);
    delete meta[strict ? 'generateName' : 'name'];
  };
}

function planNamespace(owner: Body | undefined, { namespace: explicit, forced }: NamespaceOptions): Step {
  const namespace = (explicit === undefined ? required(owner).metadata?.namespace : explicit) ?? undefined;
  return (meta, { isNested }) => {
    const isPlaced = (getOwn(meta, 'namespace') ?? undefined) !== undefined;
    if (isNested || (isPlaced && !forced)) return;
    if (namespace === undefined) delete meta.namespace;
    else setOwn(meta, 'namespace', namespace);
  };
}

function planLabels(owner: Body | undefined, { labels: explicit, forced }: LabelOptions): Step {
  const labels = (explicit === undefined ? required(owner).metadata?.labels : explicit) ?? {};
  return (meta) => {
    const target = mappingIn(meta, 'labels');
    for (const [key, value] of Object.entries(labels)) {
      if (forced || !Object.hasOwn(target, key)) setOwn(target, key, value);
    }
  };
}

function apply(steps: readonly Step[], objects: ObjectsToChange, nested: LabelOptions['nested'] = []): void {
  const paths = typeof nested === 'string' ? [parseField(nested)] : [...nested].map((spec) => parseField(spec));
  // All of the objects are looked through before the first one is changed; and generators can be read only once.
  const targets = flattenObjects(objects).flatMap((object) => [
    { object, isNested: false },
    ...paths.flatMap((path) => flattenObjects(templatesAt(object, path))).map((object) => ({ object, isNested: true })),
  ]);
  for (const { object } of targets) refuseMalformed(object);
  for (const { object, isNested } of targets) {
    const meta = mappingIn(object, 'metadata');
    for (const step of steps) step(meta, { isNested });
  }
}

/** The objects one by one; whatever cannot be an object of a cluster is refused. */
export function flattenObjects(objects: unknown): Mapping[] {
  if (objects === undefined || objects === null) return [];
  if (typeof objects === 'object' && Symbol.iterator in objects) {
    return [...(objects as Iterable<unknown>)].flatMap(flattenObjects);
  }
  // Models of the clients are ordinary objects of their classes. Dates, promises and such are objects by mistake.
  const isObject = Object.prototype.toString.call(objects) === '[object Object]';
  if (isMapping(objects) && isObject) return [objects];
  throw new KopfError(
    `K8s object class is not supported: ${className(objects)}. Pass plain objects, models of a client, or lists of them.`,
    { code: 'KOPF_UNSUPPORTED_OBJECT' },
  );
}

function className(value: unknown): string {
  return typeof value === 'object' ? Object.prototype.toString.call(value).slice(8, -1) : typeof value;
}

/** What is there to be labelled, if anything. A scalar on the way means that the path leads somewhere else. */
function templatesAt(object: Mapping, path: FieldPath): unknown {
  let value: unknown = object;
  for (const [depth, key] of path.entries()) {
    refuseUnlessMapping(value, formatField(path.slice(0, depth)));
    if (value === undefined || value === null) return undefined;
    value = getOwn(value, key);
  }
  return value;
}

function refuseMalformed(object: Mapping): void {
  const meta = getOwn(object, 'metadata');
  refuseUnlessMapping(meta, 'metadata');
  refuseUnlessMapping(meta && getOwn(meta, 'labels'), 'metadata.labels');
}

/** The mapping under the key, as it is or as just put there. */
function mappingIn(parent: Mapping, key: string): Mapping {
  const existing = getOwn(parent, key);
  if (isMapping(existing)) return existing;
  const created: Mapping = {};
  setOwn(parent, key, created);
  return created;
}

function refuseUnlessMapping(value: unknown, field: string): asserts value is Mapping | null | undefined {
  if (value === undefined || value === null || isMapping(value)) return;
  throw new FieldError(`Not a mapping at '${field}' of an object: ${JSON.stringify(value)}.`);
}

function ownerReferencesOf(meta: Mapping): OwnerReference[] {
  const references = getOwn(meta, 'ownerReferences');
  return Array.isArray(references) ? (references as OwnerReference[]) : [];
}

function required(owner: Body | undefined): Body<AnyObject> {
  if (owner !== undefined) return owner;
  throw new ContextError(
    'Owner must be set explicitly: there is no object being handled now. Pass `owner`, or call it from a handler.',
    { code: 'KOPF_NO_OWNER' },
  );
}
