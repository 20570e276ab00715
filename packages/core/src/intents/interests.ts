/** The common interests of all handlers of a registry in a resource or an object. Pure except for users' filters. */
import type { Rejection } from '../seams/inspection/observer.js';
import type { FieldPath } from '../values/fields.js';
import type { HandlerId } from '../values/ids.js';
import type { Resource } from '../values/resources/resource.js';
import type { ChangingCause, RelatedCause, SpawningCause } from './causes.js';
import type { Handlers, OnConsidered } from './handler-set.js';
import type { ChangeHandler } from './handlers.js';
import { fieldOf } from './kwargs.js';
import { match, prematch } from './matching.js';

/** Fields that must be in the essence because handlers look at them, although they are not user-defined by convention. */
export function extraFields(handlers: Handlers, resource: Resource): readonly FieldPath[] {
  const { watching, changing, spawning, related } = handlers;
  const families = [watching.of(resource), changing.of(resource), spawning.of(resource), related.of(resource)];
  const byPath = new Map<string, FieldPath>();
  for (const handler of families.flat()) {
    const field = fieldOf(handler);
    if (field !== undefined) byPath.set(JSON.stringify(field), field);
  }
  return [...byPath.values()];
}

/**
 * Whether the object is of any interest to the change handlers. If not, the operator leaves no trace on it;
 * and when it becomes of interest one day, it is new. If it is of none, each handler is reported with the reason.
 */
export function isInScope(handlers: Handlers, cause: ChangingCause, onConsidered?: OnConsidered): boolean {
  const all = handlers.changing.of(cause.resource);
  if (onConsidered === undefined) return all.some((handler) => prematch(handler, cause));
  const rejected: (readonly [ChangeHandler, Rejection])[] = [];
  if (all.some((handler) => prematch(handler, cause, (why) => void rejected.push([handler, why])))) return true;
  // Reported only if no handler is asked again later.
  for (const [handler, rejection] of rejected) onConsidered(handler, rejection);
  return false;
}

export interface BlockingInterest {
  readonly spawning?: SpawningCause | undefined;
  /** Only if the object is in scope. */
  readonly changing?: ChangingCause | undefined;
  readonly related?: RelatedCause | undefined;
  /** Daemons that have exited on their own: they no longer hold the object. */
  readonly foreverStopped?: ReadonlySet<HandlerId> | undefined;
}

/** Whether the deletion of the object must wait for our handlers. */
export function mustBlockDeletion(handlers: Handlers, interest: BlockingInterest): boolean {
  const { spawning, changing, related, foreverStopped } = interest;
  const isHeldByDaemons =
    spawning !== undefined &&
    handlers.spawning
      .of(spawning.resource)
      .some((handler) => !foreverStopped?.has(handler.id) && match(handler, spawning));
  if (isHeldByDaemons) return true;
  const isHeldForCleanup =
    related !== undefined &&
    handlers.related
      .of(related.resource)
      .some((handler) => handler.kind === 'reconcile' && handler.cleanup !== undefined && prematch(handler, related));
  if (isHeldForCleanup) return true;
  if (changing === undefined) return false;
  return handlers.changing
    .of(changing.resource)
    .some((handler) => Boolean(handler.requiresFinalizer) && prematch(handler, changing));
}
