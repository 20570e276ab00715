/** Verbs over any client, typed by kinds: what handlers do most with the cluster, in one line each. */
import { ApiConflictError, ApiError, ApiNotFoundError, ApplyConflictError, KopfError } from '../../errors.js';
import type {
  Api,
  ApiApplyOptions,
  ApiDeleteOptions,
  ApiEvent,
  ApiExecOptions,
  ApiExecResult,
  ApiFor,
  ApiListOptions,
  ApiLogOptions,
  ApiLogText,
  ApiPatchOptions,
  ApiPlace,
  ApiWriteOptions,
  ObjectsApi,
  ScaleApi,
  SubresourceApi,
} from '../../seams/api.js';
import type { KubeClient, PatchType } from '../../seams/client.js';
import type { Clock } from '../../seams/clock.js';
import type { Logger } from '../../seams/logger.js';
import type { Settings } from '../../settings.js';
import { isThenable } from '../../sync/awaiting.js';
import { deepCopy, deepEqual, isMapping, type Mapping } from '../../values/json.js';
import { lostInJson } from '../../values/json-text.js';
import type { AnyObject, Body } from '../../values/objects/body.js';
import { adoptBy } from '../../values/objects/hierarchy.js';
import type { Resource } from '../../values/resources/resource.js';
import { watchTarget } from '../../values/resources/watch-target.js';
import { listPages } from '../list.js';
import { conflictPause } from '../patching/conflict-pause.js';
import { exec, logOf } from './containers.js';
import { type Kind, type Kinds, kindsOf } from './known-kinds.js';
import { checkedName } from './names.js';
import type { OwnerOf } from './owners.js';
import { fieldSelectorOf, labelSelectorOf } from './selections.js';
import { isAboutKind, type Surroundings, titled, titleFor, VerbRequests, type VerbWrite } from './verb-requests.js';
import { watchByVerb } from './watch-verb.js';

/**
 * The context of verbs, besides the client.
 *
 * ```ts
 * const options: kopf.ApiOptions = { namespace: 'default', fieldManager: 'my-operator' };
 * ```
 */
export interface ApiOptions {
  /** The default namespace. */
  readonly namespace?: string | undefined;
  /** The field manager for managed fields. Default: `kopf`. */
  readonly fieldManager?: string | undefined;
  /** Aborts all requests. */
  readonly signal?: AbortSignal | undefined;
  /** Required by `watch()`: streams are reopened after a pause. */
  readonly clock?: Clock | undefined;
}

/**
 * Verbs over any client.
 *
 * ```ts
 * const api = kopf.api(client, { namespace: 'default' });
 * for await (const pod of api('pods').each({ labels: { app: 'web' } })) logger.info(`${pod.metadata?.name}`);
 * ```
 */
export function api(client: KubeClient, options: ApiOptions = {}): Api {
  const { namespace, fieldManager = 'kopf', signal, clock } = options;
  const pause = clock && pausing(clock, Math.random);
  return verbsIn({ client, kinds: kindsOf(client), fieldManager, namespace, signal, clock, pause });
}

/** What the verbs of handlers need of an operator. */
export interface ApiParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** The field manager of handlers. */
  readonly fieldManager: () => string;
  /** Writes of objects that have owners go through these. */
  readonly ownerOf?: OwnerOf | undefined;
  /** Called with whole objects that handlers have written. */
  readonly onWritten?: ((write: VerbWrite) => void) | undefined;
  readonly random?: (() => number) | undefined;
  readonly logger?: Logger | undefined;
  readonly settings?: Pick<Settings, 'watching' | 'networking'> | undefined;
  /** Default: discovery in the cluster. */
  readonly kinds?: Kinds | undefined;
}

/** Makes the verbs of handlers. */
export function handlersApi(parts: ApiParts): ApiFor {
  const { client, clock, fieldManager, ownerOf, random = Math.random, kinds = kindsOf(client) } = parts;
  const { logger, settings, onWritten } = parts;
  const pause = pausing(clock, random);
  const told = new Set<string>();
  return ({ namespace, signal, by, dryRun }) =>
    verbsIn({
      dryRun,
      client,
      kinds,
      fieldManager: fieldManager(),
      namespace,
      signal,
      by,
      ownerOf,
      onWritten,
      pause,
      clock,
      logger,
      told,
      settings,
    });
}

