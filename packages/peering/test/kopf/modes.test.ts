import { apiError, settings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { kopfPeering } from '../../src/index.js';
import { peeringSelectors } from '../../src/kopf/kopf-peering.js';
import { definePeerings, join, makeRig, peeringObject, record, records, writeRecords } from '../helpers/joining.js';

const me = (overrides = {}) => kopfPeering({ settings: settings({ peering: overrides }), identity: 'me' });

describe('the kinds of peerings', () => {
  it('are those of the cluster or of the namespaces, in both groups', () => {
    expect(peeringSelectors({ clusterwide: true })).toEqual([
      { group: 'kopf.dev', version: 'v1', plural: 'clusterkopfpeerings' },
      { group: 'zalando.org', version: 'v1', plural: 'clusterkopfpeerings' },
    ]);
    expect(peeringSelectors({ clusterwide: false })).toEqual([
      { group: 'kopf.dev', version: 'v1', plural: 'kopfpeerings' },
      { group: 'zalando.org', version: 'v1', plural: 'kopfpeerings' },
    ]);
  });

  it.each([false, true])('do not depend on whether the peering is mandatory (%s)', async (mandatory) => {
    const rig = await makeRig();
    await join(rig, me({ mandatory }), { namespace: null });
    await join(rig, me({ mandatory }), { namespace: 'default' });
    expect(records(rig, 'clusterkopfpeerings/default')).toHaveProperty('me');
    expect(records(rig, 'kopfpeerings/default/default')).toHaveProperty('me');
  });

  it('can be of the cluster for an operator of some namespaces, if it is told so', async () => {
    const rig = await makeRig();
    await join(rig, me({ clusterwide: true }), { namespace: 'default' });
    expect(records(rig, 'clusterkopfpeerings/default')).toHaveProperty('me');
    expect(records(rig, 'kopfpeerings/default/default')).toEqual({});
  });

  it('are both used if both groups are there; and each of them can pause us', async () => {
    const rig = await makeRig();
    await definePeerings(rig.cluster, 'zalando.org');
    await rig.cluster.create(peeringObject('default', { group: 'zalando.org' }));
    await rig.insights.rescan();
    const operator = await join(rig, me());
    const [kopf, zalando] = ['kopfpeerings.kopf.dev/default/default', 'kopfpeerings.zalando.org/default/default'];
    expect(records(rig, kopf)).toHaveProperty('me');
    expect(records(rig, zalando)).toHaveProperty('me');
    await writeRecords(rig, { other: record(rig, { priority: 1 }) }, zalando);
    await writeRecords(rig, { other: record(rig, { priority: 1 }) }, kopf);
    expect(operator.isPaused).toBe(true);
    await writeRecords(rig, { other: null }, kopf);
    expect(operator.isPaused).toBe(true);
    await writeRecords(rig, { other: null }, zalando);
    expect(operator.isPaused).toBe(false);
    operator.abort();
    await rig.clock.settle();
    expect([records(rig, kopf), records(rig, zalando)]).toEqual([{}, {}]);
  });
});

describe('by default', () => {
  it('the operator works if there is no such kind, and joins when it appears', async () => {
    const rig = await makeRig({ kinds: false });
    const operator = await join(rig, me());
    expect(operator.turns).toEqual([false]);
    expect(operator.logger.messages('warn')).toEqual([]);
    expect(operator.logger.find('There is no peering')?.level).toBe('debug');

    await definePeerings(rig.cluster);
    await rig.cluster.create(peeringObject('default'));
    await rig.cluster.patch('kopfpeerings/default/default', { status: { other: record(rig, { priority: 1 }) } });
    await rig.insights.rescan();
    await rig.clock.settle();
    expect(operator.turns).toEqual([false, true]);
    expect(records(rig)).toHaveProperty('me');
  });

  it('the appearing of a kind alone is no reason to pause', async () => {
    const rig = await makeRig({ kinds: false });
    const operator = await join(rig, me());
    await definePeerings(rig.cluster);
    await rig.insights.rescan();
    await rig.clock.advance(100);
    expect(operator.turns).toEqual([false]);
  });

  it('the operator works if there is no object, and joins as soon as it is created', async () => {
    const rig = await makeRig({ objects: false });
    const operator = await join(rig, me());
    expect(operator.turns).toEqual([false]);
    await rig.cluster.create(peeringObject('default'));
    await rig.clock.settle();
    expect(records(rig)).toHaveProperty('me');
  });

  it('a deleted object still holds us up for as long as its last peers would live', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 20 }) });
    await rig.cluster.delete('kopfpeerings/default/default');
    await rig.clock.advance(19);
    expect(operator.isPaused).toBe(true);
    await rig.clock.advance(1);
    expect(operator.isPaused).toBe(false);
  });

  it('the operator works when the kind is gone', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 1000 }) });
    await rig.cluster.delete('customresourcedefinitions/kopfpeerings.kopf.dev');
    await rig.insights.rescan();
    await rig.clock.advance(10);
    expect(operator.isPaused).toBe(false);
  });

  it('the operator works if it is not permitted to see or to change the peering, with a warning', async () => {
    const rig = await makeRig();
    rig.cluster.faults.add({ match: { path: /kopfpeerings/ }, answer: { status: 403 } });
    const operator = await join(rig, me());
    await rig.clock.advance(1);
    expect(operator.turns).toEqual([false]);
    expect(operator.logger.find('No permission to read or patch the peering')?.level).toBe('warn');
  });

  it('the operator obeys the peers that it may see, even if it may not tell of itself', async () => {
    const rig = await makeRig();
    const { client } = rig.cluster;
    const refused = (): Promise<never> => Promise.reject(apiError({ status: 403 }));
    const operator = await join(rig, me(), {
      client: {
        stream: (request) => client.stream(request),
        request: (request) => (request.method === 'GET' ? client.request(request) : refused()),
      },
    });
    expect(operator.isPaused).toBe(false);
    await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 20 }) });
    expect(operator.isPaused).toBe(true);
    await rig.clock.advance(20);
    expect(operator.isPaused).toBe(false);
  });
});

