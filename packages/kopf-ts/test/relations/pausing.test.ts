import { leasePeering } from '@kopf-ts/peering';
import { createRegistry, type OperatorOptions, settings } from 'kopf-ts';
import { operatorRunner, type TestCluster, testCluster } from 'kopf-ts/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const PEERINGS = { group: 'kopf.dev', plural: 'clusterkopfpeerings', kind: 'ClusterKopfPeering', namespaced: false };
const PEERING = 'clusterkopfpeerings/default';

let cluster: TestCluster;

beforeEach(async () => {
  cluster = await testCluster({ define: [{ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' }] });
  onTestFinished(() => cluster.stop());
});

/** An operator with both kinds of handlers. Its calls since they were last looked at, in any order. */
async function start(
  options: OperatorOptions,
): Promise<{ advance(seconds: number): Promise<void>; calls(): string[] }> {
  const calls: string[] = [];
  const registry = createRegistry();
  registry.on.reconcile('kopfexamples', { owns: ['configmaps'] }, ({ name, reasons }) => {
    calls.push(`reconcile ${name}: ${[...reasons].sort().join('+')}`);
  });
  registry.on.child('kopfexamples', 'configmaps', ({ parent, children }) => {
    calls.push(`child of ${parent.metadata?.name}: ${children().length}`);
  });
  const runner = await operatorRunner({ cluster, registry, identity: 'us', ...options });
  onTestFinished(() => runner.stop().then(() => {}));
  return {
    async advance(seconds) {
      await runner.settled();
      await cluster.clock.advance(seconds);
      await runner.settled();
    },
    calls: () => calls.splice(0).sort(),
  };
}

async function createFamily(parent: string, child: string): Promise<void> {
  const owner = await cluster.api('kopfexamples').create({ metadata: { name: parent } });
  await cluster.api('configmaps').create({ metadata: { name: child } }, { owner });
}

const createChild = async (parent: string, child: string): Promise<void> => {
  const owner = await cluster.api('kopfexamples').get(parent);
  await cluster.api('configmaps').create({ metadata: { name: child } }, { owner });
};

const utc = (): string => cluster.clock.utc().toISOString();

describe('reconciliation and handlers of children', () => {
  it('wait for the leadership, and are then called once', async () => {
    const spec = { holderIdentity: 'them', leaseDurationSeconds: 30, renewTime: utc().replace('Z', '000Z') };
    const metadata = { name: 'op', namespace: 'default' };
    await cluster.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
    await createFamily('one', 'a');
    const peering = leasePeering({ ...metadata, identity: 'us', random: () => 0.5 });
    const { advance, calls } = await start({ peering, settings: settings() });
    await createChild('one', 'b');
    await advance(25);
    expect(calls()).toEqual([]);
    expect(cluster.get('kopfexamples/default/one')?.metadata?.annotations).toBeUndefined();
    // The other one is dead, as it turns out.
    await advance(10);
    expect(cluster.get('leases/default/op')?.['spec']).toMatchObject({ holderIdentity: 'us' });
    expect(calls()).toEqual(['child of one: 2', 'reconcile one: first']);
    await createChild('one', 'c');
    await advance(60);
    expect(calls()).toEqual(['child of one: 3', 'reconcile one: owned']);
  });

  it('wait while a peer of a higher priority is there, and are then called once', async () => {
    await cluster.define(PEERINGS);
    await cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'ClusterKopfPeering', metadata: { name: 'default' } });
    await createFamily('one', 'a');
    const { advance, calls } = await start({ settings: settings() });
    await advance(5);
    expect(calls()).toEqual(['child of one: 1', 'reconcile one: first']);

    await cluster.patch(PEERING, { status: { them: { priority: 100, lifetime: 60, lastseen: utc() } } });
    await advance(5);
    await createChild('one', 'b');
    await createChild('one', 'c');
    await createFamily('two', 'd');
    await advance(30);
    expect(calls()).toEqual([]);

    await cluster.patch(PEERING, { status: { them: null } });
    await advance(5);
    const ofTwo = ['child of two: 1', 'reconcile two: first'];
    expect(calls()).toEqual(['child of one: 3', ofTwo[0], 'reconcile one: first', ofTwo[1]]);
    await advance(120);
    expect(calls()).toEqual([]);
  });
});

describe('the retries of reconciliation', () => {
  it('spread: objects that have failed together do not come back together', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `x${index}`);
    for (const name of names) await cluster.api('kopfexamples').create({ metadata: { name } });
    const times = new Map<string, number[]>();
    const registry = createRegistry();
    registry.on.reconcile('kopfexamples', ({ name }) => {
      times.set(name, [...(times.get(name) ?? []), cluster.clock.now()]);
      throw new Error('Broken.');
    });
    const runner = await operatorRunner({ cluster, registry });
    onTestFinished(() => runner.stop().then(() => {}));
    await runner.settled();
    await cluster.clock.advance(4);
    await runner.settled();
    expect(times.size).toBe(20);
    const delays = [...times.values()].map(([first = 0, second = 0, third = 0]) => [second - first, third - second]);
    for (const [attempt, expected] of [1, 2].entries()) {
      const all = delays.map((each) => each[attempt] ?? 0);
      expect(new Set(all).size).toBeGreaterThan(10);
      expect(Math.min(...all)).toBeGreaterThanOrEqual(expected * 0.79);
      expect(Math.max(...all)).toBeLessThanOrEqual(expected * 1.21);
    }
  });
});
