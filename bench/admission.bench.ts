/**
 * Admission: what a review costs, with one validating handler, over TLS and connections that are kept alive; against
 * a server of Node that only parses the request and answers a constant. Each server is a process of its own, and so is
 * the load, which is the same for both; in turns, since the machine may be busy with other things, too. The rates are
 * those of the servers only if there is a core for each process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadFigures } from './admission/load.js';
import { median } from './figures.js';
import { bundle, root } from './programs.js';

const ROUNDS = 7;
const REQUESTS = 6000;
const CONNECTIONS = 8;
const GOALS = { rate: 0.7, latency: 1.5 };

export default async function run(): Promise<void> {
  const folder = mkdtempSync(join(root, 'bench/.programs-'));
  const [bare, ours] = [new Contestant('bare'), new Contestant('kopf-ts')];
  try {
    const programs = ['bare-server', 'webhook-server', 'load'].map((name) => bundled(name, folder));
    const [bareProgram = '', ourProgram = '', load = ''] = await Promise.all(programs);
    await Promise.all([bare.start(bareProgram), ours.start(ourProgram)]);
    for (let round = -1; round < ROUNDS; round++) {
      const order = round % 2 === 0 ? [bare, ours] : [ours, bare];
      for (const contestant of order) await contestant.measure(load, { isWarmUp: round < 0 });
    }
    report(bare, ours);
  } finally {
    bare.stop();
    ours.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Figures extends LoadFigures {
  /** Of the server, for one review, in microseconds. */
  readonly cpu: number;
}

/** A server, and the figures of it. */
class Contestant {
  readonly name: string;
  readonly figures: Figures[] = [];
  #process: ChildProcess | undefined;
  #address: { url: string; ca: string } | undefined;

  constructor(name: string) {
    this.name = name;
  }

  async start(program: string): Promise<void> {
    this.#process = fork(program);
    this.#address = await message(this.#process);
  }

  async measure(load: string, { isWarmUp }: { isWarmUp: boolean }): Promise<void> {
    const child = fork(load);
    const before = await this.#cpuTime();
    child.send({ ...this.#address, requests: REQUESTS, connections: CONNECTIONS });
    const figures = await message<LoadFigures>(child);
    const cpu = (await this.#cpuTime()) - before;
    if (!isWarmUp) this.figures.push({ ...figures, cpu: cpu / figures.all });
  }

  /** Of the server, in microseconds. */
  async #cpuTime(): Promise<number> {
    if (this.#process === undefined) return Number.NaN;
    this.#process.send('cpu');
    return await message<number>(this.#process);
  }

  stop(): void {
    this.#process?.kill();
  }

  of(what: keyof Figures): number {
    return median(this.figures.map((figures) => figures[what]));
  }
}

function report(bare: Contestant, ours: Contestant): void {
  for (const contestant of [bare, ours]) {
    const [rate, p50, p99] = [contestant.of('perSecond'), contestant.of('p50'), contestant.of('p99')];
    console.log(
      `${contestant.name.padEnd(8)} ${rate.toFixed(0)} reviews/s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ` +
        `${contestant.of('cpu').toFixed(0)} µs of CPU per review`,
    );
  }
  // Round by round: what disturbs one of them mostly disturbs the other one beside it, too.
  const ratio = (what: keyof Figures): number =>
    median(ours.figures.map((figures, round) => figures[what] / (bare.figures[round]?.[what] ?? Number.NaN)));
  const [rate, latency] = [ratio('perSecond'), ratio('p99')];
  const verdict = (isReached: boolean, goal: string): string => (isReached ? 'ok' : `worse than the goal: ${goal}`);
  console.log(`requests/s: ${(rate * 100).toFixed(0)} % of bare (${verdict(rate >= GOALS.rate, 'at least 70 %')})`);
  // On a busy machine, this is the only one to be trusted: whoever needs more of the CPU waits for it longer there.
  console.log(`CPU of the server: bare takes ${(100 / ratio('cpu')).toFixed(0)} % of what we take`);
  console.log(`p99: ${latency.toFixed(2)} × bare (${verdict(latency <= GOALS.latency, 'at most 1.5 ×')})`);
}

function message<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`A program of the benchmark has ended with ${code}.`));
    child.once('exit', fail);
    child.once('message', (value) => {
      child.off('exit', fail);
      resolve(value as T);
    });
  });
}

async function bundled(name: string, folder: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await bundle(join(root, 'bench/admission', `${name}.ts`), outfile);
  return outfile;
}
