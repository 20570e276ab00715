/**
 * A Kubernetes API in one process and in memory, for tests and local development: objects, watches, patches,
 * custom resources, admission, faults on demand.
 * It leaves assertions and runners to `@kopf-ts/testing`, runs no containers, and is no place for production
 * data.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading

export { type LocalCluster, type LocalClusterOptions, localCluster } from './cluster.js';
export type { ObjectHelpers, PatchOptions } from './helpers/object-helpers.js';
export type { ResourceDefinition } from './helpers/resource-definition.js';
export type { UserInfo } from './contracts/objects.js';
export type { HistoryLimits } from './store/history.js';

// A life for workloads.
export type { ExecAnswer, ExecFunction, ExecRequest } from './contracts/simulated-containers.js';
export type { PodBehaviour } from './simulation/pods/behaviour.js';
export type { PodMatch, Simulation } from './simulation/simulation.js';

// Admission.
export type { ServiceReference } from './admission/hooks.js';
export type { ServiceResolver } from './admission/calling.js';

// Identities.
export type { ClusterSecurity } from './server/security.js';

// Faults, here and in front of other servers.
export type { FaultHandle, Faults } from './faults/fault-plan.js';
export type { FaultAnswer, FaultMatch, FaultRule, StreamFaults } from './faults/fault-rules.js';
export { type FaultProxy, type FaultProxyOptions, faultProxy } from './faults/fault-proxy.js';
