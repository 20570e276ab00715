/**
 * Runs the named checks, and counts: `node scripts/check.mjs <all|lint|typecheck|…> [arguments]`.
 *
 * Most checks use one core, so as many run at a time as there are cores; the tests, which use all of them, run after
 * them. Each check is one line with its time; the output of those that fail follows it. Tests count one by one, every
 * other check counts as one. The last line is always `N passed, N failed, N skipped`, over everything that ran.
 * Arguments go to vitest, so `npm test -- packages/core -t diff` narrows the tests down.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { build, runScript, toolPath } from './tools.mjs';

const tool = (name, args, command) => () => runScript(toolPath(name, command), args, { quiet: true });
const fence = (name) => () => runScript(`.ci/${name}.mjs`, [], { quiet: true });

/**
 * In the order of their beginning. `needs` names a check that has to pass before, and stands above it; `alone` are those
 * that use the whole machine and show what they do; `apart` are those that are not among `all`.
 */
const checks = [
  { name: 'types, type tests included', groups: ['typecheck'], run: tool('typescript', ['--project', '.'], 'tsc') },
  { name: 'fence: import graph', groups: ['lint', 'fences'], run: fence('graph') },
  { name: 'fence: purity of core', groups: ['lint', 'fences'], run: fence('purity') },
  { name: 'fence: owners of objects', groups: ['lint', 'fences'], run: fence('owner') },
  { name: 'fence: the way of events', groups: ['lint', 'fences'], run: fence('one-way') },
  { name: 'fence: observers', groups: ['lint', 'fences'], run: fence('observer') },
  { name: 'fence: rooms and names', groups: ['lint', 'fences'], run: fence('rooms') },
  { name: 'fence: examples of public names', groups: ['lint', 'fences'], run: fence('examples') },
  { name: 'fence: hosts and paths', groups: ['lint', 'fences'], run: fence('hosts') },
  { name: 'biome: format and lint', groups: ['lint'], run: tool('@biomejs/biome', ['check', '--error-on-warnings']) },
  { name: 'knip: nothing unused', groups: ['lint'], run: tool('knip', ['--no-config-hints', '--no-progress']) },
  { name: 'oxlint: promises', groups: ['lint'], run: tool('oxlint', ['--type-aware', '--deny-warnings']) },
  { name: 'build', groups: ['build', 'fences', 'packages', 'combos', 'docs'], run: () => build({ quiet: true }) },
  { name: 'fence: exports and builds', groups: ['fences'], needs: 'build', run: fence('exports') },
  { name: 'demo: npm start -- --once', groups: ['demo'], run: () => demo() },
  { name: 'tests', groups: ['tests'], alone: true, run: (args) => tests(args) },
  // Not among `all`: it takes half a minute, and only changes of what is exported can break it.
  {
    name: 'packages: publint and attw',
    groups: ['packages', 'combos'],
    apart: true,
    needs: 'build',
    run: () => turbo('check:package'),
  },
  // Not among `all`: it asks the registry for what users would ask it for.
  { name: 'packages: as users get them', groups: ['combos'], apart: true, needs: 'build', run: combos },
  // Not among `all`: it takes minutes, and only changes of what is documented can break it.
  { name: 'docs: samples of the pages', groups: ['docs', 'samples'], apart: true, needs: 'build', run: samples },
  { name: 'docs: pages, settings, flags', groups: ['docs', 'pages'], apart: true, run: pages },
  { name: 'docs: the site is built', groups: ['docs', 'site'], apart: true, run: site },
  {
    name: 'docs: links and hosts of the site',
    groups: ['docs', 'site'],
    apart: true,
    needs: 'docs: the site is built',
    run: links,
  },
  // Not among `all`: it needs more than Node, and minutes when it runs for the first time.
  { name: 'tests on a real cluster', groups: ['real'], apart: true, run: realTests },
  { name: 'the embedded server against the real one', groups: ['differential'], apart: true, run: differentialTests },
  // Not among `all`: it takes as long as it is told to.
  { name: 'the model of a nasty server, whole', groups: ['proof', 'model'], apart: true, run: nastyModel },
  { name: 'bad admission requests, all of them', groups: ['proof', 'fuzzing'], apart: true, run: fuzzing },
  { name: 'programs of others, unchanged', groups: ['proof', 'programs'], apart: true, run: programs },
  { name: 'kubectl on both servers, all commands', groups: ['proof', 'kubectl'], apart: true, run: kubectl },
  { name: 'generated requests, all of them', groups: ['proof', 'generated'], apart: true, run: generated },
  { name: 'steps of operators that are killed', groups: ['proof', 'steps'], apart: true, run: steps },
  { name: 'histories of objects with children', groups: ['proof', 'relations'], apart: true, run: histories },
  {
    name: 'children and selectors of operators that are killed',
    groups: ['proof', 'relations'],
    apart: true,
    run: relations,
  },
  {
    name: 'reconciliation beside controller-runtime, measured',
    groups: ['proof', 'measured'],
    apart: true,
    run: measured,
  },
  { name: 'an operator in many minutes of faults', groups: ['proof'], apart: true, run: proof },
];

