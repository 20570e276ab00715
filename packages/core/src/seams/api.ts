import type { HandlerId } from '../values/ids.js';
import type { AnyObject, Body } from '../values/objects/body.js';
import type { ResourceToken } from '../values/resources/resource.js';

/**
 * The kind of an object as its own `apiVersion` and `kind`: any object names its own kind.
 *
 * ```ts
 * const kind: kopf.ObjectKind = { apiVersion: 'apps/v1', kind: 'Deployment' };
 * await api(kind).delete('web');
 * ```
 */
export interface ObjectKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * The same shape with everything optional, however deep: an applied object contains the fields it wants to own.
 *
 * ```ts
 * const wanted: kopf.DeepPartial<{ spec: { size: number } }> = { spec: {} };
 * ```
 */
export type DeepPartial<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepPartial<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> | undefined }
      : T;

/**
 * Selects objects by labels or fields. A string goes to the server as is. In an object, a value must be equal, one of
 * several, present (`true`) or absent (`false`); `not` negates it.
 *
 * ```ts
 * const selection: kopf.Selection = { app: 'web', tier: ['front', 'back'], canary: false, zone: { not: 'b' } };
 * const pods = await api('pods').list({ labels: selection, fields: 'status.phase=Running' });
 * ```
 */
export type Selection = string | Readonly<Record<string, SelectedValue>>;

/**
 * A condition on one label; see {@link Selection}.
 *
 * ```ts
 * const notInTest: kopf.SelectedValue = { not: ['test', 'staging'] };
 * ```
 */
export type SelectedValue =
  | string
  | number
  | boolean
  | readonly string[]
  | { readonly not: string | readonly string[] };

/**
 * Where an object is. Handlers need it only for namespaces other than that of their object.
 *
 * ```ts
 * const place: kopf.ApiPlace = { namespace: 'kube-system' };
 * const settings = await api('configmaps').find('coredns', place);
 * ```
 */
