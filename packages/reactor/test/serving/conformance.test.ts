import { recordingLogger, testHttpEndpoint } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import { httpEndpoint, systemClock } from '../../src/index.js';

testHttpEndpoint(
  () => ({
    endpoint: httpEndpoint({ clock: systemClock, logger: recordingLogger() }),
    address: 'http://127.0.0.1:0',
  }),
  { describe, it },
);
