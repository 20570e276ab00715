import { expect, it } from 'vitest';
import * as testing from '../src/index.js';

it('exports the clock, the logger and the conformance suites', () => {
  expect(Object.keys(testing).sort()).toEqual([
    'clientCases',
    'clockCases',
    'credentialsCases',
    'declareCases',
    'diffBaseStorageCases',
    'eventually',
    'fixtureOf',
    'hooked',
    'indexerCases',
    'loggerCases',
    'manualClock',
    'operatorRunner',
    'peeringCases',
    'progressStorageCases',
    'recordingLogger',
    'recordingObserver',
    'schedulerCases',
    'testClient',
    'testClock',
    'testCredentials',
    'testDiffBaseStorage',
    'testIndexer',
    'testLogger',
    'testPeering',
    'testProgressStorage',
    'testScheduler',
    'testWebhookServer',
    'webhookServerCases',
  ]);
});
