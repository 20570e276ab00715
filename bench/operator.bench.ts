/**
 * A whole operator. Beside a program without any framework, on a real control plane, in turns: how much it costs to
 * handle an object, how soon all existing objects are seen, how late a handler is, how much memory it takes, and whether
 * it is quiet when nothing happens. And on an imagined cluster: what remembered objects and daemons take of the memory,
 * and whether many objects make each of them dearer.
 *
 * On a busy machine, trust the CPU time most: of the rest, only the ratios mean something. See CONTRIBUTING.md for the
 * variables.
 */
import { fork } from 'node:child_process';
import { type Binaries, describeBinaries, findBinaries } from '../e2e/controlplane/index.js';
import { messageOf } from './apiserver/building.js';
import { median, ofPairs, type Row, row, spread } from './figures.js';
import { type Contestant, type Programs, withPrograms } from './operator/contestants.js';
import { onStage } from './operator/stage.js';
import { creationStorm, firstSight, idleness, type Stage, updateLatency } from './operator/workloads.js';

const ROUNDS = Number(process.env['KOPF_BENCH_ROUNDS'] || 5);
const IDLE_SECONDS = Number(process.env['KOPF_BENCH_IDLE_SECONDS'] || 180);
const STORM = 1000;
const EXISTING = 5000;
const UPDATES = 1000;

const ratio = (ours: number, theirs: number): number => ours / theirs;
const difference = (ours: number, theirs: number): number => ours - theirs;

type OnStub = (programs: Programs) => Promise<readonly Row[]>;
type OnControlPlane = (stage: Stage, programs: Programs) => Promise<readonly Row[]>;

/** By the names that `KOPF_BENCH_ONLY` chooses from. */
const onStub: Record<string, OnStub> = { pace: measurePace, memory: measureMemory };
const onControlPlane: Record<string, OnControlPlane> = {
  storm: measureStorm,
  observed: measureObserved,
  traced: measureTraced,
  reconcile: measureReconciliation,
  latency: measureLatency,
};
/** These need a log of all requests, which would be a part of the cost of the others; and objects that exist. */
const onLoggedControlPlane: Record<string, OnControlPlane> = { sight: measureFirstSight, idle: measureIdleness };

export default async function run(): Promise<readonly Row[]> {
  const isWanted = choice(process.env['KOPF_BENCH_ONLY'], { ...onStub, ...onControlPlane, ...onLoggedControlPlane });
  const chosen = <T>(workloads: Record<string, T>): readonly T[] =>
    Object.entries(workloads).flatMap(([name, measure]) => (isWanted(name) ? [measure] : []));
  const [stubbed, plain, logged] = [chosen(onStub), chosen(onControlPlane), chosen(onLoggedControlPlane)];
  const rows: Row[] = [];
  await withPrograms(async (programs) => {
    for (const measure of stubbed) rows.push(...(await measure(programs)));
    if (plain.length + logged.length === 0) return;
    const found = await findBinaries({ say: (text) => console.log(`control plane: ${text}`) });
    if (found.kind === 'found') rows.push(...(await measureOnControlPlane(found.binaries, programs, plain, logged)));
    else console.log(`The comparison on a real control plane was skipped: ${found.reason}.`);
  });
  return rows;
}

function choice(only: string | undefined, workloads: object): (name: string) => boolean {
  const names = only?.split(',').filter(Boolean) ?? [];
  const known = Object.keys(workloads);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`KOPF_BENCH_ONLY: there is no ${unknown.join(', ')}, but ${known.join(', ')}.`);
  return (name) => names.length === 0 || names.includes(name);
}

async function measureOnControlPlane(
  binaries: Binaries,
  programs: Programs,
  plain: readonly OnControlPlane[],
  logged: readonly OnControlPlane[],
): Promise<readonly Row[]> {
  console.log(`${describeBinaries(binaries)}; ${ROUNDS} rounds`);
  const rows: Row[] = [];
  if (plain.length > 0) {
    await onStage(binaries, { countsRequests: false }, async (stage) => {
      for (const measure of plain) rows.push(...(await measure(stage, programs)));
    });
  }
  if (logged.length > 0) {
    await onStage(binaries, { countsRequests: true }, async (stage) => {
      await stage.objects.createMany(EXISTING);
      for (const measure of logged) rows.push(...(await measure(stage, programs)));
    });
  }
  return rows;
}

