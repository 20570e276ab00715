/** Resources: the kinds of objects that a cluster serves, their addresses, and the tokens that carry their types. */
import { KopfError } from '../../errors.js';
import type { Mapping } from '../json.js';
import type { AnyObject, ObjectMeta } from '../objects/body.js';
import type { SchemaInput, StandardSchema } from '../standard-schema.js';
import type { SelectorFields } from './selector.js';

/**
 * A kind of objects as the cluster describes it. Two descriptions with the same group, version and plural name are
 * the same resource, whatever else they say: compare by {@link sameResource} or {@link resourceKey}, never by `===`.
 *
 * ```ts
 * const isCustom = ({ group }: kopf.Resource) => group.includes('.') && !group.endsWith('.k8s.io');
 * ```
 */
export interface Resource {
  /** Empty for the core resources, such as pods. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind?: string;
  readonly singular?: string;
  readonly shortcuts: ReadonlySet<string>;
  readonly categories: ReadonlySet<string>;
  /** Names such as `status` or `scale`. */
  readonly subresources: ReadonlySet<string>;
  /** Absent if not known. */
  readonly namespaced?: boolean;
  /** Is it the version that the cluster itself prefers of this group? */
  readonly preferred: boolean;
  readonly verbs: ReadonlySet<string>;
}

export interface ResourceFields {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind?: string | undefined;
  readonly singular?: string | undefined;
  readonly shortcuts?: Iterable<string> | undefined;
  readonly categories?: Iterable<string> | undefined;
  readonly subresources?: Iterable<string> | undefined;
  readonly namespaced?: boolean | undefined;
  readonly preferred?: boolean | undefined;
  readonly verbs?: Iterable<string> | undefined;
}

/** A resource from what is known of it: sets are empty unless given; the version is preferred unless told otherwise. */
export function makeResource(fields: ResourceFields): Resource {
  const { group, version, plural, kind, singular, namespaced } = fields;
  return Object.freeze({
    group,
    version,
    plural,
    ...(kind === undefined ? {} : { kind }),
    ...(singular === undefined ? {} : { singular }),
    shortcuts: new Set(fields.shortcuts),
    categories: new Set(fields.categories),
    subresources: new Set(fields.subresources),
    ...(namespaced === undefined ? {} : { namespaced }),
    preferred: fields.preferred ?? true,
    verbs: new Set(fields.verbs),
  });
}

type ResourceIdentity = Pick<Resource, 'group' | 'version' | 'plural'>;

/** The identity of a resource as a string, for keys of maps. */
export function resourceKey({ group, version, plural }: ResourceIdentity): string {
  // No part of it can contain a slash, so different resources never get the same key.
  return `${group}/${version}/${plural}`;
}

/** Is it the same resource, possibly described at different times? */
export function sameResource(a: ResourceIdentity, b: ResourceIdentity): boolean {
  return a.group === b.group && a.version === b.version && a.plural === b.plural;
}

/** Each resource once: of several descriptions of one resource, the first is kept. */
export function uniqueResources(resources: Iterable<Resource>): ReadonlySet<Resource> {
  const byKey = new Map<string, Resource>();
  for (const resource of resources) {
    const key = resourceKey(resource);
    if (!byKey.has(key)) byKey.set(key, resource);
  }
  return new Set(byKey.values());
}

/** A resource in logs: `kopfexamples.v1.kopf.dev`, `pods.v1`. */
export function formatResource({ group, version, plural }: ResourceIdentity): string {
  return [plural, version, group].filter((part) => part !== '').join('.');
}

export interface ResourceAddress {
  /** Absent or `null` for the whole cluster. */
  readonly namespace?: string | null | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  /** Keys with `undefined` are left out. A `URLSearchParams` will do, too. */
  readonly query?: QueryFields | Iterable<readonly [string, string]> | undefined;
}

export type QueryFields = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * The server-relative path of a resource, of one object, or of an object's subresource, with the query.
 *
 * A wrong address is an error rather than a wider address: deleting an object with an empty name must not become
 * deleting the whole collection. While it is unknown whether the resource is namespaced, any combination is trusted.
 */
