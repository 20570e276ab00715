import { recordingLogger, testScheduler } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import { boundedScheduler } from '../../src/index.js';

describe.each([undefined, 1, 10])('bounded by %s:', (limit) => {
  testScheduler(() => ({ scheduler: boundedScheduler({ limit: () => limit, logger: recordingLogger() }) }), {
    describe,
    it,
  });
});
