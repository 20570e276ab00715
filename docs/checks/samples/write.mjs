/** Writes the samples of all pages as files: modules to be checked, tests to be run, mutants to be refused. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { docs } from '../support/pages.mjs';
import { mutant } from './mutants.mjs';

/** Within `docs`, so that they find the packages as any module there does. */
export const samplesFolder = join(docs, '.samples');

export function cleanSamples() {
  rmSync(samplesFolder, { recursive: true, force: true });
  mkdirSync(samplesFolder);
}

/** @returns {{ problems: string[], mutantTests: { file: string, page: string, line: number, without: string }[] }} */
export function writeSamples(plan) {
  const folder = join(samplesFolder, plan.page);
  const problems = [];
  const mutantTests = [];
  const put = (name, text) => {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const { inherited = [] } = plan;
  const files = [...inherited, ...plan.yaml].filter(({ name }) => name !== undefined);
  for (const { name, text } of files) put(name, text);
  for (const { file, source } of plan.modules) put(file, source);

  const cases = [];
  let count = 0;
  for (const module of plan.modules) {
    const { kind, file, scenarios, output } = module;
    if (kind === 'run') cases.push(runCase(module, file));
    scenarios.forEach((scenario, index) => {
      count += 1;
      const shown = index === 0 ? output?.text : undefined;
      const scene = join('scenes', `scene-${scenario.line}.ts`);
      if (kind === 'operator') {
        put(scene, sceneOf(folder, scenario));
        cases.push(playCase(plan, module, scenario, { file, output: shown }));
      }
      for (const without of scenario.without) {
        const variant = `without-${count}-${scenario.without.indexOf(without)}`;
        try {
          // The feature may be in any file of the page; mostly, it is in the one that the scenario is about.
          const target = [module, ...plan.modules].find(({ source }) => source.includes(without)) ?? module;
          const changed = mutant(target.source, { without, with: scenario.with });
          for (const one of plan.modules) put(join(variant, one.file), one === target ? changed : one.source);
          for (const { name, text } of files) put(join(variant, name), text);
        } catch (error) {
          problems.push(`${plan.page}.md:${scenario.line}: ${error.message}`);
          continue;
        }
        const inside = join(variant, file);
        if (kind === 'operator')
          cases.push(playCase(plan, module, scenario, { file: inside, output: undefined, without }));
        else if (kind === 'run') cases.push(runCase(module, inside, without));
        else mutantTests.push({ file: join(folder, inside), page: plan.page, line: scenario.line, without });
      }
      // Tests of variants that are not what the mutant is about must not run: they would be counted twice.
    });
  }
  for (const { line, text: sample, isApplied } of plan.yaml) {
    const error = parseAllDocuments(sample).flatMap(({ errors }) => errors)[0];
    if (error !== undefined) problems.push(`${plan.page}.md:${line}: it is no YAML: ${error.message.split('\n')[0]}`);
    else if (isApplied) {
      const title = `yaml: ${plan.page}.md:${line} is applied`;
      cases.push({ title, code: `await applied(${text(sample)}, definitions);` });
    }
  }
  for (const { line, text: sample } of plan.json) {
    try {
      JSON.parse(sample);
    } catch (error) {
      problems.push(`${plan.page}.md:${line}: it is no JSON: ${error.message}`);
    }
  }
  if (cases.length > 0) put('page.test.ts', pageTest(folder, plan, cases));
  return { problems, mutantTests };
}

const stageFrom = (folder) => relative(folder, join(docs, 'checks/samples/stage.js'));
const text = JSON.stringify;

function sceneOf(folder, { line, bodyLine, body }) {
  const head = `import { expect, vi, type Scenario } from ${text(stageFrom(join(folder, 'scenes')))}; void [expect, vi]; export default async function scenario({ cluster, operator, start, apply, example, patch, remove, get, advance, settled, eventually }: Scenario): Promise<void> { void [cluster, operator, start, apply, example, patch, remove, get, advance, settled, eventually];`;
  return `${'\n'.repeat(Math.max(bodyLine - 1, line))}${head}${body}}\n`;
}

function playCase(plan, { file: sample }, scenario, { file, output, without }) {
  const options = [
    `file: new URL(${text(`./${file}`)}, import.meta.url)`,
    `folder: new URL('.', import.meta.url).pathname`,
    `definitions`,
    scenario.start === undefined ? '' : `start: ${text(scenario.start)}`,
    output === undefined ? '' : `output: ${text(output)}`,
    ...Object.entries(scenario.options).map(([key, value]) => `${key}: ${text(value)}`),
  ];
  const played = `play({ ${options.filter(Boolean).join(', ')} }, scene${scenario.line})`;
  const title = `${plan.page}.md:${scenario.line} ${sample}: ${scenario.title}`;
  if (without === undefined) return { scene: scenario.line, title, code: `await ${played};` };
  const what = text(`'${without}'`);
  return {
    scene: scenario.line,
    title: `mutant: ${title}, without ${without}`,
    code: `await loads(new URL(${text(`./${file}`)}, import.meta.url)); await expectFailure(${what}, () => ${played});`,
  };
}

function runCase({ file: sample, line, output }, file, without) {
  const shown = output === undefined ? 'undefined' : text(output.text);
  const run = `printed(new URL(${text(`./${file}`)}, import.meta.url), ${shown})`;
  const title = `${sample}:${line} prints what the page says`;
  if (without === undefined) return { title, code: `await ${run};` };
  return {
    title: `mutant: ${title}, without ${without}`,
    code: `await expectFailure(${text(`'${without}'`)}, () => ${run});`,
  };
}

function pageTest(folder, plan, cases) {
  const scenes = [...new Set(cases.map(({ scene }) => scene).filter((scene) => scene !== undefined))];
  const definitions = [...(plan.inherited ?? []), ...plan.yaml]
    .filter(({ text }) => /^kind: CustomResourceDefinition$/m.test(text))
    .map(({ text }) => text);
  return [
    `import { it } from 'vitest';`,
    `import { applied, expectFailure, loads, play, printed } from ${text(stageFrom(folder))};`,
    ...scenes.map((line) => `import scene${line} from './scenes/scene-${line}.js';`),
    `void [applied, expectFailure, loads, play, printed];`,
    `const definitions = ${text(definitions.join('\n---\n'))};`,
    `void definitions;`,
    ...cases.map(({ title, code }) => `it(${text(title)}, async () => { ${code} });`),
    '',
  ].join('\n');
}
