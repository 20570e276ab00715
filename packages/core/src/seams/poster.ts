import type { Body } from '../values/objects/body.js';

/** Kubernetes knows only Normal and Warning by contract, but stores any word; Kopf uses Error, Fatal, Debug too. */
export type KubeEventType = 'Normal' | 'Warning' | (string & {});

export interface KubeEvent {
  readonly about: Body;
  readonly type: KubeEventType;
  readonly reason: string;
  readonly message: string;
}

/** Takes an event for posting, at once and without failing; posts it later. */
export interface EventPoster {
  post(event: KubeEvent): void;
}
