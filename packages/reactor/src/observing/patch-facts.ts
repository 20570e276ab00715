/** Facts about the patches of objects, of cycles and of daemons alike. */
import type { Body, Clock, Resource, SentRequest } from '@kopf-ts/core';
import { type Facts, observedBody, toError } from '@kopf-ts/core/engine';
import type { ApplyFn } from '../sending/apply.js';

/** Told of what was asked for, and is not sent. */
export type OnDropped = (what: string, why: string) => void;

/** To be made only if somebody wants such facts. */
export function tellerOfDropped(
  facts: Facts,
  { resource, body }: { readonly resource: Resource; readonly body: Body },
): OnDropped {
  const object = observedBody(resource, body);
  return (what, why) => facts.tell({ kind: 'patch.dropped', object, what, why });
}

/** The same way of sending, but told of if anybody wants to know. */
export function toldPatches(apply: ApplyFn, facts: Facts, clock: Clock): ApplyFn {
  const { wants } = facts;
  const told: ApplyFn = async (options) => {
    const { resource, body } = options;
    const beganAt = clock.now();
    const requests: SentRequest[] = [];
    try {
      const outcome = await apply({ ...options, onRequest: (request) => void requests.push(request) });
      const duration = clock.now() - beganAt;
      const object = observedBody(resource, body);
      const version = outcome.resourceVersion;
      if (requests.length > 0) facts.tell({ kind: 'patch.sent', object, requests, version, duration });
      if (outcome.missing) facts.tell({ kind: 'patch.dropped', object, what: 'the patch', why: 'the object is gone' });
      return outcome;
    } catch (thrown) {
      const duration = clock.now() - beganAt;
      const [object, error] = [observedBody(resource, body), toError(thrown)];
      facts.tell({ kind: 'patch.failed', object, requests, error, duration });
      throw thrown;
    }
  };
  return (options) => {
    // Asked each time: observers may come when the operator has started.
    if (!wants['patch.sent'] && !wants['patch.failed'] && !wants['patch.dropped']) return apply(options);
    return told(options);
  };
}
