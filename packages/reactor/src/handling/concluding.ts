/** How a cycle ends: its patch is sent, and it is decided how to go on. */
import { type AnyObject, ApiError, type Essence, formatTimestamp, Patch, type Seconds } from '@kopf-ts/core';
import { decideNext, isThenable, type PatchOutcome } from '@kopf-ts/core/engine';
import { isBrokenOffByPause } from './applier.js';
import { withoutBroken } from './broken-patches.js';
import type { ChangingResult } from './changing.js';
import { type Cycle, storagesOf } from './cycle.js';
import { applyWithinLimits, bodyForStorages, isTooLarge } from './oversize.js';
import type { CycleResult } from './work.js';

export interface Conclusion extends CycleResult {
  /** There is no such object any more. */
  readonly isMissing?: boolean;
}

export async function conclude(
  cycle: Cycle,
  delays: readonly Seconds[],
  changing: ChangingResult | undefined,
): Promise<Conclusion> {
  const { parts, memory, body, patch, localLogger, eventType } = cycle;
  const { compat } = parts.settings.persistence;
  memory.remaining = undefined;
  // Nothing to patch any more; but daemons can still be on their way out.
  if (eventType === 'DELETED') return delays.length > 0 ? { delay: Math.min(...delays) } : {};
  const outcome = patch.isEmpty ? {} : await send(cycle, changing?.handled);
  if (outcome.missing) return { isMissing: true };
  memory.remaining = outcome.remaining;

  const patched = outcome.body !== undefined && versionIn(outcome.body) !== versionIn(body);
  const next = decideNext({ delay: delays.length > 0 ? Math.min(...delays) : undefined, patched, compat });
  if ('log' in next && next.log && (next.action !== 'finish' || changing !== undefined)) localLogger.debug(next.log);
  const isVanishing = outcome.resourceVersion !== undefined && outcome.resourceVersion !== versionIn(outcome.body);
  const answer = patched ? outcome.body : undefined;
  if (next.action === 'sleep') {
    return { answer, isVanishing, delay: next.seconds, byTouching: next.awakening === 'touch' };
  }
  if (next.action === 'again' || next.action === 'touch') {
    return { answer, isVanishing, delay: 0, byTouching: next.action === 'touch' };
  }
  return { answer, isVanishing };
}

async function send(cycle: Cycle, handled: Essence | undefined): Promise<PatchOutcome> {
  const { parts, memory, body, patch, before, localLogger: logger } = cycle;
  const storedBody = bodyForStorages(body, memory);
  const touched = storagesOf(parts).progressStorage.touch({ value: null, body: storedBody, patch });
  if (isThenable(touched)) await touched;
  if (parts.settings.persistence.compat === 'kopf') {
    return await parts.apply({ resource: cycle.resource, body, patch, logger });
  }
  let sent = patch;
  try {
    try {
      return await sendWithinLimits(cycle, sent, handled);
    } catch (error) {
      // What users have broken, must not take with it the progress of the handlers: these have done their work.
      const sound = error instanceof ApiError ? undefined : withoutBroken(patch, body, logger);
      if (sound === undefined) throw error;
      sent = sound;
      return await sendWithinLimits(cycle, sent, handled);
    }
  } catch (error) {
    if (isPassing(error)) {
      // The handlers have done their work: it is to be remembered as soon as the cluster is well again.
      memory.remaining = new Patch(sent);
    } else {
      // All is to be decided again, with what the object is then.
      memory.handled = before.handled;
      memory.isHandledOnce = before.isHandledOnce;
    }
    throw error;
  }
}

async function sendWithinLimits(cycle: Cycle, patch: Patch, handled: Essence | undefined): Promise<PatchOutcome> {
  const { parts, resource, memory, body, localLogger: logger } = cycle;
  const storedBody = bodyForStorages(body, memory);
  return await applyWithinLimits({
    apply: parts.apply,
    resource,
    body,
    patch,
    logger,
    memory,
    handled,
    storeHandled: async (essence, to) => {
      await storagesOf(parts).diffbaseStorage.store({ essence, body: storedBody, patch: to, resource });
    },
  });
}

/** Whether the same patch can succeed later: it is not about what is in it. */
function isPassing(error: unknown): boolean {
  if (isTooLarge(error) || isBrokenOffByPause(error)) return false;
  return !(error instanceof ApiError) || error.status >= 500 || [401, 403, 408, 409, 429].includes(error.status);
}

function versionIn(body: AnyObject | undefined): string | undefined {
  return body?.metadata?.resourceVersion;
}

/** Changes anything in the object, so that an event of it comes back: as Kopf wakes itself up. */
export async function touch({ parts, resource, body, localLogger: logger }: Cycle): Promise<CycleResult> {
  const patch = new Patch(undefined, { body });
  const { progressStorage } = storagesOf(parts);
  await progressStorage.touch({ value: formatTimestamp(parts.clock.utc()), body, patch });
  // Not the same as sending nothing: the handlers are due, whatever became of the touch.
  const { body: answer, missing } = await parts.apply({ resource, body, patch, logger });
  return missing ? {} : { answer, ...(answer === undefined ? { delay: 0 } : {}) };
}
