/**
 * Decides whether a handler matches a cause. Pure except for users' callbacks.
 *
 * Cheap checks go first, and callbacks never see objects of another resource: a callback written for pods would fail on
 * a service. Kwargs for callbacks are made only when the first callback is called.
 *
 * An optional function receives the first filter that rejected the cause. Without it, nothing is built for that. In no
 * case is a callback called twice.
 */
import { KopfError } from '../errors.js';
import type { Rejection } from '../seams/inspection/observer.js';
import { resolveField } from '../values/fields.js';
import { deepEqual, getOwn, isMapping } from '../values/json.js';
import { isDeletionOngoing } from '../values/objects/finalizers.js';
import type { ChangingCause, ResourceCause } from './causes.js';
import { ABSENT, PRESENT, type ValueCallback } from './filters.js';
import type { ChangeHandler, ResourceHandler, WebhookHandler } from './handlers.js';
import { causeKwargs, fieldOf, type Kwargs } from './kwargs.js';
import { placedTitleOf } from './registration/places.js';

type LazyKwargs = () => Kwargs;

/** Receives the reason why a handler does not match a cause. */
export type OnRejection = (rejection: Rejection) => void;

/** Whether the handler matches the cause: all its filters do. */
export function match(handler: ResourceHandler, cause: ResourceCause, onRejection?: OnRejection): boolean {
  if (hasNoFilters(handler)) return fitsResource(handler, cause, onRejection);
  const kwargs = lazyKwargs(cause);
  return (
    fitsResource(handler, cause, onRejection) &&
    fitsMetadata(handler, cause, kwargs, onRejection) &&
    fitsFieldValue(handler, cause, kwargs, onRejection) &&
    fitsFieldChange(handler, cause, kwargs, onRejection) &&
    fitsCallback(handler, kwargs, onRejection)
  );
}

/**
 * Whether the handler matches the object, whether or not its field has changed. Decides whether an object is in the scope
 * of change handlers, and whether its deletion must wait for deletion handlers.
 */
export function prematch(handler: ResourceHandler, cause: ResourceCause, onRejection?: OnRejection): boolean {
  const kwargs = lazyKwargs(cause);
  return (
    fitsResource(handler, cause, onRejection) &&
    fitsMetadata(handler, cause, kwargs, onRejection) &&
    fitsFieldValue(handler, cause, kwargs, onRejection) &&
    fitsCallback(handler, kwargs, onRejection)
  );
}

/** Whether a change handler is for changes of this reason, regardless of its filters. */
export function fitsReason(handler: ChangeHandler, cause: ChangingCause, onRejection?: OnRejection): boolean {
  if (handler.reason !== undefined && handler.reason !== cause.reason) {
    onRejection?.({ filter: 'reason', wanted: handler.reason, found: cause.reason });
    return false;
  }
  if (!handler.initial) return true;
  if (!cause.initial) {
    onRejection?.({ filter: 'reason', wanted: 'resume', found: cause.reason });
    return false;
  }
  if (handler.deleted || !isDeletionOngoing(cause.body)) return true;
  onRejection?.({ filter: 'deleted', wanted: false, found: true });
  return false;
}

/**
 * Whether an admission request is for the handler: by its type and id if the URL has them, and by its operations.
 * Mutating handlers skip deletions, where there is nothing to mutate, unless they want nothing but deletions.
 */
export function fitsReview(
  handler: WebhookHandler,
  cause: Extract<ResourceCause, { kind: 'webhook' }>,
  onRejection?: OnRejection,
): boolean {
  const { reason, webhook, operation } = cause;
  if (reason !== undefined && reason !== handler.reason) {
    onRejection?.({ filter: 'reason', wanted: handler.reason, found: reason });
    return false;
  }
  if (webhook !== undefined && webhook !== handler.id) {
    onRejection?.({ filter: 'webhook', wanted: handler.id, found: webhook });
    return false;
  }
  const operations: readonly string[] | undefined = handler.operations;
  const isListed = operations === undefined || operation === undefined || operations.includes(operation);
  const wantsOnlyDeletions = operations?.every((wanted) => wanted === 'DELETE') ?? false;
  const isPointless = handler.reason === 'mutating' && operation === 'DELETE' && !wantsOnlyDeletions;
  if (isListed && !isPointless) return true;
  onRejection?.({ filter: 'operation', wanted: operations, found: operation });
  return false;
}

/** Like most handlers, it matches all objects of its resource: nothing more needs to be prepared. */
function hasNoFilters({ labels, annotations, field, when }: ResourceHandler): boolean {
  return labels === undefined && annotations === undefined && field === undefined && when === undefined;
}

function lazyKwargs(cause: ResourceCause): LazyKwargs {
  let kwargs: Kwargs | undefined;
  return () => {
    kwargs ??= causeKwargs(cause);
    return kwargs;
  };
}

