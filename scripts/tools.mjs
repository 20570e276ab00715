/**
 * Finding and running the development tools that `pm.mjs` has installed.
 *
 * Tools are started as `node <their script>`: it is faster than going through `npx`,
 * and needs neither a shell nor executable bits, so it works the same on every platform.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} file a path relative to the root of the workspace */
export function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

/**
 * The script behind a command of an installed package.
 *
 * @param {string} name the package
 * @param {string} [command] the command, if it is not called like the package
 */
export function toolPath(name, command = name.split('/').at(-1)) {
  const home = join(root, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const script = typeof bin === 'string' ? bin : bin?.[command];
  if (script === undefined) throw new Error(`The package ${name} has no command named ${command}.`);
  return join(home, script);
}

/** The environment of every tool: its neighbours are on the PATH, and nobody phones home. */
function toolEnvironment() {
  // Windows spells it `Path`; with two spellings in one environment, either may win.
  const path = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  return {
    ...process.env,
    [path]: [join(root, 'node_modules', '.bin'), process.env[path]].filter(Boolean).join(delimiter),
    TURBO_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
  };
}

/**
 * Runs a Node script from the root of the workspace.
 *
 * @param {string} script
 * @param {readonly string[]} [args]
 * @param {{ quiet?: boolean, env?: NodeJS.ProcessEnv, onText?: (text: string) => void }} [options]
 *   quiet: collect the output instead of showing it; onText: hear of it as it comes
 * @returns {Promise<{ code: number, output: string }>}
 */
export function runScript(script, args = [], { quiet = false, env = {}, onText } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: root,
      env: { ...toolEnvironment(), ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    });
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text;
      onText?.(text);
    });
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    // Terminals send Ctrl-C to both of us: the shown program ends as it wants to, and we after it.
    const endLater = () => {};
    const endTogether = () => child.kill('SIGTERM');
    process.on('SIGINT', endLater).on('SIGTERM', endTogether);
    child.on('error', reject);
    child.on('close', (code) => {
      process.off('SIGINT', endLater).off('SIGTERM', endTogether);
      // A tool ended by a signal has not succeeded, whatever it has said before.
      resolve({ code: code ?? 1, output });
    });
  });
}

/**
 * Builds what has changed since the last build; turbo knows what that is, package by package.
 *
 * @param {{ quiet?: boolean, onPackage?: (name: string, state: 'begun' | 'built') => void }} [options]
 */
export async function build({ quiet = false, onPackage } = {}) {
  const logs = onPackage === undefined ? 'errors-only' : 'new-only';
  const args = ['run', 'build', '--concurrency=100%', `--output-logs=${logs}`, '--log-prefix=task'];
  if (onPackage === undefined) return await runScript(toolPath('turbo'), args, { quiet });
  let rest = '';
  const built = new Set();
  const onText = (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { name, said = '' } = LINE.exec(line)?.groups ?? {};
      if (said.startsWith('cache miss')) onPackage(name, 'begun');
      // The declarations are what takes the time.
      if (!/\bDTS\b.*Build success/.test(said)) continue;
      built.add(name);
      onPackage(name, 'built');
    }
  };
  const { code, output } = await runScript(toolPath('turbo'), args, { quiet, onText });
  // Only of those that have failed, there is something to read.
  const isWorthReading = (line) => !built.has(LINE.exec(line)?.groups?.name);
  return { code, output: output.split('\n').filter(isWorthReading).join('\n') };
}

/** Of turbo: which package, and what it says. */
const LINE = /^(?:@kopf-ts\/)?(?<name>[\w-]+):build: (?<said>.*)$/;