/** The pause after conflicts. The first retry is immediate: usually, a newer state is already known. */
function pausing(clock: Clock, random: () => number): NonNullable<Surroundings['pause']> {
  return async (conflicts, signal) => {
    if (conflicts > 1) await clock.sleep(conflictPause(conflicts, random()), signal === undefined ? {} : { signal });
  };
}

function verbsIn(around: Omit<Surroundings, 'kind'>): Api {
  return (kind: Kind): ObjectsApi<never> =>
    new Verbs(new VerbRequests({ ...around, kind })) as unknown as ObjectsApi<never>;
}

/**
 * How often to read and write an object again if others change it meanwhile: with the pauses, that is about a minute.
 */
const REPLACE_TRIES = 70;

const APPLY = 'application/apply-patch+yaml';

const PATCH_TYPES: Readonly<Record<string, PatchType | undefined>> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** The verbs for an object itself, or for a subresource that looks like it. */
class ObjectVerbs implements SubresourceApi<AnyObject> {
  readonly requests: VerbRequests;
  readonly #subresource: string | undefined;

  constructor(requests: VerbRequests, subresource?: string) {
    this.requests = requests;
    this.#subresource = subresource;
  }

  async get(name: string, options: ApiPlace = {}): Promise<AnyObject> {
    return await this.requests.of('get', name, options, (resource) => {
      const request = { method: 'GET', name, subresource: this.#subresource } as const;
      return this.requests.send<AnyObject>(resource, request, options);
    });
  }

  async patch(name: string, patch: Mapping | readonly unknown[], options: ApiPatchOptions = {}): Promise<AnyObject> {
    return await this.requests.of('patch', name, options, (resource) => {
      const isList = Array.isArray(patch);
      if (!isList && !isMapping(patch)) throw badObject('A patch is an object; or a list, if it is a JSON-patch.');
      refuseLosses(patch);
      const contentType = isList ? 'application/json-patch+json' : PATCH_TYPES[options.type ?? 'merge'];
      if (contentType === undefined) throw badObject(`A patch is 'merge' or 'strategic', and not '${options.type}'.`);
      if (isList) refuseBadOperations(patch);
      const query = this.requests.writeQuery(options);
      const target = { method: 'PATCH', name, subresource: this.#subresource, body: patch } as const;
      this.requests.tellIgnored(resource, target, options);
      return this.requests.write(resource, { ...target, contentType, query }, options);
    });
  }

  async apply(given: object, options: ApiApplyOptions = {}): Promise<AnyObject> {
    return await this.requests.about('apply', options, nameIn(given), (resource) =>
      this.#apply(resource, given, options),
    );
  }

  async #apply(resource: Resource, given: object, options: ApiApplyOptions): Promise<AnyObject> {
    const object = completed(given, resource, options.owner);
    const { name } = object.metadata ?? {};
    const namespace = namespaceIn(object, options);
    if (name === undefined) throw badObject('An applied object needs a name in its metadata.');
    const query = this.requests.writeQuery(options);
    const target = {
      ...({ method: 'PATCH', verb: 'apply', contentType: APPLY } as const),
      ...{ name: checkedName(name), subresource: this.#subresource, body: object },
    };
    this.requests.tellIgnored(resource, target, { ...options, namespace });
    const write = (force: true | undefined): Promise<AnyObject> =>
      this.requests.write(resource, { ...target, query: { ...query, force } }, { ...options, namespace });
    try {
      return await write(options.force === true ? true : undefined);
    } catch (error) {
      // To the server, the same manager is a different one if it writes by other operations.
      const isOurs = error instanceof ApplyConflictError && error.conflicts.every(isBy(query.fieldManager));
      if (!isOurs) throw error;
      return await write(true);
    }
  }

  async replace(
    name: string,
    change: (object: AnyObject) => AnyObject | undefined,
    options: ApiWriteOptions = {},
  ): Promise<AnyObject> {
    return await this.requests.of('replace', name, options, (resource) =>
      this.#replace(resource, name, change, options),
    );
  }

  async #replace(
    resource: Resource,
    name: string,
    change: (object: AnyObject) => AnyObject | undefined,
    options: ApiWriteOptions,
  ): Promise<AnyObject> {
    if (typeof change !== 'function') throw badObject('An object is replaced by a function that changes it.');
    const query = this.requests.writeQuery(options);
    for (let conflicts = 1; ; conflicts += 1) {
      const endTurn = await this.requests.takeTurn(name, resource, options);
      let isForVersion = false;
      try {
        const read = await this.get(name, placeOf(options));
        const object = deepCopy(read);
        const body = forVersion(changedBy(change, object), read);
        isForVersion = versionOf(body) === versionOf(read);
        const request = { method: 'PUT', name, subresource: this.#subresource, query, body } as const;
        this.requests.tellIgnored(resource, { ...request, body: changedParts(read, body) }, options);
        return await this.requests.replace(resource, request, read, options);
      } catch (error) {
        if (!(error instanceof ApiConflictError && isForVersion) || conflicts >= REPLACE_TRIES) throw error;
      } finally {
        endTurn?.();
      }
      await this.requests.pause(conflicts, options);
    }
  }
}

class Verbs extends ObjectVerbs implements ObjectsApi {
  get status(): SubresourceApi<AnyObject> {
    return new ObjectVerbs(this.requests, 'status');
  }

  get scale(): ScaleApi {
    return scaleVerbs(this.requests);
  }

  async find(name: string, options: ApiPlace = {}): Promise<AnyObject | undefined> {
    return await this.requests.of('find', name, options, async (resource) => {
      try {
        return await this.requests.send<AnyObject>(resource, { method: 'GET', name }, options);
      } catch (error) {
        if (error instanceof ApiNotFoundError && !isAboutKind(error)) return undefined;
        throw error;
      }
    });
  }

  async list(options: ApiListOptions = {}): Promise<AnyObject[]> {
    let items: AnyObject[] = [];
    for await (const page of this.#pages('list', options)) {
      // A list that expires halfway starts over.
      if (page.isFirst) items = [];
      for (const item of page.items) items.push(item);
    }
    return items;
  }

  /** If the list expires halfway, objects that were already yielded are skipped unless they have changed. */
  async *each(options: ApiListOptions = {}): AsyncGenerator<AnyObject, void, void> {
    const given = new Map<string, string | undefined>();
    for await (const { items } of this.#pages('each', options)) {
      for (const item of items) {
        const { uid = '', resourceVersion } = item.metadata ?? {};
        if (given.has(uid) && given.get(uid) === resourceVersion) continue;
        given.set(uid, resourceVersion);
        yield item;
      }
    }
  }

  async *watch(options: ApiListOptions = {}): AsyncGenerator<ApiEvent, void, void> {
    const { clock, logger, settings } = this.requests.watching;
    const selected = await this.requests.about('watch', options, undefined, (kind) => this.#selected(kind, options));
    if (clock === undefined) {
      throw new KopfError('Watching needs a clock: pass { clock } to api(), or use the `api` of a handler.', {
        code: 'KOPF_NO_CLOCK',
      });
    }
    const { resource, namespace, labelSelector, fieldSelector, pageSize, signal } = selected;
    const target = watchTarget(resource, { namespace, labelSelector, fieldSelector });
    const title = titleFor(resource, { method: 'GET', verb: 'watch' }, namespace);
    yield* watchByVerb(this.requests.client, target, {
      clock,
      logger,
      settings,
      signal,
      pageSize,
      titled: (error) => titled(error, title),
    });
    // A caller who passed a signal knows why it ends. But a handler whose call is over must not continue as if it had
    // seen everything.
    if (options.signal === undefined) signal?.throwIfAborted();
  }

  async *#pages(verb: 'list' | 'each', options: ApiListOptions) {
    const { resource, ...selected } = await this.requests.about(verb, options, undefined, (kind) =>
      this.#selected(kind, options),
    );
    try {
      yield* listPages(this.requests.client, resource, { ...selected, retries: 'unless-forbidden' });
    } catch (error) {
      const title = titleFor(resource, { method: 'GET', verb: 'list' }, selected.namespace);
      throw error instanceof ApiError ? titled(error, title) : error;
    }
  }

  /** The selected objects. */
  #selected(resource: Resource, options: ApiListOptions) {
    const [labelSelector, fieldSelector] = [labelSelectorOf(options.labels), fieldSelectorOf(options.fields)];
    const { pageSize, allNamespaces = false } = options;
    if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize > 0)) {
      throw new KopfError(`There cannot be ${String(pageSize)} objects on a page.`, { code: 'KOPF_BAD_SELECTION' });
    }
    if (allNamespaces && options.namespace !== undefined) {
      throw new KopfError(`It is either of all namespaces or of '${options.namespace}': leave one of them out.`, {
        code: 'KOPF_BAD_SELECTION',
      });
    }
    const namespace = allNamespaces ? undefined : this.requests.namespaceOf(resource, options);
    if (namespace === undefined && !allNamespaces && resource.namespaced) {
      throw new KopfError(
        `Of which namespace are the ${resource.plural} to be listed? Pass { namespace: '…' } or { allNamespaces: true }.`,
        { code: 'KOPF_URL_NAME_WITHOUT_NAMESPACE' },
      );
    }
    const signal = this.requests.signalOf(options);
    return { resource, namespace, labelSelector, fieldSelector, pageSize, signal };
  }

  async create(given: object, options: Omit<ApiApplyOptions, 'force'> = {}): Promise<AnyObject> {
    return await this.requests.about('create', options, nameIn(given), (resource) => {
      const object = completed(given, resource, options.owner);
      const { name, generateName } = object.metadata ?? {};
      const namespace = namespaceIn(object, options);
      if (name === undefined && generateName === undefined) {
        throw badObject('A new object needs a name in its metadata, or the beginning of one: generateName.');
      }
      const query = this.requests.writeQuery(options);
      const request = { method: 'POST', contentType: 'application/json', query, body: object } as const;
      this.requests.tellIgnored(resource, { ...request, name }, { ...options, namespace });
      return this.requests.send<AnyObject>(resource, request, { ...options, namespace });
    });
  }

  async delete(name: string, options: ApiDeleteOptions = {}): Promise<void> {
    await this.requests.of('delete', name, options, async (resource) => {
      const body = deletionOf({ ...options, dryRun: this.requests.isTrial(options) });
      try {
        await this.requests.send(resource, { method: 'DELETE', name, body }, options);
      } catch (error) {
        if (options.ifGone !== 'ignore' || !(error instanceof ApiNotFoundError)) throw error;
      }
    });
  }

  async deleteCollection(options: Parameters<ObjectsApi['deleteCollection']>[0]): Promise<void> {
    await this.requests.about('deleteCollection', options, undefined, (resource) => {
      const [labelSelector, fieldSelector] = [labelSelectorOf(options.labels), fieldSelectorOf(options.fields)];
      if (!labelSelector && !fieldSelector && options.all !== true) {
        throw new KopfError(
          `All ${resource.plural} would be deleted: say which ones by labels or fields, or mean it by { all: true }.`,
          { code: 'KOPF_BAD_SELECTION' },
        );
      }
      const body = deletionOf({ ...options, dryRun: this.requests.isTrial(options) });
      const query = { labelSelector, fieldSelector };
      return this.requests.send(resource, { method: 'DELETE', verb: 'deleteCollection', query, body }, options);
    });
  }

  async evict(name: string, options: ApiDeleteOptions = {}): Promise<void> {
    await this.requests.of('evict', name, options, (resource) => {
      const { gracePeriodSeconds } = options;
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace: this.requests.namespaceOf(resource, options) },
        deleteOptions: deletionOf({ gracePeriodSeconds, dryRun: this.requests.isTrial(options) }),
      };
      const target = { method: 'POST', verb: 'evict', name, subresource: 'eviction' } as const;
      return this.requests.send(resource, { ...target, contentType: 'application/json', body }, options);
    });
  }

  log(name: string, options: ApiLogOptions = {}): ApiLogText {
    return logOf(this.requests, name, options);
  }

  async exec(name: string, command: readonly string[], options: ApiExecOptions = {}): Promise<ApiExecResult> {
    return await this.requests.of('exec', name, options, (resource) => {
      if (this.requests.isTrial()) {
        const why = 'the request that is reviewed is only a trial (dry run), and a command would really be executed';
        throw badObject(`No command is executed in the pod '${name}': ${why}. Ask for 'dryrun' before.`);
      }
      return exec(this.requests, resource, name, command, options);
    });
  }

  async token(
    name: string,
    options: ApiPlace & { readonly audiences?: readonly string[]; readonly expirationSeconds?: number } = {},
  ): Promise<{ readonly token: string; readonly expires: Date }> {
    return await this.requests.of('token', name, options, async (resource) => {
      const { audiences, expirationSeconds } = options;
      const body = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { ...(audiences && { audiences }), ...(expirationSeconds !== undefined && { expirationSeconds }) },
      };
      const target = { method: 'POST', verb: 'token', name, subresource: 'token' } as const;
      const { status } = await this.requests.send<{ status: { token: string; expirationTimestamp: string } }>(
        resource,
        { ...target, contentType: 'application/json', body },
        options,
      );
      return { token: status.token, expires: new Date(status.expirationTimestamp) };
    });
  }
}

