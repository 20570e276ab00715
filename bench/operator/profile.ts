/** Profiles one of the programs at one of the workloads, and prints where its time went. See `bench/profile.mjs`. */
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries } from '../../e2e/controlplane/index.js';
import { type Contestant, withPrograms } from './contestants.js';
import { type Summary, summarise } from './cpu-profile.js';
import { onStage } from './stage.js';
import { creationStorm, firstSight, type Measured, type Stage, updateLatency } from './workloads.js';

const TOP = 40;
/** More often, and taking samples would be a large part of the work. */
const INTERVAL_MS = 0.5;

const workloads: Record<string, (stage: Stage, contestant: Contestant) => Promise<Measured>> = {
  storm: (stage, contestant) => creationStorm(stage, contestant, 1000),
  reconcile: (stage, contestant) => creationStorm(stage, contestant, 1000, 'reconcile'),
  async sight(stage, contestant) {
    await stage.objects.createMany(5000);
    return await firstSight(stage, contestant, 5000);
  },
  updates: (stage, contestant) => updateLatency(stage, contestant, 1000),
};

export default async function profile([what = 'storm', who = 'kopf-ts']: readonly string[]): Promise<void> {
  const measure = workloads[what];
  if (measure === undefined)
    throw new Error(`There is no workload "${what}", but ${Object.keys(workloads).join(', ')}.`);
  const found = await findBinaries({ say: (text) => console.log(`control plane: ${text}`) });
  if (found.kind === 'unavailable') throw new Error(`There is no way to run a control plane: ${found.reason}.`);
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-profile-'));
  try {
    await withPrograms(async (programs) => {
      const contestant = [programs.bare, programs.ours].find(({ name }) => name === who);
      if (contestant === undefined) throw new Error(`There is no program "${who}", but kopf-ts, bare.`);
      const [node, ...args] = contestant.command;
      const profiling = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${INTERVAL_MS * 1000}`];
      const profiled: Contestant = { ...contestant, command: [node, ...profiling, ...args] };
      await onStage(found.binaries, { countsRequests: false }, async (stage) => {
        const figures = await measure(stage, profiled);
        const [file = ''] = readdirSync(folder);
        console.log(`${who}, ${what}: ${JSON.stringify(figures, (_key, value) => rounded(value))}`);
        print(summarise(join(folder, file), figures.interval, INTERVAL_MS), figures.cpuSeconds * 1000);
        const kept = process.env['KOPF_BENCH_PROFILE'];
        if (kept) copyFileSync(join(folder, file), kept);
      });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function print({ busy, groups, files, self, inclusive }: Summary, cpu: number): void {
  const outside = Math.max(0, cpu - busy).toFixed(0);
  console.log(
    `\n${cpu.toFixed(0)} ms of CPU. Of that, ${outside} ms are for sockets and TLS outside of JavaScript, which`,
  );
  console.log('are not sampled, for other threads, and for the profiler. What is sampled, by package:');
  printTop(groups, busy, Number.POSITIVE_INFINITY);
  console.log('\nBy file, without what it calls:');
  printTop(files, busy, TOP);
  console.log('\nBy function, without what it calls:');
  printTop(self, busy, TOP);
  console.log('\nBy function, with all that it calls before it returns or awaits:');
  printTop(inclusive, busy, TOP);
}

function printTop(times: ReadonlyMap<string, number>, all: number, count: number): void {
  const sorted = [...times].toSorted(([, a], [, b]) => b - a).slice(0, count);
  for (const [title, time] of sorted) {
    console.log(`${time.toFixed(0).padStart(7)} ms ${((time / all) * 100).toFixed(1).padStart(5)} %  ${title}`);
  }
}

function rounded(value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(2)) : value;
}