export function resourceUrl(resource: Resource, address: ResourceAddress = {}): string {
  const { group, version, plural, namespaced } = resource;
  const { name, subresource } = address;
  const namespace = address.namespace ?? undefined;

  if (subresource !== undefined && name === undefined) {
    throw new KopfError(
      `Subresource ${subresource} of ${formatResource(resource)} needs the name of the object it belongs to.`,
      { code: 'KOPF_URL_SUBRESOURCE_WITHOUT_NAME' },
    );
  }
  if (namespace !== undefined && namespaced === false) {
    throw new KopfError(
      `${formatResource(resource)} is cluster-scoped and has no namespaces, but ${namespace} is given.`,
      { code: 'KOPF_URL_NAMESPACE_OF_CLUSTER_SCOPED' },
    );
  }
  if (name !== undefined && namespace === undefined && namespaced === true) {
    throw new KopfError(`${formatResource(resource)} is namespaced: ${name} can only be found with its namespace.`, {
      code: 'KOPF_URL_NAME_WITHOUT_NAMESPACE',
    });
  }

  const parts = [
    group === '' && version === 'v1' ? 'api' : 'apis',
    ...(group === '' ? [] : [group]),
    version,
    ...(namespace === undefined ? [] : ['namespaces', pathSegment('namespace', namespace)]),
    plural,
    ...(name === undefined ? [] : [pathSegment('name', name)]),
    ...(subresource === undefined ? [] : [pathSegment('subresource', subresource)]),
  ];
  const query = formatQuery(address.query);
  return `/${parts.join('/')}${query === '' ? '' : `?${query}`}`;
}

function pathSegment(role: string, value: string): string {
  // Dots cannot be escaped: URL parsers take "%2e%2e" for ".." and leave the directory all the same.
  if (value === '' || value === '.' || value === '..') {
    throw new KopfError(`The ${role} must be a real name in a URL, not '${value}'.`, { code: 'KOPF_URL_BAD_SEGMENT' });
  }
  return encodeURIComponent(value);
}

function formatQuery(query: ResourceAddress['query']): string {
  if (query === undefined) return '';
  const pairs = isIterable(query) ? [...query] : Object.entries(query);
  const params = new URLSearchParams();
  for (const [key, value] of pairs) {
    if (value !== undefined) params.append(key, String(value));
  }
  return params.toString();
}

function isIterable(query: object): query is Iterable<readonly [string, string]> {
  return Symbol.iterator in query;
}

/**
 * An object whose spec and status are known; all else is as in any object.
 *
 * ```ts
 * type KopfExample = kopf.TypedObject<{ size: number }, { phase?: 'pending' | 'ready' }>;
 * kopf.on.create<KopfExample>('kopfexamples', ({ patch }) => {
 *   patch.status.phase = 'pending';
 * });
 * ```
 */
