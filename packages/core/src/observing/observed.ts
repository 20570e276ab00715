/** Objects and handlers as facts and traces have them: a few fields, and nothing that could be changed by others. */
import type { ObservedHandler, ObservedObject, Rejection } from '../seams/inspection/observer.js';
import type { HandlerId } from '../values/ids.js';
import type { Body } from '../values/objects/body.js';
import type { Resource } from '../values/resources/resource.js';
import type { Facts } from './facts.js';

const FINISHED: Rejection = Object.freeze({ filter: 'finished' });

const observedHandlers = new WeakMap<ObservedHandler, ObservedHandler>();

/** The handler, as facts have it: one for all of them, as there are many calls of few handlers. */
export function observedHandler(handler: ObservedHandler): ObservedHandler {
  let observed = observedHandlers.get(handler);
  if (observed === undefined) {
    observed = Object.freeze({ id: handler.id, kind: handler.kind });
    observedHandlers.set(handler, observed);
  }
  return observed;
}

/** An object, as facts have it. */
export function observedBody(resource: Resource, { kind, metadata }: Body): ObservedObject {
  const { namespace, name, uid } = metadata ?? {};
  return Object.freeze({ resource, kind: kind ?? resource?.kind, namespace, name, uid });
}

/** What tells of each handler that is considered for the object. To be made only if somebody wants such facts. */
export function tellerOfConsidered(
  facts: Facts,
  { resource, body }: { readonly resource: Resource; readonly body: Body },
  /** They fit, but are done with the object. */
  finished?: ReadonlySet<HandlerId>,
): (handler: ObservedHandler, rejection: Rejection | undefined) => void {
  const object = observedBody(resource, body);
  return (handler, why) => {
    const rejection = why ?? (finished?.has(handler.id) ? FINISHED : undefined);
    facts.tell({ kind: 'handler.considered', object, handler: observedHandler(handler), rejection });
  };
}