function scaleVerbs(requests: VerbRequests): ScaleApi {
  type Scale = { readonly spec?: { readonly replicas?: number }; readonly status?: { readonly replicas?: number } };
  return {
    async get(name, options = {}) {
      return await requests.of('scale.get', name, options, async (resource) => {
        const request = { method: 'GET', name, subresource: 'scale' } as const;
        const { spec, status } = await requests.send<Scale>(resource, request, options);
        return { wanted: spec?.replicas ?? 0, actual: status?.replicas ?? 0 };
      });
    },
    async set(name, replicas, options = {}) {
      await requests.of('scale.set', name, options, (resource) => {
        if (!Number.isInteger(replicas) || replicas < 0)
          throw badObject(
            `There cannot be ${JSON.stringify(replicas)} replicas: the number is a whole one, from 0 on.`,
          );
        const query = requests.writeQuery(options);
        const [contentType, body] = ['application/merge-patch+json', { spec: { replicas } }] as const;
        const target = { method: 'PATCH', name, subresource: 'scale' } as const;
        return requests.write(resource, { ...target, contentType, query, body }, options);
      });
    },
  };
}

/** A copy with the fields that the server requires, though they are redundant. */
function completed(given: object, resource: Resource, owner: Body | undefined): AnyObject {
  if (!isMapping(given) || (given['metadata'] !== undefined && !isMapping(given['metadata']))) {
    throw badObject('An object is a mapping with metadata.');
  }
  refuseLosses(given);
  const { group, version, kind } = resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const object = deepCopy(given) as AnyObject;
  for (const [key, wanted] of [
    ['apiVersion', apiVersion],
    ['kind', kind],
  ] as const) {
    const said = object[key];
    if (said !== undefined && wanted !== undefined && said !== wanted) {
      throw badObject(`The ${key} of the object is '${String(said)}', while it is for '${wanted}'.`);
    }
  }
  const whole: AnyObject = { apiVersion, ...(kind === undefined ? {} : { kind }), ...object };
  if (owner !== undefined) {
    if (!isMapping(owner))
      throw badObject(`An owner is a whole object, such as the body of a handler, and not ${JSON.stringify(owner)}.`);
    checkNamespaceOfChild(whole, owner);
    const isLabelled = whole.metadata?.labels !== undefined;
    adoptBy(owner, whole);
    // No labels were requested. If they were applied, even if empty, others could not apply theirs without conflicts.
    const { labels, ...metadata } = whole.metadata ?? {};
    if (!isLabelled && Object.keys(labels ?? {}).length === 0) return { ...whole, metadata };
  }
  return whole;
}

