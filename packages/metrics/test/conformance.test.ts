import { manualClock, recordingLogger, testObserver } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import { metricRegistry, operatorMetrics } from '../src/index.js';

testObserver(
  () => operatorMetrics({ clock: manualClock(), logger: recordingLogger(), registry: metricRegistry() }).observer,
  { describe, it },
);
