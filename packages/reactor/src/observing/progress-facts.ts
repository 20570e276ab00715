/** Facts about handlers that want a change, but are not called for it now; and about what is given up for it. */
import type { Rejection } from '@kopf-ts/core';
import {
  type ChangingCause,
  type Facts,
  type LoadedProgress,
  observedBody,
  observedHandler,
} from '@kopf-ts/core/engine';

const FINISHED: Rejection = Object.freeze({ filter: 'finished' });

export function tellSuperseded(facts: Facts, cause: ChangingCause, { superseded }: LoadedProgress): void {
  if (superseded.size === 0) return;
  const object = observedBody(cause.resource, cause.body);
  for (const [reason, { running }] of superseded) {
    facts.tell({ kind: 'object.superseded', object, reason, by: cause.reason, unfinished: running });
  }
}

/** Of those that are done already, or wait for their next attempts. */
export function tellUncalled(facts: Facts, cause: ChangingCause, { handlers, state }: LoadedProgress): void {
  for (const handler of handlers) {
    const progress = state.get(handler.id);
    if (progress === undefined || progress.awakened) continue;
    const object = observedBody(cause.resource, cause.body);
    const rejection: Rejection = progress.finished ? FINISHED : { filter: 'delayed', wanted: progress.delayed };
    facts.tell({ kind: 'handler.considered', object, handler: observedHandler(handler), rejection });
  }
}
