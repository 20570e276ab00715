/** How calls of handlers are named in the lines that are not of the handlers themselves. */
import { type Cause, type MonitoredCall, titleOf } from '@kopf-ts/core/engine';

/** The object that the handler is called for, e.g. `KopfExample default/example-1`; activities have none. */
function objectNameOf(cause: Cause): string | undefined {
  if (cause.kind === 'activity') return undefined;
  const { namespace, name } = cause.body.metadata ?? {};
  const kind = cause.body.kind ?? cause.resource.kind ?? cause.resource.plural;
  return `${kind} ${[namespace, name].filter(Boolean).join('/')}`;
}

/** The handler and its object: `Handler 'create_fn' of KopfExample default/example-1`. */
export function callNameOf({ handler, cause }: MonitoredCall): string {
  const object = objectNameOf(cause);
  return object === undefined ? titleOf(handler) : `${titleOf(handler)} of ${object}`;
}
