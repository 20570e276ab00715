import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Program, RunStep, Script, WatchStep } from './script.js';
import type { Server } from './servers.js';

/** What a command has printed, and how it has ended. */
export interface Outcome {
  readonly title: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Of the last program of a pipeline; `killed` if it had to be ended. */
  readonly code: number | 'killed';
}

/** What all the commands of a script have given, and the texts that are of this run only. */
export interface Run {
  readonly outcomes: readonly Outcome[];
  readonly namespace: string;
  readonly folder: string;
}

const commandTakesAtMostMs = 30_000;
const repeatsForMs = 15_000;
/** Each needs much of a processor for a moment. */
const programsAtOnce = 4;

/** Runs a script on a server, in a namespace and a folder of its own. */
export async function runScript(script: Script, server: Server, namespace: string): Promise<Run> {
  const folder = join(server.folder, namespace);
  await mkdir(join(folder, 'files'), { recursive: true });
  await writeFile(join(folder, 'kubeconfig'), server.kubeconfig, { mode: 0o600 });
  const place: Place = { server, folder, namespace };
  await prepare(place);
  const outcomes: Outcome[] = [];
  const watching: { readonly watch: Watch; readonly index: number }[] = [];
  try {
    for (const step of script.steps) {
      if (step.kind === 'write') await write(place, step.path, step.text);
      else if (step.kind === 'watch') {
        const watch = await startWatch(place, step);
        // Its place among the outcomes is where it was started.
        watching.push({
          watch,
          index: outcomes.push({ title: step.title, stdout: '', stderr: '', code: 'killed' }) - 1,
        });
      } else if (step.kind === 'run') outcomes.push(await repeated(place, step));
      else for (const { watch, index } of watching.splice(0)) outcomes[index] = await watch.end();
    }
  } finally {
    for (const { watch } of watching) await watch.end();
  }
  return { outcomes, namespace, folder };
}

interface Place {
  readonly server: Server;
  readonly folder: string;
  readonly namespace: string;
}

/** Until all is there that a namespace gets by itself. */
async function prepare(place: Place): Promise<void> {
  const kubectl = async (...args: string[]) => {
    const { code, stderr } = await run(place, step(args));
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} on the ${place.server.name} server: ${stderr}`);
  };
  await kubectl('config', 'set-context', '--current', `--namespace=${place.namespace}`);
  await kubectl('create', 'namespace', place.namespace);
  await kubectl('wait', '--for=create', 'sa/default', 'cm/kube-root-ca.crt', '--timeout=20s');
}

const step = (args: readonly string[]): RunStep => ({
  kind: 'run',
  title: args.join(' '),
  programs: [{ env: {}, args }],
  stdin: '',
  eventually: false,
});

async function write({ folder, namespace }: Place, path: string, text: string): Promise<void> {
  const file = join(folder, 'files', path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text.replaceAll('NAMESPACE', namespace));
}

async function repeated(place: Place, command: RunStep): Promise<Outcome> {
  const deadline = performance.now() + repeatsForMs;
  for (;;) {
    const outcome = await run(place, command);
    if (!command.eventually || outcome.code === 0 || performance.now() > deadline) return outcome;
    await pause(200);
  }
}

/** One program after another: what the first has printed is read by the next. */
async function run(place: Place, { title, programs, stdin }: RunStep): Promise<Outcome> {
  let input = stdin.replaceAll('NAMESPACE', place.namespace);
  let errors = '';
  let code: Outcome['code'] = 0;
  for (const program of programs) {
    const ended = await turn(() => finished(start(place, program, commandTakesAtMostMs), input));
    input = ended.stdout;
    errors += ended.stderr;
    code = ended.code;
  }
  return { title, stdout: input, stderr: errors, code };
}

function start({ server, folder, namespace }: Place, { env, args }: Program, timeout?: number): ChildProcess {
  const own = [`--kubeconfig=${join(folder, 'kubeconfig')}`, `--cache-dir=${join(folder, 'cache')}`];
  const all = [...own, ...args.map((arg) => arg.replaceAll('NAMESPACE', namespace))];
  return spawn(server.kubectl, all, {
    cwd: join(folder, 'files'),
    // Nothing of the user's own: neither settings nor a language nor an editor.
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, TZ: 'UTC', LANG: 'C', EDITOR: 'true', ...env },
    timeout,
    killSignal: 'SIGKILL',
  });
}

async function finished(child: ChildProcess, stdin: string): Promise<Omit<Outcome, 'title'>> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // It may end before it has read all of it.
  child.stdin?.on('error', () => {});
  child.stdin?.end(stdin);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  return { stdout, stderr, code: code ?? 'killed' };
}

interface Watch {
  end(): Promise<Outcome>;
}

/** Waits for the first line: what is done afterwards, the watch sees. */
async function startWatch(place: Place, { title, program, lines }: WatchStep): Promise<Watch> {
  const child = start(place, program);
  let seen = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    seen += chunk.toString('utf8').split('\n').length - 1;
  });
  const ended = finished(child, '');
  const untilSeen = async (wanted: number) => {
    const deadline = performance.now() + repeatsForMs;
    while (seen < wanted && child.exitCode === null && performance.now() < deadline) await pause(20);
  };
  await untilSeen(1);
  return {
    async end() {
      await untilSeen(lines);
      child.kill('SIGKILL');
      return { title, ...(await ended) };
    },
  };
}

let running = 0;
const waiting: (() => void)[] = [];

async function turn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= programsAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
