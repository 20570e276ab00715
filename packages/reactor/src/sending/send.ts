/**
 * Sending what a cycle wants to be changed in its object. One way for all: what can never be sent is taken out, the rest
 * is fitted into what the cluster takes, goes for the known version of the object, and comes back as what became of it.
 * It knows nothing of what is remembered of the object.
 */
import { type AnyObject, ApiError, type Essence, isMapping, type Mapping, Patch } from '@kopf-ts/core';
import {
  type Address,
  type Asked,
  isTooLarge,
  lostInJson,
  OutpacedError,
  type OwnWrite,
  type PatchOutcome,
} from '@kopf-ts/core/engine';
import type { OnDropped } from '../observing/patch-facts.js';
import type { ApplyFn, ApplyOptions } from './apply.js';
import { applyInPart, applyWithinLimits, withUnsaved } from './limits.js';
import { mergeInto } from './merging.js';
import { findCulprits, isRefusal, type Refusal } from './refusals.js';
import { withoutBroken } from './sanitise.js';

export interface SendOptions extends Omit<ApplyOptions, 'patch' | 'last' | 'onWrite'> {
  readonly apply: ApplyFn;
  /** The changes requested by handlers. */
  readonly asked: Patch;
  /** Which handler requested which change. */
  readonly askedBy: readonly Asked[];
  readonly marks: Patch;
  /** Sends exactly what Kopf would. */
  readonly isCompat: boolean;
  /** The last handled state in the marks, if any. */
  readonly handled: Essence | undefined;
  /** Replaces the last handled state in a patch. */
  readonly storeHandled: (essence: Essence, patch: Patch) => Promise<void>;
  /** Marks that could not be stored before. */
  readonly unsavable: Mapping | undefined;
  readonly onWrite: (write: OwnWrite) => void;
  readonly onDropped?: OnDropped | undefined;
}

export type Sent =
  | {
      readonly kind: 'sent';
      /** The object after it; absent if nothing was sent. */
      readonly answer: AnyObject | undefined;
      /** The object vanishes with this patch. */
      readonly isVanishing: boolean;
      /** Functions that are in conflict with newer changes: in the way of Kopf. */
      readonly remaining: Patch | undefined;
      /** Marks that could not be stored. */
      readonly unsavable: Mapping | undefined;
    }
  /** The object no longer exists. */
  | { readonly kind: 'missing' }
  /** The cluster refuses the changes of these handlers. The marks are not stored yet. */
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] };

/** Rejects with errors that may pass, and with refusals of what nobody has asked for. */
export async function send(options: SendOptions): Promise<Sent> {
  const { marks, body, logger, isCompat, unsavable, resource, signal, newerThan, turn, onWrite } = options;
  const last = addressOfMarks(marks);
  const isStrange = (!isCompat && saysWhoItIs(options.asked)) || lostInJson(options.asked.merge) !== undefined;
  const asked = isStrange
    ? (withoutBroken(options.asked, body, logger, options.onDropped) ?? options.asked)
    : options.asked;
  try {
    const whole = combined(asked, marks);
    const patch = isCompat ? whole : withUnsaved(whole, unsavable);
    const outcome = await options.apply({ resource, body, patch, logger, signal, last, newerThan, turn, onWrite });
    return sentAs(outcome, isCompat ? unsavable : undefined);
  } catch (error) {
    // In the latter case, there is nothing to be found out.
    if (isCompat || error instanceof OutpacedError) throw error;
    return await sendOtherwise(options, asked, last, error);
  }
}

/** The fallback if the patch cannot be sent as it is. */
async function sendOtherwise(options: SendOptions, asked: Patch, last: Address, failure: unknown): Promise<Sent> {
  const { body, logger } = options;
  let error = failure;
  if (isTooLarge(failure)) {
    try {
      return await sendFitted(applyInPart, options, asked, last);
    } catch (other) {
      error = other;
    }
  }
  // What users have broken must not take with it the progress of the handlers: these have done their work.
  const isSuspected = !(error instanceof ApiError) || error.status === 409 || isRefusal(error);
  const sound = isSuspected ? withoutBroken(asked, body, logger, options.onDropped) : undefined;
  if (sound !== undefined) return await sendFitted(applyWithinLimits, options, sound, last);
  if (!isRefusal(error) || options.askedBy.length === 0) throw error;
  const refusals = await findCulprits({ ...options, error, last });
  if (refusals.length === 0) throw error;
  return { kind: 'refused', refusals };
}

/** What of it fits into the object, by one of the ways to find that out. */
async function sendFitted(
  fit: typeof applyWithinLimits,
  options: SendOptions,
  asked: Patch,
  last: Address,
): Promise<Sent> {
  const patch = combined(asked, options.marks);
  const { outcome, unsavable } = await fit({ ...options, patch, last });
  return sentAs(outcome, unsavable);
}

function sentAs(outcome: PatchOutcome, unsavable: Mapping | undefined): Sent {
  if (outcome.missing) return { kind: 'missing' };
  const { body: answer, remaining, resourceVersion } = outcome;
  const isVanishing = resourceVersion !== undefined && resourceVersion !== answer?.metadata?.resourceVersion;
  return { kind: 'sent', answer, isVanishing, remaining, unsavable };
}

/** It would be taken for an object of the same name, or for an outdated one. */
function saysWhoItIs({ merge }: Patch): boolean {
  const { metadata } = merge;
  return isMapping(metadata) && ('uid' in metadata || 'resourceVersion' in metadata);
}

/** All in one: the marks over what was asked for. */
function combined(asked: Patch, marks: Patch): Patch {
  const patch = new Patch(asked, { body: marks.body });
  mergeInto(patch.merge, marks.merge);
  patch.fns.push(...marks.fns);
  return patch;
}

/** Marks say that all the rest is done: so they go last. */
function addressOfMarks({ merge, fns }: Patch): Address {
  const isInObject = fns.length > 0 || Object.keys(merge).some((key) => key !== 'status');
  return isInObject || !Object.hasOwn(merge, 'status') ? 'object' : 'status';
}
