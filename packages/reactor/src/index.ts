/**
 * The loops of an operator: it observes the cluster, watches the resources, queues events per object, runs
 * daemons and timers, applies patches, starts and stops in order.
 * It leaves the decisions to `@kopf-ts/core`, and knows the client, the storages, the indexer and the
 * peering by their interfaces only.
 */
export {};
