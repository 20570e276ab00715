import fc from 'fast-check';
import { describe, it } from 'vitest';
import { scenarios } from './scenarios.js';
import { trial } from './trial.js';

const RUNS = Number(process.env['KOPF_MODEL_RUNS'] ?? 1000);
const SEED = process.env['KOPF_MODEL_SEED'];

describe('Whatever the server, the network and others do', () => {
  it('each change by others is handled, nothing is called without a reason, and it becomes quiet', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios(), async (scenario) => {
        await trial(scenario);
      }),
      { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
    );
  }, 3_600_000);
});
