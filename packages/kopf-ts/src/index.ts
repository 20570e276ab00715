/**
 * The framework as one package: the names of core at the top level, the other parts under their own names.
 * It only wires the other packages together and implements nothing of theirs.
 */
export * from '@kopf-ts/core';
export * as client from '@kopf-ts/client';
export * as indexing from '@kopf-ts/indexing';
export * as insight from '@kopf-ts/insight';
export * as metrics from '@kopf-ts/metrics';
export * as otel from '@kopf-ts/otel';
export * as peering from '@kopf-ts/peering';
export * as reactor from '@kopf-ts/reactor';
export * as storage from '@kopf-ts/storage';
export * as webhooks from '@kopf-ts/webhooks';
export { daemon, index, on, owns, timer } from './on.js';
export { type Operator, operator } from './operator.js';
export type { AdminAddress, OperatorOptions } from './options.js';
export { run } from './running/run.js';
export { release, type Released, type ReleaseOptions } from './release/release.js';
export {
  configure,
  consoleLogger,
  type LogFormat,
  type LoggingOptions,
  type LogStream,
} from './logging/default-logger.js';
