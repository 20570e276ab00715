/**
 * The packages as their users get them: packed, installed into empty projects outside of the workspace, compiled
 * against, and run. Nothing in there can reach the sources, nor what the workspace happens to have installed.
 *
 * Needs a build, and a registry (or what npm has kept of it) for what others have published.
 * The last line is `N passed, N failed, N skipped`.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Project } from './combos/project.mjs';
import { CORE_ALONE, exampleSources, KINDS, MINIMAL, samplesOf, TESTED } from './combos/samples.mjs';
import { packAll, withSiblings } from './combos/tarballs.mjs';

const CHERRY_PICK = '20-cherry-pick';

/** For an operator to do its work, in milliseconds. */
const DEADLINE = 30_000;

const counts = { passed: 0, failed: 0, skipped: 0 };

/** Whether it went well. What follows from it is skipped otherwise. */
async function check(name, run) {
  const started = performance.now();
  try {
    const note = await run();
    if (note === SKIPPED) {
      counts.skipped += 1;
      console.log(`- ${name} (skipped)`);
      return false;
    }
    counts.passed += 1;
    console.log(`✓ ${name} (${seconds(started)} s)${typeof note === 'string' ? `: ${note}` : ''}`);
    return true;
  } catch (error) {
    counts.failed += 1;
    console.log(`✗ ${name} (${seconds(started)} s)\n${String(error.message).trimEnd().replace(/^/gm, '    ')}`);
    return false;
  }
}

const SKIPPED = Symbol('skipped');

function seconds(since) {
  return ((performance.now() - since) / 1000).toFixed(1);
}

/** Tarballs of these packages, and of those of ours that they need. */
const pick = (tarballs, names) => Object.fromEntries(withSiblings(names).map((name) => [name, tarballs[name]]));

async function everything(tarballs, folder) {
  const project = new Project(join(folder, 'everything'));
  if (!(await check('kopf-ts is installed into an empty project', () => project.install(tarballs)))) return;
  await check('kopf-ts: what it takes', () => weightOf(project.installed()));

  project.write('operator.ts', MINIMAL);
  project.write('kinds.ts', KINDS);
  for (const [file, text] of Object.entries(TESTED)) project.write(file, text);
  for (const [file, text] of Object.entries(samplesOf('docs/plugins'))) project.write(join('plugins', file), text);
  const isCompiled = await check('a minimal operator, built-in kinds, and the plugins of docs/plugins: types', () =>
    project.compile(),
  );
  if (!isCompiled) return;
  await check('a minimal operator runs on the embedded server', async () => {
    const output = await project.node('out/operator.js');
    expect(output, '{"greeting":"Hello, value!"}');
    expect(output, "Handler 'greet' succeeded.");
  });
  await check('the tokens of built-in kinds are all that is there of them at run time', async () => {
    expect(await project.node('out/kinds.js'), 'one 5 selector,namespaced');
  });
  await check('handlers in TypeScript are tested by node:test', async () => {
    expect(await project.node('--test', '--test-reporter=tap', 'out/tested/handlers.test.js'), '# pass 2\n');
  });
  await check('the command line of the installed package', async () => {
    expect(await project.node('node_modules/kopf-ts/dist/bin.js', '--help'), 'Usage: kopf');
  });
  await check('the plugins of docs/plugins pass the conformance suites', async () => {
    const output = await project.node('--test', '--test-reporter=tap', ...testsOf(project));
    return `${/^# pass (\d+)$/m.exec(output)?.[1]} tests`;
  });
}

/** Node 20 does not look for tests by patterns. */
function testsOf(project) {
  const names = Object.keys(samplesOf('docs/plugins')).filter((file) => file.endsWith('.test.ts'));
  return names.map((file) => join(project.folder, 'out', 'plugins', file.replace(/\.ts$/, '.js')));
}

async function coreAlone(tarballs, folder) {
  const project = new Project(join(folder, 'core'));
  const isInstalled = await check('@kopf-ts/core alone is installed into an empty project', () =>
    project.install(pick(tarballs, ['@kopf-ts/core'])),
  );
  if (!isInstalled) return;
  await check('@kopf-ts/core: what it takes, which is nothing else', () => {
    const others = project.installed().filter(({ name }) => name !== '@kopf-ts/core');
    if (others.length > 0) throw new Error(`It brings ${others.map(({ name }) => name).join(', ')}.`);
    return weightOf(project.installed());
  });
  await check('@kopf-ts/core alone: types, and it runs', async () => {
    project.write('program.ts', CORE_ALONE);
    await project.compile();
    expect(await project.node('out/program.js'), 'resize change size 1 2 0');
  });
}

