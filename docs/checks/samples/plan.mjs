/** What is to be done with the samples of a page: a plan, made of its text alone. WRITING.md explains the rules to people. */
import { parse } from 'yaml';

/** Stands for `node:test`: an alias of the configuration of vitest, and of the types. */
const NODE_TEST = 'kopf-ts-docs/node-test';

const known = {
  ts: ['operator', 'run', 'test', 'continues'],
  yaml: ['parsed'],
  sh: ['run', 'background', 'again'],
  text: ['output'],
};

/**
 * @typedef {import('../support/pages.mjs').Sample} Sample
 * @typedef {{ line: number, title: string, without: string[], with?: string, operator?: string, start?: string, options: Record<string, unknown>, body: string, bodyLine: number }} Scenario
 * @typedef {{ kind: 'operator' | 'run' | 'test' | 'module', file: string, line: number, source: string, output?: { line: number, text: string }, scenarios: Scenario[] }} Module
 * @returns {{ page: string, modules: Module[], yaml: (Sample & { isApplied: boolean })[], shell: Step[], steps: Step[], json: Sample[], shown: number, problems: string[] }}
 */
export function planOf({ name, blocks }) {
  const plan = { page: name, modules: [], yaml: [], shell: [], steps: [], json: [], shown: 0, problems: [] };
  const refuse = (line, why) => plan.problems.push(`${name}.md:${line}: ${why}`);
  let before = '';
  /** What scenarios and outputs that follow belong to. */
  let last;
  for (const block of blocks) {
    if (block.kind === 'comment') {
      const scenario = scenarioOf(block, refuse);
      if (scenario === undefined) before = /^\s*before\n(.*)$/s.exec(block.text)?.[1] ?? before;
      else if (scenario !== null) addScenario(plan, last, scenario, refuse);
    } else if (block.kind === 'sample') {
      const { language, flags, line } = block;
      const unknown = flags.filter(
        (flag) => !known[language]?.includes(flag) && !/^(twoslash|no-line-numbers|wrap)$/.test(flag),
      );
      if (unknown.length > 0) refuse(line - 1, `'${unknown.join(' ')}' means nothing for a sample in ${language}.`);
      if (language === 'ts') {
        last = addModule(plan, block, before, refuse) ?? last;
        before = '';
      } else if (language === 'yaml') plan.yaml.push({ ...block, isApplied: !flags.includes('parsed') });
      else if (language === 'sh') {
        last = shellStep(block);
        plan.shell.push(last);
      } else if (language === 'json') plan.json.push(block);
      else if (language === 'js' && block.name?.endsWith('.mjs')) plan.shown += 1;
      else if (language === 'js' || language === 'javascript' || language === 'typescript' || language === 'bash')
        refuse(line - 1, `write \`ts\` or \`sh\` instead of \`${language}\`: then it is checked.`);
      else if (language === 'text' && (flags.includes('output') || last?.takesOutput)) addOutput(last, block, refuse);
      else plan.shown += 1;
      if (block.name !== undefined) plan.steps.push({ kind: 'file', name: block.name, text: block.text });
      if (language === 'sh') plan.steps.push(last);
      else if (language !== 'ts' && last !== undefined) last.takesOutput = false;
    }
  }
  for (const one of [...plan.modules, ...plan.shell]) delete one.takesOutput;
  return plan;
}

function shellStep({ line, flags, text }) {
  const kind = flags.includes('background') ? 'background' : 'shell';
  const isRun = kind === 'background' || flags.includes('run');
  return {
    kind,
    isRun,
    isAgain: flags.includes('again'),
    line,
    text,
    file: 'the command',
    scenarios: [],
    takesOutput: isRun,
  };
}

