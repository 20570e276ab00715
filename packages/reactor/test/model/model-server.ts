/**
 * A model of the API server with one kind of custom resources, in memory. It is as strict as the real one about
 * versions, identities, subresources and finalizers, and it rewrites what it is given in all the ways real ones do.
 */
import { type AnyObject, apiError, type Clock, deepCopy, deepEqual, KopfError, type KubeRequest } from '@kopf-ts/core';
import type { Life, MortalsClient } from './life.js';

/** What the server and its admission webhooks do to what is written. */
export interface Rewriting {
  /** Absent fields get defaults, in mappings. */
  readonly mappings?: boolean;
  /** Absent fields get defaults, in items of lists. */
  readonly items?: boolean;
  /** Unknown fields are dropped. */
  readonly pruning?: boolean;
  /** `1000m` becomes `1`. */
  readonly quantities?: boolean;
  /** `stringData` becomes `data`. */
  readonly stringData?: boolean;
  /** A webhook puts a new value here with each write of the object. */
  readonly stamp?: 'label' | 'annotation' | 'spec';
}

/** One change of one object, whoever has made it. */
export interface Write {
  readonly kind: 'write';
  readonly seq: number;
  readonly at: number;
  readonly who: 'us' | 'others';
  readonly uid: string;
  readonly version: number;
  /** Absent when the object is created. */
  readonly before: AnyObject | undefined;
  /** Absent when the object is gone. */
  readonly after: AnyObject | undefined;
}

/** A PATCH of ours, whatever has become of it. */
export interface SentPatch {
  readonly kind: 'patch';
  readonly seq: number;
  readonly at: number;
  readonly process: number;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: looked into by tests
  readonly body: any;
  /** For which object it was, by its own words. */
  readonly uid: string | undefined;
  readonly isGuarded: boolean;
  /** What the object was when the patch came. */
  target: AnyObject | undefined;
  /** The HTTP status, or what else has happened; 0 until it is known. */
  answer: number | 'lost' | 'reset';
  /** Whether the server has done what it asked for, whoever has learned of that. */
  isApplied: boolean;
  /** It was applied over changes by others that the process could not know of, and could not have been noticed to be. */
  isBlind: boolean;
  /** Refused for what is in it, by the schema or an admission webhook. */
  isRefused: boolean;
}

/** What happens to the n-th PATCH of ours. */
export type Fault = 'lost' | 'reset' | 500 | 503;

export interface ModelServerOptions {
  readonly clock: Clock;
  readonly hasStatus: boolean;
  readonly rewriting: Rewriting;
  readonly faults: ReadonlyMap<number, Fault>;
  /** How late the watch-events are. */
  readonly lag: number;
  readonly late: number;
  /** How long a PATCH is on its way. */
  readonly latency: number;
  /** Something else may happen here. */
  readonly point: () => Promise<void>;
  readonly nextSeq: () => number;
  /** Whether to refuse the write; asked of our writes only. */
  readonly refuses?: (before: AnyObject, after: AnyObject) => Refusal | undefined;
  /** When there are so many PATCHes, nothing is answered any more. */
  readonly maxPatches: number;
}

export type Refusal = '422 with causes' | '422' | '403';

export interface ModelServer extends MortalsClient {
  readonly writes: Write[];
  readonly patches: SentPatch[];
  readonly isFlooded: boolean;
  /** What others do: never refused, never in conflict. */
  create(object: AnyObject): void;
  edit(change: (object: AnyObject) => void): void;
  remove(): void;
  /** Ends all the streams; they are to be begun again. */
  cutStreams(): void;
  current(): AnyObject | undefined;
  /** What becomes of an object when it is written; without stamps. */
  rewritten(object: AnyObject): AnyObject;
}

const NAME = 'object';
const COLLECTION = '/apis/kopf.dev/v1/kopfexamples';
const NAMESPACED = '/apis/kopf.dev/v1/namespaces/default/kopfexamples';
export const STAMP = 'stamp.example.com/seen';

interface StoredEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: AnyObject;
  readonly version: number;
  readonly at: number;
}

