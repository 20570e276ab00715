/** Operators in processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, onTestFailed, onTestFinished } from 'vitest';
import { eventually } from './operators.js';

export interface RunningProgram {
  /** What it has said by now, line by line. Its log is elsewhere. */
  readonly said: readonly string[];
  readonly log: string;
  /** Both, in the order in which they came: what is seen on a terminal. */
  readonly screen: string;
  /** The exit code, or the signal that has ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Waits until it says so, or something that begins so; for half a minute, unless told otherwise. */
  says(text: string, withinSeconds?: number): Promise<void>;
  /** Waits until it logs so. */
  logs(text: string | RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Gives it something to read. */
  tell(text: string): void;
}

export interface ProgramOptions {
  /** Another command that runs it, with its arguments. */
  readonly through?: readonly string[];
  /** For Node itself. */
  readonly nodeOptions?: readonly string[];
}

/** Bundles the program once for the file of tests; the function starts it with an argument. It ends with the test. */
export function program(
  source: URL,
  { through = [], nodeOptions = [] }: ProgramOptions = {},
): (argument: unknown) => RunningProgram {
  let folder = '';
  const bundle = (): string => join(folder, 'program.mjs');
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kopf-ts-program-'));
    await build({
      entryPoints: [fileURLToPath(source)],
      outfile: bundle(),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
      // The names of functions are the ids of handlers.
      keepNames: true,
      conditions: ['@kopf-ts/source'],
      alias: { 'kopf-ts': fileURLToPath(new URL('../../../packages/kopf-ts/src/index.ts', import.meta.url)) },
      // The bundle lies elsewhere, and what is beside the control plane is still needed.
      define: { 'import.meta.url': JSON.stringify(new URL('../../controlplane/index.ts', import.meta.url).href) },
      // Some of the dependencies are not modules yet.
      banner: {
        js: "import { createRequire as __bundleRequire } from 'node:module'; const require = __bundleRequire(import.meta.url);",
      },
    });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return (argument) => {
    const [command = '', ...args] = [...through, process.execPath, ...nodeOptions, bundle(), JSON.stringify(argument)];
    return observe(spawn(command, args, { stdio: 'pipe' }));
  };
}

/** Any process as a program of the running test; it ends with the test. */
export function observe(child: ChildProcess): RunningProgram {
  let [output, log, screen] = ['', '', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    screen += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
    screen += text;
  });
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? -1)),
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  onTestFailed(() => console.log(`${output}${log}`));
  const lines = (): string[] => output.split('\n').filter((line) => line !== '');
  return {
    ended,
    get said() {
      return lines();
    },
    get log() {
      return log;
    },
    get screen() {
      return screen;
    },
    says: (text, withinSeconds) =>
      eventually(
        () =>
          expect(
            lines().some((line) => line.startsWith(text)),
            text,
          ).toBe(true),
        withinSeconds,
      ),
    logs: (text) => eventually(() => expect(log).toMatch(text)),
    kill: (signal) => void child.kill(signal),
    tell: (text) => void child.stdin?.write(`${text}\n`),
  };
}