async function main([group = 'all', ...args]) {
  const chosen = checks.filter(({ groups, apart }) => (group === 'all' ? !apart : groups.includes(group)));
  if (chosen.length === 0) {
    const known = [...new Set(['all', ...checks.flatMap(({ groups }) => groups)])];
    console.error(`There are no checks named '${group}'; there are: ${known.join(', ')}.`);
    return 2;
  }

  const total = { passed: 0, failed: 0, skipped: 0 };
  /** What to look at first, told once more at the end, where people look. */
  const remarks = [];
  /** Whether they have passed, by their names. */
  const done = new Map();
  const runOne = async (check) => {
    if ((await done.get(check.needs)) === false) {
      console.log(`- ${check.name} (skipped: it needs '${check.needs}')`);
      total.skipped += 1;
      return false;
    }
    const started = performance.now();
    const { code, output, counts, report, told = [] } = await check.run(args);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${code === 0 ? '✓' : '✗'} ${check.name} (${seconds} s)`);
    const shown = report ?? (code === 0 ? '' : output);
    if (shown !== '') console.log(indented(shown));
    const { passed, failed, skipped } = counts ?? {
      passed: code === 0 ? 1 : 0,
      failed: code === 0 ? 0 : 1,
      skipped: 0,
    };
    remarks.push(...(failed > 0 && told.length === 0 ? [`Failed: ${check.name}`] : told));
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
    return code === 0;
  };
  const begin = (check) => {
    const running = runOne(check);
    done.set(check.name, running);
    return running;
  };
  const queue = chosen.filter(({ alone, apart }) => !alone && !apart);
  const lane = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) await begin(check);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  for (const check of chosen) if (!done.has(check.name)) await begin(check);
  for (const remark of remarks) console.log(remark);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  const arePassed = await Promise.all(done.values());
  return total.failed === 0 && arePassed.every(Boolean) ? 0 : 1;
}

function demo() {
  return runScript('scripts/start.mjs', ['--once'], { quiet: true });
}

function turbo(task) {
  const args = ['run', task, '--concurrency=100%', '--output-logs=errors-only', '--log-prefix=task'];
  return runScript(toolPath('turbo'), args, { quiet: true });
}

/** Its report is worth reading when all is well, too: it says how much a user has to install. */
function combos() {
  return counted('.ci/combos.mjs');
}

/** Its report says how many samples there are of each kind. */
function samples(args) {
  return counted('docs/checks/samples.mjs', args);
}

function pages(args) {
  return tests(['--config=docs/checks/vitest.pages.config.mjs', ...args]);
}

function site() {
  return runScript('docs/scripts/site.mjs', ['build'], { quiet: true });
}

function links() {
  return counted('docs/checks/site.mjs');
}

/** A script that counts by itself, in its last line. */
async function counted(script, args = []) {
  const { code, output } = await runScript(script, args, { quiet: true });
  const { report, passed, failed, skipped } =
    /^(?<report>.*\n)?(?<passed>\d+) passed, (?<failed>\d+) failed, (?<skipped>\d+) skipped\s*$/s.exec(output)
      ?.groups ?? {};
  if (passed === undefined) return { code: code || 1, output };
  return { code, report: report ?? '', counts: { passed: +passed, failed: +failed, skipped: +skipped } };
}

function realTests(args) {
  return secondChance(['--config=e2e/vitest.config.ts'], args);
}

function differentialTests(args) {
  return secondChance(['--config=e2e/differential/vitest.config.ts'], args);
}

/**
 * Real servers in real time on a machine that others use, too: files in which something has failed run once more, alone.
 * What passes then is passed, and it is told, with what was wrong at first: it is a flaw of the test, or of the product.
 */
async function secondChance(options, args) {
  const first = await tests([...options, ...args]);
  if (first.code === 0 || first.files.length === 0) return first;
  console.log(`Once more, alone: ${first.files.join(', ')}`);
  const second = await tests([...options, ...first.files]);
  if (second.code !== 0) return { ...first, told: [...first.told, ...second.told.map((line) => `${line} (again)`)] };
  const { passed, failed, skipped } = first.counts;
  const told = first.told.map((line) => line.replace(/^Failed:/, 'Passed at the second time only:'));
  return { code: 0, output: '', counts: { passed: passed + failed, failed: 0, skipped }, told };
}

/** Where a sample of the same scenarios is enough, it is among the tests of the reactor. */
function nastyModel() {
  process.env.KOPF_MODEL_RUNS ??= '20000';
  process.env.KOPF_MODEL_SEED ??= 'random';
  return tests(['--project=reactor', 'packages/reactor/test/model/nasty-server.test.ts']);
}

/** Where a sample is enough, it is among the tests on a real cluster; though it needs none. */
function fuzzing() {
  process.env.KOPF_FUZZ_INPUTS ??= '60000';
  process.env.KOPF_FUZZ_SEED ??= 'random';
  return tests(['--config=e2e/vitest.config.ts', 'e2e/admission/fuzzing.test.ts']);
}

function programs(args) {
  return tests(['--config=e2e/programs/vitest.config.ts', ...args]);
}

/** Where a sample is enough, it is among the differential tests. */
function generated() {
  process.env.KOPF_GENERATED_SEEDS ??= '50';
  process.env.KOPF_GENERATED_REQUESTS ??= '3000';
  process.env.KOPF_GENERATED_SEED ??= 'random';
  return tests(['--config=e2e/differential/vitest.config.ts', 'e2e/differential/generated.test.ts']);
}

/** Where a fifth is enough, it is among the comparisons of the embedded server with the real one. */
function kubectl() {
  process.env.KUBECTL_PART = 'all';
  return tests(['--config=e2e/differential/vitest.config.ts', 'e2e/differential/kubectl/kubectl.test.ts']);
}

/** Figures are for people to look at: it fails if they cannot be taken, not if they are bad on a busy machine. */
function measured() {
  process.env.KOPF_BENCH_ONLY ??= 'reconcile';
  return runScript('bench/run.mjs', ['operator']);
}

/** Where a few kills are enough, it is among the tests on a real cluster. */
function steps() {
  process.env.KOPF_STEPS_KILLS ??= '100';
  process.env.KOPF_STEPS_SEED ??= 'random';
  return tests(['--config=e2e/vitest.config.ts', 'e2e/processes/steps.test.ts']);
}

/** A sample of them is among the usual tests. */
function histories() {
  process.env.KOPF_RECONCILE_RUNS ??= '2000';
  process.env.KOPF_RECONCILE_SEED ??= 'random';
  return tests(['packages/kopf-ts/test/relations/convergence.test.ts']);
}

function relations() {
  process.env.KOPF_RELATIONS_KILLS ??= '100';
  process.env.KOPF_RELATIONS_SEED ??= 'random';
  return tests(['--config=e2e/vitest.config.ts', 'e2e/processes/relations.test.ts', 'e2e/processes/selectors.test.ts']);
}

function proof(args) {
  return tests(['--config=e2e/chaos/vitest.config.ts', ...args]);
}

/** The tests are shown as they run: they are what one waits for. */
async function tests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-tests-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const { code } = await runScript(toolPath('vitest'), ['run', ...reporters, ...args]);
    return { code, output: '', ...countsOf(report, code) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A file that cannot even be loaded has no tests to count, and a crash leaves no report at all;
 * each counts as a failure, so that a red run never ends with `0 failed`.
 */
function countsOf(report, code) {
  let results;
  try {
    results = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { counts: { passed: 0, failed: 1, skipped: 0 }, told: [], files: [] };
  }
  const failing = results.testResults.filter((file) => file.status === 'failed');
  const unloaded = failing.filter((file) => file.assertionResults.length === 0);
  const failed = results.numFailedTests + unloaded.length;
  const counts = {
    passed: results.numPassedTests,
    failed: code === 0 ? failed : Math.max(failed, 1),
    skipped: results.numPendingTests + results.numTodoTests,
  };
  const told = [
    ...unloaded.map((file) => toldOf(file.name, file.message)),
    ...failing.flatMap((file) =>
      file.assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages }) => toldOf(`${relative('.', file.name)}: ${fullName}`, failureMessages[0])),
    ),
  ];
  return { counts, told, files: failing.map((file) => relative('.', file.name)) };
}

function toldOf(name, message = '') {
  return `Failed: ${name}: ${message.split('\n', 1)[0].slice(0, 300)}`;
}

function indented(text) {
  return text.trimEnd().replace(/^/gm, '    ');
}

process.exitCode = await main(process.argv.slice(2));
