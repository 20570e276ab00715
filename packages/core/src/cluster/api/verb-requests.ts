/** One request of a verb: its query from the options, and errors that describe the request. */
import { ApiError, ApplyConflictError, apiError, conflictsIn, KopfError, RegistrationError } from '../../errors.js';
import type { ApiFor, ApiPlace, ApiWriteOptions } from '../../seams/api.js';
import type { KubeClient, KubeRequest } from '../../seams/client.js';
import type { Clock } from '../../seams/clock.js';
import type { Logger } from '../../seams/logger.js';
import type { Settings } from '../../settings.js';
import type { EndTurn } from '../../sync/turns.js';
import type { AnyObject, Body } from '../../values/objects/body.js';
import { formatResource, type Resource, type ResourceAddress, resourceUrl } from '../../values/resources/resource.js';
import { findByName } from '../find.js';
import { type Kind, type Kinds, titleOfKind } from './known-kinds.js';
import { checkedName, checkedNamespace } from './names.js';
import { type ObjectOwner, type OwnedWriteMeans, type OwnerOf, replaceOwned, writeOwned } from './owners.js';
import { checkOptions, type Verb } from './verb-options.js';

/** The common context of all verbs of one kind. */
export interface Surroundings {
  readonly client: KubeClient;
  readonly kinds: Kinds;
  readonly kind: Kind;
  readonly fieldManager: string;
  /** The namespace of the handled object. */
  readonly namespace: string | undefined;
  /** The signal of the call. */
  readonly signal: AbortSignal | undefined;
  /** Whether all writes are dry runs. */
  readonly dryRun?: boolean | undefined;
  /** The change or event handler being called, if any. */
  readonly by?: Parameters<ApiFor>[0]['by'];
  readonly ownerOf?: OwnerOf | undefined;
  /** Called with whole objects that were written. */
  readonly onWritten?: ((write: VerbWrite) => void) | undefined;
  /** For watching. */
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  readonly settings?: Pick<Settings, 'watching' | 'networking'> | undefined;
  /** The warnings given so far: each is given once. */
  readonly told?: Set<string> | undefined;
  /** The pause before another try, after so many consecutive conflicts. */
  readonly pause?: ((conflicts: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined;
}

/** The result of a write. */
export interface VerbWrite {
  readonly resource: Resource;
  /** The object after that; absent if it is gone. */
  readonly body?: AnyObject | undefined;
  readonly goneUid?: string | undefined;
}

export interface VerbRequest extends Pick<KubeRequest, 'method' | 'body' | 'contentType'> {
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly query?: ResourceAddress['query'];
  readonly mayBegin?: KubeRequest['mayBegin'];
  /** The title for errors. Default: by its method. */
  readonly verb?: string | undefined;
}

export class VerbRequests {
  readonly #around: Surroundings;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  get client(): KubeClient {
    return this.#around.client;
  }

  /** One verb for one object: its options and the name are looked at before anything is sent. */
  async of<T>(
    verb: Verb,
    name: string,
    options: ApiPlace,
    act: (resource: Resource, name: string) => T | Promise<T>,
  ): Promise<T> {
    return await this.about(verb, options, name, async (resource) => await act(resource, checkedName(name)));
  }

  /** One verb, with its options looked at. What is wrong with what it was given says of what it is. */
  async about<T>(
    verb: Verb,
    options: ApiPlace,
    name: string | undefined,
    act: (resource: Resource) => T | Promise<T>,
  ): Promise<T> {
    let resource: Resource | undefined;
    try {
      checkOptions(verb, options);
      resource = await this.resource(options);
      return await act(resource);
    } catch (error) {
      throw isMistake(error) ? this.#mistake(error, verb, resource, name, options) : error;
    }
  }

  #mistake(error: Error, verb: Verb, resource: Resource | undefined, name: unknown, options: ApiPlace): KopfError {
    const place = resource?.namespaced === false ? undefined : (options?.namespace ?? this.#around.namespace);
    const where = [place, name].filter((part) => typeof part === 'string' && part !== '').join('/');
    // A kind that is not found is told in full by the error itself.
    const kind = resource === undefined ? titleOfKind(this.#around.kind) : formatResource(resource);
    const code = error instanceof KopfError ? error.code : 'KOPF_BAD_OBJECT';
    return new KopfError(`${[verb, kind, where].filter(Boolean).join(' ')}: ${error.message}`, { code, cause: error });
  }

  /** The query of writes. */
  writeQuery(options: ApiWriteOptions): { readonly fieldManager: string; readonly dryRun: string | undefined } {
    const { fieldManager = this.#around.fieldManager } = options;
    return { fieldManager, dryRun: this.isTrial(options) ? 'All' : undefined };
  }

  /** Whether it is a dry run. */
  isTrial({ dryRun }: Pick<ApiWriteOptions, 'dryRun'> = {}): boolean {
    return dryRun === true || this.#around.dryRun === true;
  }

  resource(options: ApiPlace = {}): Promise<Resource> {
    const { kinds, kind } = this.#around;
    return kinds.resourceOf(kind, this.signalOf(options));
  }

  /** The default namespace for objects of that kind; none for cluster-scoped kinds. */
  namespaceOf(resource: Resource, { namespace }: ApiPlace): string | undefined {
    if (namespace !== undefined && namespace !== '' && resource.namespaced === false) {
      throw new KopfError(
        `${formatResource(resource)} is not in namespaces, but '${namespace}' is given: leave it out.`,
        { code: 'KOPF_URL_NAMESPACE_OF_CLUSTER_SCOPED' },
      );
    }
    if (resource.namespaced === false) return undefined;
    return namespace === undefined ? this.#around.namespace : checkedNamespace(namespace);
  }

  /** The same, where a namespace is required. */
  requiredNamespaceOf(resource: Resource, name: string | undefined, options: ApiPlace): string | undefined {
    const namespace = this.namespaceOf(resource, options);
    if (namespace === undefined && resource.namespaced) throw homeless(resource, name);
    return namespace;
  }

  /** The status subresource accepts only the status, and the object itself ignores it, both silently. */
  tellIgnored(resource: Resource, request: VerbRequest, options: ApiPlace): void {
    const { logger, told } = this.#around;
    if (logger === undefined || !resource.subresources.has('status')) return;
    const isOfStatus = request.subresource === 'status';
    const ignored = namesIn(request.body).filter((name) => (isOfStatus ? !TAKEN.has(name) : name === 'status'));
    if (ignored.length === 0) return;
    const title = titleFor(resource, request, this.namespaceOf(resource, options));
    const place = `${formatResource(resource)}/${request.subresource ?? ''}`;
    if (told?.has(place)) return;
    told?.add(place);
    logger.warn(
      isOfStatus
        ? `${title}: the cluster takes nothing but the status here, and ignores this: ${ignored.join(', ')}. Use api(…) instead of api(…).status for it.`
        : `${title}: the cluster ignores the status here, since objects of this kind have it apart. Use api(…).status for it.`,
    );
  }

  /** Changes one object: through its owner, if it has one. */
  async write(resource: Resource, request: VerbRequest, options: ApiWriteOptions): Promise<AnyObject> {
    const owner = this.#ownerOf(resource, request, options);
    if (owner === undefined) return await this.send<AnyObject>(resource, request, options);
    return await writeOwned(owner, resource, request, this.#means(resource, request, options));
  }

  /** Writes a whole object instead of the one that was read. */
  async replace(
    resource: Resource,
    request: VerbRequest & { readonly body: AnyObject },
    read: AnyObject,
    options: ApiWriteOptions,
  ): Promise<AnyObject> {
    const owner = this.#ownerOf(resource, request, options);
    if (owner === undefined) return await this.send<AnyObject>(resource, request, options);
    return await replaceOwned(owner, resource, request, read, this.#means(resource, request, options));
  }

  /** Waits for our other changes of the object; returns a function that ends the turn. */
  async takeTurn(name: string, resource: Resource, options: ApiWriteOptions): Promise<EndTurn | undefined> {
    return await this.#ownerOf(resource, { method: 'PUT', name }, options)?.takeTurn();
  }

  /** Waits before another try. */
  async pause(conflicts: number, options: ApiPlace): Promise<void> {
    await this.#around.pause?.(conflicts, this.signalOf(options));
  }

  #ownerOf(resource: Resource, { name }: VerbRequest, options: ApiWriteOptions): ObjectOwner | undefined {
    const { ownerOf } = this.#around;
    if (ownerOf === undefined || name === undefined || this.isTrial(options)) return undefined;
    return ownerOf({ resource, namespace: this.namespaceOf(resource, options), name });
  }

  #means(resource: Resource, request: VerbRequest, options: ApiWriteOptions): OwnedWriteMeans {
    const { client, by } = this.#around;
    const { name = '' } = request;
    const [namespace, signal] = [this.namespaceOf(resource, options), this.signalOf(options)];
    return {
      by,
      owner: () => this.#ownerOf(resource, request, options),
      send: (sent, mayBegin) => this.send<AnyObject>(resource, { ...sent, mayBegin }, options),
      find: (kind) => findByName(client, kind, { namespace, name, known: titleOf(kind), signal }),
      pause: (conflicts) => this.pause(conflicts, options),
    };
  }

  /** Opens a stream. */
  get watching(): Pick<Surroundings, 'clock' | 'logger' | 'settings'> {
    return this.#around;
  }

  async send<T>(resource: Resource, request: VerbRequest, options: ApiPlace): Promise<T> {
    const { method, name, subresource, query, body, contentType, mayBegin } = request;
    const namespace = this.requiredNamespaceOf(resource, name, options);
    const path = resourceUrl(resource, { namespace, name, subresource, query });
    const signal = this.signalOf(options);
    try {
      const optional = { ...(contentType && { contentType }), ...(mayBegin && { mayBegin }) };
      const retries = 'unless-forbidden';
      const answer = await this.#around.client.request<T>({ method, path, body, ...optional, retries, signal });
      this.#tellWritten(resource, request, options, answer);
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (isAboutKind(error)) this.#around.kinds.forget?.();
      throw titled(error, titleFor(resource, titledName(request), namespace), { request, resource });
    }
  }

  #tellWritten(resource: Resource, request: VerbRequest, options: ApiWriteOptions, answer: unknown): void {
    const { onWritten } = this.#around;
    const { method, name, subresource } = request;
    const isOfObject = method === 'POST' || name !== undefined;
    const isWhole = subresource === undefined || subresource === 'status';
    if (onWritten === undefined || method === 'GET' || !isOfObject || !isWhole || this.isTrial(options)) return;
    const write = method === 'DELETE' ? deletionIn(resource, answer) : { resource, body: answer as AnyObject };
    if (write !== undefined) onWritten(write);
  }

  signalOf({ signal }: ApiPlace): AbortSignal | undefined {
    return signal ?? this.#around.signal;
  }
}

/** What users can mend: not what the way to the cluster has failed with. */
function isMistake(error: unknown): error is Error {
  if (error instanceof RangeError) return error.message === ENDLESS;
  const isOurs = error instanceof KopfError && (error.name === 'KopfError' || error instanceof RegistrationError);
  return isOurs && MISTAKES.test(error.code);
}

const ENDLESS = 'The value contains itself.';
const MISTAKES = /^KOPF_(?:BAD|URL|UNKNOWN_KIND|AMBIGUOUS_KIND|WRONG_SCOPE|NO_CLOCK|PAUSED)/;

/** The fields that are permitted when the status is written. */
const TAKEN: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** The written fields of the object itself. */
function namesIn(body: unknown): readonly string[] {
  if (Array.isArray(body)) {
    const operations = body.filter((one: { readonly op?: unknown }) => one.op !== 'test');
    return operations.map(({ path }: { readonly path?: unknown }) => String(path).split('/')[1] ?? '');
  }
  return Object.entries(body ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

const VERBS = { GET: 'get', POST: 'create', PUT: 'replace', PATCH: 'patch', DELETE: 'delete' } as const;

/** The title of a request: `patch deployments.v1.apps/scale default/web`. */
export function titleFor(
  resource: Resource,
  { method, name, subresource, verb = VERBS[method] }: VerbRequest,
  namespace: string | undefined,
): string {
  const isVerb = subresource === 'eviction' || subresource === 'token';
  const kind = [formatResource(resource), isVerb ? undefined : subresource].filter(Boolean).join('/');
  return [verb, kind, [namespace, name].filter(Boolean).join('/')].filter(Boolean).join(' ');
}

/** Whether the whole kind is missing rather than the object: then no name is reported. */
export function isAboutKind({ status, details }: ApiError): boolean {
  return status === 404 && details?.['name'] === undefined;
}

/** A new object has a name of its own, or at least the beginning of one. */
function titledName(request: VerbRequest): VerbRequest {
  if (request.method !== 'POST' || request.name !== undefined) return request;
  const { name, generateName } = (request.body as AnyObject).metadata ?? {};
  return { ...request, name: name ?? (generateName === undefined ? undefined : `${generateName}*`) };
}

export function titled(
  cause: ApiError,
  title: string,
  { request, resource }: { readonly request?: VerbRequest; readonly resource?: Resource } = {},
): ApiError {
  const { status, payload, retryAfter } = cause;
  const explained = (explanation: string): ApiError => {
    const message = `${explanation} It says: ${cause.message}`;
    const words = { kind: 'Status', message, reason: cause.reason, details: cause.details };
    return apiError({ status, payload: words, retryAfter, cause, title });
  };
  const { subresource, contentType } = request ?? {};
  if (status === 404 && subresource !== undefined && resource?.subresources.has(subresource) === false) {
    return explained(`The cluster has no subresource '${subresource}' of ${formatResource(resource)}.`);
  }
  if (isAboutKind(cause)) return explained('The cluster does not serve that, or does no more: is its CRD gone?');
  const isApply = contentType === 'application/apply-patch+yaml';
  if (isApply && status === 400 && cause.message.includes('managedFields must be nil')) {
    return explained('Apply only the fields that you want to own, not the whole object as it was read.');
  }
  const options = { status, payload, retryAfter, cause, title };
  const isOfFields = isApply && status === 409 && conflictsIn(cause.details).length > 0;
  return isOfFields ? new ApplyConflictError(options) : apiError(options);
}

/** A name without a namespace must never address another namespace's object, or a whole collection. */
function homeless(resource: Resource, name: string | undefined): KopfError {
  const what = name === undefined ? formatResource(resource) : `${formatResource(resource)} '${name}'`;
  return new KopfError(`${what} is in a namespace, and none is given: pass { namespace: '…' }.`, {
    code: 'KOPF_URL_NAME_WITHOUT_NAMESPACE',
  });
}

/**
 * A server responds with what is left of the object; with its last state, if nothing holds it; or with its uid alone.
 */
function deletionIn(resource: Resource, answer: unknown): VerbWrite | undefined {
  const { kind, metadata, details } = answer as AnyObject & { readonly details?: { readonly uid?: string } };
  if (kind === 'Status') return details?.uid === undefined ? undefined : { resource, goneUid: details.uid };
  const isHeld = (metadata?.finalizers?.length ?? 0) > 0 || (metadata?.deletionGracePeriodSeconds ?? 0) > 0;
  return isHeld ? { resource, body: answer as AnyObject } : { resource, goneUid: metadata?.uid };
}

/** Items of lists do not repeat their kind. */
function titleOf({ group, version, kind }: Resource): Body {
  return { apiVersion: group === '' ? version : `${group}/${version}`, ...(kind === undefined ? {} : { kind }) };
}
