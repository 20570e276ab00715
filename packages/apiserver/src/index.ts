/**
 * A Kubernetes API in one process and in memory, for tests and local development: objects, watches, patches,
 * custom resources, admission, faults on demand.
 * It leaves assertions and runners to `@kopf-ts/testing`, runs no containers, and is no place for production
 * data.
 */
export {};
