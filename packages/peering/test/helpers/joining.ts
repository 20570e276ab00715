/** An operator that takes part in a peering of the embedded cluster, on the manual clock. */
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import type { Clock, Insights, KubeClient, Mapping, Peering, PeeringScope, Resource } from '@kopf-ts/core';
import { container, discover, parseSelector, toggle } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { onTestFinished } from 'vitest';

export interface Rig {
  readonly cluster: LocalCluster;
  readonly clock: ManualClock;
  readonly insights: TestInsights;
}

export interface TestInsights extends Insights {
  /** Looks at what the cluster has now, as the operator does when the kinds change. */
  rescan(): Promise<void>;
}

const KINDS = [
  { plural: 'kopfpeerings', kind: 'KopfPeering', namespaced: true },
  { plural: 'clusterkopfpeerings', kind: 'ClusterKopfPeering', namespaced: false },
];

/** Both kinds of a group, as the manifest of peerings has them. */
export async function definePeerings(cluster: LocalCluster, group = 'kopf.dev'): Promise<void> {
  for (const kind of KINDS) await cluster.define({ group, version: 'v1', ...kind });
}

export function peeringObject(namespace: string | null, options: { group?: string; name?: string } = {}) {
  const { group = 'kopf.dev', name = 'default' } = options;
  return namespace === null
    ? { apiVersion: `${group}/v1`, kind: 'ClusterKopfPeering', metadata: { name } }
    : { apiVersion: `${group}/v1`, kind: 'KopfPeering', metadata: { name, namespace } };
}

/** A cluster with the kinds and, unless told otherwise, with the objects. */
export async function makeRig(options: { kinds?: boolean; objects?: boolean } = {}): Promise<Rig> {
  const { kinds = true, objects = kinds } = options;
  const clock = manualClock({ start: '2020-12-31T23:59:59.123Z' });
  const cluster = await localCluster({ clock, listen: false, controllers: false });
  onTestFinished(() => cluster.stop());
  if (kinds) await definePeerings(cluster);
  if (objects) {
    await cluster.create(peeringObject(null));
    await cluster.create(peeringObject('default'));
  }
  const insights = testInsights(cluster.client);
  await insights.rescan();
  return { cluster, clock, insights };
}

export function testInsights(client: KubeClient): TestInsights {
  const known = container<readonly Resource[]>([]);
  return {
    watched: new Set(),
    indexed: new Set(),
    webhook: new Set(),
    namespaces: new Set(),
    find: (selector) => [...parseSelector(selector).select(known.value ?? [])][0],
    whenReady: () => Promise.resolve(),
    async *revisions(signal) {
      for await (const _resources of known.values(signal)) yield;
    },
    async rescan() {
      const { resources } = await discover(client);
      known.put(resources);
    },
  };
}

export interface Joined {
  readonly logger: RecordingLogger;
  readonly isPaused: boolean;
  /** The answer of the write guard; `undefined` if there is none. */
  readonly mayWrite: boolean | undefined;
  /** How many times the toggle was turned from one to the other. */
  readonly turns: readonly boolean[];
  /** How the joining has ended, if it has. */
  readonly outcome: 'resolved' | 'rejected' | undefined;
  readonly error: unknown;
  /** Does not wait. */
  abort(): void;
}

export interface JoinOptions {
  readonly namespace?: string | null;
  readonly client?: KubeClient;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** Joins, and lets everything happen that happens without the time moving. */
export async function join(rig: Rig, peering: Peering, options: JoinOptions = {}): Promise<Joined> {
  const logger = recordingLogger();
  const aborting = new AbortController();
  const paused = toggle(true);
  const turns: boolean[] = [];
  let writeGuard: (() => boolean) | undefined;
  let outcome: Joined['outcome'];
  let error: unknown;
  const scope: PeeringScope = {
    namespace: options.namespace === undefined ? 'default' : options.namespace,
    insights: rig.insights,
    client: options.client ?? rig.cluster.client,
    clock: options.clock ?? rig.clock,
    logger,
    paused: {
      get isOn() {
        return paused.isOn;
      },
      turn(on) {
        if (on !== paused.isOn) turns.push(on);
        paused.turn(on);
      },
      whenOn: paused.whenOn,
      whenOff: paused.whenOff,
    },
    guardWrites: (mayWrite) => {
      writeGuard = mayWrite;
    },
    signal: options.signal ?? aborting.signal,
  };
  peering.join(scope).then(
    () => {
      outcome = 'resolved';
    },
    (thrown: unknown) => {
      outcome = 'rejected';
      error = thrown;
    },
  );
  await rig.clock.settle();
  onTestFinished(async () => {
    aborting.abort();
    await rig.clock.advance(10);
  });
  return {
    logger,
    turns,
    get isPaused() {
      return paused.isOn;
    },
    get mayWrite() {
      return writeGuard?.();
    },
    get outcome() {
      return outcome;
    },
    get error() {
      return error;
    },
    abort: () => aborting.abort(),
  };
}

/** The records in the peering object. */
export function records(rig: Rig, reference = 'kopfpeerings/default/default'): Mapping {
  return (rig.cluster.get(reference)?.status ?? {}) as Mapping;
}

/** Writes records as other operators do; `null` removes them. */
export async function writeRecords(rig: Rig, status: Mapping, reference = 'kopfpeerings/default/default') {
  await rig.cluster.patch(reference, { status });
  await rig.clock.settle();
}

/** A record of somebody who was there so many seconds ago, by a clock that is fast by `skew`. */
export function record(rig: Rig, fields: { priority?: number; lifetime?: number; ago?: number } = {}): Mapping {
  const { priority = 0, lifetime = 60, ago = 0 } = fields;
  const lastseen = new Date(rig.clock.utc().getTime() - ago * 1000).toISOString().replace('Z', '000+00:00');
  return { priority, lifetime, lastseen };
}
