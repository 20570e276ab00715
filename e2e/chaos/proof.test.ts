import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findBinaries } from '../controlplane/index.js';
import { runChaos } from './run.js';

const minutes = Number(process.env['KOPF_CHAOS_MINUTES'] ?? 15);
const seed = Number(process.env['KOPF_CHAOS_SEED'] ?? randomInt(1, 2 ** 31));
const overrides = process.env['KOPF_CHAOS_SETTINGS'];
const say = (text: string): void => console.log(`chaos: ${text}`);
const found = await findBinaries({ say });
if (found.kind === 'unavailable') say(`SKIPPED: ${found.reason}.`);

describe.skipIf(found.kind === 'unavailable')(`an operator in ${minutes} minutes of faults, seed ${seed}`, () => {
  it(
    'loses nothing, leaves nothing behind, and repeats only what it had to doubt',
    async () => {
      if (found.kind === 'unavailable') return;
      const { findings, report, repetitions, details } = await runChaos({
        binaries: found.binaries,
        seed,
        seconds: minutes * 60,
        live: 60,
        total: 1_000,
        pauseMs: 250,
        gap: [3, 9],
        settleMs: 120_000,
        say,
        ...(overrides !== undefined && { overrides: JSON.parse(overrides) }),
      });
      console.log(`${report}\n${repetitions}`);
      expect(findings.length, details).toBe(0);
    },
    (minutes + 10) * 60_000,
  );
});