export function modelServer(options: ModelServerOptions): ModelServer {
  const { clock, hasStatus, rewriting, faults, point, nextSeq } = options;
  const writes: Write[] = [];
  const patches: SentPatch[] = [];
  const events: StoredEvent[] = [];
  const waiting = new Set<() => void>();
  /** The newest version that each process was told of. */
  const known = new Map<number, number>();
  let object: AnyObject | undefined;
  let version = 100;
  let uids = 0;
  let stamps = 0;
  let cuts = 0;

  const wakeStreams = (): void => {
    for (const wake of [...waiting]) wake();
  };

  const emit = (type: StoredEvent['type'], of: AnyObject): void => {
    events.push({ type, object: of, version, at: clock.now() });
    wakeStreams();
  };

  /** The object becomes another one; the answer to whoever has done it. */
  const replace = (who: Write['who'], after: AnyObject): AnyObject => {
    const before = object;
    const metadata = after.metadata ?? {};
    const isReleased = Boolean(metadata.deletionTimestamp) && (metadata.finalizers ?? []).length === 0;
    version++;
    const common = { kind: 'write', seq: nextSeq(), at: clock.now(), who, version, before } as const;
    if (isReleased) {
      // The version of the answer is the old one; the event has a new one.
      const last = { ...after, metadata: { ...metadata, resourceVersion: String(version) } };
      object = undefined;
      writes.push({ ...common, uid: String(metadata.uid), after: undefined });
      emit('DELETED', last);
      return after;
    }
    object = { ...after, metadata: { ...metadata, resourceVersion: String(version) } };
    writes.push({ ...common, uid: String(metadata.uid), after: object });
    emit(before === undefined ? 'ADDED' : 'MODIFIED', object);
    return object;
  };

  const rewritten = (given: AnyObject): AnyObject => withDefaults(rewriting, deepCopy(given) as AnyObject);

  const stamped = (given: AnyObject): AnyObject => {
    if (rewriting.stamp === undefined) return given;
    const value = `s${++stamps}`;
    if (rewriting.stamp === 'spec') return { ...given, spec: { ...given.spec, stamp: value } };
    const stanza = rewriting.stamp === 'label' ? 'labels' : 'annotations';
    const metadata = { ...given.metadata, [stanza]: { ...given.metadata?.[stanza], [STAMP]: value } };
    return { ...given, metadata };
  };

  /** Of the object's own address, or of its status. */
  const write = (
    who: Write['who'],
    isStatus: boolean,
    change: (copy: AnyObject) => void,
    refuses?: ModelServerOptions['refuses'],
  ): AnyObject => {
    if (object === undefined) throw failure(404, 'NotFound', `kopfexamples.kopf.dev "${NAME}" not found`);
    const before = object;
    const asked = deepCopy(before) as AnyObject;
    change(asked);
    const askedVersion = asked.metadata?.resourceVersion;
    const askedUid = asked.metadata?.uid;

    let after: AnyObject;
    if (isStatus) {
      // For custom resources, nothing but the status is taken from what is sent there: neither metadata, nor the uid.
      after = withStatus(deepCopy(before) as AnyObject, asked.status);
    } else {
      after = hasStatus ? withStatus(asked, before.status) : asked;
      after = stamped(after);
    }
    if (askedVersion && askedVersion !== before.metadata?.resourceVersion) {
      const message =
        `Operation cannot be fulfilled on kopfexamples.kopf.dev "${NAME}": the object has been modified; ` +
        'please apply your changes to the latest version and try again';
      throw failure(409, 'Conflict', message);
    }
    if (!isStatus && askedUid !== undefined && askedUid !== before.metadata?.uid) {
      const causes = [{ reason: 'FieldValueInvalid', message: 'field is immutable', field: 'metadata.uid' }];
      throw failure(422, 'Invalid', 'metadata.uid: Invalid value: field is immutable', { causes });
    }
    const { name, namespace, uid, creationTimestamp, deletionTimestamp, resourceVersion } = before.metadata ?? {};
    after.metadata = { ...after.metadata, ...compact({ name, namespace, uid, creationTimestamp, resourceVersion }) };
    if (deletionTimestamp) after.metadata.deletionTimestamp = deletionTimestamp;
    else delete after.metadata.deletionTimestamp;
    after = withoutEmpty(rewritten(after));
    const added = (after.metadata?.finalizers ?? []).filter((each) => !before.metadata?.finalizers?.includes(each));
    if (deletionTimestamp && added.length > 0) {
      const message = 'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted';
      throw failure(422, 'Invalid', message, {
        causes: [{ reason: 'FieldValueForbidden', field: 'metadata.finalizers' }],
      });
    }
    const refusal = refuses?.(before, after);
    if (refusal !== undefined) throw refused(refusal);
    return deepEqual(before, after) ? before : replace(who, after);
  };

  const respond = (request: KubeRequest): unknown => {
    const [path = '', query = ''] = request.path.split('?');
    if (request.method === 'PATCH') {
      const isStatus = path === `${NAMESPACED}/${NAME}/status`;
      if (!isStatus && path !== `${NAMESPACED}/${NAME}`) throw failure(404, 'NotFound', `no such path: ${path}`);
      if (isStatus && !hasStatus) throw failure(404, 'NotFound', 'the server could not find the requested resource');
      const isOps = request.contentType === 'application/json-patch+json';
      const change = (copy: AnyObject): void => {
        if (isOps) applyOps(copy, request.body as Op[]);
        else mergeInto(copy, request.body as Record<string, unknown>);
      };
      return write('us', isStatus, change, options.refuses);
    }
    if (request.method !== 'GET') throw failure(405, 'MethodNotAllowed', request.method);
    if (path === `${NAMESPACED}/${NAME}`) {
      if (object === undefined) throw failure(404, 'NotFound', `kopfexamples.kopf.dev "${NAME}" not found`);
      return object;
    }
    if (path !== COLLECTION && path !== NAMESPACED) throw failure(404, 'NotFound', path);
    const selector = new URLSearchParams(query).get('fieldSelector') ?? `metadata.name=${NAME}`;
    const items = object !== undefined && selector === `metadata.name=${NAME}` ? [object] : [];
    return {
      apiVersion: 'kopf.dev/v1',
      kind: 'KopfExampleList',
      metadata: { resourceVersion: String(version) },
      items,
    };
  };

  const tell = (life: Life, what: AnyObject): void => {
    const versions = [what, ...(what['items'] ?? [])].map((each) => Number(each.metadata?.resourceVersion ?? 0));
    known.set(life.number, Math.max(known.get(life.number) ?? 0, ...versions));
  };

  const recorded = (request: KubeRequest, life: Life): SentPatch => {
    const { body } = request;
    const tests = Array.isArray(body) ? (body as Op[]).filter(({ op }) => op === 'test') : [];
    const said = (field: 'uid' | 'resourceVersion'): string | undefined =>
      Array.isArray(body)
        ? (tests.find(({ path }) => path === `/metadata/${field}`)?.value as string | undefined)
        : (body as AnyObject).metadata?.[field];
    const patch: SentPatch = {
      kind: 'patch',
      seq: nextSeq(),
      at: clock.now(),
      process: life.number,
      path: request.path,
      body: deepCopy(body as AnyObject),
      uid: said('uid'),
      isGuarded: said('resourceVersion') !== undefined,
      target: object,
      answer: 0,
      isApplied: false,
      isBlind: false,
      isRefused: false,
    };
    patches.push(patch);
    return patch;
  };

  const server: ModelServer = {
    writes,
    patches,
    get isFlooded() {
      return patches.length > options.maxPatches;
    },

    create(given) {
      const metadata = {
        ...given.metadata,
        name: NAME,
        namespace: 'default',
        uid: `uid${++uids}`,
        creationTimestamp: '2020-01-01T00:00:00Z',
      };
      const whole = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', ...given, metadata };
      replace('others', withoutEmpty(rewritten(stamped(whole))));
    },
    edit(change) {
      if (object === undefined) return;
      const wanted = deepCopy(object) as AnyObject;
      change(wanted);
      const statusDiffers = !deepEqual(wanted.status ?? null, object.status ?? null);
      const { status: _, ...restWanted } = wanted;
      const { status: __, ...rest } = object;
      if (!deepEqual(restWanted, rest) || (statusDiffers && !hasStatus)) write('others', false, change);
      if (statusDiffers && hasStatus && object !== undefined) write('others', true, change);
    },
    remove() {
      if (object === undefined || object.metadata?.deletionTimestamp) return;
      const after = deepCopy(object) as AnyObject;
      after.metadata = { ...after.metadata, deletionTimestamp: clock.utc().toISOString() };
      replace('others', after);
    },
    cutStreams() {
      cuts++;
      wakeStreams();
    },
    current: () => object,
    rewritten,

    async request(request, life) {
      const patch = request.method === 'PATCH' ? recorded(request, life) : undefined;
      if (server.isFlooded) return await new Promise(() => {});
      if (patch !== undefined && options.latency > 0) await clock.sleep(options.latency);
      await point();
      await life.going();
      request.signal?.throwIfAborted();
      if (request.mayBegin?.() === false) {
        throw new KopfError('Not permitted any more.', { code: 'KOPF_REQUEST_FORBIDDEN' });
      }
      const fault = patch === undefined ? undefined : faults.get(patches.length);
      if (patch !== undefined && fault !== undefined) {
        patch.answer = fault;
        if (fault === 'reset') throw connectionLost();
        if (fault !== 'lost') throw failure(fault, 'InternalError', 'the server is not well');
      }
      if (patch !== undefined) patch.target = object;
      try {
        const told = known.get(life.number) ?? 0;
        const isBlind = writes.some((each) => each.who === 'others' && each.version > told);
        const answer = deepCopy(respond(request) as AnyObject);
        if (patch !== undefined) {
          patch.isApplied = true;
          patch.isBlind = isBlind && !patch.isGuarded;
        }
        if (fault === undefined) tell(life, answer);
        if (patch !== undefined && fault === undefined) patch.answer = 200;
        return answer;
      } catch (error) {
        if (patch !== undefined && fault === undefined) {
          const { status, details } = error as { status: number; details?: { webhook?: boolean } };
          patch.answer = status;
          patch.isRefused = Boolean(details?.webhook);
        }
        throw error;
      } finally {
        if (patch !== undefined && options.late > 0) await clock.sleep(options.late);
        await point();
        await life.going();
        // biome-ignore lint/correctness/noUnsafeFinally: the answer, be it good or bad, does not come
        if (fault === 'lost') throw connectionLost();
      }
    },

    async *stream(request, life) {
      const query = new URLSearchParams(request.path.split('?')[1]);
      let cursor = Number(query.get('resourceVersion'));
      const cutsBefore = cuts;
      const isEnded = (): boolean => cuts !== cutsBefore || Boolean(request.signal?.aborted);
      while (!isEnded()) {
        const event = events.find((each) => each.version > cursor);
        if (event === undefined) {
          await new Promise<void>((resolve) => {
            const wake = (): void => {
              waiting.delete(wake);
              request.signal?.removeEventListener('abort', wake);
              resolve();
            };
            waiting.add(wake);
            request.signal?.addEventListener('abort', wake);
          });
          continue;
        }
        const left = event.at + options.lag - clock.now();
        if (left > 0) await clock.sleep(left);
        await life.going();
        await point();
        await life.going();
        if (isEnded()) return;
        cursor = event.version;
        tell(life, event.object);
        yield { type: event.type, object: deepCopy(event.object) };
        if (cursor % 7 === 0) {
          yield {
            type: 'BOOKMARK',
            object: { kind: 'KopfExample', metadata: { resourceVersion: String(cursor) } },
          };
        }
      }
    },
  };
  return server;
}

