/** What an object is going to be once its handlers' patch is applied: so that they are not surprised by themselves. */
import { type AnyObject, type Body, deepCopy, type Essence, Patch } from '@kopf-ts/core';
import { applyMergePatch, type ChangingCause, deliverResults, type Outcome } from '@kopf-ts/core/engine';

export interface ForeseeingOptions {
  readonly body: Body;
  readonly patch: Patch;
  readonly essenceOf: (body: Body) => Essence;
  /** Whether any part of the status is looked at by handlers; otherwise, their results change nothing. */
  readonly isStatusSeen: boolean;
}

export function foreseeing(options: ForeseeingOptions): NonNullable<ChangingCause['foresee']> {
  const { body, patch, essenceOf, isStatusSeen } = options;
  return (results) => {
    const hasResults = isStatusSeen && Object.keys(results).length > 0;
    if (patch.isEmpty && !hasResults) return undefined;
    try {
      const imagined = deepCopy(body) as AnyObject;
      const whole = new Patch(patch);
      if (hasResults) deliverResults({ outcomes: outcomesOf(results), patch: whole });
      applyMergePatch(imagined, whole.merge);
      for (const fn of whole.fns) fn(imagined);
      return essenceOf(imagined);
    } catch {
      // Broken patches are reported by those who send them; they change nothing.
      return undefined;
    }
  };
}

function outcomesOf(results: Readonly<Record<string, unknown>>): ReadonlyMap<string, Outcome> {
  return new Map(Object.entries(results).map(([id, result]) => [id, { final: true, result, subrefs: [] }]));
}
