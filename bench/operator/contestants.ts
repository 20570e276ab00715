/** The programs that are measured beside each other, and their processes. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { goProgram } from '../../e2e/programs/support/go-programs.js';
import { bundle, root } from '../programs.js';

export type Workload = 'create' | 'reconcile' | 'events' | 'update';

export interface Contestant {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it tells by `HEAP` how much of it is in use, when it gets SIGUSR2. */
  readonly tellsHeap: boolean;
}

export interface Programs {
  /** Does the least that a correct program does. */
  readonly bare: Contestant;
  /** The same, except that it never looks at what its patches are answered with, conflicts and all. */
  readonly careless: Contestant;
  /** As `kopf run` runs it, which saves memory. */
  readonly ours: Contestant;
  /** As a program of its own, with V8 as it is. */
  readonly program: Contestant;
  /** Ours with a subscriber to all facts, which counts them. */
  readonly observed: Contestant;
  /** Ours with metrics. */
  readonly metered: Contestant;
  /** Ours with metrics and with the journal. */
  readonly journaled: Contestant;
  /** Ours with traces by OpenTelemetry, of which no SDK is there. */
  readonly traced: Contestant;
  /** If `KOPF_PYTHON` is the path of a Python with Kopf in it. */
  readonly kopf: Contestant | undefined;
  /** The same reconciliation by controller-runtime, if there is `go` to build it with. It knows no other workload. */
  controllerRuntime(): Promise<Contestant | undefined>;
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
    const ofNode = (program: string): Contestant['command'] => [process.execPath, '--expose-gc', program];
    const bare: Contestant = { name: 'bare', command: ofNode(join(sources, 'bare.mjs')), tellsHeap: true };
    const program: Contestant = { name: 'kopf-ts, as a program', command: ofNode(operator), tellsHeap: true };
    const ours: Contestant = { ...program, name: 'kopf-ts', env: { OPTIMIZED: 'memory' } };
    const kopf = {
      name: 'Kopf',
      command: [python ?? '', join(sources, 'kopf_operator.py')],
      tellsHeap: false,
    } as const;
    await use({
      bare,
      careless: { ...bare, name: 'bare, dropping its answers', env: { ANSWERS: 'dropped' } },
      ours,
      program,
      observed: { ...ours, name: 'kopf-ts, observed', env: { ...ours.env, OBSERVED: 'all' } },
      metered: { ...ours, name: 'kopf-ts, metered', env: { ...ours.env, METERED: 'yes' } },
      journaled: { ...ours, name: 'kopf-ts, with a journal', env: { ...ours.env, METERED: 'yes', JOURNALED: 'yes' } },
      traced: { ...ours, name: 'kopf-ts, traced', env: { ...ours.env, TRACED: 'yes' } },
      kopf: python ? kopf : undefined,
      async controllerRuntime() {
        const program = await goProgram('reconciler');
        if (program.kind === 'installed') {
          return { name: 'controller-runtime', command: [program.it], tellsHeap: false };
        }
        console.log(`controller-runtime is left out: ${program.reason}.`);
        return undefined;
      },
      stubbed,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Running extends AsyncDisposable {
  /** Of all threads, in the kernel or not. */
  cpuSeconds(): number;
  /** In megabytes. */
  rss(): number;
  /** In megabytes, without garbage; NaN for those who cannot tell. */
  heap(): Promise<number>;
  /** The rest of the next line that begins with the word, word by word. */
  says(word: string): Promise<readonly string[]>;
}

export function start(
  { name, command: [program, ...args], env: ownEnv, tellsHeap }: Contestant,
  options: { readonly kubeconfig: string; readonly workload: Workload; readonly objects?: number },
): Running {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, args, {
    // Nothing else, lest a proxy or another cluster is found there.
    env: {
      PATH,
      HOME,
      KUBECONFIG: options.kubeconfig,
      WORKLOAD: options.workload,
      OBJECTS: String(options.objects ?? 0),
      ...ownEnv,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  const listeners = new Map<string, (words: readonly string[]) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [word = '', ...rest] = line.split(' ');
    listeners.get(word)?.(rest);
  });
  const says: Running['says'] = (word) =>
    new Promise((resolve, reject) => {
      listeners.set(word, resolve);
      void exited.then(() => reject(new Error(`${name} has ended before it said ${word}.`)));
    });
  /** What the kernel says of the process; never of a later one with the same number. */
  const stat = (): readonly string[] => {
    // The name of the program stands in parentheses, and may have spaces in it.
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    if (child.exitCode !== null || fields[1] !== String(process.pid)) throw new Error(`${name} has ended.`);
    return fields;
  };
  return {
    says,
    cpuSeconds() {
      const fields = stat();
      const TICKS_PER_SECOND = 100;
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    rss() {
      const [, kilobytes] = readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/) ?? [];
      return Number(kilobytes) / 1024;
    },
    async heap() {
      if (!tellsHeap) return Number.NaN;
      const told = says('HEAP');
      child.kill('SIGUSR2');
      const [bytes] = await told;
      return Number(bytes) / 2 ** 20;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await exited;
      clearTimeout(killing);
    },
  };
}
