/**
 * One run: a control plane of its own, the line, the operator and the writer; faults by the seed; then the calm, and
 * the judgement. Bounded in time and in the number of objects; all its processes end with it, whatever happens.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SettingsOverrides } from '@kopf-ts/core';
import { type Binaries, type ControlPlane, startControlPlane } from '../controlplane/index.js';
import { supervise } from '../controlplane/processes.js';
import { clientOf } from '../support/client.js';
import { becomesTrue } from '../support/waiting.js';
import { allObjects, defineKind, isSettled, NAMESPACE, SELECTOR } from './cluster.js';
import type { Blow, History } from './history.js';
import { type Line, openLine } from './line.js';
import { newWriter } from './load.js';
import { type OperatorProcess, operatorProcess } from './operator-process.js';
import { PROMISES } from './promises.js';
import { describeDuplicates, describeFindings, report } from './report.js';
import { type Schedule, schedule, type TimedFault } from './schedule.js';
import { type Judgement, judge } from './verify.js';

export interface ChaosOptions {
  readonly binaries: Binaries;
  readonly seed: number;
  /** How long the faults last. */
  readonly seconds: number;
  /** At most so many objects at once, and over all. */
  readonly live: number;
  readonly total: number;
  /** On average, from one write of the writer to the next. */
  readonly pauseMs: number;
  /** Seconds from one fault of everything to the next: at least, at most. */
  readonly gap?: readonly [number, number];
  /** How long the operator may take to settle after the last fault. */
  readonly settleMs: number;
  /** Groups of settings of the operator; in the others, all limits of time are short. */
  readonly overrides?: SettingsOverrides;
  readonly say?: (text: string) => void;
}

export interface ChaosResult extends Judgement {
  readonly history: History;
  /** The counts. */
  readonly report: string;
  /** The calls that were repeated for a reason. */
  readonly repetitions: string;
  /** The findings with their histories. */
  readonly details: string;
}

/** All limits of time are shorter than by default, so that a run of a minute meets all of them; nothing else differs. */
const SHORT_TIMES: SettingsOverrides = {
  watching: { serverTimeout: { min: 8, max: 15 }, inactivityTimeout: 5, reconnectBackoff: 0.1 },
  networking: { headersTimeout: 4, requestTimeout: 10, errorBackoffs: [0.2, 0.5, 1] },
  queueing: { errorDelays: [0.2, 0.5, 1, 2] },
  execution: { defaultBackoff: 1 },
};

/** An operator that calls its handlers without end is not waited for: it would fill the disk. In bytes of their file. */
const CALLS_LIMIT = 100 * 2 ** 20;

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { binaries, seed, seconds, gap, settleMs, overrides, say = () => {} } = options;
  const folder = await mkdtemp(join(tmpdir(), 'kopf-ts-chaos-'));
  const supervisor = supervise(folder);
  const disposals: (() => Promise<void>)[] = [() => supervisor.stop()];
  try {
    const controlPlane = await startControlPlane({ binaries });
    disposals.push(() => controlPlane.stop());
    const client = clientOf(controlPlane);
    disposals.push(() => client.close());
    await defineKind(client);
    const line = await openLine(controlPlane);
    disposals.push(() => line.close());
    const operator = await operatorProcess(folder, supervisor, {
      connection: { server: line.url, token: controlPlane.token },
      namespace: NAMESPACE,
      selector: SELECTOR,
      overrides: { ...SHORT_TIMES, ...overrides },
    });
    const writer = newWriter({ ...options, client });
    const plan = schedule({ seed, seconds, ...(gap && { gap }) });

    say(`${seconds} s of faults by seed ${seed} …`);
    operator.start();
    const resting = new AbortController();
    const working = writer.work(resting.signal);
    // It is waited for below; if something else fails first, its own failure must not be a stray one.
    working.catch(() => {});
    const { blows, accidents, faults } = await disturb({ plan, seconds, controlPlane, line, operator });
    resting.abort();
    await working;

    const calmSince = Date.now();
    await writeFile(operator.calm, '');
    say('the faults are over; the operator has to settle …');
    const isQuiet = quietness(async () => {
      const failure = operator.revive();
      if (failure !== undefined) accidents.push(`The operator has ended by itself: ${failure}`);
      const objects = await allObjects(client);
      if (!objects.every(isSettled)) return false;
      return judgeable(objects, operator, calmSince);
    });
    if (!(await becomesTrue(isQuiet, settleMs))) say('it has not settled in time.');
    const settled = await allObjects(client);
    const settledAt = Date.now();

    say(`${((settledAt - calmSince) / 1000).toFixed(1)} s later: deleting everything …`);
    await writer.deleteAll();
    await becomesTrue(async () => (await allObjects(client)).length === 0, settleMs);
    const left = await allObjects(client);
    if (!(await operator.end(20_000))) accidents.push('The operator did not end within 20 s after SIGTERM.');
    controlPlane.check();

    const [{ edits }, { writes }, calls] = [writer, line, operator.calls()];
    const history = { edits, calls, writes, blows, calmSince, settledAt, settled, left, accidents };
    const judgement = judge(history, PROMISES);
    const summary = { seed, seconds, runs: operator.runs, faults: { ...faults, ...line.counts } };
    return {
      ...judgement,
      history,
      report: report(summary, history, judgement),
      repetitions: describeDuplicates(judgement),
      details: describeFindings(history, judgement.findings),
    };
  } finally {
    for (const dispose of disposals.reverse()) await dispose().catch(() => {});
  }
}