function fitsResource(handler: ResourceHandler, cause: ResourceCause, onRejection: OnRejection | undefined): boolean {
  // Sub-handlers have no selector: they handle the same object as their parent.
  if (handler.selector !== undefined && !handler.selector.check(cause.resource)) {
    onRejection?.({ filter: 'resource', wanted: handler.selector, found: cause.resource });
    return false;
  }
  if (cause.isOutside) {
    onRejection?.({ filter: 'selection' });
    return false;
  }
  if (handler.kind !== 'webhook' || cause.kind !== 'webhook') return true;
  if (handler.subresource === '*' || handler.subresource === cause.subresource) return true;
  onRejection?.({ filter: 'subresource', wanted: handler.subresource, found: cause.subresource });
  return false;
}

function fitsMetadata(
  handler: ResourceHandler,
  cause: ResourceCause,
  kwargs: LazyKwargs,
  onRejection: OnRejection | undefined,
): boolean {
  const metadata = cause.body.metadata;
  return (
    fitsKeys('labels', handler, metadata?.labels, kwargs, onRejection) &&
    fitsKeys('annotations', handler, metadata?.annotations, kwargs, onRejection)
  );
}

function fitsKeys(
  which: 'labels' | 'annotations',
  handler: ResourceHandler,
  values: unknown,
  kwargs: LazyKwargs,
  onRejection: OnRejection | undefined,
): boolean {
  const filter = handler[which];
  if (filter === undefined) return true;
  const source = isMapping(values) ? values : {};
  return Object.keys(filter).every((key) => {
    const found = getOwn(source, key);
    if (fits(filter[key], found, kwargs, handler)) return true;
    onRejection?.({ filter: which, path: ['metadata', which, key], wanted: filter[key], found });
    return false;
  });
}

function fitsFieldValue(
  handler: ResourceHandler,
  cause: ResourceCause,
  kwargs: LazyKwargs,
  onRejection: OnRejection | undefined,
): boolean {
  const path = fieldOf(handler);
  if (path === undefined) return true;
  const wanted = handler.value === undefined ? PRESENT : handler.value;
  // A change matches by the old value as well as by the new one: removals match, too.
  const isChange = cause.kind === 'changing';
  const found = resolveField(isChange ? cause.new : cause.body, path);
  if (fits(wanted, found, kwargs, handler)) return true;
  if (isChange && fits(wanted, resolveField(cause.old, path), kwargs, handler)) return true;
  onRejection?.({ filter: handler.value === undefined ? 'field' : 'value', path, wanted, found });
  return false;
}

function fitsFieldChange(
  handler: ResourceHandler,
  cause: ResourceCause,
  kwargs: LazyKwargs,
  onRejection: OnRejection | undefined,
): boolean {
  const path = fieldOf(handler);
  if (handler.kind !== 'change' || cause.kind !== 'changing' || path === undefined) return true;
  const before = resolveField(cause.old, path);
  const after = resolveField(cause.new, path);
  if (handler.fieldNeedsChange && deepEqual(before, after)) {
    onRejection?.({ filter: 'change', path, found: after });
    return false;
  }
  if (handler.old !== undefined && !fits(handler.old, before, kwargs, handler)) {
    onRejection?.({ filter: 'old', path, wanted: handler.old, found: before });
    return false;
  }
  if (handler.new === undefined || fits(handler.new, after, kwargs, handler)) return true;
  onRejection?.({ filter: 'new', path, wanted: handler.new, found: after });
  return false;
}

function fitsCallback(handler: ResourceHandler, kwargs: LazyKwargs, onRejection: OnRejection | undefined): boolean {
  if (handler.when === undefined || isYes(handler.when(kwargs()), handler)) return true;
  onRejection?.({ filter: 'when', wanted: handler.when });
  return false;
}

function fits(filter: unknown, value: unknown, kwargs: LazyKwargs, handler: ResourceHandler): boolean {
  if (filter === PRESENT) return value !== undefined;
  if (filter === ABSENT) return value === undefined;
  if (typeof filter === 'function') return isYes((filter as ValueCallback<unknown>)(value, kwargs()), handler);
  return deepEqual(filter, value);
}

/** Filters are not awaited: any promise would count as a match. */
function isYes(answer: unknown, handler: ResourceHandler): boolean {
  if (typeof answer !== 'object' || answer === null || !('then' in answer)) return Boolean(answer);
  // Its rejection does not matter any more, and must not end the process.
  Promise.resolve(answer).catch(() => {});
  throw new KopfError(
    `A filter of ${placedTitleOf(handler)} has returned a promise, which cannot be waited for: decide by what is known of ` +
      'the object, or do it in the handler itself.',
    { code: 'KOPF_BAD_FILTER' },
  );
}
