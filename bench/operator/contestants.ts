/** The programs that are measured beside each other, and their processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle, root } from '../programs.js';

export type Workload = 'create' | 'events' | 'update';

export interface Contestant {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
}

export interface Programs {
  readonly bare: Contestant;
  readonly ours: Contestant;
  /** If `KOPF_PYTHON` is the path of a Python with Kopf in it. */
  readonly kopf: Contestant | undefined;
  /** Ours, on a cluster that is only imagined: what it costs does not depend on anybody else. */
  readonly stubbed: string;
}

const sources = join(root, 'bench/operator/programs');

export async function withPrograms(use: (programs: Programs) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(root, 'bench/.programs-'));
  try {
    const [operator, stubbed] = [join(folder, 'operator.mjs'), join(folder, 'stubbed.mjs')];
    await bundle(join(sources, 'operator.ts'), operator);
    await bundle(join(sources, 'stubbed.ts'), stubbed);
    const python = process.env['KOPF_PYTHON'];
    await use({
      bare: { name: 'bare', command: [process.execPath, join(sources, 'bare.mjs')] },
      ours: { name: 'kopf-ts', command: [process.execPath, operator] },
      kopf: python ? { name: 'Kopf', command: [python, join(sources, 'kopf_operator.py')] } : undefined,
      stubbed,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Running {
  /** Of all threads, in the kernel or not. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** Starts the program, and tells of each line that it prints. */
export function start(
  { command: [program, ...args] }: Contestant,
  options: { readonly kubeconfig: string; readonly workload: Workload; readonly onLine: (line: string) => void },
): Running {
  const env = { ...process.env, KUBECONFIG: options.kubeconfig, WORKLOAD: options.workload };
  const child: ChildProcess = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.stdout === null) throw new Error('The program has no output to be read.');
  createInterface({ input: child.stdout }).on('line', options.onLine);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  return {
    cpuSeconds() {
      // The name of the program stands in parentheses, and may have spaces in it.
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      const TICKS_PER_SECOND = 100;
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    async stop() {
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await exited;
      clearTimeout(killing);
    },
  };
}
