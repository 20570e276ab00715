/**
 * What is left in a configuration by an operator that could not clean up after itself: it was killed, or was cut off.
 *
 * Normally, it is replaced as soon as our server is up, and there is no moment when the objects are not checked. But
 * webhooks that lead nowhere block what they are for; and that can be the very things that the server needs for its
 * start, such as the Secret with its certificates: then it would never come up. So, if it is not up after a while,
 * they are removed: as they would have been, had the other operator exited in good order.
 *
 * They can also belong to a replica that is well and working; there is no way to know. It will notice and restore them
 * at once. That is why nothing is removed if we ourselves are not permitted to watch the configuration: with the same
 * permissions, the replica would not notice it. Neither are persistent webhooks removed: they are supposed to be there.
 */
import { type AnyObject, ApiConflictError, type Logger, type Mapping } from '@kopf-ts/core';
import { describeError, type WebhookHandler } from '@kopf-ts/core/engine';
import { type ConfigurationAddress, isMarked, patchConfiguration, webhooksOf } from './configuration-object.js';
import { type Observation, titleOf } from './observation.js';
import { type AdmissionReason, webhookEntries } from './webhook-entries.js';

export interface Leftovers {
  /** Tells of them, once. */
  tell(): void;
  /** Removes them, if they are known to be ours. Never fails. */
  remove(signal: AbortSignal): Promise<void>;
}

export interface LeftoversOptions {
  readonly at: ConfigurationAddress;
  readonly object: Observation;
  readonly handlers: Iterable<WebhookHandler>;
  readonly reason: AdmissionReason;
  readonly logger: Logger;
}

export function leftovers({ at, object, handlers, reason, logger }: LeftoversOptions): Leftovers {
  const title = titleOf(at.resource, at.name);
  const all = { reason, managed: at.name, config: {}, resources: [], onlyPersistent: true };
  const persistent = new Set(webhookEntries(handlers, all).map(({ name }) => name));
  const isPersistent = ({ name }: Mapping): boolean => persistent.has(String(name));
  const isLeft = (body: AnyObject): boolean => isMarked(body) && !webhooksOf(body).every(isPersistent);
  let isTold = false;

  return {
    tell() {
      const { state } = object;
      if (isTold || typeof state !== 'object' || !isLeft(state)) return;
      isTold = true;
      const names = webhooksOf(state).map(({ name }) => `'${String(name)}'`);
      logger.info(
        `The ${title} has webhooks of another replica, or of an operator that was killed: ${names.join(', ')}. ` +
          'They will be replaced as soon as our own server is ready.',
      );
    },

    async remove(signal) {
      const { state } = object;
      if (typeof state !== 'object' || !isLeft(state)) return;
      if (!object.isWatched) {
        logger.warn(`The ${title} has webhooks that may point to a dead server, and our own server is not ready yet.`);
        return;
      }
      logger.warn(
        `The ${title} has webhooks that may point to a dead server, and our own server is not ready yet, maybe because ` +
          'they block it. All but the persistent ones are removed until it is ready.',
      );
      const webhooks = webhooksOf(state).filter(isPersistent);
      const resourceVersion = state.metadata?.resourceVersion;
      try {
        const body = await patchConfiguration(at, { webhooks, resourceVersion }, signal);
        object.learn(body ?? 'absent');
      } catch (error) {
        // Then, somebody is at work there: so they lead somewhere.
        const level = error instanceof ApiConflictError ? 'debug' : 'warn';
        logger[level](`Could not remove the webhooks from the ${title}: ${describeError(error)}`);
      }
    },
  };
}
