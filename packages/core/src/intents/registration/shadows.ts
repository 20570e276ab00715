/** Handlers that are never called because others with the same ids are called instead. */
import { RegistrationError } from '../../errors.js';
import { quoteId } from '../../values/ids.js';
import type { Handlers } from '../handler-set.js';
import { type AnyHandler, type ResourceHandler, titleOf } from '../handlers.js';
import { placeOf } from './places.js';

/**
 * Progress, results, daemons and indices are stored by the ids of handlers. So of two functions with one id for the same
 * cause, the second is mistaken for the first. Two handlers are certainly for the same cause only if they do not differ;
 * others are reported when it happens. Handlers of events store nothing.
 */
export function refuseShadowed(handlers: Handlers): void {
  const { activities, indexing, spawning, changing, related, webhooks } = handlers;
  for (const family of [activities, indexing, spawning, changing, related, webhooks]) {
    const first = new Map<string, AnyHandler>();
    for (const handler of family as Iterable<AnyHandler>) {
      const key = keyOf(handler);
      const known = key === undefined ? undefined : first.get(key);
      if (known !== undefined && known.fn !== handler.fn) throw shadowed(known, handler);
      if (key !== undefined) first.set(key, known ?? handler);
    }
  }
}

/** The message about two functions that share an id. */
export function describeShadow(known: AnyHandler, handler: AnyHandler): string {
  return (
    `Two functions have the id ${quoteId(handler.id)}: ${whereabouts(known)}, and ${whereabouts(handler)}. Progress and ` +
    'results are kept by the id, so the second one is taken for the first. Give one of them its own id: ' +
    `{ id: '${handler.id.split('/')[0]}-2' }, or rename one of the functions.`
  );
}

function shadowed(known: AnyHandler, handler: AnyHandler): RegistrationError {
  return new RegistrationError(`${titleOf(handler)} cannot work. ${describeShadow(known, handler)}`, {
    code: 'KOPF_DUPLICATE_ID',
  });
}

function whereabouts(handler: AnyHandler): string {
  return placeOf(handler) ?? (handler.kind === 'activity' ? `of ${handler.activity}` : String(handler.selector ?? ''));
}

/** Equal for handlers that are certainly called for the same causes; `undefined` if that depends on the objects. */
function keyOf(handler: AnyHandler): string | undefined {
  if (handler.kind === 'activity') return JSON.stringify([handler.id, handler.activity, handler.fallback ?? false]);
  const { id, selector, field, labels, annotations, when, value } = handler;
  const isFiltered = [labels, annotations, when, value].some((filter) => filter !== undefined);
  if (isFiltered || selector?.fn !== undefined) return undefined;
  const purpose = purposeOf(handler);
  return purpose && JSON.stringify([id, String(selector), field, ...purpose]);
}

function purposeOf(handler: ResourceHandler): readonly unknown[] | undefined {
  if (handler.kind === 'change') {
    const isFiltered = handler.old !== undefined || handler.new !== undefined;
    return isFiltered ? undefined : [handler.reason, handler.initial ?? false];
  }
  if (handler.kind === 'webhook') return [handler.reason, handler.operations, handler.subresource];
  return [];
}
