import type { Body } from '../values/objects/body.js';

/**
 * The contract of Kubernetes has only Normal and Warning, but it stores any word; Kopf uses Error, Fatal, Debug too.
 *
 * ```ts
 * const type: kopf.KubeEventType = 'Warning';
 * ```
 */
export type KubeEventType = 'Normal' | 'Warning' | (string & {});

/**
 * An event to be posted about an object.
 *
 * ```ts
 * const event: kopf.KubeEvent = { about: body, type: 'Normal', reason: 'Resized', message: 'It has 5 GiB now.' };
 * ```
 */
export interface KubeEvent {
  readonly about: Body;
  readonly type: KubeEventType;
  readonly reason: string;
  readonly message: string;
}

/**
 * Accepts an event at once and never fails; posts it later.
 *
 * ```ts
 * const toTheLog: kopf.EventPoster = { post: ({ reason, message }) => logger.info(`${reason}: ${message}`) };
 * ```
 */
export interface EventPoster {
  post(event: KubeEvent): void;
}
