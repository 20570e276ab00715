import { localCluster } from '@kopf-ts/apiserver';
import { type Peering, type Seconds, settings } from '@kopf-ts/core';
import { toggle } from '@kopf-ts/core/engine';
import { manualClock, type PeeringUnderTest, recordingLogger, testPeering } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import { kopfPeering, leasePeering, standalone } from '../src/index.js';
import { definePeerings, peeringObject, testInsights } from './helpers/joining.js';

/** A cluster with peerings in it, and others that have joined there. */
async function world(peerings: { mine: Peering; elder: Peering; successor: Peering }): Promise<PeeringUnderTest> {
  const clock = manualClock();
  const cluster = await localCluster({ clock, listen: false, controllers: false });
  await definePeerings(cluster);
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns2' } });
  for (const namespace of ['default', 'ns2']) await cluster.create(peeringObject(namespace));
  const insights = testInsights(cluster.client);
  await insights.rescan();
  const leavings: (() => void)[] = [];
  const elder = async () => {
    const staying = new AbortController();
    const parts = { insights, client: cluster.client, clock, logger: recordingLogger() };
    const scope = {
      namespace: 'default',
      paused: toggle(true),
      guardWrites: () => {},
      signal: staying.signal,
      ...parts,
    };
    const done = peerings.elder.join(scope);
    leavings.push(() => staying.abort());
    await clock.settle();
    return {
      leave() {
        staying.abort();
        return done;
      },
    };
  };
  return {
    peering: peerings.mine,
    successor: peerings.successor,
    clock,
    client: cluster.client,
    insights,
    namespaces: ['default', 'ns2'],
    elder,
    outage: () => {
      const outage = cluster.faults.add({ answer: { status: 503 } });
      cluster.faults.resetStreams();
      return () => outage.remove();
    },
    async cleanUp() {
      for (const leave of leavings) leave();
      await clock.advance(10);
      await cluster.stop();
    },
  };
}

describe('standalone', () => {
  testPeering(() => ({ peering: standalone(), clock: manualClock() }), { describe, it });
});

describe('as Kopf does', () => {
  const peer = (identity: string, priority: number) =>
    kopfPeering({ settings: settings({ peering: { priority } }), identity });
  const create = async (): Promise<PeeringUnderTest> => {
    const target = await world({ mine: peer('mine', 0), elder: peer('elder', 1), successor: peer('successor', -1) });
    return target.elder === undefined ? target : { ...target, usurp: target.elder };
  };
  testPeering(create, { describe, it });
});

describe('by leases', () => {
  const replica = (identity: string, leaseDuration: Seconds = 15) =>
    leasePeering({ name: 'operator', namespace: 'default', identity, leaseDuration });
  const create = async (): Promise<PeeringUnderTest> => {
    const target = await world({ mine: replica('mine'), elder: replica('elder'), successor: replica('successor') });
    const spec = { holderIdentity: 'usurper', leaseDurationSeconds: 100 };
    const usurp = () =>
      target.client?.request({
        method: 'PATCH',
        path: '/apis/coordination.k8s.io/v1/namespaces/default/leases/operator',
        contentType: 'application/merge-patch+json',
        body: { spec },
      });
    return { ...target, usurp };
  };
  testPeering(create, { describe, it });
});
