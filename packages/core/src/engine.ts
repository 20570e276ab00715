/**
 * The second entry of core, for those who run handlers themselves.
 * Whoever only writes handlers or plugins needs `@kopf-ts/core` alone.
 */

// Aborting: one listener per signal, however many wait for it.
export {
  abortable,
  anySignal,
  type ChildController,
  childController,
  type DependentSignal,
  onAbort,
} from './sync/abort.js';