function connectionLost(): KopfError {
  return new KopfError('The connection was reset.', { code: 'KOPF_CONNECTION' });
}

function failure(status: number, reason: string, message: string, details?: object): Error {
  return apiError({ status, payload: { kind: 'Status', code: status, reason, message, details } });
}

/** By a validating webhook. A mark in the details, for the log of the model, is nothing that the operator could use. */
function refused(how: Refusal): Error {
  const message = 'admission webhook "model.example.com" denied the request: not now';
  if (how === '403') return failure(403, 'Forbidden', message, { webhook: true });
  const causes = [{ reason: 'FieldValueInvalid', message: 'not now', field: 'spec.own' }];
  return failure(422, 'Invalid', message, how === '422' ? { webhook: true } : { webhook: true, causes });
}

function withStatus(object: AnyObject, status: unknown): AnyObject {
  const { status: _, ...rest } = object;
  return status === undefined ? rest : { ...rest, status };
}

function compact(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** These are left out by the server when there is nothing in them. */
function withoutEmpty(object: AnyObject): AnyObject {
  const metadata = { ...object.metadata };
  for (const key of ['labels', 'annotations', 'finalizers']) {
    const value = metadata[key] as object | null | undefined;
    if (value === null || (value !== undefined && Object.keys(value).length === 0)) delete metadata[key];
  }
  return { ...object, metadata };
}

function withDefaults(rewriting: Rewriting, object: AnyObject): AnyObject {
  const { spec } = object;
  if (typeof spec === 'object' && spec !== null) {
    if (rewriting.mappings) {
      spec.mode ??= 'auto';
      for (const box of Object.values<AnyObject>(spec.boxes ?? {})) if (box) box['kind'] ??= 'small';
    }
    if (rewriting.items) {
      for (const items of Object.values<AnyObject[]>(spec.items ?? {})) {
        for (const item of Array.isArray(items) ? items : []) {
          item['port'] ??= 80;
          item['protocol'] ??= 'TCP';
        }
      }
    }
    if (rewriting.quantities) {
      for (const [key, value] of Object.entries(spec.cpu ?? {})) if (value === '1000m') spec.cpu[key] = '1';
    }
    if (rewriting.pruning) delete spec.unknown;
  }
  if (rewriting.stringData && object['stringData']) {
    object['data'] = { ...object['data'] };
    for (const [key, value] of Object.entries<string>(object['stringData'])) object['data'][key] = btoa(value);
    delete object['stringData'];
  }
  return object;
}

/** RFC 7386. */
function mergeInto(target: Record<string, unknown>, patch: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete target[key];
    else if (typeof value === 'object' && !Array.isArray(value)) {
      const old = target[key];
      const inner = (typeof old === 'object' && old !== null && !Array.isArray(old) ? old : {}) as typeof target;
      mergeInto(inner, value as typeof patch);
      target[key] = inner;
    } else target[key] = deepCopy(value);
  }
}

