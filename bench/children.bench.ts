/**
 * What it costs to look up the children of an object among very many: measured by a plain `Map` from the same uids to lists of
 * the same objects, in the same run. Medians of short chunks leave out the pauses for garbage collection on both sides.
 */
import {
  type AnyObject,
  type Clock,
  createRegistry,
  type KubeClient,
  type Logger,
  settings as makeSettings,
} from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { allObjects, relations as makeRelations } from '@kopf-ts/reactor';
import { median, type Row, row } from './figures.js';

const CHILDREN = 20_000;
const ROUNDS = 5;
const CHUNK = 1000;
const LOOKUP_GOAL = 3;

const parents = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });
const pods = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', singular: 'pod', namespaced: true });
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

export default async function run(): Promise<readonly Row[]> {
  return [...report(1), ...report(20), ...report(CHILDREN)];
}

/** With so many children for each parent. */
function report(perParent: number): readonly Row[] {
  const registry = createRegistry();
  registry.owns('kopfexamples', 'pods');
  const objects = allObjects({ now: () => clock.now(), logger });
  const insights = { watched: new Set([parents, pods]), namespaces: new Set([null]) };
  const settings = makeSettings();
  const relations = makeRelations({ registry, settings, logger, client: {} as KubeClient, objects, insights });
  const stream = relations.stream({ resource: pods, namespace: null, onCompleteness: ignore });
  const plain = new Map<string, AnyObject[]>();
  const bodies: AnyObject[] = [];
  for (let n = 0; n < CHILDREN; n++) {
    const uid = `5f1ac6f4-0000-4000-8000-${String(Math.floor(n / perParent)).padStart(12, '0')}`;
    const name = `pod-${n}`;
    const metadata = {
      name,
      uid: name,
      namespace: 'default',
      resourceVersion: String(n + 1),
      ownerReferences: [{ uid }],
    };
    const object: AnyObject = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: 'node' } };
    stream.accept({ type: null, object });
    const list = plain.get(uid);
    if (list === undefined) {
      plain.set(uid, [object]);
      bodies.push({
        apiVersion: 'kopf.dev/v1',
        kind: 'KopfExample',
        metadata: { name: uid, uid, namespace: 'default' },
      });
    } else list.push(object);
  }
  stream.listed();
  const shuffled = Array.from({ length: CHUNK }, (_, n) => bodies[(n * 7919) % bodies.length] as AnyObject);
  const ours = (): number => {
    let found = 0;
    for (const body of shuffled) found += relations.children({ resource: parents, body }, 'pods').length;
    return found;
  };
  const theirs = (): number => {
    let found = 0;
    for (const { metadata } of shuffled) found += plain.get(metadata?.uid as string)?.length ?? 0;
    return found;
  };
  if (ours() !== theirs()) throw new Error('The children are not the same.');
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [first, second] = round % 2 === 0 ? [ours, theirs] : [theirs, ours];
    const times = new Map([first, second].map((lookUp) => [lookUp, paceOf(lookUp)]));
    ratios.push((times.get(ours) ?? 0) / (times.get(theirs) ?? 1));
    console.log(
      `children(), ${perParent} of ${CHILDREN} each: ${ns(times.get(ours))} ns, a Map: ${ns(times.get(theirs))} ns`,
    );
  }
  const title = `children() of one with ${perParent}, of ${CHILDREN}: lookup, to a Map`;
  return [row(title, ratios, { unit: ' ×', atMost: LOOKUP_GOAL })];
}

/** In milliseconds, of one chunk. */
function paceOf(lookUp: () => number): number {
  const times: number[] = [];
  for (let chunk = 0; chunk < 300; chunk++) {
    const began = performance.now();
    lookUp();
    times.push(performance.now() - began);
  }
  return median(times);
}

function ns(milliseconds = 0): string {
  return ((milliseconds * 1e6) / CHUNK).toFixed(0);
}
