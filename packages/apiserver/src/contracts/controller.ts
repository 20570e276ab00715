/** Loops that make the cluster alive: namespace termination, garbage collection. */
import type { Clock, KubeClient } from '@kopf-ts/core';
import type { Catalog } from './resource.js';
import type { StoreReader } from './store.js';

export interface ControllerContext {
  readonly store: StoreReader;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Writes go through the gateway, as those of the real controllers do: with admission, finalizers, preconditions. */
  clientAs(username: string): KubeClient;
}

export interface RunningController {
  /** Is there nothing to do until something changes? */
  readonly isIdle: boolean;
  stop(): Promise<void>;
}

export interface Controller {
  start(context: ControllerContext): RunningController;
}
