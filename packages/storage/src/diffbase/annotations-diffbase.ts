import {
  type Awaitable,
  type Body,
  buildEssence,
  type DiffBaseStorage,
  deepCopy,
  type Essence,
  ensureField,
  type FieldSpec,
  isDigestOnly,
  isMapping,
  parseField,
  type ReportMalformed,
  removeEmptyStanzas,
  removeField,
  resolveField,
} from '@kopf-ts/core';
import { checkPrefix, keysFormer } from '../annotation-keys.js';
import { annotationsOf } from '../clearing.js';
import { type Complain, compactJson, readMapping } from '../compact-json.js';
import { annotationPath, eraseAnnotations } from '../patching.js';
import { markOf, markPrefix, operatorsAnnotations } from '../prefix-marks.js';
import type { Compat } from '../progress/progress-records.js';
import { pack, roomForAnnotations, sizeOf, unpack } from './annotation-sizes.js';
import { digestText, isForDigest, readDigest } from './digests.js';
import { concealing, type SecretsMode } from './secret-values.js';

/**
 * How the annotation is called, and what is left out of it.
 *
 * ```ts
 * const options: kopf.storage.AnnotationsDiffBaseOptions = { prefix: 'example.com', ignoredFields: ['spec.replicas'] };
 * ```
 */
export interface AnnotationsDiffBaseOptions {
  /** What stands before the slash in the annotations. Operators of different prefixes do not mix. Default: `kopf.zalando.org`. */
  readonly prefix?: string;
  /** The annotation, after the slash. Default: `last-handled-configuration`. */
  readonly key?: string;
  /** Fields whose changes are not worth handling. Default: none. */
  readonly ignoredFields?: Iterable<FieldSpec>;
  /** Whether to write and read also the shorter annotations of older Kopf versions. Default: true. */
  readonly v1?: boolean;
  /** How the values of Secrets are kept. It may be a getter: it is asked at each use. Default: `'digests'`. */
  readonly secrets?: SecretsMode;
  /**
   * `'kopf'` writes only what Kopf would: values of Secrets as they are, and no fallbacks for what does not fit.
   * It may be a getter: it is asked at each use. Default: unset.
   */
  readonly compat?: Compat;
}

/** The annotations of one object, in all forms that the last handled state can take. */
interface Forms {
  readonly plain: readonly string[];
  readonly packed: readonly string[];
  readonly digest: readonly string[];
  /** The one to be read first going first. */
  readonly all: readonly string[];
}

/**
 * Keeps the last handled state in an annotation: works for any kind of resource, with any schema.
 *
 * A state that does not fit is kept compressed, in the annotation with `-gzip` added to the name; if it still does
 * not fit, or is nested too deep, only its digest is kept, in the one with `-digest`: it is then known that the object
 * has changed, but not how. Of the three, only one is on the object; if there are several, the readable one is right, as it is the only
 * one that Kopf itself could have written later.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.persistence.diffbaseStorage = kopf.storage.annotationsDiffBaseStorage({ prefix: 'example.com' });
 * });
 * ```
 */