/** The actual changes made by a function. */
function changedParts(read: AnyObject, body: AnyObject): Mapping {
  return Object.fromEntries(Object.entries(body).filter(([key, value]) => !deepEqual(value, read[key])));
}

/** The cluster would accept it, and delete it a little later as if its owner were gone. */
function checkNamespaceOfChild(child: AnyObject, owner: Body): void {
  const [own, owners] = [child.metadata?.namespace, owner.metadata?.namespace];
  if (own === undefined || owners === undefined || own === owners) return;
  throw badObject(
    `An object of the namespace '${own}' cannot be owned by one of '${owners}': the cluster would delete it. Leave out ` +
      'the owner, and delete the object in a deletion handler; or create it in the namespace of its owner.',
  );
}

function changedBy(change: (object: AnyObject) => AnyObject | undefined, object: AnyObject): AnyObject {
  const changed: unknown = change(object);
  if (!isThenable(changed)) return (changed ?? object) as AnyObject;
  void Promise.resolve(changed).catch(() => {});
  throw badObject(
    'The function that changes an object must be synchronous, as it may be called several times: get what it needs before.',
  );
}

/** The write is for the version that was read, unless the user specifies another one. */
function forVersion(changed: AnyObject, read: AnyObject): AnyObject {
  if (!isMapping(changed) || (changed.metadata !== undefined && !isMapping(changed.metadata))) {
    throw badObject('What an object is replaced by is an object, too.');
  }
  refuseLosses(changed);
  const resourceVersion = versionOf(changed) ?? versionOf(read);
  return {
    ...changed,
    metadata: { ...changed.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  };
}

function versionOf(object: AnyObject): string | undefined {
  return object.metadata?.resourceVersion;
}

function deletionOf({ propagation, gracePeriodSeconds, preconditions, dryRun }: ApiDeleteOptions): Mapping {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(propagation && { propagationPolicy: propagation }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions && { preconditions }),
    ...(dryRun && { dryRun: ['All'] }),
  };
}

