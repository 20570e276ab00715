import type { HandlerId } from '../values/ids.js';
import type { AnyObject, Body } from '../values/objects/body.js';
import type { ResourceToken } from '../values/resources/resource.js';

/**
 * The kind of an object by its own words: any object is its own kind.
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
 * The same shape with everything optional, however deep: what an applied object says of the fields it wants to own.
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
 * Which labels or fields the objects must have. A text goes to the server as it is. In an object, a value must be equal,
 * one of several, there at all (`true`) or absent (`false`); or not be so, with `not`.
 *
 * ```ts
 * const selection: kopf.Selection = { app: 'web', tier: ['front', 'back'], canary: false, zone: { not: 'b' } };
 * const pods = await api('pods').list({ labels: selection, fields: 'status.phase=Running' });
 * ```
 */
export type Selection = string | Readonly<Record<string, SelectedValue>>;

/**
 * What a label must be like; see {@link Selection}.
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
 * Where an object is. Handlers need it only for other namespaces than that of their object.
 *
 * ```ts
 * const place: kopf.ApiPlace = { namespace: 'kube-system' };
 * const settings = await api('configmaps').find('coredns', place);
 * ```
 */
export interface ApiPlace {
  readonly namespace?: string | undefined;
  /** Default: that of the call of the handler. */
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
  /** Only some fields of each kind can be selected by: mostly, `metadata.name`. */
  readonly fields?: Selection | undefined;
  readonly allNamespaces?: boolean | undefined;
  /** How many objects to ask for in one request. Default: 500. */
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
 * What has happened to an object: `'LISTED'` for those that were there when the watching began, or began anew.
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
  /** Only tells what would be stored. */
  readonly dryRun?: boolean | undefined;
  /** As whom to be known in the managed fields. Default: the name of the operator. */
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
  /** The object becomes its child: it is deleted with the owner, is in its namespace, and has its labels. */
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
  /** What becomes of its children. Default: as the server has it, mostly in the background. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  /** It must be this very object, in this very version; otherwise, it is a conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  /** Whether it is an error that there is none. Default: `'fail'`. */
  readonly ifGone?: 'fail' | 'ignore' | undefined;
  readonly dryRun?: boolean | undefined;
}

/**
 * A JSON-patch (RFC 6902): operations that are done all, or not at all.
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
 * How an object is patched: by a merge-patch unless told otherwise.
 *
 * ```ts
 * await api('deployments').patch('web', { spec: { paused: true } }, { type: 'strategic' });
 * ```
 */
export interface ApiPatchOptions extends ApiWriteOptions {
  readonly type?: 'merge' | 'strategic' | undefined;
}

/**
 * What of the log of a container is wanted.
 *
 * ```ts
 * const options: kopf.ApiLogOptions = { container: 'app', tailLines: 100, follow: true };
 * for await (const line of api('pods').log('web', options)) logger.info(line);
 * ```
 */
export interface ApiLogOptions extends ApiPlace {
  /** Of pods with several containers. */
  readonly container?: string | undefined;
  /** Goes on with what is printed later, until the container ends. */
  readonly follow?: boolean | undefined;
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly sinceTime?: Date | undefined;
  readonly limitBytes?: number | undefined;
  /** Of the container before its latest restart. */
  readonly previous?: boolean | undefined;
  /** Begins each line with the time when it was printed. */
  readonly timestamps?: boolean | undefined;
}

/**
 * A log: awaited, it is the whole text; in a loop, it comes line by line. Nothing is asked for until then.
 *
 * ```ts
 * const text: string = await api('pods').log('web', { tailLines: 10 });
 * for await (const line of api('pods').log('web', { follow: true })) if (line.includes('ready')) break;
 * ```
 */
export interface ApiLogText extends AsyncIterable<string>, PromiseLike<string> {}

/**
 * How a command is run in a container.
 *
 * ```ts
 * const options: kopf.ApiExecOptions = { container: 'db', stdin: 'SELECT 1;', onStdout: (text) => logger.info(text) };
 * await api('pods').exec('db-0', ['psql'], options);
 * ```
 */
