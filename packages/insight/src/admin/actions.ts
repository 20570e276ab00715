/** What people do to single objects: each is recorded as an event of Kubernetes about the object. */
import {
  type AnyObject,
  type Body,
  type Clock,
  KopfError,
  type KubeClient,
  type Logger,
  type Resource,
  type Seconds,
  type Settings,
} from '@kopf-ts/core';
import { postEvent, resourceUrl } from '@kopf-ts/core/engine';
import { plainText } from '../why/plain-text.js';

/**
 * Which object is meant, and by whom.
 *
 * ```ts
 * const byMe = (at: kopf.insight.ActionTarget): kopf.insight.ActionTarget => ({ ...at, by: 'me@laptop' });
 * ```
 */
export interface ActionTarget {
  readonly resource: Resource;
  /** Absent for objects of the cluster. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** For the record: whoever it says. */
  readonly by?: string | undefined;
}

/**
 * What the actions need.
 *
 * ```ts
 * const options: kopf.insight.ActionsOptions = { client, clock: kopf.reactor.systemClock, logger, settings: kopf.settings() };
 * ```
 */
export interface ActionsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Settings;
}

/**
 * Pauses and resumes single objects by their annotation.
 *
 * ```ts
 * const pauseForAnHour = (own: kopf.insight.Actions, at: kopf.insight.ActionTarget) => own.pause({ ...at, seconds: 3600 });
 * ```
 */
export interface Actions {
  /** Resolves with when it ends. */
  pause(at: ActionTarget & { readonly seconds: Seconds }): Promise<Date>;
  /** Resolves with whether it was paused. */
  resume(at: ActionTarget): Promise<boolean>;
  /** Records that something was done to the object. Never fails: what is done is done. */
  record(
    at: ActionTarget,
    what: { readonly reason: string; readonly message: string; readonly about: Body },
  ): Promise<void>;
}

/** Longer than that is not a pause. */
const LONGEST: Seconds = 366 * 24 * 3600;

/**
 * Makes the actions. Whoever may patch an object may pause it.
 *
 * ```ts
 * const own = kopf.insight.actions({ client, clock: kopf.reactor.systemClock, logger, settings: kopf.settings() });
 * const resume = (at: kopf.insight.ActionTarget): Promise<boolean> => own.resume(at);
 * ```
 */
export function actions({ client, clock, logger, settings }: ActionsOptions): Actions {
  const { pauseAnnotation } = settings.persistence;
  const annotate = async ({ resource, namespace, name }: ActionTarget, value: string | null): Promise<AnyObject> =>
    await client.request<AnyObject>({
      method: 'PATCH',
      path: resourceUrl(resource, { namespace, name }),
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { [pauseAnnotation]: value } } },
    });

  const record: Actions['record'] = async ({ by }, { reason, message, about }) => {
    // It is shown in terminals.
    const whose = by === undefined ? '' : ` by ${plainText(by)}`;
    await postEvent(
      client,
      { about, type: 'Normal', reason, message: `${message}${whose}.` },
      { clock, logger, settings, retries: 'none' },
    );
  };

  return {
    async pause({ seconds, ...at }) {
      if (!(seconds > 0 && seconds <= LONGEST)) {
        throw new KopfError('A pause is longer than nothing, and not longer than a year.', { code: 'KOPF_BAD_PAUSE' });
      }
      const until = new Date(Math.ceil((clock.utc().getTime() + seconds * 1000) / 1000) * 1000);
      const text = until.toISOString().replace('.000Z', 'Z');
      const about = await annotate(at, text);
      await record(at, { reason: 'Paused', message: `Handlers are paused until ${text}`, about });
      return until;
    },
    async resume(at) {
      const { resource, namespace, name } = at;
      const before = await client.request<AnyObject>({
        method: 'GET',
        path: resourceUrl(resource, { namespace, name }),
      });
      if (before.metadata?.annotations?.[pauseAnnotation] === undefined) return false;
      const about = await annotate(at, null);
      await record(at, { reason: 'Resumed', message: 'Handlers are resumed', about });
      return true;
    },
    record,
  };
}
