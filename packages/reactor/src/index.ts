/**
 * The loops of an operator: it observes the cluster, watches the resources, queues events per object, runs
 * daemons and timers, applies patches, starts and stops in order.
 * It leaves the decisions to `@kopf-ts/core`, and knows the client, the storages, the indexer and the
 * peering by their interfaces only.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading

// The life of an operator.
export { supervise, type Operator, type Plan, type SuperviseOptions } from './running/supervisor.js';
export { activities, type Activities, type ActivitiesParts } from './activities/activities.js';
export { reactor, type Reactor, type ReactorOptions } from './reactor.js';
export type { OperatorParts } from './parts.js';
export type { NamespacesByLabels, Scope } from './discovery/discovery.js';

// What its parts share.
export { liveInsights, type LiveInsights } from './discovery/insights.js';
export { type AllObjects, type AllObjectsOptions, allObjects } from './objects/all-objects.js';
export { type Relations, type RelationsOptions, relations } from './relations/relations.js';
export { vault, type Vault, type VaultOptions } from './authentication/vault.js';
export type { FallbackLogin, FallbackLoginOptions } from './authentication/logins.js';
export { health, type Health } from './probing/health.js';
export { eventPoster, type EventPosterOptions } from './posting/poster.js';
export { StrayError, strayErrors, type StrayErrors, type StrayErrorsOptions } from './running/stray.js';
export { blockingMonitor, type BlockingMonitor, type BlockingMonitorOptions } from './running/blocking-monitor.js';

// What it does its work by, unless given something else.
export { systemClock } from './running/clock.js';
export { httpEndpoint, type HttpEndpointOptions } from './serving/http-endpoint.js';
export { boundedScheduler, type BoundedSchedulerOptions } from './queueing/scheduler.js';
