/** Telling of malformed traces on an object: once each, however often the object is looked at. */
import type { Logger } from '../../seams/logger.js';
import type { ReportMalformed } from '../../seams/memory/storage.js';

/**
 * A report for one object, to be kept together with whatever else is remembered of it. An object with a broken
 * annotation is handled as if it had none, again and again; its owner needs to hear of it once.
 */
export function reportOnce(logger: Logger): ReportMalformed {
  // Few objects have anything to tell of.
  let told: Set<string> | undefined;
  return (problem) => {
    told ??= new Set();
    if (told.has(problem)) return;
    told.add(problem);
    logger.warn(problem);
  };
}
