/**
 * What tests of operators and plugins need: a clock that moves when told, a logger that remembers, and a
 * conformance suite for each seam.
 * It leaves the test runner to you, the cluster to `@kopf-ts/apiserver` or a real one, and the operator to
 * whoever passes it in.
 */
export {};
