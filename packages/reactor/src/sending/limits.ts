/**
 * Objects that are too large for our traces: Kubernetes refuses more than 256 KiB of annotations, and etcd refuses
 * more than about 1.5 MB of anything. Whatever is refused, handlers that have succeeded must not be called again.
 */
import {
  deepCopy,
  deepEqual,
  digestOf,
  digestOnly,
  type Essence,
  type FieldPath,
  isMapping,
  type Mapping,
  Patch,
  resolveField,
} from '@kopf-ts/core';
import { type Asked, describeAsked, isTooLarge, type PatchOutcome, withoutAsked } from '@kopf-ts/core/engine';
import type { OnDropped } from '../observing/patch-facts.js';
import type { ApplyFn, ApplyOptions } from './apply.js';
import { mergeInto } from './merging.js';

export interface OversizedOptions extends ApplyOptions {
  readonly apply: ApplyFn;
  /** Which handler requested which part of the rest. */
  readonly askedBy: readonly Asked[];
  /** Our own part of the patch, stored regardless of the rest. */
  readonly marks: Patch;
  /** Marks that could not be stored before: as a merge-patch of the object. */
  readonly unsavable: Mapping | undefined;
  /** The last handled state in the patch, if any. */
  readonly handled: Essence | undefined;
  /** Replaces the last handled state in the patch. */
  readonly storeHandled: (essence: Essence, patch: Patch) => Promise<void>;
  readonly onDropped?: OnDropped | undefined;
}

export interface FittedOutcome {
  readonly outcome: PatchOutcome;
  /** The parts that could not be stored, to be kept in memory. */
  readonly unsavable: Mapping | undefined;
}

/**
 * Applies the patch as far as there is room. What takes the least from the users is given up first: the details of the
 * last handled state; then what the handlers wanted to change, so that at least they are not called again. What does
 * not fit at all, is kept in memory while the operator lives, and is tried again with every later patch.
 */
export async function applyWithinLimits(options: OversizedOptions): Promise<FittedOutcome> {
  const { patch } = options;
  const outcome = await applyIfFits(options, withUnsaved(patch, options.unsavable));
  return outcome === undefined ? await applyInPart(options) : { outcome, unsavable: undefined };
}

/** If it does not fit as a whole: the handlers with the largest shares do without, and the others get theirs. */
export async function applyInPart(options: OversizedOptions): Promise<FittedOutcome> {
  const { askedBy, patch, logger } = options;
  const shares = askedBy.map((asked) => ({ asked, size: sizeOf(asked, patch) })).toSorted((a, b) => b.size - a.size);
  const dropped: Asked[] = [];
  for (const { asked, size } of shares.slice(0, -1)) {
    if (size < SUSPICIOUS) break;
    dropped.push(asked);
    const rest = new Patch(patch, { body: patch.body });
    withoutAsked(rest, dropped);
    const outcome = await applyIfFits(options, withUnsaved(rest, options.unsavable));
    if (outcome === undefined) continue;
    for (const one of dropped) {
      logger.error(`${describeAsked(one)} asks for more than fits into the object; the request is dropped.`);
      options.onDropped?.(`all that ${describeAsked(one)} asks for`, 'it does not fit into the object');
    }
    return { outcome, unsavable: undefined };
  }
  return await applyWithoutAsked(options);
}

/** Handlers with smaller shares are never blamed. */
const SUSPICIOUS = 10_000;

function sizeOf({ paths }: Asked, { merge }: Patch): number {
  return paths.reduce((sum, path) => sum + (JSON.stringify(resolveField(merge, path)) ?? '').length, 0);
}

/** If that is not enough, or if no handler is to blame. */
async function applyWithoutAsked(options: OversizedOptions): Promise<FittedOutcome> {
  const { patch, body, handled, marks } = options;
  const { fns } = marks;
  const [whole, traces] = [patch, new Patch(marks, { body })];
  const hasMore = whole.fns.length > fns.length || !deepEqual(whole.merge, traces.merge);
  const attempts = [
    ...(handled === undefined ? [] : [{ kept: whole, withDigest: true }]),
    ...(hasMore ? [{ kept: traces }] : []),
    ...(hasMore && handled !== undefined ? [{ kept: traces, withDigest: true }] : []),
  ];
  let last = whole;
  for (const { kept, withDigest } of attempts) {
    last = new Patch(kept, { body });
    if (withDigest) await storeDigest(options, last);
    const outcome = await applyIfFits(options, withUnsaved(last, options.unsavable));
    if (outcome === undefined) continue;
    if (kept === traces) reportDropped(options);
    return { outcome, unsavable: undefined };
  }

  if (hasMore) reportDropped(options);
  reportUnsavable(options);
  const unsavable = withUnsaved(new Patch({ metadata: annotationsOnly(last.merge) }), options.unsavable).merge;
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

function reportDropped({ patch, marks, logger, onDropped }: OversizedOptions): void {
  const asked = leavesOf(patch.merge).filter((path) => resolveField(marks.merge, path) === undefined);
  const what = [...asked.map((path) => path.join('.')), ...functionsBeside(patch, marks)].join(', ');
  logger.error(`The object is too large to be patched. Only the progress is stored; this is dropped: ${what}.`);
  onDropped?.(what, 'the object is too large');
}

function reportUnsavable({ unsavable, logger }: OversizedOptions): void {
  if (unsavable !== undefined) return;
  logger.error(
    'The object is too large for the progress of its handlers, which is kept only while the operator runs: ' +
      'after a restart, the handlers are called again. Use another storage or make the object smaller.',
  );
}

/** With the marks that could not be stored before. */
export function withUnsaved(patch: Patch, unsavable: Mapping | undefined): Patch {
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

/** As deep as handlers usually write: a field of a stanza, or a label. */
function leavesOf(merge: Mapping, prefix: FieldPath = []): readonly FieldPath[] {
  const depth = prefix[0] === 'metadata' ? 2 : 1;
  return Object.entries(merge).flatMap(([key, value]) => {
    const path = [...prefix, key];
    return isMapping(value) && prefix.length < depth ? leavesOf(value, path) : [path];
  });
}

function functionsBeside(patch: Patch, marks: Patch): readonly string[] {
  const others = patch.fns.filter((fn) => !marks.fns.includes(fn));
  return others.map((fn) => (fn.name === '' ? 'a function' : `the function '${fn.name}'`));
}
