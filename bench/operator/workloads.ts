/** What is done to the operators, and what is measured of them meanwhile. */
import { readFileSync, statSync } from 'node:fs';
import { percentile } from '../figures.js';
import { type Contestant, start, type Workload } from './contestants.js';
import { type Interval, now, wallClockOf } from './moments.js';
import { type Objects, pause } from './objects.js';

export interface Stage {
  readonly objects: Objects;
  readonly kubeconfig: string;
  /** With a line for each request, where requests are counted. */
  readonly auditLog?: string;
  /** Throws unless the cluster is still the one that was started for this. */
  verify(): Promise<void>;
}

export interface Measured {
  /** When it was that the figures were taken. */
  readonly interval: Interval;
  /** All that was used then. */
  readonly cpuSeconds: number;
}

interface Memory {
  readonly rss: number;
  /** What is in use after all garbage is collected, for those who can tell. In megabytes, as the other one. */
  readonly heap: number;
}

export interface StormFigures extends Measured, Memory {
  readonly cpuMsPerObject: number;
  readonly perSecond: number;
}

/** In milliseconds. */
export interface SightFigures extends Measured, Memory {
  readonly toFirstRequest: number;
  readonly fromFirstRequest: number;
}

/** In milliseconds. */
export interface LatencyFigures extends Measured {
  readonly p50: number;
  readonly p99: number;
}

export interface IdleFigures extends Measured {
  readonly cpuPercent: number;
  readonly requests: readonly string[];
}

/** The operators are given some time to open their streams, though they say that they are ready. */
const SETTLING = 1.5;
const LIMIT = 180;

/** Many objects are created at once, each to be handled once, with one result. */
export async function creationStorm(
  stage: Stage,
  contestant: Contestant,
  count: number,
  workload: Workload = 'create',
): Promise<StormFigures> {
  const { objects, kubeconfig } = stage;
  await objects.removeAll();
  await using running = start(contestant, { kubeconfig, workload });
  await within(LIMIT, running.says('READY'), `${contestant.name} to be ready`);
  await pause(SETTLING);
  const handled = handledObjects(objects, count);
  await handled.isFollowed;
  const [from, cpuBefore] = [now(), running.cpuSeconds()];
  await objects.createMany(count);
  await within(LIMIT, handled.areAll, `${contestant.name} to handle all objects`);
  const seconds = (now() - from) / 1000;
  // The events of the last patches are still on their way back.
  await pause(SETTLING);
  const [to, cpuSeconds] = [now(), running.cpuSeconds() - cpuBefore];
  handled.stop();
  await stage.verify();
  return {
    interval: { from, to },
    cpuSeconds,
    cpuMsPerObject: (cpuSeconds * 1000) / count,
    perSecond: count / seconds,
    rss: running.rss(),
    heap: await running.heap(),
  };
}

/** From the start of the process to its first request for the objects, and from there until it has seen all of them. */
export async function firstSight(stage: Stage, contestant: Contestant, count: number): Promise<SightFigures> {
  const { kubeconfig, auditLog } = stage;
  const readRequests = auditLog === undefined ? () => [] : requestsFromNowOn(auditLog);
  const from = now();
  await using running = start(contestant, { kubeconfig, workload: 'events', objects: count });
  const [moment = ''] = await within(LIMIT, running.says('SEEN'), `${contestant.name} to see all objects`);
  const [to, cpuSeconds] = [Number(moment), running.cpuSeconds()];
  await pause(SETTLING);
  await stage.verify();
  const [first] = readRequests().filter(({ uri }) => uri.startsWith('/apis/kopf.dev/v1/kopfexamples'));
  const asked = first === undefined ? Number.NaN : first.at - wallClockOf(from);
  return {
    interval: { from, to },
    cpuSeconds,
    toFirstRequest: asked,
    fromFirstRequest: to - from - asked,
    rss: running.rss(),
    heap: await running.heap(),
  };
}