export function annotationsDiffBaseStorage(options: AnnotationsDiffBaseOptions = {}): DiffBaseStorage {
  const { prefix = 'kopf.zalando.org', key = 'last-handled-configuration', v1 = true } = options;
  checkPrefix(prefix);
  const ignoredFields = [...(options.ignoredFields ?? [])].map(parseField);

  const keysOf = keysFormer({ prefix, v1 });
  // What Kopf does not know of, is never written in its older format.
  const currentOf = keysFormer({ prefix, v1: false });
  // There are two of them at most: objects of which Kubernetes makes copies with all annotations have their own.
  const knownForms = new WeakMap<readonly string[], Forms>();
  const formsFor = (body: Body): Forms => {
    const plain = keysOf(key, body);
    let forms = knownForms.get(plain);
    if (forms === undefined) {
      const packed = currentOf(`${key}-gzip`, body);
      const digest = currentOf(`${key}-digest`, body);
      forms = { plain, packed, digest, all: [...plain, ...packed, ...digest] };
      knownForms.set(plain, forms);
    }
    return forms;
  };
  const masked = concealing(options);

  return {
    build({ body, extraFields = [], resource }) {
      const essence = buildEssence(body, { extraFields, ignoredFields, dropAnnotations: operatorsAnnotations });
      // Those of other operators are dropped already, unless a handler looks at all annotations.
      let forms: Forms | undefined;
      const own = annotationsOf(essence, (annotation) => {
        forms ??= formsFor(body);
        return forms.all.includes(annotation);
      });
      for (const annotation of own) removeField(essence, annotationPath(annotation));
      if (own.length > 0) removeEmptyStanzas(essence);
      return masked(essence, { body, resource });
    },

    // Both have to wait only for what is compressed: there are few such objects, while waiting for nothing is dear.
    fetch({ body, resource, malformed }) {
      // The state stored by Kopf has the values as they are; they are masked to be comparable with ours.
      const found = (essence: Essence | undefined): Essence | undefined =>
        essence === undefined ? undefined : masked(essence, { body, resource });
      const essence = read(body, formsFor(body), malformed);
      return essence instanceof Promise ? essence.then(found) : found(essence);
    },

    store({ essence, body, patch, resource }) {
      const forms = formsFor(body);
      const stored = masked(essence, { body, resource });
      const keep = ({ annotations, text }: Form): void => {
        const others = forms.all.filter((annotation) => !annotations.includes(annotation));
        eraseAnnotations(others, body, patch);
        for (const annotation of annotations) ensureField(patch.merge, annotationPath(annotation), text);
        markPrefix(prefix, body, patch);
      };
      const plain = plainForm(stored, forms);
      if (options.compat === 'kopf') {
        if (plain !== undefined) keep(plain);
        // Kopf itself fails on what is so deep: there is nothing of it to be compatible with.
        else if (!isDigestOnly(stored)) keep(digestForm(stored, forms));
        return;
      }
      const room = roomForAnnotations(body, patch, forms.all);
      if (plain !== undefined && totalSize(plain) <= room) return keep(plain);
      return smallerForm(stored, plain, forms, room).then(keep);
    },

    clear(essence) {
      const cleared = deepCopy(essence);
      const annotations = resolveField(cleared, ['metadata', 'annotations']);
      if (isMapping(annotations)) {
        for (const annotation of [...formsFor(essence as Body).all, markOf(prefix)]) delete annotations[annotation];
      }
      removeEmptyStanzas(cleared);
      return cleared;
    },
  };
}

/** A text to be put into some annotations, the same one into each. */
interface Form {
  readonly annotations: readonly string[];
  readonly text: string;
}

function plainForm(essence: Essence, forms: Forms): Form | undefined {
  if (isForDigest(essence)) return undefined;
  return { annotations: forms.plain, text: `${compactJson(essence)}\n` };
}

async function packedForm({ text }: Form, forms: Forms): Promise<Form | undefined> {
  const packed = await pack(text);
  return packed === undefined ? undefined : { annotations: forms.packed, text: packed };
}

function digestForm(essence: Essence, forms: Forms): Form {
  return { annotations: forms.digest, text: digestText(essence) };
}

/** If the plain form does not fit, or there is none. The digest is the last resort, whether it fits or not. */
async function smallerForm(essence: Essence, plain: Form | undefined, forms: Forms, room: number): Promise<Form> {
  const packed = plain && (await packedForm(plain, forms));
  return packed !== undefined && totalSize(packed) <= room ? packed : digestForm(essence, forms);
}

function totalSize({ annotations, text }: Form): number {
  return annotations.reduce((total, annotation) => total + sizeOf(annotation, text), 0);
}

/** The state from the best of its forms that can be read; all others are told of on the way. */
function read(body: Body, forms: Forms, malformed?: ReportMalformed): Awaitable<Essence | undefined> {
  const firstOf = (annotations: readonly string[], parse: Parse): Essence | undefined => {
    for (const annotation of annotations) {
      const text: unknown = body.metadata?.annotations?.[annotation] ?? undefined;
      const essence = text === undefined ? undefined : parse(text, complaining(annotation, malformed));
      if (essence !== undefined) return essence;
    }
    return undefined;
  };
  const plain = firstOf(forms.plain, readMapping);
  if (plain !== undefined) return plain;
  const [packedIn = ''] = forms.packed;
  const packed: unknown = body.metadata?.annotations?.[packedIn] ?? undefined;
  if (packed === undefined) return firstOf(forms.digest, readDigest);
  const unpacked = readPacked(packed, complaining(packedIn, malformed));
  return unpacked.then((essence) => essence ?? firstOf(forms.digest, readDigest));
}

type Parse = (text: unknown, complain: Complain) => Essence | undefined;

function complaining(annotation: string, malformed: ReportMalformed | undefined): Complain {
  return (problem) => void malformed?.(`Annotation "${annotation}" is not a last handled state: ${problem}.`);
}

async function readPacked(text: unknown, complain: Complain): Promise<Essence | undefined> {
  if (typeof text !== 'string') return complain('it is not a string');
  let unpacked: string;
  try {
    unpacked = await unpack(text);
  } catch {
    return complain('it cannot be unpacked');
  }
  return readMapping(unpacked, complain);
}
