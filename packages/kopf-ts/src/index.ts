/**
 * The framework as one package: the words of core at the top, the other parts by their names.
 * It only puts together what the other packages make; there is nothing here to replace them with.
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
