/**
 * Objects that are too large for our traces: Kubernetes refuses more than 256 KiB of annotations, and etcd refuses
 * more than about 1.5 MB of anything. Whatever is refused, handlers that have succeeded must not be called again.
 */
import {
  ApiError,
  type Body,
  deepCopy,
  digestOf,
  digestOnly,
  type Essence,
  isMapping,
  type Mapping,
  Patch,
} from '@kopf-ts/core';
import type { PatchOutcome } from '@kopf-ts/core/engine';
import type { ApplyFn, ApplyOptions } from './apply.js';
import { mergeInto } from './merging.js';

/** What etcd, or the servers on the way to it, say of requests that are too large for them. */
const TOO_LARGE = [/request is too large/i, /larger than max/i, /request entity too large/i];

/** Whether the cluster has refused the object for its size, and not for what is in it. */
export function isTooLarge(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.status === 413) return true;
  if (error.status === 422) return causesOf(error).some(isAboutAnnotations);
  return error.status >= 500 && TOO_LARGE.some((pattern) => pattern.test(error.message));
}

/** Other fields may be too long by the schema of their kind: that is of no concern to us. */
function isAboutAnnotations(cause: unknown): boolean {
  if (!isMapping(cause)) return false;
  return cause.reason === 'FieldValueTooLong' && cause.field === 'metadata.annotations';
}

function causesOf({ details }: ApiError): readonly unknown[] {
  return Array.isArray(details?.causes) ? details.causes : [];
}

export interface OversizedOptions extends ApplyOptions {
  readonly apply: ApplyFn;
  /** Marks that could not be stored before: as a merge-patch of the object. */
  readonly unsavable: Mapping | undefined;
  /** What was put into the patch as the last handled state, if anything was. */
  readonly handled: Essence | undefined;
  /** Puts another last handled state instead of that into the patch. */
  readonly storeHandled: (essence: Essence, patch: Patch) => Promise<void>;
}

export interface FittedOutcome {
  readonly outcome: PatchOutcome;
  /** What could not be stored, and is to be kept in memory. */
  readonly unsavable: Mapping | undefined;
}

/**
 * Applies the patch as far as there is room. What takes the least from the users is given up first: the details of the
 * last handled state; then what the handlers wanted to change, so that at least they are not called again. What does
 * not fit at all, is kept in memory while the operator lives, and is tried again with every later patch.
 */
export async function applyWithinLimits(options: OversizedOptions): Promise<FittedOutcome> {
  const { patch } = options;
  const outcome = await applyIfFits(options, withUnsaved(patch, options));
  return outcome === undefined ? await applyInPart(options) : { outcome, unsavable: undefined };
}

/** If it does not fit as a whole. */
async function applyInPart(options: OversizedOptions): Promise<FittedOutcome> {
  const { patch, body, handled } = options;
  const { fns } = patch;
  const [whole, traces] = [patch, tracesOf(patch, body)];
  const hasMore = Object.keys(whole.merge).length > Object.keys(traces.merge).length;
  const attempts = [
    ...(handled === undefined ? [] : [{ kept: whole, withDigest: true }]),
    ...(hasMore ? [{ kept: traces }] : []),
    ...(hasMore && handled !== undefined ? [{ kept: traces, withDigest: true }] : []),
  ];
  let last = whole;
  for (const { kept, withDigest } of attempts) {
    last = new Patch(kept, { body });
    if (withDigest) await storeDigest(options, last);
    const outcome = await applyIfFits(options, withUnsaved(last, options));
    if (outcome === undefined) continue;
    if (kept === traces) reportDropped(options);
    return { outcome, unsavable: undefined };
  }

  if (hasMore) reportDropped(options);
  reportUnsavable(options);
  const unsavable = withUnsaved(new Patch({ metadata: annotationsOnly(last.merge) }), options).merge;
  // The finalizers are not about the past: without them, an object would stay for ever, or vanish too early.
  const isTried = Object.keys(whole.merge).length === 0;
  const outcome = fns.length === 0 || isTried ? {} : await applyIfFits(options, new Patch({}, { body, fns }));
  return { outcome: outcome ?? {}, unsavable };
}

/** `undefined` if it does not. */
async function applyIfFits(options: OversizedOptions, patch: Patch): Promise<PatchOutcome | undefined> {
  try {
    return await options.apply({ ...options, patch });
  } catch (error) {
    if (isTooLarge(error)) return undefined;
    throw error;
  }
}

/** All that is not about the past, is in other stanzas. */
function tracesOf({ merge, fns }: Patch, body: Body): Patch {
  return new Patch('metadata' in merge ? { metadata: merge.metadata } : {}, { body, fns });
}

function reportDropped({ patch, logger }: OversizedOptions): void {
  const fields = Object.keys(patch.merge).filter((key) => key !== 'metadata');
  const what = fields.map((key) => namesIn(key, patch.merge[key])).join(', ');
  logger.error(`The object is too large to be patched. This is dropped, only the progress is stored: ${what}.`);
}

function reportUnsavable({ unsavable, logger }: OversizedOptions): void {
  if (unsavable !== undefined) return;
  logger.error(
    'The object is too large for the progress of its handlers. It is remembered only while the operator runs: ' +
      'after a restart, the handlers are called again. Use another storage, or make the object smaller.',
  );
}

function withUnsaved(patch: Patch, { unsavable }: Pick<OversizedOptions, 'unsavable'>): Patch {
  if (unsavable === undefined) return patch;
  const whole = new Patch(unsavable, { body: patch.body, fns: patch.fns });
  mergeInto(whole.merge, deepCopy(patch.merge));
  return whole;
}

function annotationsOnly(merge: Mapping): Mapping {
  const metadata = isMapping(merge.metadata) ? merge.metadata : {};
  return isMapping(metadata.annotations) ? { annotations: metadata.annotations } : {};
}

async function storeDigest({ handled, storeHandled }: OversizedOptions, patch: Patch): Promise<void> {
  if (handled !== undefined) await storeHandled(digestOnly(digestOf(handled)), patch);
}

function namesIn(key: string, value: unknown): string {
  return isMapping(value)
    ? Object.keys(value)
        .map((name) => `${key}.${name}`)
        .join(', ')
    : key;
}
