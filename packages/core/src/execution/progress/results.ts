/** Results of handlers: they go to the status of the object, under the ids of the handlers. */
import type { AnyHandler } from '../../intents/handlers.js';
import { deepCopy, getOwn, isMapping, type Mapping, setOwn } from '../../values/json.js';
import type { Patch } from '../../values/patches/patch.js';
import type { Outcomes } from '../outcomes.js';

/**
 * Puts the results into the patch: a mapping is merged into what is there, key by key; all else is put as it is.
 * `null` and `undefined` are no results. What is put there is a copy.
 */
export function deliverResults({ outcomes, patch }: { readonly outcomes: Outcomes; readonly patch: Patch }): void {
  for (const [id, outcome] of outcomes) {
    if (!('result' in outcome)) continue;
    const result: unknown = deepCopy(outcome.result) ?? undefined;
    if (result === undefined) continue;
    const existing = getOwn(patch.status, id);
    patch.status[id] = isMapping(result) && isMapping(existing) ? merged(existing, result) : result;
  }
}

function merged(existing: Mapping, result: Mapping): Mapping {
  const target: Mapping = {};
  for (const source of [existing, result]) {
    for (const key of Object.keys(source)) setOwn(target, key, source[key]);
  }
  return target;
}

const DELIVERED: ReadonlySet<AnyHandler['kind']> = new Set(['watch', 'change', 'daemon', 'timer']);

/** Whether the handler's results are for the status of the object; for others, any JavaScript value is fine. */
export function isDelivered(handler: AnyHandler): boolean {
  return DELIVERED.has(handler.kind);
}

/** Why the result cannot be stored in an object, if it cannot: it refers to itself, or is no JSON at all. */
export function whyNotStorable(result: unknown): string | undefined {
  if (result === undefined) return undefined;
  try {
    const text = JSON.stringify(result, refuseCollections);
    return text === undefined ? `a ${typeof result} is not JSON` : undefined;
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
  }
}

/** To JSON, these are empty objects: their contents would be lost without a word. */
function refuseCollections(_key: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) throw new TypeError('Maps and Sets are not JSON');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} is not JSON`);
  return value;
}
