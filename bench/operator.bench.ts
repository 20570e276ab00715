/**
 * A whole operator. Beside a program without any framework, on a real control plane, in turns: how much it costs to
 * handle an object, how soon all existing objects are seen, how late a handler is. And on an imagined cluster: what
 * remembered objects and daemons take of the memory, and whether many objects make each of them dearer.
 *
 * On a busy machine, trust the CPU time most: of the rest, only the ratios mean something. Set `KOPF_PYTHON` to a Python
 * with Kopf in it to have that one in the row, too.
 */
import { fork } from 'node:child_process';
import { describeBinaries, findBinaries, startControlPlane } from '../e2e/controlplane/index.js';
import { messageOf } from './apiserver/building.js';
import { median } from './figures.js';
import { type Contestant, type Programs, withPrograms } from './operator/contestants.js';
import { objectsOf } from './operator/objects.js';
import { creationStorm, firstSight, type Stage, type StormFigures, updateLatency } from './operator/workloads.js';

const ROUNDS = 3;
const STORM = 1000;
const EXISTING = 5000;
const UPDATES = 60;

export default async function run(): Promise<void> {
  await withPrograms(async (programs) => {
    await measurePace(programs);
    await measureMemory(programs);
    await measureOnControlPlane(programs);
  });
}

/** Each of them in each round, and each of them first as often as last; by their names. */
async function inTurns<T>(
  { bare, ours, kopf }: Programs,
  measure: (contestant: Contestant) => Promise<T>,
): Promise<Readonly<Record<string, readonly T[]>>> {
  const contestants = [bare, ours, ...(kopf === undefined ? [] : [kopf])];
  const figures: Record<string, T[]> = Object.fromEntries(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    for (const contestant of order) figures[contestant.name]?.push(await measure(contestant));
  }
  return figures;
}

async function measureOnControlPlane(programs: Programs): Promise<void> {
  const found = await findBinaries({ say: (text) => console.log(`control plane: ${text}`) });
  if (found.kind === 'unavailable') {
    console.log(`The comparison on a real control plane was skipped: ${found.reason}.`);
    return;
  }
  console.log(describeBinaries(found.binaries));
  await using controlPlane = await startControlPlane({ binaries: found.binaries });
  const objects = await objectsOf(controlPlane);
  const stage: Stage = { objects, kubeconfig: controlPlane.kubeconfig };
  try {
    await measureStorm(stage, programs);
    await measureLatency(stage, programs);
    await measureFirstSight(stage, programs);
  } finally {
    await objects.close();
  }
}

async function measureStorm(stage: Stage, programs: Programs): Promise<void> {
  const figures = await inTurns(programs, (contestant) => creationStorm(stage, contestant, STORM));
  const of = (name: string, what: keyof StormFigures): readonly number[] =>
    (figures[name] ?? []).map((figure) => figure[what]);
  for (const name of Object.keys(figures)) {
    const [cpu, pace] = [spread(of(name, 'cpuMsPerObject'), 2), spread(of(name, 'perSecond'), 0)];
    console.log(`${STORM} objects created: ${name.padEnd(8)} ${cpu} ms of CPU per object, ${pace} handled per second`);
  }
  const cpu = ratio(of('kopf-ts', 'cpuMsPerObject'), of('bare', 'cpuMsPerObject'));
  const pace = ratio(of('kopf-ts', 'perSecond'), of('bare', 'perSecond'));
  report('  CPU per object, against the bare program', cpu, 1.5, '×');
  report('  handled per second, against the bare program', pace, 0.9, '×', 'at least');
}

async function measureFirstSight(stage: Stage, programs: Programs): Promise<void> {
  await stage.objects.removeAll();
  await stage.objects.createMany(EXISTING);
  const figures = await inTurns(programs, (contestant) => firstSight(stage, contestant, EXISTING));
  for (const [name, seconds] of Object.entries(figures)) {
    console.log(`${EXISTING} existing objects seen: ${name.padEnd(8)} ${spread(seconds, 2)} s from the start`);
  }
  report('  against the bare program', ratio(figures['kopf-ts'] ?? [], figures['bare'] ?? []), 2, '×');
}

async function measureLatency(stage: Stage, programs: Programs): Promise<void> {
  const figures = await inTurns(programs, (contestant) => updateLatency(stage, contestant, UPDATES));
  for (const [name, latencies] of Object.entries(figures)) {
    console.log(`from an update to its handler: ${name.padEnd(8)} ${spread(latencies, 1)} ms (p50)`);
  }
  const later = median(figures['kopf-ts'] ?? []) - median(figures['bare'] ?? []);
  report('  later than the bare program by', later, 1, ' ms');
}

async function measurePace({ stubbed }: Programs): Promise<void> {
  const [few, many] = [2000, 20_000];
  const { withFew, withMany } = await onStub<{ withFew: number; withMany: number }>(stubbed, 'pace', few, many, 2000);
  const figures = `${withFew.toFixed(3)} ms of CPU at ${few} objects, ${withMany.toFixed(3)} ms at ${many}`;
  report(`one more object, on a stub: ${figures}: ratio`, withMany / withFew, 1.2, '×');
}

async function measureMemory({ stubbed }: Programs): Promise<void> {
  const counts = [1000, 10_000] as const;
  const { perObject, perEssence } = await onStub<{ perObject: number; perEssence: number }>(
    stubbed,
    'objects',
    ...counts,
  );
  const memory = perObject - perEssence;
  report(`an idle object, besides its essence of ${kilobytes(perEssence)}`, memory / 1024, 4, ' KB');
  const daemons = await onStub<{ perObject: number; perBody: number }>(stubbed, 'daemons', ...counts);
  const { perBody } = daemons;
  const alone = daemons.perObject - perBody - memory;
  report(`an idle daemon, besides all of its object, which takes ${kilobytes(perBody)}`, alone / 1024, 8, ' KB');
}

async function onStub<T>(program: string, what: string, ...counts: readonly number[]): Promise<T> {
  return await messageOf<T>(fork(program, [what, ...counts.map(String)], { execArgv: ['--expose-gc'] }));
}

/** Of neighbours in time: whatever else the machine does, it does to both of them. */
function ratio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((figure, round) => figure / (theirs[round] ?? Number.NaN)));
}

function report(
  what: string,
  figure: number,
  goal: number,
  unit: string,
  how: 'at most' | 'at least' = 'at most',
): void {
  const isMet = how === 'at most' ? figure <= goal : figure >= goal;
  console.log(`${what}: ${figure.toFixed(2)}${unit} (goal: ${how} ${goal}${unit}; ${isMet ? 'met' : 'MISSED'})`);
}

function spread(figures: readonly number[], digits: number): string {
  const [middle, least, most] = [median(figures), Math.min(...figures), Math.max(...figures)];
  return `${middle?.toFixed(digits)} [${least?.toFixed(digits)}–${most?.toFixed(digits)}]`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(2)} KB`;
}
