/**
 * Where an operator remembers its progress and the last handled state of an object: in annotations, in the
 * status, or in several places at once, byte for byte as Kopf writes them.
 * It leaves to `@kopf-ts/core` what is to be remembered and when, and sends nothing to the cluster itself:
 * it only reads bodies and fills patches.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading

// The progress of handlers: the default storage first, then what it is made of.
export { type SmartProgressOptions, smartProgressStorage } from './smart-progress.js';
export { type AnnotationsProgressOptions, annotationsProgressStorage } from './annotations-progress.js';
export { type StatusProgressOptions, statusProgressStorage } from './status-progress.js';
export { multiProgressStorage } from './multi-progress.js';

// The last handled state of objects: the default storage first.
export { type AnnotationsDiffBaseOptions, annotationsDiffBaseStorage } from './annotations-diffbase.js';
export { type StatusDiffBaseOptions, statusDiffBaseStorage } from './status-diffbase.js';
export { multiDiffBaseStorage } from './multi-diffbase.js';

// How close to Kopf to write, and how to keep the values of Secrets.
export type { Compat } from './records.js';
export type { SecretsMode } from './secrets.js';