export interface ApiPlace {
  readonly namespace?: string | undefined;
  /** Default: the signal of the handler's call. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Which objects are listed.
 *
 * ```ts
 * const options: kopf.ApiListOptions = { labels: { app: 'web' }, allNamespaces: true };
 * const count = (await api('pods').list(options)).length;
 * ```
 */
export interface ApiListOptions extends ApiPlace {
  readonly labels?: Selection | undefined;
  /** Only some fields of each kind are selectable: mostly, `metadata.name`. */
  readonly fields?: Selection | undefined;
  readonly allNamespaces?: boolean | undefined;
  /** The page size of list requests. Default: 500. */
  readonly pageSize?: number | undefined;
}

/**
 * Which objects are watched.
 *
 * ```ts
 * const options: kopf.ApiWatchOptions = { labels: { app: 'web' }, signal: AbortSignal.timeout(60_000) };
 * for await (const { type } of api('pods').watch(options)) if (type === 'DELETED') break;
 * ```
 */
export type ApiWatchOptions = ApiListOptions;

/**
 * What happened to an object: `'LISTED'` for those that existed when watching started or restarted.
 *
 * ```ts
 * const isNews = ({ type }: kopf.ApiEvent): boolean => type !== 'LISTED';
 * ```
 */
export interface ApiEvent<T extends object = AnyObject> {
  readonly type: 'LISTED' | 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

/**
 * How an object is written.
 *
 * ```ts
 * const options: kopf.ApiWriteOptions = { dryRun: true };
 * const wouldBe = await api('configmaps').create({ metadata: { name: 'settings' }, data: {} }, options);
 * ```
 */
export interface ApiWriteOptions extends ApiPlace {
  /** A dry run: returns what would be stored. */
  readonly dryRun?: boolean | undefined;
  /** The field manager. Default: the name of the operator. */
  readonly fieldManager?: string | undefined;
}

/**
 * How an object is created or applied.
 *
 * ```ts
 * await api('configmaps').apply({ metadata: { name: 'settings' }, data: { size: '5' } }, { owner: body, force: true });
 * ```
 */
export interface ApiApplyOptions extends ApiWriteOptions {
  /** Takes fields over from their managers instead of failing with an {@link ApplyConflictError}. */
  readonly force?: boolean | undefined;
  /** Makes the object a child of the owner: it is deleted with the owner, and gets its namespace and labels. */
  readonly owner?: Body | undefined;
}

/**
 * How an object is deleted.
 *
 * ```ts
 * await api('jobs').delete('backup', { propagation: 'Foreground', ifGone: 'ignore' });
 * ```
 */
export interface ApiDeleteOptions extends ApiPlace {
  /** What happens to its children. Default: up to the server, mostly deletion in the background. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  /** Preconditions: it must be this very object in this very version; otherwise, the request fails with a conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  /** What to do if there is no such object. Default: `'fail'`. */
  readonly ifGone?: 'fail' | 'ignore' | undefined;
  readonly dryRun?: boolean | undefined;
}

/**
 * A JSON-patch (RFC 6902): operations that are applied all or not at all.
 *
 * ```ts
 * const patch: kopf.ApiJsonPatch = [{ op: 'replace', path: '/spec/replicas', value: 3 }];
 * ```
 */
export type ApiJsonPatch = readonly (
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }
)[];

/**
 * How to patch an object: by a merge-patch unless specified otherwise.
 *
 * ```ts
 * await api('deployments').patch('web', { spec: { paused: true } }, { type: 'strategic' });
 * ```
 */
export interface ApiPatchOptions extends ApiWriteOptions {
  readonly type?: 'merge' | 'strategic' | undefined;
}

/**
 * Which part of a container's log to return.
 *
 * ```ts
 * const options: kopf.ApiLogOptions = { container: 'app', tailLines: 100, follow: true };
 * for await (const line of api('pods').log('web', options)) logger.info(line);
 * ```
 */
export interface ApiLogOptions extends ApiPlace {
  /** Required for pods with several containers. */
  readonly container?: string | undefined;
  /** Keeps following the log until the container ends. */
  readonly follow?: boolean | undefined;
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly sinceTime?: Date | undefined;
  readonly limitBytes?: number | undefined;
  /** The log of the container before its latest restart. */
  readonly previous?: boolean | undefined;
  /** Prefixes each line with its timestamp. */
  readonly timestamps?: boolean | undefined;
}

/**
 * A log: `await` it for the whole text, or iterate over it line by line. Nothing is requested until then.
 *
 * ```ts
 * const text: string = await api('pods').log('web', { tailLines: 10 });
 * for await (const line of api('pods').log('web', { follow: true })) if (line.includes('ready')) break;
 * ```
 */
export interface ApiLogText extends AsyncIterable<string>, PromiseLike<string> {}

/**
 * How to run a command in a container.
 *
 * ```ts
 * const options: kopf.ApiExecOptions = { container: 'db', stdin: 'SELECT 1;', onStdout: (text) => logger.info(text) };
 * await api('pods').exec('db-0', ['psql'], options);
 * ```
 */
export interface ApiExecOptions extends ApiPlace {
  readonly container?: string | undefined;
  /** The standard input; it ends after that. */
  readonly stdin?: string | Uint8Array | AsyncIterable<string | Uint8Array> | undefined;
  /** Whether to allocate a terminal; then there is no stderr: all output comes as stdout. */
  readonly tty?: boolean | undefined;
  /** Called with each piece of output as it arrives. */
  readonly onStdout?: ((text: string) => void) | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
}

/**
 * The result of a command. A non-zero exit code is not an error.
 *
 * ```ts
 * const { stdout, exitCode } = await api('pods').exec('db-0', ['pg_isready']);
 * if (exitCode !== 0) throw new kopf.TemporaryError(`Not ready yet: ${stdout}`, { delay: 5 });
 * ```
 */
export interface ApiExecResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/**
 * Verbs for the status subresource, which looks like its object.
 *
 * ```ts
 * await api('jobs').status.patch('backup', { status: { phase: 'done' } });
 * ```
 */
export interface SubresourceApi<T extends object> {
  get(name: string, options?: ApiPlace): Promise<T>;
  /** An array is a JSON-patch. */
  patch(name: string, patch: DeepPartial<T> | ApiJsonPatch, options?: ApiPatchOptions): Promise<T>;
  apply(object: DeepPartial<T>, options?: ApiApplyOptions): Promise<T>;
  replace(name: string, change: (object: T) => T | undefined, options?: ApiWriteOptions): Promise<T>;
}

/**
 * The desired number of replicas, for any scalable kind.
 *
 * ```ts
 * const { wanted } = await api('deployments').scale.get('web');
 * if (wanted < 3) await api('deployments').scale.set('web', 3);
 * ```
 */
export interface ScaleApi {
  get(name: string, options?: ApiPlace): Promise<{ readonly wanted: number; readonly actual: number }>;
  set(name: string, replicas: number, options?: ApiWriteOptions): Promise<void>;
}

/**
 * Verbs for the objects of one kind. In handlers, they are for the namespace of the handled object, and use the
 * credentials of the operator; their requests are broken off when the signal of the call fires: at its timeout, or when the
 * operator stops. Verbs that are kept after the call go on working until the operator stops. In reviews of trial requests
 * (`dryrun`), they only try, too.
 *
 * Guarantees: objects are as the server has them. Names, namespaces and selections that cannot be right are refused
 * before anything is sent. Errors: an `ApiError` that says what was asked for, and the words of the server.
 * An object is meant by its name: if it was deleted and created anew, it is the new one; unless the uid is said, as
 * in `patch(name, { metadata: { uid }, … })` or by `preconditions` of a deletion.
 * Cost: one request each, and one more for the first use of a kind; lists take one for each 500 objects. Writing an object
 * that this operator handles may take one more, to know what it was before; and one for each conflict with others.
 *
 * ```ts
 * const web = await api('configmaps').find('web');
 * if (web === undefined) await api('configmaps').apply({ metadata: { name: 'web' }, data: {} }, { owner: body });
 * ```
 */
export interface ObjectsApi<T extends object = AnyObject> {
  get(name: string, options?: ApiPlace): Promise<T>;
  /** The same, but returns `undefined` if there is no such object. */
  find(name: string, options?: ApiPlace): Promise<T | undefined>;
  list(options?: ApiListOptions): Promise<T[]>;
  /** One by one, fetched page by page: for lists that are too large to be held in memory. */
  each(options?: ApiListOptions): AsyncIterable<T>;
  /**
   * Yields all existing objects, and then their changes, until the loop is left or the given signal is aborted: then it
   * ends without an error. When the handler's call ends, by its timeout or because the operator stops, it throws the
   * reason: the awaited event has not come. Lost connections and expired versions are handled silently; objects that
   * vanished meanwhile are reported as deleted. An initial refusal by the cluster is an error.
   */
  watch(options?: ApiWatchOptions): AsyncIterable<ApiEvent<T>>;
  create(object: DeepPartial<T>, options?: Omit<ApiApplyOptions, 'force'>): Promise<T>;
  /**
   * Server-side apply: the cluster gets what the object specifies, and loses what it specified before and no longer
   * does. Fields that the same operator has written by other verbs are taken over without a conflict.
   */
  apply(object: DeepPartial<T>, options?: ApiApplyOptions): Promise<T>;
  /** An array is a JSON-patch. */
  patch(name: string, patch: DeepPartial<T> | ApiJsonPatch, options?: ApiPatchOptions): Promise<T>;
  /**
   * Gets the object, changes it by the function, and writes it; on conflicts, repeats this with the newest state for
   * about a minute. So the function may be called several times, and must be synchronous.
   */
  replace(name: string, change: (object: T) => T | undefined, options?: ApiWriteOptions): Promise<T>;
  delete(name: string, options?: ApiDeleteOptions): Promise<void>;
  /** Deletes all selected objects. Without a selection, `all: true` is required. */
  deleteCollection(
    options: Omit<ApiListOptions, 'pageSize' | 'allNamespaces'> &
      Pick<ApiDeleteOptions, 'propagation' | 'gracePeriodSeconds' | 'dryRun'> & { readonly all?: true },
  ): Promise<void>;
  readonly status: SubresourceApi<T>;
  readonly scale: ScaleApi;
  /** For pods: evicts the pod as soon as its disruption budgets permit it; until then, the server responds with 429. */
  evict(
    name: string,
    options?: Pick<ApiDeleteOptions, keyof ApiPlace | 'gracePeriodSeconds' | 'dryRun'>,
  ): Promise<void>;
  /** For pods: the output of a container. Fails if the pod does not exist or vanishes. */
  log(name: string, options?: ApiLogOptions): ApiLogText;
  /** For pods: runs a command, and waits until it ends. Fails if the pod vanishes before that. */
  exec(name: string, command: readonly string[], options?: ApiExecOptions): Promise<ApiExecResult>;
  /** For service accounts: a token for the audiences. */
  token(
    name: string,
    options?: ApiPlace & { readonly audiences?: readonly string[]; readonly expirationSeconds?: number },
  ): Promise<{ readonly token: string; readonly expires: Date }>;
}

/**
 * Makes the verbs for one call of a handler: for code that runs handlers by itself, which puts it into their causes.
 *
 * ```ts
 * const apiFor: kopf.ApiFor = ({ namespace, signal }) => kopf.api(client, { namespace, signal });
 * ```
 */
export type ApiFor = (call: {
  /** The namespace of the handled object, if any. */
  readonly namespace: string | undefined;
  readonly signal: AbortSignal;
  /** The change or event handler being called, if any: for the breaker. */
  readonly by?: { readonly kind: 'change' | 'watch'; readonly id: HandlerId } | undefined;
  /** Whether to write only as dry runs: when the reviewed request is a dry run itself. */
  readonly dryRun?: boolean | undefined;
}) => Api;

/**
 * Verbs over the cluster: `api(kind)` is for the objects of that kind. A kind is a token with its types, a name as in
 * selectors, or any object's own `apiVersion` and `kind`.
 *
 * ```ts
 * async function restart(api: kopf.Api, name: string): Promise<void> {
 *   await api('deployments').patch(name, { spec: { template: { metadata: { annotations: { restarted: 'now' } } } } });
 * }
 * ```
 */
export interface Api {
  <T extends object>(kind: ResourceToken<T>): ObjectsApi<T>;
  (kind: string | ObjectKind): ObjectsApi;
}
