/**
 * Checks the samples of the pages, from the pages themselves: `node docs/checks/samples.mjs [page…]`.
 *
 * Modules are type-checked as one program; operators, programs and tests are run on the embedded API server; each
 * scenario must fail when the feature that it names is removed. The last line is `N passed, N failed, N skipped`.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toolPath } from '../../scripts/tools.mjs';
import { planOf } from './samples/plan.mjs';
import { rulesOf } from './samples/rules.mjs';
import { runShell } from './samples/shell.mjs';
import { cleanSamples, samplesFolder, writeSamples } from './samples/write.mjs';
import { chapters } from './support/chapters.mjs';
import { docs, pageNames, readPage } from './support/pages.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function main(wanted) {
  const listed = chapters().flatMap(({ pages }) => pages.map(({ page }) => page));
  const there = pageNames();
  // In the order of the list: pages of the tutorial follow each other.
  const ordered = [...listed.filter((page) => there.includes(page)), ...there.filter((page) => !listed.includes(page))];
  const isWanted = (name) => wanted.length === 0 || wanted.some((part) => name.includes(part));
  const names = ordered.filter(isWanted);
  if (names.length === 0) {
    console.error(`There are no pages like ${wanted.join(', ')}.`);
    return 2;
  }
  const plans = names.map((name) => withNeighbours(planOf(readPage(name))));
  for (const plan of plans) plan.inherited = inheritedBy(plan.page, ordered);
  cleanSamples();
  const failures = plans.flatMap(({ problems }) => problems);
  const mutantTests = [];
  for (const plan of plans) {
    const { problems, mutantTests: more } = writeSamples(plan);
    failures.push(...problems);
    mutantTests.push(...more);
  }
  failures.push(...rulesOf(plans, chapters()));
  writeFileSync(join(samplesFolder, 'tsconfig.json'), JSON.stringify(tsconfig, undefined, 2));

  const [types, tests] = await Promise.all([typeCheck(), run()]);
  failures.push(...types);
  const judged = judge(tests, mutantTests);
  const shell = await runShell(plans);
  failures.push(...judged.failures, ...shell.failures);

  const count = (kind) => plans.flatMap(({ modules }) => modules).filter((module) => module.kind === kind).length;
  const modules = plans.flatMap((plan) => plan.modules).length;
  const operators = `${count('operator')} operators, ${count('run')} programs, ${count('test')} tests`;
  console.log(`${plans.length} pages: ${modules} samples in TypeScript are type-checked, ${operators} are run;`);
  const mutants = judged.mutants + shell.mutants;
  console.log(`${judged.scenarios} scenarios pass, and ${mutants} mutants of them fail, as they must;`);
  console.log(`${shell.passed} samples of commands are executed, ${shell.skipped} are skipped (for want of kubectl);`);
  const shown = plans.reduce((sum, plan) => sum + plan.shown, 0);
  const parsed = plans.flatMap((plan) => [...plan.json, ...plan.yaml.filter(({ isApplied }) => !isApplied)]).length;
  console.log(
    `${judged.applied} samples in YAML are applied, ${parsed} others are parsed; ${shown} samples are only shown.`,
  );
  for (const failure of failures) console.log(`✗ ${failure}`);
  const passed = modules + judged.scenarios + mutants + judged.applied + parsed + shell.passed;
  console.log(`${passed} passed, ${failures.length} failed, ${shell.skipped} skipped`);
  return failures.length === 0 ? 0 : 1;
}

/** Pages of the tutorial are one story: what is in YAML on the earlier ones is there on the later ones. */
function inheritedBy(page, ordered) {
  if (!page.startsWith('tutorial/')) return [];
  const earlier = ordered.slice(0, ordered.indexOf(page)).filter((name) => name.startsWith('tutorial/'));
  return earlier.flatMap((name) => planOf(readPage(name)).yaml.filter((sample) => sample.name !== undefined));
}

/** A plugin of one page may be tried on another one: its module comes along. */
function withNeighbours(plan) {
  const own = new Set(plan.modules.map(({ file }) => file));
  const wanted = [
    ...plan.modules
      .map(({ source }) => source)
      .join('\n')
      .matchAll(/from '\.\.\/(src\/[\w-]+)\.js'/g),
  ];
  const missing = [...new Set(wanted.map(([, path]) => `${path}.ts`))].filter((file) => !own.has(file));
  if (missing.length === 0) return plan;
  const folder = plan.page.slice(0, plan.page.lastIndexOf('/') + 1);
  const others = pageNames().filter((name) => name !== plan.page && name.startsWith(folder));
  const found = others.flatMap((name) => planOf(readPage(name)).modules.filter(({ file }) => missing.includes(file)));
  return { ...plan, modules: [...plan.modules, ...found.map((module) => ({ ...module, scenarios: [] }))] };
}

