import { settings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { freeze, kopfPeering, resume } from '../src/index.js';
import { definePeerings, join, makeRig, peeringObject, type Rig, records } from './helpers/joining.js';

const cluster = 'clusterkopfpeerings/default';

const common = ({ cluster: { client }, clock }: Rig) => ({ client, clock, name: 'default', identity: 'me@home' });

describe('freezing', () => {
  it('writes a record of a high priority into the peering of the cluster', async () => {
    const rig = await makeRig();
    const done = await freeze({ ...common(rig), lifetime: 60 });
    expect(JSON.stringify(records(rig, cluster))).toBe(
      '{"me@home":{"priority":100,"lifetime":60,"lastseen":"2020-12-31T23:59:59.123000+00:00"}}',
    );
    expect(done).toEqual({ identity: 'me@home', peerings: ["'default' cluster-wide"] });
    expect(records(rig)).toEqual({});
  });

  it('writes it into the peerings of all matching namespaces', async () => {
    const rig = await makeRig();
    for (const name of ['ns1', 'ns2', 'other']) {
      await rig.cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      await rig.cluster.create(peeringObject(name));
    }
    const done = await freeze({ ...common(rig), lifetime: 5, priority: 666, namespaces: ['ns*'] });
    expect(done.peerings).toEqual(["'default' in 'ns1'", "'default' in 'ns2'"]);
    expect(records(rig, 'kopfpeerings/ns1/default')).toMatchObject({ 'me@home': { priority: 666, lifetime: 5 } });
    expect(records(rig, 'kopfpeerings/ns2/default')).toHaveProperty('me@home');
    expect(records(rig, 'kopfpeerings/other/default')).toEqual({});
    expect(records(rig, cluster)).toEqual({});
  });

  it('needs no right to list namespaces if they are named', async () => {
    const rig = await makeRig();
    rig.cluster.faults.add({ match: { path: /^\/api\/v1\/namespaces(\?|$)/ }, answer: { status: 403 } });
    const done = await freeze({ ...common(rig), lifetime: 5, namespaces: ['default'] });
    expect(done.peerings).toEqual(["'default' in 'default'"]);
  });

  it('pauses operators with the message in their logs, until it is resumed', async () => {
    const rig = await makeRig();
    const operator = await join(rig, kopfPeering({ settings: settings(), identity: 'operator' }), { namespace: null });
    expect(operator.isPaused).toBe(false);
    await freeze({ ...common(rig), lifetime: 600, message: 'back in ten minutes' });
    await rig.clock.settle();
    expect(operator.isPaused).toBe(true);
    expect(operator.logger.find('in favour of [<Peer me@home:')?.message).toContain('(back in ten minutes)');
    await rig.clock.advance(300);
    expect(operator.isPaused).toBe(true);
    await resume(common(rig));
    await rig.clock.settle();
    expect(operator.isPaused).toBe(false);
    expect(Object.keys(records(rig, cluster))).toEqual(['operator']);
  });

  it('ends by itself with its lifetime', async () => {
    const rig = await makeRig();
    const operator = await join(rig, kopfPeering({ settings: settings(), identity: 'operator' }), { namespace: null });
    await freeze({ ...common(rig), lifetime: 600 });
    await rig.clock.advance(599);
    expect(operator.isPaused).toBe(true);
    await rig.clock.advance(1);
    expect(operator.isPaused).toBe(false);
  });

  it('is of the person and the host unless told otherwise', async () => {
    const rig = await makeRig();
    const { identity: _, ...rest } = common(rig);
    const { identity } = await freeze({ ...rest, lifetime: 60 });
    expect(identity).toMatch(/^[^@/]+@[^@/]+$/);
    expect(Object.keys(records(rig, cluster))).toEqual([identity]);
    await resume(rest);
    expect(records(rig, cluster)).toEqual({});
  });

  it.each([0, -5, 1.5, Number.NaN])('is refused for a lifetime of %d', async (lifetime) => {
    const rig = await makeRig();
    await expect(freeze({ ...common(rig), lifetime })).rejects.toThrow('whole number of seconds');
  });
});

describe('resuming', () => {
  it('removes only the record of the same identity', async () => {
    const rig = await makeRig();
    await freeze({ ...common(rig), lifetime: 60 });
    await resume({ ...common(rig), identity: 'another@home' });
    expect(Object.keys(records(rig, cluster))).toEqual(['me@home']);
    await resume(common(rig));
    expect(records(rig, cluster)).toEqual({});
  });
});

describe.each([
  ['freezing', (rig: Rig, options = {}) => freeze({ ...common(rig), lifetime: 60, ...options })],
  ['resuming', (rig: Rig, options = {}) => resume({ ...common(rig), ...options })],
])('%s fails with a clear error', (_what, run) => {
  it('if there is no such kind', async () => {
    const rig = await makeRig({ kinds: false });
    await expect(run(rig)).rejects.toThrow(
      'Cannot find the peering resource: the cluster has no ' +
        'clusterkopfpeerings.v1.kopf.dev or clusterkopfpeerings.v1.zalando.org.',
    );
  });

  it('if there is no such object', async () => {
    const rig = await makeRig();
    await expect(run(rig, { name: 'typo' })).rejects.toThrow(
      "Cannot change the peering 'typo' cluster-wide: there is no such object.",
    );
  });

  it('if it is refused', async () => {
    const rig = await makeRig();
    rig.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 403 } });
    await expect(run(rig)).rejects.toThrow(/^Cannot change the peering 'default' cluster-wide: .+/);
  });

  it('if it is so in some namespaces, after all the others are done', async () => {
    const rig = await makeRig();
    await rig.cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apart' } });
    const namespaces = ['apart', 'default'];
    await expect(run(rig, { namespaces })).rejects.toThrow("peering 'default' in 'apart': there is no such object.");
  });

  it('if no namespace matches', async () => {
    const rig = await makeRig();
    await expect(run(rig, { namespaces: ['nothing-*'] })).rejects.toThrow('No namespace matches nothing-*.');
    await expect(run(rig, { namespaces: [] })).rejects.toThrow('No namespace matches');
  });
});

it('goes to all namespaces even if some have no peering', async () => {
  const rig = await makeRig();
  await rig.cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apart' } });
  await freeze({ ...common(rig), lifetime: 60, namespaces: ['apart', 'default'] }).catch(() => undefined);
  expect(records(rig, 'kopfpeerings/default/default')).toHaveProperty('me@home');
});

it('goes to the objects of both groups, and one of them is enough', async () => {
  const rig = await makeRig();
  await definePeerings(rig.cluster, 'zalando.org');
  await freeze({ ...common(rig), lifetime: 60 });
  await rig.cluster.create(peeringObject(null, { group: 'zalando.org' }));
  await freeze({ ...common(rig), lifetime: 60 });
  expect(records(rig, 'clusterkopfpeerings.zalando.org/default')).toHaveProperty('me@home');
});
