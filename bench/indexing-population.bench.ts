/**
 * What it costs to fill the indices before the first handler is called: the time from the first request for the
 * objects to the first call of a handler, beside the time of listing the same objects and doing nothing with them.
 * The server is in a process of its own; the two are measured in turns, by the same client.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { kubeClient } from '@kopf-ts/client';
import { type ConnectionInfo, createRegistry, type KubeClient, type KubeRequest, type Logger } from '@kopf-ts/core';
import { list, makeResource } from '@kopf-ts/core/engine';
import { systemClock } from '@kopf-ts/reactor';
import { operator } from 'kopf-ts';
import { messageOf, withBuiltServer } from './apiserver/building.js';
import { definition, PATH, sampleOf } from './apiserver/samples.js';
import { median } from './figures.js';

const OBJECTS = 20_000;
const OBJECT_BYTES = 2048;
const ROUNDS = 5;
const GOAL = 1.3;

const [, , group = '', version = '', , , plural = ''] = PATH.split('/');
const things = makeResource({ group, version, plural, namespaced: true });
const ignore = (): void => {};
const logger: Logger = {
  ...{ debug: ignore, info: ignore, warn: ignore, error: (text: string) => console.log(text) },
  isEnabled: (level) => level === 'error',
  child: () => logger,
};

interface Cost {
  readonly seconds: number;
  readonly cpu: number;
}

export default async function run(): Promise<void> {
  await withBuiltServer(async (built) => {
    const sample = JSON.stringify(sampleOf('thing-00000', OBJECT_BYTES, ''));
    const server = built.start(serve, { args: [definition(), PATH, sample, OBJECTS] });
    const connection = await messageOf<ConnectionInfo>(server);
    await using client = kubeClient({ connection, clock: systemClock, logger });
    const costs = { listing: [] as Cost[], population: [] as Cost[] };
    // The first round of each is for the compiler.
    for (let round = 0; round <= ROUNDS; round++) {
      await tidyUp();
      const listing = await measureListing(client);
      await tidyUp();
      const population = await measurePopulation(client);
      if (round === 0) continue;
      costs.listing.push(listing);
      costs.population.push(population);
    }
    report(costs);
  });
}

function report({ listing, population }: Readonly<Record<'listing' | 'population', readonly Cost[]>>): void {
  const count = OBJECTS.toLocaleString('en-US');
  for (const [title, costs] of [
    [`a bare list of ${count} objects`, listing],
    ['until the first handler, all in the index', population],
  ] as const) {
    const [seconds, cpu] = [median(costs.map((cost) => cost.seconds)), median(costs.map((cost) => cost.cpu))];
    console.log(`${title}: ${seconds.toFixed(2)} s, of which ${cpu.toFixed(2)} s of our own CPU`);
  }
  // In pairs: what disturbs one of them, mostly disturbs the other one, too.
  const ratios = population.map(({ seconds }, round) => seconds / (listing[round]?.seconds ?? Number.NaN));
  const ratio = median(ratios);
  const verdict = ratio <= GOAL ? 'ok' : `worse than the goal of ${GOAL} ×`;
  const range = `${Math.min(...ratios).toFixed(2)}…${Math.max(...ratios).toFixed(2)}`;
  console.log(`  ${ratio.toFixed(2)} × (${range} in ${ratios.length} rounds): ${verdict}`);
}

async function measureListing(client: KubeClient): Promise<Cost> {
  const since = stopwatch();
  const { items } = await list(client, things);
  if (items.length !== OBJECTS) throw new Error(`There are ${items.length} objects.`);
  return since();
}

async function measurePopulation(client: KubeClient): Promise<Cost> {
  let since: (() => Cost) | undefined;
  const onRequest = ({ path }: KubeRequest): void => {
    if (path.includes(`/${plural}?`)) since ??= stopwatch();
  };
  const observed: KubeClient = {
    request(request) {
      onRequest(request);
      return client.request(request);
    },
    stream(request) {
      onRequest(request);
      return client.stream(request);
    },
  };
  const registry = createRegistry();
  const byName = registry.index(things, { id: 'byName' }, ({ name, spec }) => ({ [name]: spec['replicas'] }));
  const called = new Promise<{ readonly cost: Cost | undefined; readonly size: number }>((resolve) => {
    registry.on.event(things, ({ indices }) => {
      resolve({ cost: since?.(), size: indices.get(byName).size });
    });
  });
  const running = operator({ registry, client: observed, logger, clusterwide: true, standalone: true });
  running.done.catch((error: unknown) => console.log(error));
  const { cost, size } = await called;
  await running.stop();
  if (size !== OBJECTS || cost === undefined) throw new Error(`There are ${size} objects in the index.`);
  return cost;
}

/** Nobody has to clean up after those before. */
async function tidyUp(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function stopwatch(): () => Cost {
  const [began, usage] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(usage);
    return { seconds: (performance.now() - began) / 1000, cpu: (user + system) / 1e6 };
  };
}

async function serve(server: string, kind: object, path: string, sample: string, count: number): Promise<void> {
  const { localCluster } = (await import(server)) as typeof import('@kopf-ts/apiserver');
  const cluster = await localCluster();
  await cluster.create(kind);
  for (let number = 0; number < count; number++) {
    const body = JSON.parse(sample.replace('thing-00000', `thing-${String(number).padStart(5, '0')}`));
    await cluster.client.request({ method: 'POST', path, body });
  }
  process.send?.({ server: cluster.url, token: cluster.token });
}
