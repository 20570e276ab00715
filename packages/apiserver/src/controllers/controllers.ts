/** All that the controller manager of a real cluster does here. */
import type { Controller } from '../contracts/controller.js';
import { garbageCollector } from './garbage-collector.js';
import { namespaceController } from './namespace-controller.js';

/** In the order in which they are started. */
export const controllers: readonly Controller[] = [namespaceController, garbageCollector];
