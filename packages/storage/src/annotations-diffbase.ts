import {
  type Body,
  buildEssence,
  type DiffBaseStorage,
  digestOf,
  digestOnly,
  type Essence,
  ensureField,
  type FieldSpec,
  getOwn,
  isDigestOnly,
  isMapping,
  type Patch,
  parseField,
  type ReportMalformed,
  removeEmptyStanzas,
  resolveField,
} from '@kopf-ts/core';
import { pack, roomForAnnotations, sizeOf, unpack } from './fallbacks.js';
import { type Complain, compactJson, readMapping } from './json.js';
import { checkPrefix, formKey, formKeys } from './keys.js';
import { markPrefix, operatorsAnnotations } from './marks.js';
import type { Compat } from './records.js';
import { concealing, type SecretsMode } from './secrets.js';
import { annotationPath, erase } from './traces.js';

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
  readonly packed: string;
  readonly digest: string;
}

const allOf = (forms: Forms): readonly string[] => [...forms.plain, forms.packed, forms.digest];

/**
 * Keeps the last handled state in an annotation: works for any kind of resource, with any schema.
 *
 * A state that does not fit is kept compressed, in the annotation with `-gzip` added to the name; if it still does
 * not fit, only its digest is kept, in the one with `-digest`: it is then known that the object has changed, but not
 * how. Of the three, only one is on the object; if there are several, the readable one is right, as it is the only
 * one that Kopf itself could have written later.
 */
export function annotationsDiffBaseStorage(options: AnnotationsDiffBaseOptions = {}): DiffBaseStorage {
  const { prefix = 'kopf.zalando.org', key = 'last-handled-configuration', v1 = true } = options;
  checkPrefix(prefix);
  const ignoredFields = [...(options.ignoredFields ?? [])].map(parseField);

  const formsFor = (body: Body): Forms => ({
    plain: formKeys(key, body, { prefix, v1 }),
    packed: formKey(`${key}-gzip`, body, prefix),
    digest: formKey(`${key}-digest`, body, prefix),
  });
  const masked = concealing(options);

  return {
    build({ body, extraFields = [], resource }) {
      const essence = buildEssence(body, { extraFields, ignoredFields, dropAnnotations: operatorsAnnotations });
      const annotations = resolveField(essence, ['metadata', 'annotations']);
      if (isMapping(annotations)) for (const annotation of allOf(formsFor(body))) delete annotations[annotation];
      removeEmptyStanzas(essence);
      return masked(essence, { body, resource });
    },

    async fetch({ body, resource, malformed }) {
      const essence = await read(body, formsFor(body), malformed);
      // The state stored by Kopf has the values as they are; they are masked to be comparable with ours.
      return essence === undefined ? undefined : masked(essence, { body, resource });
    },

    async store({ essence, body, patch, resource }) {
      const forms = formsFor(body);
      const stored = masked(essence, { body, resource });
      const kept =
        options.compat === 'kopf' ? plainForm(stored, forms) : await fittingForm(stored, forms, { body, patch });
      if (kept === undefined) return;
      for (const annotation of allOf(forms)) {
        if (!kept.annotations.includes(annotation)) erase(annotationPath(annotation), body, patch);
      }
      for (const annotation of kept.annotations) ensureField(patch.merge, annotationPath(annotation), kept.text);
      markPrefix(prefix, body, patch);
    },
  };
}

/** A text to be put into some annotations, the same one into each. */
interface Form {
  readonly annotations: readonly string[];
  readonly text: string;
}

function plainForm(essence: Essence, forms: Forms): Form | undefined {
  if (isDigestOnly(essence)) return undefined;
  return { annotations: forms.plain, text: `${compactJson(essence)}\n` };
}

async function packedForm({ text }: Form, forms: Forms): Promise<Form | undefined> {
  const packed = await pack(text);
  return packed === undefined ? undefined : { annotations: [forms.packed], text: packed };
}

function digestForm(essence: Essence, forms: Forms): Form {
  return { annotations: [forms.digest], text: compactJson({ digest: digestOf(essence) }) };
}

/** The best form that fits; the digest is the last resort, whether it fits or not. */
async function fittingForm(essence: Essence, forms: Forms, on: { body: Body; patch: Patch }): Promise<Form> {
  const plain = plainForm(essence, forms);
  if (plain === undefined) return digestForm(essence, forms);
  const room = roomForAnnotations(on.body, on.patch, allOf(forms));
  if (totalSize(plain) <= room) return plain;
  const packed = await packedForm(plain, forms);
  if (packed !== undefined && totalSize(packed) <= room) return packed;
  return digestForm(essence, forms);
}

function totalSize({ annotations, text }: Form): number {
  return annotations.reduce((total, annotation) => total + sizeOf(annotation, text), 0);
}

/** The state from the best of its forms that can be read; all others are told of on the way. */
async function read(body: Body, forms: Forms, malformed?: ReportMalformed): Promise<Essence | undefined> {
  for (const annotation of allOf(forms)) {
    const text = resolveField(body, annotationPath(annotation));
    if (text === undefined || text === null) continue;
    const complain: Complain = (problem) =>
      void malformed?.(`Annotation "${annotation}" is not a last handled state: ${problem}.`);
    const essence =
      annotation === forms.packed
        ? await readPacked(text, complain)
        : annotation === forms.digest
          ? readDigest(text, complain)
          : readMapping(text, complain);
    if (essence !== undefined) return essence;
  }
  return undefined;
}

async function readPacked(text: unknown, complain: Complain): Promise<Essence | undefined> {
  if (typeof text !== 'string') return complain('it is not a text');
  let unpacked: string;
  try {
    unpacked = await unpack(text);
  } catch {
    return complain('it cannot be unpacked');
  }
  return readMapping(unpacked, complain);
}

function readDigest(text: unknown, complain: Complain): Essence | undefined {
  const stored = readMapping(text, complain);
  if (stored === undefined) return undefined;
  const digest = getOwn(stored, 'digest');
  const isDigest = typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest);
  return isDigest ? digestOnly(digest) : complain('it has no digest');
}
