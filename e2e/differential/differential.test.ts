import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BinariesFound, findBinaries } from '../controlplane/index.js';
import { Comparison } from './harness/comparison.js';
import { normalise } from './harness/normalise.js';
import { newRunId, run, type Trace } from './harness/runner.js';
import type { Sequence } from './harness/sequence.js';
import { startEmbeddedTarget, startRealTarget, type Target } from './harness/targets.js';
import { startWebhooks, type WebhookServer } from './harness/webhooks.js';
import { chance, knownDifferences, mostKnownDifferences } from './known-differences.js';
import { areas } from './sequences/index.js';

/** `real` compares the real server with itself: it proves that the sequences are deterministic, and the masks enough. */
const isAgainstItself = process.env['DIFFERENTIAL_AGAINST'] === 'real';

const found = await findBinaries({ say });
const reasonToSkip = whyNot(found);
if (reasonToSkip !== undefined) say(`the differential suite is SKIPPED: ${reasonToSkip}.`);

describe.skipIf(reasonToSkip !== undefined)('the embedded server answers as kube-apiserver does', () => {
  const comparison = new Comparison(isAgainstItself ? chance : knownDifferences);
  let real: Target;
  let other: Target;
  let webhooks: WebhookServer;
  let compared = 0;

  beforeAll(async () => {
    [real, webhooks] = await Promise.all([startRealTarget(), startWebhooks()]);
    other = isAgainstItself ? real : await startEmbeddedTarget();
  });

  afterAll(async () => {
    if (!isAgainstItself) await other?.[Symbol.asyncDispose]();
    await Promise.all([real?.[Symbol.asyncDispose](), webhooks?.[Symbol.asyncDispose]()]);
  });

  const check = (area: string, sequence: Sequence) => async () => {
    const id = newRunId();
    const left = await run(sequence, real, webhooks, id);
    const right = await run(sequence, other, webhooks, isAgainstItself ? newRunId() : id);
    compared += 1;
    const place = { area, sequence: sequence.name };
    const [leftName, rightName] = isAgainstItself ? ['once', 'again'] : ['real', 'embedded'];
    const answers = normalise(right);
    const reportOn = (trace: Trace) => comparison.compare(place, [leftName, normalise(trace)], [rightName, answers]);
    const report = reportOn(left);
    if (report === '') return;
    // Caches of the real server may be behind, so that it answers otherwise by chance. It is asked again: the embedded
    // one has to give one of its answers. That the real one had others is told, with what they were.
    for (let more = isAgainstItself ? 0 : 3; more > 0; more -= 1) {
      if (reportOn(await run(sequence, real, webhooks, newRunId())) !== '') continue;
      say(`the real server answers in more than one way. ${area}: ${sequence.name}\n${report}`);
      return;
    }
    throw new Error(`${area}: ${sequence.name}\n${report}`);
  };

  for (const [area, sequences] of Object.entries(areas)) {
    describe(area, () => {
      for (const sequence of sequences.filter(({ runsAlone }) => runsAlone !== true)) {
        it.concurrent(sequence.name, check(area, sequence));
      }
    });
  }
  describe('one by one', () => {
    for (const [area, sequences] of Object.entries(areas)) {
      for (const sequence of sequences.filter(({ runsAlone }) => runsAlone === true)) {
        it(`${area}: ${sequence.name}`, check(area, sequence));
      }
    }
  });

  it('differs in nothing else than what is known, and in all of that', ({ skip }) => {
    const all = Object.values(areas).flat().length;
    // A part of the table cannot show all the differences.
    skip(isAgainstItself || compared < all, 'only a part of the sequences was compared');
    expect(comparison.stale(), 'known differences that are no more').toEqual([]);
  });
});

describe('the table', () => {
  it.each(Object.entries(areas))('has enough sequences on %s, with names of their own', (area, sequences) => {
    const names = new Set(sequences.map(({ name }) => name));
    expect(names.size).toBe(sequences.length);
    expect(sequences.length).toBeGreaterThanOrEqual(wellKnown.has(area) ? 20 : 10);
  });

  it('has all the areas that people notice first', () => {
    expect(Object.keys(areas)).toEqual(expect.arrayContaining([...wellKnown]));
  });

  it('has at least 150 sequences', () => {
    expect(Object.values(areas).flat().length).toBeGreaterThanOrEqual(150);
  });

  it('knows of the same differences as the documentation', async () => {
    const text = await readFile(new URL('../../docs/toolkits/known-differences.md', import.meta.url), 'utf8');
    const documented = [...text.matchAll(/^\| `([\w-]+)` +\|/gm)].map(([, id]) => id);
    expect(documented).toEqual(knownDifferences.map(({ id }) => id));
  });

  it('knows of a few differences only, each with a reason', () => {
    expect(knownDifferences.length).toBeLessThanOrEqual(mostKnownDifferences);
    for (const { reason } of knownDifferences) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
  });
});

/** What kubectl, Helm and operators meet every day: twice as much is asked there. */
const wellKnown = new Set([
  'discovery, version and health',
  'kinds of the core',
  'workloads and jobs',
  'kinds of other groups',
  'autoscalers, budgets and evictions',
  'storage, priorities, slices and certificates',
  'proxies to pods and services',
  'quotas, limits and priorities',
  'reviews of authentication and authorization',
  'users, roles and impersonation',
  'service accounts and their tokens',
  'finalizers and deletion',
  'deletion of pods',
  'status and scale',
  'watches',
  'patches',
  'strategic merge patches',
  'tables',
  'managers of fields',
  'server-side apply',
  'custom resource definitions',
  'structural schemas',
  'admission webhooks',
  'wrong and hostile input',
  'limits',
  'invalid objects',
]);

/** Another version answers otherwise. */
function whyNot(binaries: BinariesFound): string | undefined {
  if (binaries.kind === 'unavailable') return binaries.reason;
  const { apiServer, controllerManager } = binaries.binaries;
  if (controllerManager === undefined) return 'there is no kube-controller-manager';
  return apiServer.version.startsWith('1.36.') ? undefined : `kube-apiserver is of the version ${apiServer.version}`;
}

function say(text: string): void {
  console.log(`differential: ${text}`);
}
