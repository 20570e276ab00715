import type { Body } from '../values/objects/body.js';

/**
 * Kubernetes knows only Normal and Warning by contract, but stores any word; Kopf uses Error, Fatal, Debug too.
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
 * Takes an event for posting, at once and without failing; posts it later.
 *
 * ```ts
 * const toTheLog: kopf.EventPoster = { post: ({ reason, message }) => logger.info(`${reason}: ${message}`) };
 * ```
 */
export interface EventPoster {
  post(event: KubeEvent): void;
}
