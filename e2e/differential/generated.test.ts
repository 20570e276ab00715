/**
 * Requests by chance, to both servers. A sample is among the tests, and `npm run proof` has many fresh seeds:
 * `KOPF_GENERATED_SEEDS` of `KOPF_GENERATED_REQUESTS` each, beginning with `KOPF_GENERATED_SEED`.
 */
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBinaries } from '../controlplane/index.js';
import { compareSeed, type Inequality, minimal, type Pair } from './generated/campaign.js';
import type { World } from './generated/generator.js';
import { printed } from './generated/printing.js';
import { pairOf } from './generated/server-pair.js';
import { builtinKinds } from './generated/worlds/builtin-world.js';
import { customKinds } from './generated/worlds/custom-world.js';
import { otherKinds } from './generated/worlds/other-kinds.js';
import { describeDifference } from './harness/difference.js';
import { startEmbeddedTarget, startRealTarget } from './harness/targets.js';
import { startWebhooks } from './harness/webhooks.js';

const env = process.env;
const seeds = Number(env['KOPF_GENERATED_SEEDS'] ?? 1);
const requests = Number(env['KOPF_GENERATED_REQUESTS'] ?? 600);
const asked = env['KOPF_GENERATED_SEED'] ?? 'sample';
const first = asked === 'random' ? `${Date.now().toString(36)}` : asked;
const isAgainstItself = env['DIFFERENTIAL_AGAINST'] === 'real';
/** How many of a thousand answers may differ. */
const allowedPerThousand = Number(env['KOPF_GENERATED_MOST'] ?? 12);

const worlds: readonly World[] = [
  { name: 'custom', kinds: customKinds },
  { name: 'builtin', kinds: builtinKinds },
  { name: 'other', kinds: otherKinds },
].filter(({ name }) => env['KOPF_GENERATED_WORLD'] === undefined || env['KOPF_GENERATED_WORLD'] === name);

const found = await findBinaries({ say });
const isAvailable = found.kind !== 'unavailable' && found.binaries.apiServer.version.startsWith('1.36.');

describe.skipIf(!isAvailable)('generated requests', () => {
  const disposables: AsyncDisposable[] = [];
  let pair: Pair;

  beforeAll(async () => {
    const [real, webhooks] = await Promise.all([startRealTarget(), startWebhooks()]);
    disposables.push(real, webhooks);
    const other = isAgainstItself ? real : await startEmbeddedTarget();
    if (other !== real) disposables.push(other);
    pair = await pairOf(real, other, webhooks);
  });

  afterAll(async () => {
    await Promise.all(disposables.map((one) => one[Symbol.asyncDispose]()));
  });

  it(`has ${seeds} × ${requests} answers of which only a few differ`, { timeout: seeds * 300_000 }, async () => {
    const all: Inequality[] = [];
    let compared = 0;
    for (let number = 1; number <= seeds; number += 1) {
      const seed = seeds === 1 ? first : `${first}-${number}`;
      const started = performance.now();
      const results = [];
      for (const world of worlds) {
        results.push(await compareSeed({ pair, world, seed, requests: Math.ceil(requests / worlds.length) }));
      }
      const count = results.reduce((sum, result) => sum + result.compared, 0);
      const unequal = results.flatMap(({ inequalities }) => inequalities);
      all.push(...unequal);
      compared += count;
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      say(`seed ${seed}: ${unequal.length} of ${count} answers differ (${seconds} s)`);
    }
    say(`${all.length} of ${compared} answers differ: ${((100 * all.length) / compared).toFixed(2)} %`);
    if (env['KOPF_GENERATED_REPORT'] !== undefined) await writeFile(env['KOPF_GENERATED_REPORT'], listed(all));
    const isTooMuch = all.length > (compared * allowedPerThousand) / 1000;
    await report(all, Number(env['KOPF_GENERATED_SHRINK'] ?? (isTooMuch ? 5 : 0)));
    expect(isTooMuch, 'too many answers differ').toBe(false);
  });

  /** The most frequent ones first, one of each cause as small as it can be. */
  async function report(all: readonly Inequality[], mostShrunk: number): Promise<void> {
    const bySignature = new Map<string, Inequality[]>();
    for (const one of all) bySignature.set(one.signature, [...(bySignature.get(one.signature) ?? []), one]);
    const groups = [...bySignature.values()].sort((a, b) => b.length - a.length);
    for (const [index, group] of groups.entries()) {
      const [sample] = [...group].sort((a, b) => a.steps.length - b.steps.length);
      if (sample === undefined) continue;
      const smallest = index < mostShrunk ? await minimal(pair, sample) : sample;
      const differences = smallest.differences.slice(0, 4).map((one) => describeDifference(one, ['real', 'embedded']));
      const steps = index < mostShrunk ? `\n${printed(smallest.sequence, smallest.steps)}` : ` (${sample.sequence})`;
      say(`${group.length} × ${sample.signature}\n${differences.join('\n')}${steps}\n`);
    }
  }
});

/** Every inequality on a line of its own: what was asked at last, and what differs in the answers. */
function listed(all: readonly Inequality[]): string {
  const lines = all.map(({ sequence, signature, differences, steps }) =>
    JSON.stringify({ signature, sequence, request: steps.at(-1), differences, before: steps.slice(0, -1) }),
  );
  return `${lines.join('\n')}\n`;
}

function say(text: string): void {
  console.log(`generated: ${text}`);
}