function addModule(plan, { name, flags, line, text }, before, refuse) {
  // The name can also be a comment on the first line, as in the pages on plugins.
  const called = name ?? /^\/\/ ([\w./-]+\.ts)\n/.exec(text)?.[1];
  const natural = called?.endsWith('.test.ts') ? 'test' : 'module';
  const kind = ['operator', 'run', 'test'].find((flag) => flags.includes(flag)) ?? natural;
  const previous = plan.modules.at(-1);
  if (flags.includes('continues')) {
    if (previous === undefined) return void refuse(line - 1, 'there is nothing to continue.');
    const lines = previous.source.split('\n').length;
    previous.source += `${'\n'.repeat(Math.max(line - lines, 0))}${text}`;
    return previous;
  }
  const imports =
    /\bkopf\b/.test(text + before) && !/import \* as kopf\b/.test(text + before)
      ? "import * as kopf from 'kopf-ts'; "
      : '';
  const head = `${imports}${before.replace(/\s*\n\s*/g, ' ')}`;
  const isTest = kind === 'test';
  const file = called ?? `line-${line - 1}${isTest ? '.test' : ''}.ts`;
  if (plan.modules.some((other) => other.file === file)) refuse(line - 1, `there are two samples named ${file}.`);
  if (isTest && !file.endsWith('.test.ts')) refuse(line - 1, 'a test has a name that ends with `.test.ts`.');
  // On the line above the sample: so lines in messages are those of the page.
  // What is written for the tests of Node is run by vitest, as all the others.
  const program = isTest ? text.replace(/from 'node:test'/g, `from '${NODE_TEST}'`) : text;
  const source = `${'\n'.repeat(line - 2)}${head}\n${program}`;
  const module = { kind, file, line, source, scenarios: [], takesOutput: kind === 'operator' || kind === 'run' };
  plan.modules.push(module);
  return module;
}

function addOutput(module, { line, text }, refuse) {
  if (module === undefined || !['operator', 'run', 'shell', 'background'].includes(module.kind))
    return refuse(line - 1, 'it is the output of nothing: there is no `ts operator` or `ts run` above.');
  if (module.output !== undefined) return refuse(line - 1, `${module.file} has two outputs.`);
  module.output = { line, text };
}

/** `undefined` if the comment is about something else; `null` if it is refused. */
function scenarioOf({ line, text }, refuse) {
  const match = /^\s*scenario(?:: *(?<title>[^\n]*))?\n(?<rest>.*)$/s.exec(text);
  if (match === null) return undefined;
  const { title = '', rest } = match.groups;
  const [header, ...bodies] = rest.split(/^---$/m);
  const lead = text.slice(0, text.length - rest.length).split('\n').length - 1;
  const bodyLine = line + lead + header.split('\n').length;
  let fields;
  try {
    fields = parse(header) ?? {};
  } catch (error) {
    refuse(line, `the head of the scenario is no YAML: ${error.message.split('\n')[0]}`);
    return null;
  }
  const { without, with: replacement, operator, start, ...options } = fields;
  const unknown = Object.keys(options).filter((key) => !['cluster', 'runner'].includes(key));
  if (unknown.length > 0) refuse(line, `'${unknown.join(', ')}' means nothing in a scenario.`);
  if (without === undefined) {
    refuse(line, 'the scenario does not say `without:` what it must fail.');
    return null;
  }
  return {
    line,
    title: title.trim() || `line ${line}`,
    without: [without].flat().map(String),
    with: replacement,
    operator,
    start,
    options,
    body: bodies.join('---').trim() === '' ? '' : bodies.join('---'),
    bodyLine,
  };
}

function addScenario(plan, last, scenario, refuse) {
  const module = scenario.operator === undefined ? last : plan.modules.find(({ file }) => file === scenario.operator);
  if (module === undefined || module.kind === 'module' || module.kind === 'background' || module.isRun === false)
    return refuse(
      scenario.line,
      'there is no `ts operator`, `ts run`, `ts test` or `sh run` above that the scenario is about.',
    );
  if (module.kind === 'operator' && scenario.body === '')
    return refuse(scenario.line, 'the scenario of an operator asserts nothing.');
  if (module.kind !== 'operator' && scenario.body !== '')
    return refuse(scenario.line, `the sample (${module.kind}) asserts by itself: the scenario has \`without:\` only.`);
  module.scenarios.push(scenario);
}
