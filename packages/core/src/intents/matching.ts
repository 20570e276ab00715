/**
 * Does this handler want this cause? Pure, except for the users' own callbacks.
 *
 * Cheap questions go first, and callbacks are never asked about objects of another resource: a callback written
 * for pods would stumble over a service. Kwargs for callbacks are made only when the first of them is met.
 */
import { resolveField } from '../values/fields.js';
import { deepEqual, getOwn, isMapping } from '../values/json.js';
import { isDeletionOngoing } from '../values/objects/finalizers.js';
import type { ChangingCause, ResourceCause } from './causes.js';
import { ABSENT, type MetaFilter, PRESENT, type ValueCallback } from './filters.js';
import type { ChangeHandler, ResourceHandler, WebhookHandler } from './handlers.js';
import { causeKwargs, fieldOf, type Kwargs } from './kwargs.js';

type LazyKwargs = () => Kwargs;

/** Whether the handler is to be called for the cause: all its filters say yes. */
export function match(handler: ResourceHandler, cause: ResourceCause): boolean {
  if (hasNoFilters(handler)) return fitsResource(handler, cause);
  const kwargs = lazyKwargs(cause);
  return (
    fitsResource(handler, cause) &&
    fitsMetadata(handler, cause, kwargs) &&
    fitsFieldValue(handler, cause, kwargs) &&
    fitsFieldChange(handler, cause, kwargs) &&
    fitsCallback(handler, kwargs)
  );
}

/**
 * Whether the object is of interest to the handler at all, be its field changed or not. Answers whether an object is
 * in scope of the change handlers, and whether its deletion must wait for the deletion handlers.
 */
export function prematch(handler: ResourceHandler, cause: ResourceCause): boolean {
  const kwargs = lazyKwargs(cause);
  return (
    fitsResource(handler, cause) &&
    fitsMetadata(handler, cause, kwargs) &&
    fitsFieldValue(handler, cause, kwargs) &&
    fitsCallback(handler, kwargs)
  );
}

/** Whether a change handler is for changes of this reason. Filters are another matter. */
export function fitsReason(handler: ChangeHandler, cause: ChangingCause): boolean {
  const reasonFits = handler.reason === undefined || handler.reason === cause.reason;
  const ageFits = !handler.initial || cause.initial;
  const deletionFits = !handler.initial || !isDeletionOngoing(cause.body) || Boolean(handler.deleted);
  return reasonFits && ageFits && deletionFits;
}

/**
 * Whether an admission handler is meant by the request: by its type and id, where the address tells them, and by
 * its operations. Mutating handlers skip deletions, unless deletions are all that they want: there is nothing to mutate.
 */
export function fitsReview(handler: WebhookHandler, cause: Extract<ResourceCause, { kind: 'webhook' }>): boolean {
  const { reason, webhook, operation } = cause;
  if (reason !== undefined && reason !== handler.reason) return false;
  if (webhook !== undefined && webhook !== handler.id) return false;
  const operations: readonly string[] | undefined = handler.operations;
  if (operations !== undefined && operation !== undefined && !operations.includes(operation)) return false;
  const wantsOnlyDeletions = operations?.every((wanted) => wanted === 'DELETE') ?? false;
  return !(handler.reason === 'mutating' && operation === 'DELETE') || wantsOnlyDeletions;
}

/** As most handlers are, it wants all objects of its resource: there is nothing to be prepared for asking more. */
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

function fitsResource(handler: ResourceHandler, cause: ResourceCause): boolean {
  // Sub-handlers have no selector: they are of the same object as their parent.
  if (handler.selector !== undefined && !handler.selector.check(cause.resource)) return false;
  if (handler.kind !== 'webhook' || cause.kind !== 'webhook') return true;
  return handler.subresource === '*' || handler.subresource === cause.subresource;
}

function fitsMetadata(handler: ResourceHandler, cause: ResourceCause, kwargs: LazyKwargs): boolean {
  const metadata = cause.body.metadata;
  return (
    fitsKeys(handler.labels, metadata?.labels, kwargs) && fitsKeys(handler.annotations, metadata?.annotations, kwargs)
  );
}

function fitsKeys(filter: MetaFilter | undefined, values: unknown, kwargs: LazyKwargs): boolean {
  if (filter === undefined) return true;
  const source = isMapping(values) ? values : {};
  return Object.keys(filter).every((key) => fits(filter[key], getOwn(source, key), kwargs));
}

function fitsFieldValue(handler: ResourceHandler, cause: ResourceCause, kwargs: LazyKwargs): boolean {
  const field = fieldOf(handler);
  if (field === undefined) return true;
  const filter = handler.value === undefined ? PRESENT : handler.value;
  // A change fits by what the field was as well as by what it is: also its removal is of interest.
  if (cause.kind === 'changing') {
    return [cause.new, cause.old].some((essence) => fits(filter, resolveField(essence, field), kwargs));
  }
  return fits(filter, resolveField(cause.body, field), kwargs);
}

function fitsFieldChange(handler: ResourceHandler, cause: ResourceCause, kwargs: LazyKwargs): boolean {
  const field = fieldOf(handler);
  if (handler.kind !== 'change' || cause.kind !== 'changing' || field === undefined) return true;
  const before = resolveField(cause.old, field);
  const after = resolveField(cause.new, field);
  if (handler.fieldNeedsChange && deepEqual(before, after)) return false;
  return (
    (handler.old === undefined || fits(handler.old, before, kwargs)) &&
    (handler.new === undefined || fits(handler.new, after, kwargs))
  );
}

function fitsCallback(handler: ResourceHandler, kwargs: LazyKwargs): boolean {
  return handler.when === undefined || Boolean(handler.when(kwargs()));
}

function fits(filter: unknown, value: unknown, kwargs: LazyKwargs): boolean {
  if (filter === PRESENT) return value !== undefined;
  if (filter === ABSENT) return value === undefined;
  if (typeof filter === 'function') return Boolean((filter as ValueCallback<unknown>)(value, kwargs()));
  return deepEqual(filter, value);
}
