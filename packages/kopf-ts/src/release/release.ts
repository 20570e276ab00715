/** Removes an operator's traces from objects, for when the operator itself is removed for good. */
import {
  type AnyObject,
  type Body,
  type FieldPath,
  KopfError,
  type KubeClient,
  Patch,
  type Resource,
  type SelectorSpec,
  type Settings,
} from '@kopf-ts/core';
import {
  allowDeletion,
  discover,
  exactNamespaces,
  formatResource,
  isDeletionBlocked,
  isDeletionOngoing,
  listPages,
  matchesAnyNamespace,
  type NamespacePattern,
  parseSelector,
  patchObject,
  resourceUrl,
  toError,
} from '@kopf-ts/core/engine';
import { defaultSettings, withStorages } from '../defaults.js';
import { fieldsOf, tracesOf } from './storage-traces.js';

/**
 * Which objects to release, and from which finalizer and storages.
 *
 * ```ts
 * const options: kopf.ReleaseOptions = { client, selector: ['kopfexamples', 'pods'], dryRun: true };
 * ```
 */
export interface ReleaseOptions {
  readonly client: KubeClient;
  /** The kinds that the operator served. */
  readonly selector: SelectorSpec | readonly SelectorSpec[];
  /** The settings of the operator, with its finalizer and storages. Default: those of an operator without settings. */
  readonly settings?: Settings | undefined;
  /** Only these namespaces. Default: all. */
  readonly namespaces?: readonly NamespacePattern[] | undefined;
  /** Only report the traces, change nothing. Default: false. */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * An object with traces of the operator.
 *
 * ```ts
 * const isDone = ({ error }: kopf.Released): boolean => error === undefined;
 * ```
 */
export interface Released {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
  /** The finalizer, if it was there. */
  readonly finalizer: string | undefined;
  /** Annotations and other fields with the progress of handlers or the last handled state. */
  readonly fields: readonly FieldPath[];
  /** Its deletion was requested: it goes away now unless it has other finalizers. */
  readonly isDeleting: boolean;
  /** Why it could not be released; absent on success. */
  readonly error?: Error | undefined;
}

/** The object may be changing meanwhile. */
const MAX_ATTEMPTS = 5;

/**
 * Removes the operator's finalizer, progress and last handled states from objects, and yields each object that had any.
 * An object that cannot be released does not hold up the others, but an unknown kind fails at once.
 * The operator must not be running: it would put everything back.
 *
 * ```ts
 * for await (const { namespace, name, error } of kopf.release({ client, selector: 'kopfexamples' })) {
 *   console.log(`${namespace}/${name}: ${error?.message ?? 'released'}`);
 * }
 * ```
 */
export async function* release(options: ReleaseOptions): AsyncGenerator<Released, void, void> {
  const { client, signal } = options;
  const settings = withStorages(options.settings ?? defaultSettings());
  for (const resource of await findKinds(options)) {
    for (const namespace of placesOf(resource, options)) {
      for await (const { items } of listPages(client, resource, { namespace, signal })) {
        for (const body of items) {
          if (!isMeant(body, resource, options)) continue;
          const released = await releaseObject(options, settings, resource, body);
          if (released !== undefined) yield released;
        }
      }
    }
  }
}

async function findKinds({ client, selector, namespaces, signal }: ReleaseOptions): Promise<readonly Resource[]> {
  const { resources, failed } = await discover(client, { signal });
  const found = new Set<Resource>();
  for (const spec of [selector].flat() as SelectorSpec[]) {
    const parsed = parseSelector(spec);
    const meant = [...parsed.select(resources)];
    const what = typeof spec === 'string' ? `"${spec}"` : String(parsed);
    if (meant.length === 0) {
      const why = failed.length > 0 ? ` But these groups do not answer: ${failed.join(', ')}.` : '';
      throw problem(`There is no kind ${what} in the cluster.${why}`, 'KOPF_NO_KIND');
    }
    if (parsed.isSpecific && meant.length > 1) {
      const kinds = meant.map((resource) => formatResource(resource)).join(', ');
      throw problem(`Several kinds are named ${what}: ${kinds}. Say which one.`, 'KOPF_AMBIGUOUS_KIND');
    }
    for (const resource of meant) {
      const isOutside = resource.namespaced === false && namespaces !== undefined && namespaces.length > 0;
      if (isOutside && parsed.isSpecific) {
        throw problem(`Objects of ${formatResource(resource)} are not in namespaces.`, 'KOPF_NOT_NAMESPACED');
      }
      if (!isOutside) found.add(resource);
    }
  }
  return [...found].filter(({ verbs }) => verbs.has('list') && verbs.has('patch'));
}

/** Where to list: in each given namespace, which needs fewer permissions; otherwise, in the whole cluster. */
function placesOf(resource: Resource, { namespaces = [] }: ReleaseOptions): readonly (string | undefined)[] {
  const exact = exactNamespaces(namespaces);
  const areExact = exact.length > 0 && exact.length === namespaces.length;
  return areExact && resource.namespaced !== false ? exact : [undefined];
}

function isMeant(body: Body, resource: Resource, { namespaces = [] }: ReleaseOptions): boolean {
  if (namespaces.length === 0 || resource.namespaced === false) return true;
  return matchesAnyNamespace(body.metadata?.namespace ?? '', namespaces);
}

async function releaseObject(
  options: ReleaseOptions,
  settings: Settings,
  resource: Resource,
  body: AnyObject,
): Promise<Released | undefined> {
  const { finalizer } = settings.persistence;
  const traces = await tracesOf(body, resource, settings);
  const isBlocked = isDeletionBlocked(body, finalizer);
  const fields = fieldsOf(traces);
  if (fields.length === 0 && !isBlocked) return undefined;
  const { name = '', namespace } = body.metadata ?? {};
  const released: Released = {
    resource,
    namespace,
    name,
    finalizer: isBlocked ? finalizer : undefined,
    fields,
    isDeleting: isDeletionOngoing(body),
  };
  if (options.dryRun) return released;
  try {
    await cleanObject(options, settings, resource, body);
    return released;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    return { ...released, error: toError(error) };
  }
}

async function cleanObject(
  { client, signal }: ReleaseOptions,
  settings: Settings,
  resource: Resource,
  seen: AnyObject,
): Promise<void> {
  const { name = '', namespace, uid } = seen.metadata ?? {};
  let body = seen;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const patch = new Patch(await tracesOf(body, resource, settings), {
      body,
      fns: [allowDeletion(settings.persistence.finalizer)],
    });
    const { remaining } = await patchObject(client, resource, { namespace, name, patch, signal });
    if (remaining === undefined) return;
    const path = resourceUrl(resource, { namespace, name });
    body = await client.request<AnyObject>({ method: 'GET', path, ...(signal === undefined ? {} : { signal }) });
    if (body.metadata?.uid !== uid) return;
  }
  throw problem('others change the object all the time', 'KOPF_RELEASE_CONFLICT');
}

function problem(message: string, code: string): KopfError {
  return new KopfError(message, { code });
}