/** An object whose namespace differs from the verb's is a mistake, whichever of them is meant. */
function namespaceIn({ metadata }: AnyObject, { namespace }: ApiPlace): string | undefined {
  const said = metadata?.namespace;
  if (said === undefined || namespace === undefined || said === namespace) return said ?? namespace;
  throw badObject(`The object is of the namespace '${said}', while '${namespace}' is given.`);
}

function placeOf({ namespace, signal }: ApiPlace): ApiPlace {
  return { namespace, signal };
}

function isBy(name: string): (conflict: { readonly manager: string }) => boolean {
  return ({ manager }) => manager === name;
}

/** As they are by RFC 6902. The server takes a value that is forgotten for null, and so the field away. */
function refuseBadOperations(patch: readonly unknown[]): void {
  for (const [index, op] of patch.entries()) {
    if (!isMapping(op) || typeof op['op'] !== 'string' || typeof op['path'] !== 'string') {
      throw badObject(`A JSON-patch is a list of operations, each with 'op' and 'path': #${index} is none.`);
    }
    const needed = OPERATIONS[op['op']];
    if (needed === undefined) {
      const known = Object.keys(OPERATIONS).join(', ');
      throw badObject(`The operation #${index} of the JSON-patch is '${op['op']}', but there are only ${known}.`);
    }
    if (needed !== '' && op[needed] === undefined) {
      throw badObject(`The operation #${index} of the JSON-patch has no '${needed}', which '${op['op']}' needs.`);
    }
  }
}

/** And what they need besides the path. */
const OPERATIONS: Readonly<Record<string, 'value' | 'from' | '' | undefined>> = {
  ...{ add: 'value', replace: 'value', test: 'value', remove: '', move: 'from', copy: 'from' },
};

/** For errors, of whatever is given. */
function nameIn(given: unknown): string | undefined {
  const { name, generateName } = (given as AnyObject | undefined)?.metadata ?? {};
  return name ?? (generateName === undefined ? undefined : `${generateName}*`);
}

function refuseLosses(object: unknown): void {
  const lost = lostInJson(object);
  if (lost !== undefined) throw badObject(`It cannot be sent as JSON: ${lost}.`);
}

function badObject(message: string): KopfError {
  return new KopfError(message, { code: 'KOPF_BAD_OBJECT' });
}
