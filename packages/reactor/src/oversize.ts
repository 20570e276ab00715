/**
 * Objects that are too large for our traces: Kubernetes refuses more than 256 KiB of annotations, and etcd refuses
 * more than about 1.5 MB of anything. Whatever is refused, handlers that have succeeded must not be called again.
 */
import {
  type AnyObject,
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
import { applyMergePatch, type PatchOutcome } from '@kopf-ts/core/engine';
import type { ApplyFn, ApplyOptions } from './applier.js';
import type { ObjectMemory } from './memories.js';

const TOO_LARGE = [
  /request is too large/i,
  /request entity too large/i,
  /larger than max/i,
  /too long/i,
  /must have at most \d+ bytes/i,
  /exceeds? (the )?(maximum|limit)/i,
];

/** Whether the cluster has refused the object for its size, and not for what is in it. */
export function isTooLarge(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.status === 413) return true;
  if (error.status !== 422 && error.status < 500) return false;
  return TOO_LARGE.some((pattern) => pattern.test(error.message));
}

/** The object as the storages are to see it: with what could not be stored, as if it were. */
export function bodyForStorages(body: Body, { unsavable }: ObjectMemory): Body {
  if (unsavable === undefined) return body;
  const imagined = deepCopy(body) as AnyObject;
  applyMergePatch(imagined, unsavable);
  return imagined;
}

export interface OversizedOptions extends ApplyOptions {
  readonly apply: ApplyFn;
  readonly memory: ObjectMemory;
  /** What was put into the patch as the last handled state, if anything was. */
  readonly handled: Essence | undefined;
  /** Puts another last handled state instead of that into the patch. */
  readonly storeHandled: (essence: Essence, patch: Patch) => Promise<void>;
}

/**
 * Applies the patch as far as there is room. Traces go first: without them, handlers would be called again. What does
 * not fit at all, is kept in memory while the operator lives, and is tried again with every later patch.
 */
export async function applyWithinLimits(options: OversizedOptions): Promise<PatchOutcome> {
  const { apply, memory, patch, logger } = options;
  try {
    const outcome = await apply({ ...options, patch: withUnsaved(patch, memory) });
    memory.unsavable = undefined;
    return outcome;
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    const dropped = Object.keys(patch.merge).filter((key) => key !== 'metadata');
    if (dropped.length > 0) {
      const what = dropped.map((key) => namesIn(key, patch.merge[key])).join(', ');
      logger.error(`The object is too large to be patched. This is dropped, only the progress is stored: ${what}.`, {
        error,
      });
    }
  }

  const traces = new Patch('metadata' in patch.merge ? { metadata: patch.merge.metadata } : {}, {
    body: options.body,
    fns: patch.fns,
  });
  for (const prepare of [async () => {}, () => storeDigest(options, traces)]) {
    await prepare();
    try {
      return await apply({ ...options, patch: new Patch(traces, { body: options.body }) });
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
  }

  if (memory.unsavable === undefined) {
    logger.error(
      'The object is too large for the progress of its handlers. It is remembered only while the operator runs: ' +
        'after a restart, the handlers are called again. Use another storage, or make the object smaller.',
    );
  }
  memory.unsavable = withUnsaved(new Patch({ metadata: annotationsOnly(traces.merge) }), memory).merge;
  return {};
}

function withUnsaved(patch: Patch, { unsavable }: ObjectMemory): Patch {
  if (unsavable === undefined) return patch;
  const whole = new Patch(unsavable, { body: patch.body, fns: patch.fns });
  mergeInto(whole.merge, deepCopy(patch.merge));
  return whole;
}

/** Unlike applying a patch, this keeps the nulls: they are what is to be removed. */
function mergeInto(target: Mapping, patch: Mapping): void {
  for (const [key, value] of Object.entries(patch)) {
    const existing = target[key];
    if (isMapping(existing) && isMapping(value)) mergeInto(existing, value);
    else target[key] = value;
  }
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