interface Disturbing {
  readonly plan: Schedule;
  readonly seconds: number;
  readonly controlPlane: ControlPlane;
  readonly line: Line;
  readonly operator: OperatorProcess;
}

interface Disturbed {
  readonly blows: readonly Blow[];
  readonly accidents: string[];
  readonly faults: Readonly<Record<string, number>>;
}

/** Carries out the schedule. A fault that takes long delays the next ones: they are never in each other's way. */
async function disturb({ plan, seconds, controlPlane, line, operator }: Disturbing): Promise<Disturbed> {
  const began = Date.now();
  const blows: Blow[] = [];
  const accidents: string[] = [];
  const faults: Record<string, number> = {};
  line.decide = (request) => plan.fateOf(request, Date.now() - began);

  const cause = async (fault: TimedFault): Promise<void> => {
    const from = Date.now();
    switch (fault.kind) {
      case 'kill the operator':
        await operator.killAndRestart();
        blows.push({ kind: 'kill', from, to: Date.now() });
        return;
      case 'stop the operator for a while':
        operator.signal('SIGSTOP');
        await pause(fault.ms);
        operator.signal('SIGCONT');
        blows.push({ kind: 'stop', from, to: Date.now() });
        return;
      case 'break all connections':
        line.resetAll();
        blows.push({ kind: 'break of all connections', from, to: Date.now() });
        return;
      case 'freeze all connections':
        line.freeze(fault.ms);
        return;
      case 'compact etcd':
        await controlPlane.compact();
        line.resetStreams();
        return;
      case 'restart the API server':
        await controlPlane.compact();
        await controlPlane.restartApiServer({ abruptly: fault.isAbrupt, graceMs: 3_000 });
        return;
    }
  };
  const tend = (): void => {
    const failure = operator.revive();
    if (failure !== undefined) accidents.push(`The operator has ended by itself: ${failure}`);
  };
  try {
    for (const { at, fault } of plan.faults) {
      await until(began + at, tend);
      if (operator.bytesOfCalls() > CALLS_LIMIT) {
        accidents.push('Handlers are called without end; the run is cut short.');
        break;
      }
      faults[fault.kind] = (faults[fault.kind] ?? 0) + 1;
      await cause(fault);
    }
    await until(began + seconds * 1000, tend);
  } finally {
    line.decide = () => ({ kind: 'pass' });
  }
  return { blows, accidents, faults };
}

async function until(moment: number, tend: () => void): Promise<void> {
  for (let left = moment - Date.now(); left > 0; left = moment - Date.now()) {
    tend();
    await pause(Math.min(left, 250));
  }
}

/** True if it was true for some time: what is done now may be the reason for something more to do. */
function quietness(condition: () => Promise<boolean>, forMs = 2_000): () => Promise<boolean> {
  let since: number | undefined;
  return async () => {
    if (!(await condition())) since = undefined;
    else since ??= Date.now();
    await pause(200);
    return since !== undefined && Date.now() - since >= forMs;
  };
}

/** Daemons and timers may be a bit later than the handlers. */
function judgeable(objects: Awaited<ReturnType<typeof allObjects>>, operator: OperatorProcess, since: number): boolean {
  const calls = operator.calls().filter(({ run }) => run === operator.runs);
  return objects.every(({ uid, key }) => {
    const { timers = [], daemons = [] } = PROMISES[key.split('/')[0] ?? ''] ?? {};
    const ofObject = calls.filter((call) => call.uid === uid);
    return (
      timers.every((id) => ofObject.some(({ handler, began }) => handler === id && began >= since)) &&
      daemons.every((id) => ofObject.some(({ handler, ended }) => handler === id && ended === undefined))
    );
  });
}