/** What is picked by the example is what it imports. */
async function cherryPick(tarballs, folder) {
  const sources = exampleSources(CHERRY_PICK);
  if (sources === undefined) return await check(`examples/${CHERRY_PICK}`, () => SKIPPED);
  const imported = Object.values(sources).flatMap((text) =>
    [...text.matchAll(/from '((?:@kopf-ts\/)?[\w-]+)/g)].map(([, name]) => name),
  );
  const names = [...new Set(imported)].filter((name) => Object.hasOwn(tarballs, name));
  const project = new Project(join(folder, 'cherry-pick'));
  const title = names
    .map((name) => name.replace('@kopf-ts/', ''))
    .sort()
    .join(', ');
  if (!(await check(`cherry-picked: ${title}: are installed`, () => project.install(pick(tarballs, names))))) return;
  await check('cherry-picked: what it takes', () => {
    if (names.includes('kopf-ts')) throw new Error('It imports the meta-package, so nothing is cherry-picked.');
    return weightOf(project.installed());
  });
  const isCompiled = await check('cherry-picked: types', async () => {
    for (const [file, text] of Object.entries(sources)) project.write(file, text);
    await project.compile();
  });
  if (isCompiled) await check('cherry-picked: runs on the embedded server', () => runOnCluster(project, 'out/main.js'));
}

/** The program finds its way by the kubeconfig, over a real socket: as it would to any other cluster. */
async function runOnCluster(project, file) {
  const { localCluster } = await import('../packages/apiserver/dist/index.js');
  const cluster = await localCluster();
  const kubeconfig = await cluster.kubeconfigFile();
  const { child, ended } = project.start(process.execPath, [file], { env: { KUBECONFIG: kubeconfig } });
  try {
    await cluster.define({ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample', subresources: ['status'] });
    const metadata = { name: 'one', namespace: 'default' };
    await cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata });
    const isGreeted = async () => {
      while (cluster.get('kopfexamples/default/one')?.status?.greeting === undefined) await sleep(50);
    };
    const late = sleep(DEADLINE, undefined, { ref: false }).then(() => child.kill('SIGKILL'));
    await Promise.race([isGreeted(), ended, late]);
    child.kill('SIGTERM');
    await ended;
    expect(JSON.stringify(cluster.get('kopfexamples/default/one')?.status), '"greeting":"Hello, one!"');
  } finally {
    child.kill('SIGKILL');
    await cluster.stop();
  }
}

function expect(output, text) {
  if (!output.includes(text)) throw new Error(`There is no ${text} in the output:\n${output}`);
}

/** Optional dependencies can be left out: it matters how much they bring. Binaries of esbuild are optional by name only. */
function weightOf(installed) {
  const weigh = (list) =>
    `${list.length} packages, ${(list.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6).toFixed(1)} MB`;
  const others = installed.filter(({ name }) => !/^(@kopf-ts\/|kopf-ts$)/.test(name));
  const needed = others.filter(({ name, isOptional }) => !isOptional || name.startsWith('@esbuild/'));
  const parts = [`${weigh(installed)}; of these, ours are ${weigh(installed.filter((one) => !others.includes(one)))}`];
  if (others.length > 0) parts.push(`others are ${weigh(others)}`);
  if (needed.length < others.length) parts.push(`others that cannot be left out are ${weigh(needed)}`);
  return parts.join(', ');
}

const folder = mkdtempSync(join(realpathSync(tmpdir()), 'kopf-ts-combos-'));
try {
  let tarballs;
  const isPacked = await check('all packages are packed', async () => {
    tarballs = await packAll(join(folder, 'tarballs'));
    return `${Object.keys(tarballs).length} tarballs`;
  });
  // The projects know nothing of each other; waiting for the registry and for the disk can be done together.
  if (isPacked) await Promise.all([everything, coreAlone, cherryPick].map((combo) => combo(tarballs, folder)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
