/** The operator as a process that is killed, stopped and started again, and the file of its calls. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Component, type Supervisor, tailOf } from '../controlplane/processes.js';
import type { Call } from './history.js';
import type { CallLine, OperatorProgramOptions } from './programs/operator.js';

export interface OperatorProcess {
  /** How many processes there were. */
  readonly runs: number;
  start(): void;
  /** At once, and another one is started at once. */
  killAndRestart(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Starts it again if it has ended by itself; tells how it has ended. */
  revive(): string | undefined;
  /** Asks it to end, and tells whether it did in time. */
  end(withinMs: number): Promise<boolean>;
  /** All the calls so far, in the order of their beginnings. */
  calls(): Call[];
  /** How much is written about them. */
  bytesOfCalls(): number;
  /** The last lines that the operator has logged. */
  log(lines: number): string;
}

export type OperatorOptions = Pick<OperatorProgramOptions, 'connection' | 'namespace' | 'selector' | 'overrides'>;

/** Bundles the program into the folder; the supervisor takes care that no process outlives this one. */
export async function operatorProcess(
  folder: string,
  supervisor: Supervisor,
  options: OperatorOptions,
): Promise<OperatorProcess & { readonly calm: string }> {
  const bundle = join(folder, 'operator.mjs');
  const [calls, calm, logFile] = [join(folder, 'calls.jsonl'), join(folder, 'calm'), join(folder, 'operator.log')];
  await bundleTo(bundle);
  let component: Component | undefined;
  let runs = 0;

  const start = (): void => {
    runs += 1;
    const argument: OperatorProgramOptions = { ...options, run: runs, calls, calm };
    const args = [bundle, JSON.stringify(argument)];
    component = supervisor.start({ name: 'operator', command: process.execPath, args, logFile });
  };
  return {
    calm,
    get runs() {
      return runs;
    },
    start,
    async killAndRestart() {
      await component?.stop({ abruptly: true });
      start();
    },
    signal(signal) {
      if (component !== undefined && component.failure() === undefined) process.kill(component.pid, signal);
    },
    revive() {
      const failure = component?.failure();
      if (failure === undefined) return undefined;
      start();
      return failure.message;
    },
    async end(withinMs) {
      const began = Date.now();
      await component?.stop({ graceMs: withinMs });
      return Date.now() - began < withinMs;
    },
    calls: () => readCalls(calls),
    bytesOfCalls: () => statSync(calls, { throwIfNoEntry: false })?.size ?? 0,
    log: (lines) => tailOf(logFile, lines),
  };
}

function readCalls(file: string): Call[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Nothing was called yet.
  }
  const calls = new Map<string, Call>();
  for (const line of text.split('\n')) {
    const told = parsed(line);
    if (told === undefined) continue;
    const { id, what, ...rest } = told;
    calls.set(id, what === 'began' ? (rest as Call) : ({ ...calls.get(id), ...rest } as Call));
  }
  return [...calls.values()].sort((one, two) => one.began - two.began);
}

/** The last line may be cut. */
function parsed(line: string): CallLine | undefined {
  try {
    return JSON.parse(line) as CallLine;
  } catch {
    return undefined;
  }
}

async function bundleTo(outfile: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL('programs/operator.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    keepNames: true,
    conditions: ['@kopf-ts/source'],
    alias: { 'kopf-ts': fileURLToPath(new URL('../../packages/kopf-ts/src/index.ts', import.meta.url)) },
    // Some of the dependencies are not modules yet.
    banner: {
      js: "import { createRequire as __bundleRequire } from 'node:module'; const require = __bundleRequire(import.meta.url);",
    },
  });
}