export interface TypedObject<Spec = Record<string, unknown>, Status = Record<string, unknown>> {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/**
 * Names a resource and carries the type of its objects, so that the type is told once and inferred at each use.
 * Made by {@link resource}. At run time, it is only a selector, and whether the objects are in namespaces, if that is told.
 *
 * The second type is that of `namespace` in handlers: a `string` for kinds in namespaces, `undefined` for those of the
 * cluster, either of them if it is not told.
 *
 * ```ts
 * interface Spec {
 *   size: number;
 * }
 * const examples: kopf.ResourceToken<kopf.TypedObject<Spec>> = kopf.resource<Spec>({ plural: 'kopfexamples' });
 * kopf.on.create(examples, ({ spec, logger }) => logger.info(`${spec.size.toFixed(1)} GiB`));
 * ```
 */
export interface ResourceToken<T extends object = AnyObject, N extends string | undefined = string | undefined> {
  readonly selector: SelectorFields;
  /** Whether the objects are in namespaces, as its author says. The operator compares it with what the cluster says. */
  readonly namespaced?: boolean;
  /** What the token was made of, if of schemas: for validation, which the framework leaves to you. */
  readonly schema?: { readonly spec: StandardSchema; readonly status?: StandardSchema };
  /** Exists for the type checker only. */
  readonly '~object'?: T;
  /** Exists for the type checker only. */
  readonly '~namespace'?: N;
}

/**
 * What a token is made of: a selector, and whether the objects are in namespaces.
 *
 * ```ts
 * const fields: kopf.TokenFields = { group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', namespaced: true };
 * const examples = kopf.resource(fields);
 * ```
 */
export interface TokenFields extends SelectorFields {
  /**
   * Whether the objects are in namespaces: `namespace` is then a string in handlers, or is not there at all.
   * If it is not so in the cluster, the operator says so instead of handling them.
   */
  readonly namespaced?: boolean;
}

/** The type of `namespace` for what is said of a kind. */
type NamespaceBy<Namespaced> = [Namespaced] extends [true]
  ? string
  : [Namespaced] extends [false]
    ? undefined
    : string | undefined;

/**
 * A token of a resource: `resource<Spec, Status>({ group, version, plural })` with types of your own, or
 * `resource({ group, version, plural, spec: z.object(…) })` with those of any Standard Schema. With `namespaced: true`,
 * handlers have a `namespace` that is always a string; with `namespaced: false`, they have none.
 *
 * ```ts
 * const examples = kopf.resource<{ size: number }>({
 *   group: 'kopf.dev',
 *   version: 'v1',
 *   plural: 'kopfexamples',
 *   namespaced: true,
 * });
 * kopf.on.update(examples, ({ spec, namespace, patch }) => {
 *   patch.status.size = `${namespace.toUpperCase()}: ${spec.size}`;
 * });
 * ```
 */
export function resource<
  Spec extends StandardSchema,
  Status extends StandardSchema = StandardSchema<Record<string, unknown>>,
  const Namespaced extends boolean | undefined = undefined,
>(
  fields: SelectorFields & { readonly spec: Spec; readonly status?: Status; readonly namespaced?: Namespaced },
): ResourceToken<TypedObject<SchemaInput<Spec>, SchemaInput<Status>>, NamespaceBy<Namespaced>>;
export function resource(fields: TokenFields & { readonly namespaced: true }): ResourceToken<AnyObject, string>;
export function resource(fields: TokenFields & { readonly namespaced: false }): ResourceToken<AnyObject, undefined>;
export function resource(fields: TokenFields): ResourceToken;
export function resource<Spec extends object, Status extends object = Record<string, unknown>>(
  fields: TokenFields & { readonly namespaced: true },
): ResourceToken<TypedObject<Spec, Status>, string>;
export function resource<Spec extends object, Status extends object = Record<string, unknown>>(
  fields: TokenFields & { readonly namespaced: false },
): ResourceToken<TypedObject<Spec, Status>, undefined>;
export function resource<Spec extends object, Status extends object = Record<string, unknown>>(
  fields: TokenFields,
): ResourceToken<TypedObject<Spec, Status>>;
export function resource(
  fields: TokenFields & { readonly spec?: StandardSchema; readonly status?: StandardSchema },
): ResourceToken<object> {
  const { spec, status, namespaced, ...selector } = fields;
  const schema = spec && Object.freeze({ spec, ...(status === undefined ? {} : { status }) });
  return Object.freeze({
    selector: Object.freeze(selector),
    ...(namespaced === undefined ? {} : { namespaced }),
    ...(schema === undefined ? {} : { schema }),
  });
}

type IsAny<T> = 0 extends 1 & T ? true : false;

/** Of a type that is not known, we still know that it is a mapping. */
// biome-ignore lint/suspicious/noExplicitAny: untyped resources are used without casts, as in the cluster itself
type MappingUnlessKnown<T> = IsAny<T> extends true ? Record<string, any> : NonNullable<T>;

/** The spec of an object's type, as handlers see it: always there, though maybe empty. */
export type SpecOf<T extends object> = 'spec' extends keyof T ? MappingUnlessKnown<T['spec']> : Mapping;

/** The status of an object's type, as handlers see it: always there, but with any part of it possibly not yet. */
export type StatusOf<T extends object> = 'status' extends keyof T ? Partial<MappingUnlessKnown<T['status']>> : Mapping;