interface Op {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** RFC 6902. Whatever is wrong with it, the real server answers 422 without any causes. */
function applyOps(target: AnyObject, ops: readonly Op[]): void {
  const wrong = (op: Op): Error =>
    failure(422, 'Invalid', `the server rejected our request due to an error in our request: ${op.op} ${op.path}`);
  const at = (op: Op, path: string): { parent: AnyObject; key: string } => {
    const keys = path.split('/').slice(1).map(unescaped);
    const key = keys.pop() ?? '';
    let parent: AnyObject = target;
    for (const each of keys) {
      if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, each)) throw wrong(op);
      parent = parent[each];
    }
    if (typeof parent !== 'object' || parent === null) throw wrong(op);
    return { parent, key };
  };
  const take = (op: Op, path: string, removes: boolean): unknown => {
    const { parent, key } = at(op, path);
    if (!Object.hasOwn(parent, key)) throw wrong(op);
    const value = parent[key];
    if (removes && Array.isArray(parent)) parent.splice(Number(key), 1);
    else if (removes) delete parent[key];
    return value;
  };
  const put = (op: Op, value: unknown): void => {
    const { parent, key } = at(op, op.path);
    if (!Array.isArray(parent)) parent[key] = deepCopy(value);
    else parent.splice(key === '-' ? parent.length : Number(key), 0, deepCopy(value));
  };
  for (const op of ops) {
    if (op.op === 'test') {
      const { parent, key } = at(op, op.path);
      if (!deepEqual(parent[key] ?? null, op.value ?? null)) throw wrong(op);
    } else if (op.op === 'add') put(op, op.value);
    else if (op.op === 'remove') take(op, op.path, true);
    else if (op.op === 'replace') {
      take(op, op.path, false);
      const { parent, key } = at(op, op.path);
      parent[key] = deepCopy(op.value) as AnyObject;
    } else if (op.op === 'move') put(op, take(op, op.from ?? '', true));
    else if (op.op === 'copy') put(op, take(op, op.from ?? '', false));
    else throw wrong(op);
  }
}

function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}