export interface ApiExecOptions extends ApiPlace {
  readonly container?: string | undefined;
  /** What it reads. It is at its end after that. */
  readonly stdin?: string | Uint8Array | AsyncIterable<string | Uint8Array> | undefined;
  /** Whether it is to believe in a terminal; then there is no stderr: all comes as stdout. */
  readonly tty?: boolean | undefined;
  /** Called with each piece, as soon as it comes. */
  readonly onStdout?: ((text: string) => void) | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
}

/**
 * What has become of a command. Its exit code is no error.
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
 * Verbs for a subresource that looks like its object: the status.
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
 * How many replicas there should be, whatever the kind.
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
  /** The same, but absence is no error. */
  find(name: string, options?: ApiPlace): Promise<T | undefined>;
  list(options?: ApiListOptions): Promise<T[]>;
  /** One by one, and page by page: for lists that are better not held in memory as a whole. */
  each(options?: ApiListOptions): AsyncIterable<T>;
  /**
   * All objects that there are, and then what happens to them, until the loop is left or the given signal fires: then it
   * ends without an error. When the call of the handler is to end, by its timeout or since the operator stops, it throws
   * the reason: what was waited for has not come. Lost connections and expired versions are settled without a word; what
   * has vanished meanwhile is told as deleted. What the cluster refuses at first is an error.
   */
  watch(options?: ApiWatchOptions): AsyncIterable<ApiEvent<T>>;
  create(object: DeepPartial<T>, options?: Omit<ApiApplyOptions, 'force'>): Promise<T>;
  /**
   * Server-side apply: what the object says is so from now on, and what it said before and says no more is removed. Fields
   * that the same operator has written in other ways are taken over without a conflict.
   */
  apply(object: DeepPartial<T>, options?: ApiApplyOptions): Promise<T>;
  /** An array is a JSON-patch. */
  patch(name: string, patch: DeepPartial<T> | ApiJsonPatch, options?: ApiPatchOptions): Promise<T>;
  /**
   * Gets, changes, and writes; again with the newest one, if somebody has changed it meanwhile: for about a minute, if need
   * be. So the function may be called several times, and must be synchronous.
   */
  replace(name: string, change: (object: T) => T | undefined, options?: ApiWriteOptions): Promise<T>;
  delete(name: string, options?: ApiDeleteOptions): Promise<void>;
  /** All that are selected. Without any selection, `all: true` must say so. */
  deleteCollection(
    options: Omit<ApiListOptions, 'pageSize' | 'allNamespaces'> &
      Pick<ApiDeleteOptions, 'propagation' | 'gracePeriodSeconds' | 'dryRun'> & { readonly all?: true },
  ): Promise<void>;
  readonly status: SubresourceApi<T>;
  readonly scale: ScaleApi;
  /** Of pods: deletes it as soon as its disruption budgets permit, which is a 429 until then. */
  evict(
    name: string,
    options?: Pick<ApiDeleteOptions, keyof ApiPlace | 'gracePeriodSeconds' | 'dryRun'>,
  ): Promise<void>;
  /** Of pods: what a container has printed. If the pod is not there or vanishes, that is an error. */
  log(name: string, options?: ApiLogOptions): ApiLogText;
  /** Of pods: runs a command, and waits until it ends. If the pod vanishes before that, it is an error. */
  exec(name: string, command: readonly string[], options?: ApiExecOptions): Promise<ApiExecResult>;
  /** Of service accounts: a token for the audiences. */
  token(
    name: string,
    options?: ApiPlace & { readonly audiences?: readonly string[]; readonly expirationSeconds?: number },
  ): Promise<{ readonly token: string; readonly expires: Date }>;
}

/**
 * Makes the verbs of one call of a handler: whoever runs handlers by itself gives it to their causes.
 *
 * ```ts
 * const apiFor: kopf.ApiFor = ({ namespace, signal }) => kopf.api(client, { namespace, signal });
 * ```
 */
export type ApiFor = (call: {
  /** Of the handled object, if it is in one. */
  readonly namespace: string | undefined;
  readonly signal: AbortSignal;
  /** The handler of changes or events that is called, if it is one: for the breaker. */
  readonly by?: { readonly kind: 'change' | 'watch'; readonly id: HandlerId } | undefined;
  /** Whether nothing may be really written: when the request that is reviewed is only a trial. */
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