async function measureStorm(stage: Stage, { bare, careless, ours, program, kopf }: Programs): Promise<readonly Row[]> {
  const title = `${STORM} objects created`;
  const figuresOf = await inTurns(title, [bare, careless, ours, program, kopf], (contestant) =>
    creationStorm(stage, contestant, STORM),
  );
  const [theirs, sloppy, mine] = [figuresOf(bare), figuresOf(careless), figuresOf(ours)];
  const alone = figuresOf(program);
  const cpu = ofPairs(mine.cpuMsPerObject, theirs.cpuMsPerObject, ratio);
  const cpuToCareless = ofPairs(mine.cpuMsPerObject, sloppy.cpuMsPerObject, ratio);
  const pace = ofPairs(mine.perSecond, theirs.perSecond, ratio);
  const paceToCareless = ofPairs(mine.perSecond, sloppy.perSecond, ratio);
  return [
    row(`${title}: CPU per object, to bare`, cpu, { unit: ' ×', atMost: 1.4 }),
    row('  … to bare that drops its answers', cpuToCareless, { unit: ' ×' }),
    row('  … as a program, to bare', ofPairs(alone.cpuMsPerObject, theirs.cpuMsPerObject, ratio), { unit: ' ×' }),
    row(`${title}: handled per second, to bare`, pace, { unit: ' ×', atLeast: 0.85 }),
    row('  … to bare that drops its answers', paceToCareless, { unit: ' ×' }),
    row(`${title}: RSS, above bare`, ofPairs(mine.rss, theirs.rss, difference), { unit: ' MB', digits: 0, atMost: 25 }),
    row('  … as a program, above bare', ofPairs(alone.rss, theirs.rss, difference), { unit: ' MB', digits: 0 }),
    row(`${title}: heap in use, above bare`, ofPairs(mine.heap, theirs.heap, difference), { unit: ' MB', digits: 1 }),
  ];
}

/** The same storm with a subscriber to all facts, with metrics, and with a journal: what it costs to be looked at. */
async function measureObserved(
  stage: Stage,
  { ours, observed, metered, journaled }: Programs,
): Promise<readonly Row[]> {
  const title = `${STORM} objects created`;
  const figuresOf = await inTurns(`${title}, observed or not`, [ours, observed, metered, journaled], (contestant) =>
    creationStorm(stage, contestant, STORM),
  );
  const cpu = ofPairs(figuresOf(observed).cpuMsPerObject, figuresOf(ours).cpuMsPerObject, ratio);
  const cpuMetered = ofPairs(figuresOf(metered).cpuMsPerObject, figuresOf(ours).cpuMsPerObject, ratio);
  const cpuJournaled = ofPairs(figuresOf(journaled).cpuMsPerObject, figuresOf(ours).cpuMsPerObject, ratio);
  return [
    row(`${title}: CPU with all facts observed, to none`, cpu, { unit: ' ×', atMost: 1.1 }),
    row('  … with metrics, to none', cpuMetered, { unit: ' ×', atMost: 1.08 }),
    row('  … with metrics and a journal, to none', cpuJournaled, { unit: ' ×', atMost: 1.08 }),
  ];
}

/** The same storm with traces, but without an SDK that would do anything with them. */
async function measureTraced(stage: Stage, { ours, traced }: Programs): Promise<readonly Row[]> {
  const title = `${STORM} objects created`;
  const figuresOf = await inTurns(`${title}, traced or not`, [ours, traced], (contestant) =>
    creationStorm(stage, contestant, STORM),
  );
  const cpu = ofPairs(figuresOf(traced).cpuMsPerObject, figuresOf(ours).cpuMsPerObject, ratio);
  return [row(`${title}: CPU with traces and no SDK, to none`, cpu, { unit: ' ×', atMost: 1.02 })];
}

/** Each object gets a child and a status: by reconciliation, and by a program that knows what it has to do. */
async function measureReconciliation(
  stage: Stage,
  { bare, ours, controllerRuntime }: Programs,
): Promise<readonly Row[]> {
  const title = `${STORM} objects reconciled`;
  const go = await controllerRuntime();
  const figuresOf = await inTurns(title, [bare, ours, go], (contestant) =>
    creationStorm(stage, contestant, STORM, 'reconcile'),
  );
  const [theirs, mine] = [figuresOf(bare), figuresOf(ours)];
  const goCpu = go && ofPairs(figuresOf(go).cpuMsPerObject, theirs.cpuMsPerObject, ratio);
  const goPace = go && ofPairs(figuresOf(go).perSecond, theirs.perSecond, ratio);
  return [
    row(`${title}: CPU per object, to bare`, ofPairs(mine.cpuMsPerObject, theirs.cpuMsPerObject, ratio), {
      unit: ' ×',
      atMost: 1.2,
    }),
    ...(goCpu ? [row('  … of controller-runtime, to bare', goCpu, { unit: ' ×' })] : []),
    ...(goPace ? [row('  … handled per second by it, to bare', goPace, { unit: ' ×' })] : []),
    row(`${title}: handled per second, to bare`, ofPairs(mine.perSecond, theirs.perSecond, ratio), { unit: ' ×' }),
    row(`${title}: heap in use, above bare`, ofPairs(mine.heap, theirs.heap, difference), { unit: ' MB', digits: 1 }),
  ];
}

async function measureLatency(stage: Stage, { bare, ours, kopf }: Programs): Promise<readonly Row[]> {
  const title = 'from an update to its handler';
  const figuresOf = await inTurns(title, [bare, ours, kopf], (contestant) => updateLatency(stage, contestant, UPDATES));
  const [theirs, mine] = [figuresOf(bare), figuresOf(ours)];
  const beyondTwice = ofPairs(mine.p99, theirs.p99, (a, b) => a - 2 * b);
  return [
    row(`${title}: p50, later than bare`, ofPairs(mine.p50, theirs.p50, difference), { unit: ' ms', atMost: 1 }),
    row(`${title}: p99, later than 2 × bare`, beyondTwice, { unit: ' ms', atMost: 2 }),
  ];
}

