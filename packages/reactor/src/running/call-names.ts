/** How calls of handlers are named in the lines that are not of the handlers themselves. */
import type { ObservedHandler, ObservedObject } from '@kopf-ts/core';
import { titleOf } from '@kopf-ts/core/engine';

/** One call of one handler. Activities have no object. */
export interface NamedCall {
  readonly handler: ObservedHandler;
  readonly object: ObservedObject | undefined;
}

/** The object that the handler is called for, e.g. `KopfExample default/example-1`. */
function objectNameOf({ resource, kind = resource.plural, namespace, name }: ObservedObject): string {
  return `${kind} ${[namespace, name].filter(Boolean).join('/')}`;
}

/** The handler and its object: `Handler 'create_fn' of KopfExample default/example-1`. */
export function callNameOf({ handler, object }: NamedCall): string {
  return object === undefined ? titleOf(handler) : `${titleOf(handler)} of ${objectNameOf(object)}`;
}
