/**
 * What handlers want to be changed in the object: a merge-patch to fill in, and functions for all that
 * a merge-patch cannot express (lists, above all). Nothing is changed until the patch is sent, after the handler.
 */
import { KopfError } from '../../errors.js';
import { type DeepReadonly, deepCopy, getOwn, type Mapping, setOwn } from '../json.js';
import type { AnyObject, Body, ObjectMeta } from '../objects/body.js';
import { type JsonPatchOp, jsonPatch } from './json-patch.js';
import { applyMergePatch } from './merge-patch.js';
import { dataProperty, stanzaView, thawed } from './patch-view.js';

/**
 * Changes an object in place. It may be called again with a newer state of the object, if the older one
 * was changed by somebody meanwhile; so it must look at what it is given, and be ready to find its work done.
 *
 * ```ts
 * const removeFinalizer: kopf.PatchFn = ({ metadata }) => {
 *   const finalizers = metadata?.finalizers ?? [];
 *   if (metadata) metadata.finalizers = finalizers.filter((name) => name !== 'example.com/old');
 * };
 * kopf.on.update('kopfexamples', ({ patch }) => {
 *   patch.fns.push(removeFinalizer);
 * });
 * ```
 */
export type PatchFn<T extends object = AnyObject> = (body: T) => void;

export interface PatchOptions {
  /** The object as it was when the patch was begun. */
  readonly body?: Body | undefined;
  /** Functions to go after those of the source. */
  readonly fns?: Iterable<PatchFn> | undefined;
}

/**
 * The mutable patch, as handlers are given it.
 *
 * Every key that is not a member of this class is a key of the merge-patch: `patch.data = { … }`. The stanzas
 * `spec`, `status`, `metadata` (and labels and annotations in it) need not be created before being written to.
 * A value of `null` removes the field from the object; `undefined` takes the field out of the patch.
 *
 * ```ts
 * const patch = new kopf.Patch({ spec: { size: 5 } });
 * patch.status.phase = 'resizing';
 * patch.metadata.labels.size = 'small';
 * JSON.stringify(patch.merge); // {"spec":{"size":5},"status":{"phase":"resizing"},…
 * ```
 */
export class Patch {
  /** The merge-patch itself: a plain object, and always the same one. */
  readonly merge: Mapping;
  /** To be applied in this order, after the merge-patch. */
  readonly fns: PatchFn[] = [];
  /** The object as it was when the patch was begun, if there was any. */
  readonly body: Body | undefined;
  /** Any other field of the object. */
  [field: string]: unknown;

  // There is a patch for each event of each object, and few of them are ever looked into.
  #spec: Mapping | undefined;
  #status: Mapping | undefined;
  #metadata: MetadataPatch | undefined;

  /** Begins with a copy of what the source has; later changes of either do not affect the other. */
  constructor(source?: Patch | Mapping, options: PatchOptions = {}) {
    const sourceIsPatch = source instanceof Patch;
    this.merge = source === undefined ? {} : deepCopy(sourceIsPatch ? source.merge : source);
    if (sourceIsPatch) this.fns.push(...source.fns);
    if (options.fns !== undefined) this.fns.push(...options.fns);
    this.body = options.body;
    // biome-ignore lint/correctness/noConstructorReturn: the fields of the merge-patch are the fields of the patch
    return new Proxy(this, mergePatchAsFields);
  }

  get spec(): Mapping {
    this.#spec ??= stanzaView(this.merge, ['spec']);
    return this.#spec;
  }
  set spec(value: Mapping | null) {
    setField(this.merge, 'spec', value);
  }

  get status(): Mapping {
    this.#status ??= stanzaView(this.merge, ['status']);
    return this.#status;
  }
  set status(value: Mapping | null) {
    setField(this.merge, 'status', value);
  }

  get metadata(): MetadataPatch {
    this.#metadata ??= stanzaView(this.merge, ['metadata'], {
      labels: stanzaView(this.merge, ['metadata', 'labels']),
      annotations: stanzaView(this.merge, ['metadata', 'annotations']),
    }) as MetadataPatch;
    return this.#metadata;
  }
  set metadata(value: MetadataPatchValue | null) {
    setField(this.merge, 'metadata', value);
  }

  /** The same as `metadata`. */
  get meta(): MetadataPatch {
    return this.metadata;
  }
  set meta(value: MetadataPatchValue | null) {
    setField(this.merge, 'metadata', value);
  }

  /** Whether nothing is asked for: neither by the merge-patch, nor by functions. */
  get isEmpty(): boolean {
    return Object.keys(this.merge).length === 0 && this.fns.length === 0;
  }

  /** Forgets everything asked for so far. */
  clear(): void {
    for (const key of Object.keys(this.merge)) delete this.merge[key];
    this.fns.length = 0;
  }

  toJSON(): Mapping {
    return this.merge;
  }

  [Symbol.toPrimitive](): string {
    return JSON.stringify(this.merge);
  }
}

/** These names win over the same fields of objects, which are still reachable in `patch.merge`. */
const CONSTANT_MEMBERS: ReadonlySet<string> = new Set(['merge', 'fns', 'body', 'isEmpty', 'clear', 'toJSON']);
const STANZAS: ReadonlySet<string> = new Set(['spec', 'status', 'metadata', 'meta']);

