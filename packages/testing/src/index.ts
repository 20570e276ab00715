/**
 * What tests of operators and plugins need: a clock that moves when told, a logger that remembers, operators that
 * live as long as a test, and a conformance suite for each seam.
 * It leaves the test runner to you, the cluster to `@kopf-ts/apiserver` or a real one, and the operator to
 * the caller.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading

// Time, logs and facts that are under control.
export { type ManualClock, type ManualClockOptions, manualClock } from './manual-clock.js';
export { type LogLine, type RecordingLogger, recordingLogger } from './recording-logger.js';
export type { LinePattern } from './log-assertions.js';
export { type RecordingObserver, recordingObserver } from './recording-observer.js';
export { eventually, type EventuallyOptions } from './eventually.js';

// Operators for the length of a test.
export {
  type OperatorRunner,
  operatorRunner,
  type RunnableOperator,
  type RunnableOptions,
  type RunnerCluster,
  type RunnerMemory,
  type RunnerObject,
  type RunnerOptions,
  type RunnerParts,
} from './operator-runner.js';
export type { QuiescenceOptions } from './runner/expectations/resting.js';
export type { HandlersSource, LoadHandlers } from './runner/loading.js';
export type { CallMatch, HandledCall, HandledCalls, HandledObject } from './runner/outcomes.js';

// Whatever has an end, for the length of tests.
export { type Fixture, fixtureOf, type Hooked, hooked, type Hooks } from './fixtures.js';

// Conformance suites: as tests of your runner, and as plain lists of cases.
export {
  type ProgressStorageExpectations,
  progressStorageCases,
  testProgressStorage,
} from './conformance/storages/progress-storage.js';
export {
  type DiffBaseStorageExpectations,
  diffBaseStorageCases,
  testDiffBaseStorage,
} from './conformance/storages/diffbase-storage.js';
export { type ClientExpectations, type ClientUnderTest, clientCases, testClient } from './conformance/client.js';
export { type ClockExpectations, type ClockUnderTest, clockCases, testClock } from './conformance/clock.js';
export {
  type PeeringExpectations,
  type PeeringUnderTest,
  peeringCases,
  testPeering,
} from './conformance/peering.js';
export { testWebhookServer, webhookServerCases } from './conformance/webhooks/webhook-server.js';
export type {
  Destination as WebhookDestination,
  WebhookServerExpectations,
  WebhookServerUnderTest,
} from './conformance/webhooks/webhook-callers.js';
export { credentialsCases, type CredentialsUnderTest, testCredentials } from './conformance/credentials.js';
export { schedulerCases, type SchedulerUnderTest, testScheduler } from './conformance/scheduler.js';
export {
  loggerCases,
  type LoggerExpectations,
  type LoggerUnderTest,
  testLogger,
  type WrittenLine,
} from './conformance/logger.js';
export { type IndexerParts, indexerCases, testIndexer } from './conformance/indexer.js';
export { observerCases, testObserver } from './conformance/inspection/observer.js';
export {
  httpEndpointCases,
  type HttpEndpointUnderTest,
  testHttpEndpoint,
} from './conformance/inspection/http-endpoint.js';
export { testTracing, tracingCases } from './conformance/inspection/tracing.js';
export { controlCases, type ControlUnderTest, testControl } from './conformance/inspection/control.js';
export { type ConformanceCase, declareCases, type TestRunner } from './conformance/cases.js';
