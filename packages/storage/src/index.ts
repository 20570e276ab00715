/**
 * Where an operator remembers its progress and the last handled state of an object: in annotations, in the
 * status, or in several places at once, byte for byte as Kopf writes them.
 * It leaves to `@kopf-ts/core` what to remember and when, and sends nothing to the cluster itself:
 * it only reads bodies and fills patches.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading

// The progress of handlers: the default storage first, then what it is made of.
export { type SmartProgressOptions, smartProgressStorage } from './progress/smart-progress.js';
export { type AnnotationsProgressOptions, annotationsProgressStorage } from './progress/annotations-progress.js';
export { type StatusProgressOptions, statusProgressStorage } from './progress/status-progress.js';
export { multiProgressStorage } from './progress/multi-progress.js';

// The last handled state of objects: the default storage first.
export { type AnnotationsDiffBaseOptions, annotationsDiffBaseStorage } from './diffbase/annotations-diffbase.js';
export { type StatusDiffBaseOptions, statusDiffBaseStorage } from './diffbase/status-diffbase.js';
export { multiDiffBaseStorage } from './diffbase/multi-diffbase.js';

// How close to Kopf to write, and how to keep the values of Secrets.
export type { Compat } from './progress/progress-records.js';
export type { SecretsMode } from './diffbase/secret-values.js';
