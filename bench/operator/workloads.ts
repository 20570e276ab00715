/** What is done to the operators, and what is measured of them meanwhile. */
import { median } from '../figures.js';
import { type Contestant, start } from './contestants.js';
import { type Objects, pause } from './objects.js';

export interface Stage {
  readonly objects: Objects;
  readonly kubeconfig: string;
}

/** The operators are given some time to open their streams, though they say that they are ready. */
const SETTLING = 1.5;
const LIMIT = 180;

export interface StormFigures {
  readonly cpuMsPerObject: number;
  readonly perSecond: number;
}

/** Many objects are created at once, each to be handled once, with one result. */
export async function creationStorm(stage: Stage, contestant: Contestant, count: number): Promise<StormFigures> {
  const { objects, kubeconfig } = stage;
  await objects.removeAll();
  const isReady = deferred();
  const onLine = (line: string): void => {
    if (line === 'READY') isReady.resolve();
  };
  const running = start(contestant, { kubeconfig, workload: 'create', onLine });
  try {
    await within(LIMIT, isReady.promise, `${contestant.name} to be ready`);
    await pause(SETTLING);
    const handled = new Set<string>();
    const areHandled = deferred();
    const stopWatching = await objects.watch(({ metadata, status }) => {
      if (status?.create_fn?.ok) handled.add(metadata.name);
      if (handled.size === count) areHandled.resolve();
    });
    const cpuBefore = running.cpuSeconds();
    const startedAt = performance.now();
    await objects.createMany(count);
    await within(LIMIT, areHandled.promise, `${contestant.name} to handle all objects`);
    const seconds = (performance.now() - startedAt) / 1000;
    // The events of the last patches are still on their way back.
    await pause(SETTLING);
    stopWatching();
    return { cpuMsPerObject: ((running.cpuSeconds() - cpuBefore) * 1000) / count, perSecond: count / seconds };
  } finally {
    await running.stop();
  }
}

/** From the start of the process until it has seen all the objects that exist, in seconds. */
export async function firstSight(stage: Stage, contestant: Contestant, count: number): Promise<number> {
  const seen = new Set<string>();
  const areSeen = deferred();
  const onLine = (line: string): void => {
    if (line.startsWith('SEEN ')) seen.add(line);
    if (seen.size === count) areSeen.resolve();
  };
  const startedAt = performance.now();
  const running = start(contestant, { kubeconfig: stage.kubeconfig, workload: 'events', onLine });
  try {
    await within(LIMIT, areSeen.promise, `${contestant.name} to see all objects`);
    return (performance.now() - startedAt) / 1000;
  } finally {
    await running.stop();
  }
}

/** From sending an update until the handler of it is called, in milliseconds: the median of many. */
export async function updateLatency(stage: Stage, contestant: Contestant, count: number): Promise<number> {
  const { objects, kubeconfig } = stage;
  const OBJECTS = 20;
  await objects.removeAll();
  const isReady = deferred();
  let onUpdated: (at: number) => void = () => {};
  const onLine = (line: string): void => {
    const [what, , at] = line.split(' ');
    if (what === 'READY') isReady.resolve();
    if (what === 'UPDATED') onUpdated(Number(at));
  };
  const running = start(contestant, { kubeconfig, workload: 'update', onLine });
  try {
    await within(LIMIT, isReady.promise, `${contestant.name} to be ready`);
    await pause(SETTLING);
    await objects.createMany(OBJECTS);
    await pause(2 * SETTLING);
    const latencies: number[] = [];
    for (let number = 0; number < count; number++) {
      const updated = new Promise<number>((resolve) => {
        onUpdated = resolve;
      });
      const sentAt = Date.now();
      await objects.patch(`object-${number % OBJECTS}`, { spec: { number: 1000 + number } });
      latencies.push((await within(LIMIT, updated, `${contestant.name} to handle an update`)) - sentAt);
      // What the handler has left is written, and comes back.
      await pause(0.05);
    }
    return median(latencies);
  } finally {
    await running.stop();
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
}

function deferred(): Deferred {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
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
