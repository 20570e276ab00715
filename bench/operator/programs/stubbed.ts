/**
 * An operator in a process of its own with an imagined cluster: how much one more object costs, in time and memory. With
 * `SNAPSHOTS=folder`, it leaves snapshots of the heap there: before and after the objects or daemons were made.
 */
import { join } from 'node:path';
import { writeHeapSnapshot } from 'node:v8';
import { createRegistry, type Logger } from '@kopf-ts/core';
import { operator } from 'kopf-ts';
import { type StubCluster, stubCluster } from './stub-cluster.js';

const silent: Logger = {
  debug() {},
  info() {},
  // The collection of garbage holds the event loop for long, which is told of.
  warn() {},
  error: (message, fields) => console.error(message, fields?.error),
  isEnabled: (level) => level === 'error',
  child: () => silent,
};

const [what, ...counts] = process.argv.slice(2);
const registry = createRegistry();
const cluster = stubCluster();

const measurements: Record<string, () => Promise<object>> = {
  /** CPU milliseconds per object, with few objects and with many. */
  async pace() {
    const [few = 0, many = 0, sample = 0] = counts.map(Number);
    registry.on.create('kopfexamples', { id: 'create_fn' }, async () => ({ ok: true }));
    await using _running = await started(cluster);
    await cluster.create(few, 2);
    const withFew = await cpuPerObject(sample);
    await cluster.create(many - few - sample, 2);
    return { withFew, withMany: await cpuPerObject(sample) };
  },

  /** Bytes per object that was handled and is idle; and of that, what is its essence. */
  async objects() {
    const [warmUp = 0, sample = 0] = counts.map(Number);
    registry.on.create('kopfexamples', { id: 'create_fn' }, async () => ({ ok: true }));
    await using _running = await started(cluster);
    const perObject = await bytesPerObject(warmUp, sample, 2);
    const before = await heap();
    const essence = JSON.stringify({ spec: { duration: '1m', field: 'value', items: ['item1', 'item2'] } });
    const essences = Array.from({ length: sample }, () => JSON.parse(essence) as object);
    const perEssence = ((await heap()) - before) / essences.length;
    return { perObject, perEssence };
  },

  /** Bytes per object with a daemon that waits for its end; and of that, what is the object that it sees. */
  async daemons() {
    const [warmUp = 0, sample = 0] = counts.map(Number);
    registry.daemon('kopfexamples', { id: 'daemon_fn' }, async ({ stopped }) => {
      await new Promise((resolve) => stopped.addEventListener('abort', resolve));
    });
    await using _running = await started(cluster);
    const perObject = await bytesPerObject(warmUp, sample, 1);
    const before = await heap();
    const bodies = Array.from({ length: sample }, () => JSON.parse(cluster.sample) as object);
    return { perObject, perBody: ((await heap()) - before) / bodies.length };
  },
};

async function started({ client }: StubCluster): Promise<AsyncDisposable> {
  const running = operator({ registry, client, clusterwide: true, standalone: true, logger: silent });
  await running.ready;
  return running;
}

async function cpuPerObject(sample: number): Promise<number> {
  // The best of several: others on the machine can only make it worse.
  const figures: number[] = [];
  const ROUNDS = 4;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    await cluster.create(sample / ROUNDS, 2);
    const { user, system } = process.cpuUsage(before);
    figures.push((user + system) / 1000 / (sample / ROUNDS));
  }
  return Math.min(...figures);
}

async function bytesPerObject(warmUp: number, sample: number, patches: number): Promise<number> {
  await cluster.create(warmUp, patches);
  const before = await heap();
  keepSnapshot('before');
  await cluster.create(sample, patches);
  const after = await heap();
  keepSnapshot('after');
  return (after - before) / sample;
}

function keepSnapshot(name: string): void {
  const folder = process.env['SNAPSHOTS'];
  if (folder) writeHeapSnapshot(join(folder, `${name}.heapsnapshot`));
}

/** What is collectable is told in several turns. */
async function heap(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    (globalThis as { gc?: () => void }).gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return process.memoryUsage().heapUsed;
}

const measure = measurements[what ?? ''];
if (measure === undefined) throw new Error(`There is nothing to measure under the name "${what}".`);
process.send?.(await measure());
process.exit();