const tsconfig = {
  extends: '../../tsconfig.json',
  compilerOptions: {
    incremental: true,
    tsBuildInfoFile: '../../node_modules/.cache/kopf-ts/samples.tsbuildinfo',
    paths: Object.fromEntries(
      Object.entries({
        '@kopf-ts/core/engine': './packages/core/src/engine.ts',
        '@kopf-ts/kinds/*': './packages/kinds/src/*/index.ts',
        '@kopf-ts/*': './packages/*/src/index.ts',
        'kopf-ts-docs/node-test': './docs/checks/samples/node-test.ts',
        'kopf-ts': './packages/kopf-ts/src/index.ts',
        'kopf-ts/testing': './packages/kopf-ts/src/testing.ts',
      }).map(([name, file]) => [name, [file.replace('./', '../../')]]),
    ),
  },
  include: ['./**/*.ts'],
  exclude: ['**/without-*/**'],
};

async function typeCheck() {
  const { output } = await tool(toolPath('typescript', 'tsc'), ['--project', samplesFolder, '--pretty', 'false']);
  return output
    .split('\n')
    .filter((line) => /error TS/.test(line))
    .map((line) => inPage(line));
}

/** `docs/.samples/guide/handlers/greet.ts(12,3)` is `guide/handlers.md:12`: lines are those of the page. */
function inPage(line) {
  return line.replace(/^(?:\S*\.samples\/)(\S+?)\/(?:scenes\/)?([^/(]+)\((\d+),\d+\)/, '$1.md:$3 ($2)');
}

async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-samples-'));
  const report = join(folder, 'report.json');
  try {
    const config = join(docs, 'checks/vitest.config.mjs');
    const args = ['run', `--config=${config}`, '--reporter=json', `--outputFile.json=${report}`];
    const { output } = await tool(toolPath('vitest'), args);
    try {
      return JSON.parse(readFileSync(report, 'utf8')).testResults;
    } catch {
      throw new Error(`vitest has left no report:\n${output}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tests of the samples must pass; those of mutants must be loaded, and at least one of them must fail. */
function judge(files, mutantTests) {
  const failures = [];
  let scenarios = 0;
  let mutants = 0;
  let applied = 0;
  for (const { name, status, message, assertionResults } of files) {
    const file = relative(samplesFolder, name);
    const isVariant = /(?:^|\/)without-\d+-\d+\//.test(file);
    const expected = mutantTests.find((one) => one.file === name);
    if (isVariant && expected === undefined) continue;
    if (expected !== undefined) {
      const place = `${expected.page}.md:${expected.line}`;
      if (assertionResults.length === 0)
        failures.push(`${place}: without '${expected.without}', it cannot be loaded: ${message}`);
      else if (status === 'passed') failures.push(`${place}: the test passes without '${expected.without}', too.`);
      else mutants += 1;
      continue;
    }
    if (status === 'failed' && assertionResults.length === 0) failures.push(`${file} cannot be loaded: ${message}`);
    for (const { title, status: how, failureMessages } of assertionResults) {
      if (how === 'passed' && title.startsWith('mutant: ')) mutants += 1;
      else if (how === 'passed' && title.startsWith('yaml: ')) applied += 1;
      else if (how === 'passed') scenarios += 1;
      else failures.push(`${title}: ${failureMessages.join('\n').split('\n    at ')[0]}${placeIn(failureMessages)}`);
    }
  }
  return { failures, scenarios, mutants, applied };
}

/** Of the scenario: its lines are those of the page. */
function placeIn(messages) {
  const place = /scenes\/scene-\d+\.ts:(\d+)/.exec(messages.join('\n'))?.[1];
  return place === undefined ? '' : ` (line ${place})`;
}

function tool(script, args) {
  return new Promise((resolve) => {
    const options = { cwd: root, maxBuffer: 2 ** 28, env: { ...process.env, NO_COLOR: '1' } };
    execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });
}

process.exitCode = await main(process.argv.slice(2));
