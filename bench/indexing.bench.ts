/**
 * What it costs to keep an index of very many objects up to date, and to look into it: measured by a plain `Map` of
 * the same keys and values in the same run. An update is the whole way of an event through the indexer: freezing the
 * object, matching the function, calling it with its kwargs, and replacing what the object had in the index. The plain
 * `Map` takes its keys and values from new objects, too: keys that were used before are cheaper than those of a stream.
 * Medians of short chunks leave out the pauses for garbage collection on both sides.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type AnyObject, type Clock, createRegistry, type IndexRef, type Logger, settings } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { memoryIndexer } from '@kopf-ts/indexing';
import { median } from './figures.js';

const OBJECTS = 100_000;
const NODES = 1000;
const ROUNDS = 5;
/** Short enough for most of them not to be interrupted by whatever else the machine does. */
const CHUNK = 100;
const UPDATE_GOAL = 20;
const LOOKUP_GOAL = 3;

const pods = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', singular: 'pod' });
const ignore = (): void => {};
const logger: Logger = {
  ...{ debug: ignore, info: ignore, warn: ignore, error: ignore },
  isEnabled: (level) => level !== 'debug',
  child: () => logger,
};
const clock: Clock = {
  now: () => performance.now() / 1000,
  utc: () => new Date(),
  sleep: () => Promise.reject(new Error('Nobody is expected to sleep.')),
};

export default async function run(): Promise<void> {
  const { index, handlers, ...registrars } = createRegistry();
  const registry = { index, handlers, ...registrars };
  const byName = index('pods', { id: 'byName' }, ({ name, meta }) => ({ [name]: meta.resourceVersion }));
  report('one name, one pod', registry, byName, (n) => names[n] as string);

  const others = createRegistry();
  const byNode = others.index('pods', { id: 'byNode' }, ({ spec, meta }) => ({
    [spec['nodeName'] as string]: meta.resourceVersion,
  }));
  report(`one node, ${OBJECTS / NODES} pods`, others, byNode, nodeOf);

  const structural = createRegistry();
  const byPlace = structural.index(
    'pods',
    { id: 'byPlace' },
    ({ namespace, name, meta }) => new Map([[[namespace, name], meta.resourceVersion]]),
  );
  report('keys of two parts (no goal)', structural, byPlace, (n) => ['default', names[n]], { hasGoal: false });
}

const names = Array.from({ length: OBJECTS }, (_, n) => `pod-${(n * 2654435761) % 4294967296}-${n}`);
const nodeOf = (n: number): string => `node-${n % NODES}`;
const texts = names.map((name, n) =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion: '', labels: { app: 'demo' } },
    spec: { nodeName: nodeOf(n), containers: [{ name: 'main', image: 'registry.example.com/image' }] },
    status: { phase: 'Running' },
  }),
);
/** Neither the order of making nor of the alphabet: as it would be in a cluster. */
const shuffled = Array.from({ length: OBJECTS }, (_, n) => (n * 7919) % OBJECTS);

function report<K, V>(
  title: string,
  registry: ReturnType<typeof createRegistry>,
  ref: IndexRef<K, V>,
  keyOf: (n: number) => unknown,
  { hasGoal = true } = {},
): void {
  const before = heapUsed();
  const indexer = memoryIndexer({ registry, settings: settings(), clock });
  const accept = (object: AnyObject): unknown =>
    indexer.accept({ event: { type: 'MODIFIED', object }, resource: pods, memo: undefined, logger });
  for (const n of shuffled) accept(makeObject(n, 0));
  const bytes = (heapUsed() - before) / OBJECTS;

  const map = new Map<unknown, unknown>();
  const put = ({ metadata }: AnyObject): unknown => map.set(metadata?.name, metadata?.resourceVersion);
  for (const n of shuffled) put(makeObject(n, 0));
  const found = indexer.indices.get(ref);
  const times = {
    mapUpdate: [] as number[],
    update: [] as number[],
    mapLookup: [] as number[],
    lookup: [] as number[],
  };
  for (let round = 1; round <= ROUNDS; round++) {
    // Objects are garbage soon after they came from the stream: so they are not all made in advance.
    const make = (n: number): AnyObject => makeObject(n, round);
    times.mapUpdate.push(...timesOf(shuffled, make, put));
    times.update.push(...timesOf(shuffled, make, accept));
    times.mapLookup.push(
      ...timesOf(
        shuffled,
        (n) => names[n],
        (key) => map.get(key),
      ),
    );
    times.lookup.push(
      ...timesOf(
        shuffled,
        (n) => keyOf(n) as K,
        (key) => found.get(key),
      ),
    );
  }
  const wanted = hasGoal ? { update: UPDATE_GOAL, lookup: LOOKUP_GOAL } : undefined;
  console.log(`${title}, ${OBJECTS.toLocaleString('en-US')} objects, ${found.size.toLocaleString('en-US')} keys:`);
  line('update', times.update, times.mapUpdate, wanted?.update);
  line('lookup', times.lookup, times.mapLookup, wanted?.lookup);
  console.log(`  memory per entry: ${bytes.toFixed(0)} bytes`);
}

function makeObject(n: number, round: number): AnyObject {
  return JSON.parse((texts[n] as string).replace('"resourceVersion":""', `"resourceVersion":"${round}"`)) as AnyObject;
}

/** Nanoseconds for one item, of each chunk of them. Making the items is not counted. */
function timesOf<T>(numbers: readonly number[], make: (n: number) => T, fn: (item: T) => unknown): number[] {
  const times: number[] = [];
  for (let first = 0; first < numbers.length; first += CHUNK) {
    const items = numbers.slice(first, first + CHUNK).map(make);
    const started = performance.now();
    for (const item of items) fn(item);
    times.push(((performance.now() - started) * 1_000_000) / items.length);
  }
  return times;
}

function line(title: string, times: readonly number[], plain: readonly number[], goal: number | undefined): void {
  const ratio = median(times) / median(plain);
  const verdict = goal === undefined ? '' : ratio <= goal ? ' (ok)' : ` (worse than the goal of ${goal}×)`;
  const figures = `${median(times).toFixed(0)} ns = ${ratio.toFixed(1)}× a plain Map at ${median(plain).toFixed(0)} ns`;
  console.log(`  ${title}: ${figures}${verdict}`);
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
