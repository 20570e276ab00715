/** The essence of an object: the user's intent, whose changes are worth handling. */
import { cherrypick, type FieldPath, removeField, resolveField } from '../fields.js';
import { deepCopy, getOwn, isMapping, type Mapping, setOwn } from '../json.js';

/**
 * A part of a body with the same structure as the body.
 *
 * ```ts
 * const sizeIn = (essence: kopf.Essence): unknown => kopf.resolveField(essence, ['spec', 'size']);
 * ```
 */
export type Essence = Record<string, unknown>;

/**
 * Exceptions from the usual rules of what belongs to the essence.
 *
 * ```ts
 * const options: kopf.EssenceOptions = { ignoredFields: [['spec', 'replicas']] };
 * ```
 */
export interface EssenceOptions {
  /** Fields that handlers look at: they belong to the essence even if they normally would not. */
  readonly extraFields?: Iterable<FieldPath>;
  /** Fields that never belong to the essence. */
  readonly ignoredFields?: Iterable<FieldPath>;
  /** Selects keys of annotations that are not user-defined; storages know which keys operators write. */
  readonly dropAnnotations?: (keys: readonly string[]) => Iterable<string>;
}

/** What the system writes: it changes without anyone wishing anything new. */
const SYSTEM_STANZAS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** kubectl keeps here a copy of the very object: every change would be there twice. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Takes the essence out of a body, as a copy:
 *
 * 1. everything but the identity, the metadata and the status;
 * 2. labels and annotations, without those annotations that tools keep for themselves;
 * 3. the extra fields, as they are in the body, even if dropped before;
 * 4. no metadata or status that would be empty; no ignored fields.
 *
 * The order of keys is a part of the contract, as essences are stored as texts: first the fields of the body in
 * their order, then the metadata (labels, annotations), then the extra fields in the order given.
 * Where a scalar stands in the way to a field, the field is absent: it is not for operators to mend an object.
 *
 * ```ts
 * const essence = kopf.buildEssence(body, { extraFields: [['status', 'phase']] });
 * ```
 */
export function buildEssence(body: object, options: EssenceOptions = {}): Essence {
  const essence: Essence = {};
  for (const key of Object.keys(body)) {
    if (SYSTEM_STANZAS.has(key)) continue;
    const value = deepCopy((body as Mapping)[key]);
    if (value !== undefined) setOwn(essence, key, value);
  }
  const metadata = metadataEssence(body, options);
  if (metadata !== undefined) essence.metadata = metadata;

  for (const field of options.extraFields ?? []) {
    // All but the system stanzas is there already.
    if (SYSTEM_STANZAS.has(field[0] ?? '')) cherrypick(body, essence, [field], { scalars: 'absent' });
  }
  removeEmptyStanzas(essence);
  for (const field of options.ignoredFields ?? []) {
    if (field.length > 0) removeField(essence, field, { scalars: 'absent' });
  }
  return essence;
}

function metadataEssence(body: object, options: EssenceOptions): Mapping | undefined {
  const { labels, annotations } = metadataOf(body);
  const metadata: Mapping = {};
  if (labels !== undefined) metadata.labels = deepCopy(labels);
  if (annotations !== undefined) metadata.annotations = annotationsEssence(annotations, options);
  return labels === undefined && annotations === undefined ? undefined : metadata;
}

/** Nobody inherits any: neither from prototypes, nor from what is no mapping. */
function metadataOf(body: object): { readonly labels?: unknown; readonly annotations?: unknown } {
  const metadata = resolveField(body, ['metadata']);
  if (!isMapping(metadata)) return {};
  return { labels: getOwn(metadata, 'labels'), annotations: getOwn(metadata, 'annotations') };
}

function annotationsEssence(annotations: unknown, { dropAnnotations }: EssenceOptions): unknown {
  if (!isMapping(annotations)) return deepCopy(annotations);
  const keys = Object.keys(annotations);
  const dropped = new Set<string>(dropAnnotations?.(keys)).add(LAST_APPLIED);
  const kept: Mapping = {};
  for (const key of keys) {
    if (!dropped.has(key)) setOwn(kept, key, deepCopy(annotations[key]));
  }
  return kept;
}

/**
 * Drops the stanzas of the system that have nothing in them: an object does not change when its first label comes
 * and goes. Works in place, to be used also after a storage has removed its traces. An empty `spec` is left.
 *
 * ```ts
 * const essence: kopf.Essence = { spec: {}, metadata: { labels: {} } };
 * kopf.removeEmptyStanzas(essence); // { spec: {} }
 * ```
 */
export function removeEmptyStanzas(essence: Essence): void {
  if (Object.hasOwn(essence, 'metadata')) {
    const { metadata } = essence;
    if (isMapping(metadata)) {
      if (isEmptyAt(metadata, 'annotations')) delete metadata.annotations;
      if (isEmptyAt(metadata, 'labels')) delete metadata.labels;
    }
    if (isEmptyAt(essence, 'metadata')) delete essence.metadata;
  }
  if (isEmptyAt(essence, 'status')) delete essence.status;
}

function isEmptyAt(mapping: Mapping, key: string): boolean {
  if (!Object.hasOwn(mapping, key)) return false;
  const stanza = mapping[key];
  if (typeof stanza === 'object' && stanza !== null) return Object.keys(stanza).length === 0;
  return stanza === null || stanza === '';
}