describe('if mandatory', () => {
  it('the operator waits until there is such a kind and such an object', async () => {
    const rig = await makeRig({ kinds: false });
    const operator = await join(rig, me({ mandatory: true }));
    await rig.clock.advance(100);
    expect(operator.turns).toEqual([]);
    expect(operator.logger.messages('warn')).toEqual([
      'The peering is mandatory, but the cluster has no kopfpeerings.v1.kopf.dev or kopfpeerings.v1.zalando.org. ' +
        'Paused until there is one.',
    ]);
    operator.logger.clear();

    await definePeerings(rig.cluster);
    await rig.insights.rescan();
    await rig.clock.advance(100);
    expect(operator.turns).toEqual([]);
    expect(operator.logger.messages('warn')).toEqual([
      "The peering 'default' in 'default' is mandatory, but there is no such object. Paused until it is created.",
    ]);

    await rig.cluster.create(peeringObject('default'));
    await rig.clock.settle();
    expect(operator.turns).toEqual([false]);
  });

  it('the operator pauses when the object is deleted', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me({ mandatory: true }));
    expect(operator.isPaused).toBe(false);
    await rig.cluster.delete('kopfpeerings/default/default');
    await rig.clock.settle();
    expect(operator.isPaused).toBe(true);
    expect(operator.logger.find('there is no such object')?.level).toBe('warn');
  });

  it('the operator pauses when the kind is gone', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me({ mandatory: true }));
    await rig.cluster.delete('customresourcedefinitions/kopfpeerings.kopf.dev');
    await rig.insights.rescan();
    await rig.clock.advance(10);
    expect(operator.isPaused).toBe(true);
    expect(operator.logger.find('the cluster has no')?.level).toBe('warn');

    await rig.cluster.define({ group: 'kopf.dev', version: 'v1', plural: 'kopfpeerings', kind: 'KopfPeering' });
    await rig.insights.rescan();
    await rig.clock.advance(10);
    operator.logger.clear();
    await rig.cluster.delete('customresourcedefinitions/kopfpeerings.kopf.dev');
    await rig.insights.rescan();
    await rig.clock.advance(10);
    expect(operator.logger.find('the cluster has no')?.level).toBe('warn');
  });

  it('the operator stays paused if it is not permitted to see the peering', async () => {
    const rig = await makeRig();
    rig.cluster.faults.add({ match: { path: /kopfpeerings/ }, answer: { status: 403 } });
    const operator = await join(rig, me({ mandatory: true }));
    await rig.clock.advance(100);
    expect(operator.turns).toEqual([]);
    expect(operator.logger.find('Staying paused, as it is mandatory')?.level).toBe('warn');
  });
});

describe('if standalone', () => {
  it('the operator works whoever else is there, and tells nobody', async () => {
    const rig = await makeRig();
    await writeRecords(rig, { other: record(rig, { priority: 1 }) });
    const operator = await join(rig, me({ standalone: true, mandatory: true }));
    await rig.clock.advance(100);
    expect(operator.turns).toEqual([false]);
    expect(records(rig)).toHaveProperty('other');
    expect(records(rig)).not.toHaveProperty('me');
    operator.abort();
    await rig.clock.settle();
    expect(operator.outcome).toBe('resolved');
  });
});

it('is the same peer in all namespaces of an operator, if the identity is found out', async () => {
  const rig = await makeRig();
  await rig.cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns2' } });
  await rig.cluster.create(peeringObject('ns2'));
  const peering = kopfPeering({ settings: settings() });
  const first = await join(rig, peering, { namespace: 'default' });
  const second = await join(rig, peering, { namespace: 'ns2' });
  await expect.poll(() => [first.isPaused, second.isPaused]).toEqual([false, false]);
  const [one] = Object.keys(records(rig, 'kopfpeerings/default/default'));
  expect(one).toMatch(/@/);
  expect(Object.keys(records(rig, 'kopfpeerings/ns2/default'))).toEqual([one]);
});
