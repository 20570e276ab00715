import { describe, expect, inject, it } from 'vitest';
import { findBinaries } from '../controlplane/index.js';
import type {} from '../support/global-setup.js';
import { runChaos } from './run.js';

const cluster = inject('realCluster');

/** A short run, the same in each suite; `npm run proof` is the long one. */
describe.skipIf(cluster.kind === 'unavailable')('an operator, while everything around it fails', () => {
  it('loses nothing, leaves nothing behind, and repeats only what it had to doubt', async () => {
    const found = await findBinaries({ say: console.log });
    if (found.kind === 'unavailable') throw new Error(found.reason);
    const { findings, history, report, details } = await runChaos({
      binaries: found.binaries,
      seed: 20_260_704,
      seconds: 30,
      live: 16,
      total: 40,
      pauseMs: 150,
      settleMs: 40_000,
    });
    console.log(report);
    // It proves nothing if nothing has happened.
    expect(history.edits.length).toBeGreaterThan(30);
    expect(history.calls.length).toBeGreaterThan(100);
    expect(history.blows.length).toBeGreaterThanOrEqual(2);
    expect(history.writes.filter(({ fate }) => fate !== 'delivered').length).toBeGreaterThan(5);
    expect(findings.length, details).toBe(0);
  }, 240_000);
});
