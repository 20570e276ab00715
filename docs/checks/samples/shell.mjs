/** Commands of the pages, executed as a reader would: in a clean folder, one after another, with the files of the page. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { root } from '../../../scripts/tools.mjs';
import { mutant } from './mutants.mjs';
import { missingLines } from './output.mjs';

/** In milliseconds, for a command to end, or to print what it has to. */
const DEADLINE = 120_000;

/**
 * Pages of the tutorial are one story: they share a folder, in the order of the list.
 *
 * @returns {Promise<{ passed: number, mutants: number, skipped: number, failures: string[] }>}
 */
export async function runShell(plans) {
  const result = { passed: 0, mutants: 0, skipped: 0, failures: [] };
  const stories = new Map();
  for (const plan of plans) {
    if (!plan.page.startsWith('tutorial/') && !plan.shell.some(({ isRun }) => isRun)) continue;
    const story = plan.page.startsWith('tutorial/') ? 'tutorial' : plan.page;
    stories.set(story, [...(stories.get(story) ?? []), plan]);
  }
  for (const story of stories.values())
    if (story.some(({ shell }) => shell.some(({ isRun }) => isRun))) await tell(story, result);
  return result;
}

async function tell(plans, result) {
  const home = mkdtempSync(join(realpathSync(tmpdir()), 'kopf-ts-shell-'));
  const place = join(home, '.cwd');
  /** Where the reader is: a command may go to another folder, and the next ones and the files are there. */
  const here = () => readFileSync(place, 'utf8').trim();
  mkdirSync(join(home, 'operator'));
  writeFileSync(place, join(home, 'operator'));
  const environment = { ...environmentIn(home), KOPF_TS_CWD: place };
  const running = [];
  try {
    for (const { page, steps } of plans) {
      for (const step of steps) {
        const folder = here();
        if (step.kind === 'file') {
          mkdirSync(dirname(join(folder, step.name)), { recursive: true });
          const told = running.map((one) => one.printed());
          const isChanged = /\.[cm]?ts$/.test(step.name) && existsSync(join(folder, step.name));
          writeFileSync(join(folder, step.name), step.text);
          if (isChanged) for (const [at, one] of running.entries()) await one.quietAfter(told[at]);
        } else if (step.isRun) {
          const title = `${page}.md:${step.line}`;
          const lacks = /\bkubectl\b/.test(step.text) && kubectl() === undefined;
          if (lacks) {
            result.skipped += 1;
            continue;
          }
          try {
            if (step.isAgain) for (const one of running.splice(0)) await one.stop();
            if (step.kind === 'background') running.push(await begin(step, folder, environment));
            else await runStep(step, { home, folder, environment }, result);
            result.passed += 1;
          } catch (error) {
            result.failures.push(`${title}: ${error.message}`);
            return;
          }
        }
      }
    }
  } finally {
    for (const one of running.reverse()) await one.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function runStep(step, { home, folder, environment }, result) {
  for (const scenario of step.scenarios) {
    for (const without of scenario.without) {
      const copy = join(home, 'mutant');
      cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
      const command = changed(step.text, copy, { without, with: scenario.with });
      const { code, output } = await bash(command, copy, { ...environment, KOPF_TS_CWD: '' });
      rmSync(copy, { recursive: true, force: true });
      if (code === 0 && (step.output === undefined || missingLines(step.output.text, output) === undefined))
        throw new Error(`the command passes without '${without}', too.`);
      result.mutants += 1;
    }
  }
  const { code, output } = await bash(step.text, folder, environment);
  if (code !== 0) throw new Error(`the command ends with ${code}:\n${output}`);
  const missing = step.output === undefined ? undefined : missingLines(step.output.text, output);
  if (missing !== undefined) throw new Error(missing);
}

/** The feature is in the command, or in one of the files. */
function changed(command, folder, { without, with: replacement = '' }) {
  if (command.includes(without)) return command.replace(without, replacement);
  for (const name of readdirSync(folder).filter((file) => /\.(?:ts|ya?ml|json)$/.test(file))) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    if (!text.includes(without)) continue;
    writeFileSync(
      file,
      name.endsWith('.ts')
        ? mutant(text, { without, with: replacement || undefined })
        : text.replace(without, replacement),
    );
    return command;
  }
  throw new Error(`There is no '${without}' to be removed.`);
}

/** What is exported by one command is there for the next ones, and they begin in the folder where it ends; except for mutants, which leave no trace. */
function bash(command, cwd, environment) {
  const script = `set -eo pipefail; [ -s "$KOPF_TS_ENV" ] && . "$KOPF_TS_ENV"; cd ${JSON.stringify(cwd)}\n${command}\n[ -z "$KOPF_TS_CWD" ] || { pwd > "$KOPF_TS_CWD"; export -p | grep -v 'declare -x \\(PWD\\|OLDPWD\\|SHLVL\\|_\\|KOPF_TS_[A-Z]*\\)=' > "$KOPF_TS_ENV"; }`;
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', script], {
      cwd,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    const timer = setTimeout(() => kill(child, 'SIGKILL'), DEADLINE);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}

async function begin({ text, output: expected }, cwd, environment) {
  const script = `[ -s "$KOPF_TS_ENV" ] && . "$KOPF_TS_ENV"\n${text}`;
  const child = spawn('bash', ['-c', script], {
    cwd,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let hasEnded = false;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => {
      output += part;
    });
  const ended = new Promise((resolve) => child.on('close', resolve)).then(() => {
    hasEnded = true;
  });
  const stop = async () => {
    kill(child, 'SIGTERM');
    const timer = setTimeout(() => kill(child, 'SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  };
  const printed = () => output.length;
  const quietAfter = (before) => quiet(printed, before);
  const deadline = Date.now() + DEADLINE;
  for (;;) {
    const missing = expected === undefined ? undefined : missingLines(expected.text, output);
    if (missing === undefined && (expected !== undefined || output !== '')) return { stop, printed, quietAfter };
    if (hasEnded || Date.now() > deadline) {
      await stop();
      throw new Error(missing ?? 'the command in the background prints nothing.');
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Readers see how what runs in the background takes notice of a changed file: it prints something, and comes to rest.
 * Not everything takes notice of every file.
 */
async function quiet(printed, before) {
  const deadline = Date.now() + 10_000;
  let length = before;
  for (let still = 0; Date.now() < deadline && (printed() === before || still < 10); ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    still = printed() === length ? still + 1 : 0;
    length = printed();
  }
}

function kill(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/** A home of its own; `npm install kopf-ts` links the package of the workspace, since there is no other one yet. */
function environmentIn(home) {
  const bin = join(home, '.bin');
  mkdirSync(bin);
  const target = join(root, 'packages/kopf-ts');
  writeFileSync(
    join(bin, 'npm'),
    `#!/usr/bin/env bash
PATH="\${PATH#*${delimiter}}"
if [ "$1" = install ] || [ "$1" = i ]; then
  mkdir -p node_modules/.bin
  for name in "\${@:2}"; do
    case "$name" in
      kopf-ts) ln -sfn ${JSON.stringify(target)} node_modules/kopf-ts; ln -sfn ../kopf-ts/bin/kopf.js node_modules/.bin/kopf ;;
      @kopf-ts/kinds) mkdir -p node_modules/@kopf-ts; ln -sfn ${JSON.stringify(join(root, 'packages/kinds'))} node_modules/@kopf-ts/kinds ;;
      -*) ;;
      *) ln -sfn ${JSON.stringify(join(root, 'node_modules'))}/"$name" node_modules/"$name"
        if [ -e ${JSON.stringify(join(root, 'node_modules/.bin'))}/"$name" ]; then ln -sfn ${JSON.stringify(join(root, 'node_modules/.bin'))}/"$name" node_modules/.bin/"$name"; fi ;;
    esac
  done
  echo "added the packages"
else
  exec npm "$@"
fi
`,
  );
  chmodSync(join(bin, 'npm'), 0o755);
  const program = kubectl();
  if (program !== undefined) symlinkSync(program, join(bin, 'kubectl'));
  const env = join(home, '.env.sh');
  writeFileSync(env, '');
  const { PATH, LANG = 'C.UTF-8' } = process.env;
  return {
    HOME: home,
    LANG,
    PATH: [bin, PATH].join(delimiter),
    KOPF_TS_ENV: env,
    NO_COLOR: '1',
    npm_config_update_notifier: 'false',
    npm_config_offline: 'true',
  };
}

let found;

/** Of the system, or of the control plane that the tests on a real cluster have built. */
function kubectl() {
  if (found !== undefined) return found.path;
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'kopf-ts/controlplane');
  const built = existsSync(cache)
    ? readdirSync(cache).flatMap((name) => [join(cache, name, 'kubectl'), join(cache, name, 'bin/kubectl')])
    : [];
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'kubectl'));
  found = { path: [...paths, ...built].find((file) => existsSync(file)) };
  return found.path;
}
