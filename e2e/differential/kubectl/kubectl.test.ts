import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BinariesFound, findBinaries } from '../../controlplane/index.js';
import { exceptions } from './exceptions.js';
import { ExceptionsCheck } from './harness/exceptions-check.js';
import { masked } from './harness/masks.js';
import { runScript } from './harness/running.js';
import type { Script } from './harness/script.js';
import { readScripts } from './harness/scripts.js';
import { type Server, startEmbeddedServer, startRealServer } from './harness/servers.js';

/** Of each part. */
const leastEqual = 300;

/** All of them take minutes: a fifth is enough for every day, always the same one. `npm run proof` runs them all. */
const parts = 5;
const part = process.env['KUBECTL_PART'] ?? '1';

const found = await findBinaries({ say });
const reasonToSkip = whyNot(found);
if (reasonToSkip !== undefined) say(`kubectl is not compared: ${reasonToSkip}.`);
const scripts = await readScripts();
const chosen = scripts.filter((script) => part === 'all' || partOf(script) === Number(part));

describe.skipIf(reasonToSkip !== undefined)('kubectl prints the same with the embedded server', () => {
  const check = new ExceptionsCheck(exceptions);
  let [real, embedded]: [Server?, Server?] = [];
  let compared = 0;

  beforeAll(async () => {
    real = await startRealServer();
    embedded = await startEmbeddedServer(real.kubectl);
  });
  afterAll(async () => {
    await Promise.all([real?.[Symbol.asyncDispose](), embedded?.[Symbol.asyncDispose]()]);
  });

  const run = (script: Script) => async () => {
    if (real === undefined || embedded === undefined) throw new Error('There are no servers.');
    const namespace = `script-${scripts.indexOf(script) + 1}`;
    const [left, right] = await Promise.all([
      runScript(script, real, namespace),
      runScript(script, embedded, namespace),
    ]);
    compared += 1;
    const report = check.compare(script.name, masked(left), masked(right));
    if (report.length > 0) throw new Error(`${script.name}:\n${report.join('\n')}`);
  };

  for (const script of chosen.filter(({ runsAlone }) => runsAlone)) {
    it(`${script.topic}: ${script.name}, alone`, { timeout: 300_000 }, run(script));
  }
  describe('side by side', () => {
    for (const script of chosen.filter(({ runsAlone }) => !runsAlone)) {
      it.concurrent(`${script.topic}: ${script.name}`, { timeout: 300_000 }, run(script));
    }
  });

  it('except for what is known, and all of that', ({ skip }) => {
    say(`part ${part}: ${check.equal} of ${check.compared} commands are equal (KUBECTL_PART=1 to ${parts}, or all).`);
    expect(check.stale(), 'exceptions that are none').toEqual([]);
    skip(compared < chosen.length, 'only some of the scripts were run');
    expect(check.equal).toBeGreaterThanOrEqual(leastEqual);
  });
});

describe('the scripts', () => {
  it('have names of their own', () => {
    expect(new Set(scripts.map(({ name }) => name)).size).toBe(scripts.length);
  });

  it('have few exceptions, each with a reason and a script', () => {
    const names = scripts.map(({ name }) => name);
    for (const { commands } of exceptions) expect(names).toEqual(expect.arrayContaining(Object.keys(commands)));
    for (const { reason } of exceptions) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
    expect(new Set(exceptions.map(({ id }) => id)).size).toBe(exceptions.length);
  });
});

/** About as many commands in each: the longest scripts are dealt first, each to the part that has the least. */
function partOf(wanted: Script): number {
  const sizes = Array.from({ length: parts }, () => 0);
  for (const script of [...scripts].sort((a, b) => b.steps.length - a.steps.length)) {
    const least = sizes.indexOf(Math.min(...sizes));
    if (script === wanted) return least + 1;
    sizes[least] = (sizes[least] ?? 0) + script.steps.length;
  }
  throw new Error(`There is no script ${wanted.name}.`);
}

/** Another version prints something else. */
function whyNot(binaries: BinariesFound): string | undefined {
  if (binaries.kind === 'unavailable') return binaries.reason;
  const { apiServer, controllerManager } = binaries.binaries;
  if (controllerManager === undefined) return 'there is no kube-controller-manager';
  return apiServer.version.startsWith('1.36.') ? undefined : `kube-apiserver is of the version ${apiServer.version}`;
}

function say(text: string): void {
  console.log(`kubectl: ${text}`);
}