/** From sending an update until the handler of it is called. */
export async function updateLatency(stage: Stage, contestant: Contestant, count: number): Promise<LatencyFigures> {
  const { objects, kubeconfig } = stage;
  const OBJECTS = 20;
  await objects.removeAll();
  await using running = start(contestant, { kubeconfig, workload: 'update' });
  await within(LIMIT, running.says('READY'), `${contestant.name} to be ready`);
  await pause(SETTLING);
  await objects.createMany(OBJECTS);
  await pause(2 * SETTLING);
  const [from, cpuBefore] = [now(), running.cpuSeconds()];
  const latencies: number[] = [];
  for (let number = 0; number < count; number++) {
    const updated = running.says('UPDATED');
    const sentAt = now();
    await objects.patch(`object-${number % OBJECTS}`, { spec: { number: 1000 + number } });
    const [, moment] = await within(LIMIT, updated, `${contestant.name} to handle an update`);
    latencies.push(Number(moment) - sentAt);
    // What the handler has left is written, and comes back.
    await pause(0.015);
  }
  const [to, cpuSeconds] = [now(), running.cpuSeconds() - cpuBefore];
  await stage.verify();
  return { interval: { from, to }, cpuSeconds, p50: percentile(latencies, 50), p99: percentile(latencies, 99) };
}

/** All existing objects are handled; then nothing happens for a while. */
export async function idleness(stage: Stage, contestant: Contestant, seconds: number): Promise<IdleFigures> {
  const { objects, kubeconfig, auditLog } = stage;
  if (auditLog === undefined) throw new Error('Requests can only be counted where the API server logs them.');
  const handled = handledObjects(objects, (await objects.count()) || 1);
  await handled.isFollowed;
  await using running = start(contestant, { kubeconfig, workload: 'create' });
  await within(LIMIT, handled.areAll, `${contestant.name} to handle all objects`);
  handled.stop();
  await pause(4 * SETTLING);
  const readRequests = requestsFromNowOn(auditLog);
  const [from, cpuBefore] = [now(), running.cpuSeconds()];
  await pause(seconds);
  const [to, cpuSeconds] = [now(), running.cpuSeconds() - cpuBefore];
  const requests = readRequests().map(({ verb, uri }) => `${verb} ${uri}`);
  await stage.verify();
  return { interval: { from, to }, cpuSeconds, cpuPercent: (cpuSeconds / ((to - from) / 1000)) * 100, requests };
}

interface HandledObjects {
  readonly isFollowed: Promise<void>;
  readonly areAll: Promise<void>;
  stop(): void;
}

function handledObjects(objects: Objects, count: number): HandledObjects {
  const handled = new Set<string>();
  let resolve = (): void => {};
  const areAll = new Promise<void>((settle) => {
    resolve = settle;
  });
  let stop = (): void => {};
  const isFollowed = objects
    .watch(({ metadata, status }) => {
      if (status?.create_fn?.ok) handled.add(metadata.name);
      if (handled.size === count) resolve();
    })
    .then((stopWatching) => {
      stop = stopWatching;
    });
  return { isFollowed, areAll, stop: () => stop() };
}

interface LoggedRequest {
  /** In milliseconds of the wall clock. */
  readonly at: number;
  readonly verb: string;
  readonly uri: string;
}

/** Requests of others than the control plane itself, in the order in which they have come; watches count as they begin. */
function requestsFromNowOn(auditLog: string): () => readonly LoggedRequest[] {
  const { size } = statSync(auditLog);
  return () => {
    const lines = readFileSync(auditLog).subarray(size).toString().split('\n').filter(Boolean);
    const events = lines.map((line) => JSON.parse(line) as AuditEvent);
    // A watch is told of twice; by its end, it may be one from before.
    const begun = events.filter(({ user, verb, stage }) => {
      return !user.username.startsWith('system:') && (verb !== 'watch' || stage === 'ResponseStarted');
    });
    return begun
      .map(({ verb, requestURI, requestReceivedTimestamp }) => {
        return { at: momentOf(requestReceivedTimestamp), verb, uri: requestURI };
      })
      .toSorted((a, b) => a.at - b.at);
  };
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly requestReceivedTimestamp: string;
  readonly user: { readonly username: string };
}

/** With the microseconds, which `Date` does not keep. */
function momentOf(timestamp: string): number {
  const [, fraction = '0'] = timestamp.match(/\.(\d+)Z$/) ?? [];
  return Math.floor(Date.parse(timestamp) / 1000) * 1000 + Number(`0.${fraction}`) * 1000;
}

async function within<T>(seconds: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It takes more than ${seconds} s for ${what}.`)), seconds * 1000);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