async function measureFirstSight(stage: Stage, { bare, ours, program, kopf }: Programs): Promise<readonly Row[]> {
  const title = `${EXISTING} existing objects`;
  const figuresOf = await inTurns(title, [bare, ours, program, kopf], (contestant) =>
    firstSight(stage, contestant, EXISTING),
  );
  const [theirs, mine, alone] = [figuresOf(bare), figuresOf(ours), figuresOf(program)];
  const seen = ofPairs(mine.fromFirstRequest, theirs.fromFirstRequest, ratio);
  return [
    row('from the start to the first list request', mine.toFirstRequest, { unit: ' ms', digits: 0, atMost: 350 }),
    row(`${title}: from that request to the last handler, to bare`, seen, { unit: ' ×', atMost: 1.8 }),
    row(`${title}: RSS, above bare`, ofPairs(mine.rss, theirs.rss, difference), { unit: ' MB', digits: 0, atMost: 25 }),
    row('  … as a program, above bare', ofPairs(alone.rss, theirs.rss, difference), { unit: ' MB', digits: 0 }),
    row(`${title}: heap in use, above bare`, ofPairs(mine.heap, theirs.heap, difference), { unit: ' MB', digits: 1 }),
  ];
}

/** Only once: there is nothing to compare it with. */
async function measureIdleness(stage: Stage, { ours }: Programs): Promise<readonly Row[]> {
  const { cpuPercent, requests } = await idleness(stage, ours, IDLE_SECONDS);
  for (const request of requests) console.log(`idle, and yet: ${request}`);
  const title = `idle with ${EXISTING} objects for ${IDLE_SECONDS} s`;
  return [
    row(`${title}: CPU, of a core`, [cpuPercent], { unit: ' %', atMost: 0.5 }),
    row(`${title}: requests`, [requests.length], { unit: '', digits: 0, atMost: 0 }),
  ];
}

async function measurePace({ stubbed }: Programs): Promise<readonly Row[]> {
  const [few, many] = [2000, 20_000];
  const { withFew, withMany } = await fromStub<{ withFew: number; withMany: number }>(stubbed, 'pace', few, many, 2000);
  console.log(
    `one more object, on a stub: ${withFew.toFixed(3)} ms of CPU at ${few}, ${withMany.toFixed(3)} at ${many}`,
  );
  return [row(`one more object at ${many}, to one at ${few}: CPU`, [withMany / withFew], { unit: ' ×', atMost: 1.2 })];
}

async function measureMemory({ stubbed }: Programs): Promise<readonly Row[]> {
  const counts = [1000, 10_000] as const;
  const objects = await fromStub<{ perObject: number; perEssence: number }>(stubbed, 'objects', ...counts);
  const daemons = await fromStub<{ perObject: number; perBody: number }>(stubbed, 'daemons', ...counts);
  const object = objects.perObject - objects.perEssence;
  const daemon = daemons.perObject - daemons.perBody - object;
  return [
    row('an idle object, besides its essence', [object / 1024], { unit: ' KB', atMost: 4 }),
    row('an idle daemon, besides all of its object', [daemon / 1024], { unit: ' KB', atMost: 6 }),
  ];
}

async function fromStub<T>(program: string, what: string, ...counts: readonly number[]): Promise<T> {
  return await messageOf<T>(fork(program, [what, ...counts.map(String)], { execArgv: ['--expose-gc'] }));
}

type Rounds<T> = { readonly [K in keyof T]: readonly number[] };

/** Each of them in each round, and each of them first as often as last. Prints their figures, and gives them by rounds. */
async function inTurns<T extends object>(
  title: string,
  everybody: readonly (Contestant | undefined)[],
  measure: (contestant: Contestant) => Promise<T>,
): Promise<(contestant: Contestant) => Rounds<Omit<T, 'interval'>>> {
  const contestants = everybody.filter((contestant) => contestant !== undefined);
  const figures = new Map<Contestant, T[]>(contestants.map((contestant) => [contestant, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    for (const contestant of order) figures.get(contestant)?.push(await measure(contestant));
  }
  const roundsOf = (contestant: Contestant): Rounds<Omit<T, 'interval'>> => {
    const measured = figures.get(contestant) ?? [];
    const names = Object.keys(measured[0] ?? {}).filter((name) => name !== 'interval') as (keyof T)[];
    const rounds = names.map((name) => [name, measured.map((figure) => Number(figure[name]))]);
    return Object.fromEntries(rounds) as Rounds<Omit<T, 'interval'>>;
  };
  for (const contestant of contestants) {
    const texts = Object.entries<readonly number[]>(roundsOf(contestant)).map(
      ([name, rounds]) => `${name} ${median(rounds).toFixed(2)} [${spread(rounds, 2)}]`,
    );
    console.log(`${title}: ${contestant.name}: ${texts.join(', ')}`);
  }
  return roundsOf;
}