const mergePatchAsFields: ProxyHandler<Patch> = {
  get: (patch, key) => {
    const isMember = typeof key === 'symbol' || CONSTANT_MEMBERS.has(key) || STANZAS.has(key);
    // Getters run on the patch proper: private fields are not seen through a proxy.
    return isMember ? Reflect.get(patch, key, patch) : getOwn(patch.merge, key);
  },
  set: (patch, key, value) => {
    if (STANZAS.has(key as string)) return Reflect.set(patch, key, value, patch);
    return isField(key) && setField(patch.merge, key, value);
  },
  defineProperty: (patch, key, { value }) => isField(key) && setField(patch.merge, fieldOf(key), value),
  deleteProperty: (patch, key) => isField(key) && Reflect.deleteProperty(patch.merge, fieldOf(key)),
  has: (patch, key) => (isField(key) ? Object.hasOwn(patch.merge, fieldOf(key)) : Reflect.has(patch, key)),
  ownKeys: (patch) => Reflect.ownKeys(patch.merge),
  getOwnPropertyDescriptor: (patch, key) => dataProperty(patch.merge, key, (field) => getOwn(patch.merge, field)),
  setPrototypeOf: () => false,
  preventExtensions: () => false,
};

function isField(key: string | symbol): key is string {
  return typeof key === 'string' && !CONSTANT_MEMBERS.has(key);
}

function fieldOf(key: string): string {
  return key === 'meta' ? 'metadata' : key;
}

function setField(merge: Mapping, field: string, value: unknown): true {
  if (value === undefined) delete merge[field];
  else setOwn(merge, field, thawed(value));
  return true;
}

/**
 * The whole patch as a JSON-patch against the body (or the patch's own one): for admission responses, where
 * there is nothing to send a merge-patch to. The body stays as it is.
 */
export function asJsonPatch(patch: Patch, body?: Body): JsonPatchOp[] {
  if (patch.isEmpty) return [];
  const before = body ?? patch.body;
  if (before === undefined) {
    throw new KopfError('A JSON-patch cannot be built without the body it applies to.', { code: 'KOPF_NO_BODY' });
  }
  const after = deepCopy(before) as AnyObject;
  applyMergePatch(after, patch.merge);
  applyFns(patch.fns, after);
  return jsonPatch(before, after);
}

/** Changes the object by the functions. Those that would go on later are refused: what they change would be lost. */
export function applyFns(fns: readonly PatchFn[], object: AnyObject): void {
  for (const fn of fns) {
    const returned: unknown = fn(object);
    if (!(returned instanceof Promise)) continue;
    returned.catch(() => {});
    throw new TypeError(
      `${fn.name === '' ? 'It' : `'${fn.name}'`} is asynchronous, but patch functions must be synchronous, since they ` +
        'may be called several times. Fetch what it needs beforehand.',
    );
  }
}

/**
 * A merge-patch for an object of a type: any part of it, with `null` for what it removes.
 * Lists are put as a whole; their elements may come from a (read-only) body.
 */
export type MergePatch<T> = 0 extends 1 & T
  ? T
  : T extends readonly unknown[]
    ? DeepReadonly<T>
    : T extends object
      ? { -readonly [Key in keyof T]?: MergePatch<T[Key]> | null }
      : T;

/** Labels and annotations of a patch: texts, or `null` to remove. */
type NotesPatch = Record<string, string | null>;

/** Metadata as they can be put into a patch. */
export type MetadataPatchValue = {
  [Key in keyof ObjectMeta as Exclude<Key, 'labels' | 'annotations'>]?: MergePatch<ObjectMeta[Key]> | null;
} & { labels?: NotesPatch | null; annotations?: NotesPatch | null };

/** Metadata as they can be read from a patch: labels and annotations are always there to be written to. */
export interface MetadataPatch {
  get labels(): NotesPatch;
  set labels(value: NotesPatch | null);
  get annotations(): NotesPatch;
  set annotations(value: NotesPatch | null);
  finalizers?: readonly string[] | null;
  [field: string]: unknown;
}

/**
 * The patch for objects of a type, as handlers see it: with fields of that type, and no others.
 * `spec`, `status` and `metadata` can always be written into; all other fields are to be put as a whole first.
 *
 * ```ts
 * type KopfExample = kopf.TypedObject<{ size: number }, { phase?: string }>;
 * const markReady = (patch: kopf.PatchOf<KopfExample>): void => {
 *   patch.status.phase = 'ready';
 * };
 * ```
 */
export type PatchOf<T extends object = AnyObject> = PatchStanzas<T> & {
  -readonly [Key in keyof T as Exclude<Key, keyof PatchStanzas<T> | 'apiVersion' | 'kind'>]?: MergePatch<T[Key]> | null;
};

type StanzaOf<T, Key extends string> = Key extends keyof T ? MergePatch<NonNullable<T[Key]>> : never;

interface PatchStanzas<T extends object> {
  get spec(): StanzaOf<T, 'spec'>;
  set spec(value: StanzaOf<T, 'spec'> | null);
  get status(): StanzaOf<T, 'status'>;
  set status(value: StanzaOf<T, 'status'> | null);
  get metadata(): MetadataPatch;
  set metadata(value: MetadataPatchValue | null);
  get meta(): MetadataPatch;
  set meta(value: MetadataPatchValue | null);
  readonly merge: Mapping;
  readonly fns: PatchFn<T>[];
  readonly body: Body<T> | undefined;
  readonly isEmpty: boolean;
  clear(): void;
}
