/** Bringing one configuration in the cluster to what the handlers need, again and again. */
import { ApiConflictError, type Clock, deepEqual, type Logger, type Mapping, type Seconds } from '@kopf-ts/core';
import { backoffDelay, describeError, retryable } from '@kopf-ts/core/engine';
import {
  type ConfigurationAddress,
  createConfiguration,
  isMarked,
  MARK,
  patchConfiguration,
  webhooksOf,
} from './configuration-object.js';
import { areSameWebhooks } from './entry-comparison.js';
import { type Observation, titleOf } from './observation.js';
import { lastManagerOf, repairs } from './repairs.js';
import type { AdmissionReason } from './webhook-entries.js';

/** What a configuration should be like now, and whose wish it is: a new wish is a new object. */
interface Wish {
  readonly by: object;
  readonly webhooks: readonly Mapping[];
}

export interface Reconciler {
  /** Creates the configuration, for the first time. False if it was there before. Fails if that is not possible. */
  create(signal: AbortSignal): Promise<boolean>;
  /**
   * Brings the configuration to what is wished; does nothing if it is so. Returns when to try again if that is not
   * to be done at once: since the last attempt has failed, or since others change it too often.
   */
  reconcile(wish: Wish): Promise<'done' | Seconds>;
  /** The last change, on exit. Never fails. */
  conclude(webhooks: readonly Mapping[]): Promise<void>;
}

export interface ReconcilerParts {
  readonly at: ConfigurationAddress;
  readonly object: Observation;
  readonly reason: AdmissionReason;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  /** For all other requests. */
  readonly signal: AbortSignal;
}

const RETRYING = { base: 1, cap: 30 };

export function reconciler({ at, object, reason, clock, logger, random, signal }: ReconcilerParts): Reconciler {
  const title = titleOf(at.resource, at.name);
  const fights = repairs(random);
  let failures = 0;
  let retryAt = Number.NEGATIVE_INFINITY;
  /** The last wish, and what the server has made of it: that is what stays there unless others change it. */
  let granted: (Wish & { readonly kept: readonly Mapping[] }) | undefined;

  const create = async (own: AbortSignal): Promise<boolean> => {
    const created = await createConfiguration(at, { labels: MARK, signal: own });
    if (created !== undefined) object.learn(created);
    return created !== undefined;
  };

  const isGranted = (wish: Wish): boolean => {
    const { state } = object;
    if (typeof state !== 'object' || !isMarked(state)) return false;
    const webhooks = webhooksOf(state);
    if (!isSameWish(granted, wish)) return areSameWebhooks(webhooks, wish.webhooks);
    return deepEqual(webhooks, granted.kept) || areSameWebhooks(webhooks, wish.webhooks, 'ours');
  };

  const grant = async (wish: Wish): Promise<void> => {
    if (object.state === 'absent') await create(signal);
    const labels = typeof object.state === 'object' && isMarked(object.state) ? undefined : MARK;
    const { webhooks } = wish;
    let body = await patchConfiguration(at, { labels, webhooks }, signal);
    if (body === undefined) {
      // It was deleted, and we do not know of it yet, or never will.
      object.learn('absent');
      await create(signal);
      body = await patchConfiguration(at, { webhooks }, signal);
    }
    object.learn(body ?? 'absent');
    granted = { ...wish, kept: webhooksOf(body ?? {}) };
  };

  const tellOfRepair = (isFight: boolean): void => {
    const { state } = object;
    const manager = typeof state === 'object' ? lastManagerOf(state) : undefined;
    const by = manager === undefined ? 'others' : `others (lastly, by '${manager}')`;
    logger.info(`The ${title} was ${state === 'absent' ? 'deleted' : 'changed'} by ${by}, and is restored.`);
    if (!isFight) return;
    logger.warn(
      `The ${title} keeps being changed by ${by} and is restored each time; from now on, with growing pauses. ` +
        'Replicas of one operator must have the same handlers, and share one address and one certificate authority.',
    );
  };

  return {
    create,

    async reconcile(wish) {
      const now = clock.now();
      if (isGranted(wish)) {
        failures = 0;
        granted = { ...wish, kept: webhooksOf(object.state as object) };
        return 'done';
      }
      const isRepair = isSameWish(granted, wish);
      const pause = Math.max(failures > 0 ? retryAt - now : 0, isRepair ? fights.pause(now) : 0);
      if (pause > 0) return pause;
      if (isRepair) tellOfRepair(fights.count(now));
      else if (failures === 0) logger.info(`Reconfiguring the ${reason} webhook ${at.name}.`);
      try {
        await grant(wish);
        failures = 0;
        return 'done';
      } catch (error) {
        // What is invalid or not permitted will remain so.
        const mayPass = retryable(error) === 'later' || error instanceof ApiConflictError;
        if (!mayPass) throw error;
        failures += 1;
        const delay = backoffDelay(failures, { ...RETRYING, random });
        retryAt = clock.now() + delay;
        logger[failures === 1 ? 'warn' : 'debug'](
          `The ${title} is not up to date: ${describeError(error)} Trying again until it is.`,
        );
        return delay;
      }
    },

    async conclude(webhooks) {
      const { state } = object;
      const isKnown = typeof state === 'object';
      if (state === 'absent' || (isKnown && areSameWebhooks(webhooksOf(state), webhooks))) return;
      try {
        await patchConfiguration(at, { webhooks }, signal);
      } catch (error) {
        logger.warn(`The ${title} still has webhooks that no server answers: ${describeError(error)}`);
      }
    },
  };
}

/** The way of Kopf: everything is sent whenever there may be something new, and what others do to it is ignored. */
export function kopfReconciler({ at, reason, logger, signal }: ReconcilerParts): Reconciler {
  const send = async (webhooks: readonly Mapping[]): Promise<void> => {
    const body = await patchConfiguration(at, { webhooks }, signal);
    if (body === undefined) logger.debug(`The ${titleOf(at.resource, at.name)} does not exist anymore.`);
  };
  return {
    async create(own) {
      return (await createConfiguration(at, { signal: own })) !== undefined;
    },
    async reconcile({ webhooks }) {
      logger.info(`Reconfiguring the ${reason} webhook ${at.name}.`);
      await send(webhooks);
      return 'done';
    },
    conclude: send,
  };
}

function isSameWish(granted: Wish | undefined, wish: Wish): granted is Wish {
  return granted?.by === wish.by && deepEqual(granted.webhooks, wish.webhooks);
}
