/**
 * Random operators on a server that rewrites, refuses, forgets to answer and is never alone.
 *
 * - `KOPF_MODEL_RUNS`: how many scenarios to play; `KOPF_MODEL_SEED`: which ones, as printed with a failure, or `random`.
 * - To replay one, give it to `trial()`; with `KOPF_MODEL_LOGS=1`, the logs of the operator are printed, too.
 */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { scenarios } from './scenarios.js';
import { trial } from './trial.js';

const RUNS = Number(process.env['KOPF_MODEL_RUNS'] ?? 1000);
/** Always the same ones by default: a failure is to be the fault of the last change. */
const SEED = process.env['KOPF_MODEL_SEED'] ?? '20261116';
/** For as many runs as somebody asks for. */
const HOUR = 3_600_000;

describe('Whatever the server, the network and others do', () => {
  it(
    'each change by others is handled, nothing is called without a reason, and it becomes quiet',
    async () => {
      const property = fc.asyncProperty(scenarios(), async (scenario) => {
        await trial(scenario);
      });
      await fc.assert(property, {
        numRuns: RUNS,
        ...(SEED === 'random' ? {} : { seed: Number(SEED) }),
      });
    },
    HOUR,
  );
});
