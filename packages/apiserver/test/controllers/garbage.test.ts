import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownedBy, quietCluster, Workbench } from './support.js';

let bench: Workbench;
beforeEach(async () => {
  bench = new Workbench(await quietCluster());
});
afterEach(async () => {
  await bench.cluster.stop();
});

describe('in the background', () => {
  it('dependents go after their owners, and their dependents after them', async () => {
    const owner = await bench.create('owner');
    const child = await bench.create('child', { ownerReferences: [ownedBy(owner)] });
    await bench.create('grandchild', { ownerReferences: [ownedBy(child)] });
    await bench.create('stranger');
    await bench.remove('owner');
    expect(await bench.names()).toEqual(['stranger']);
  });

  it('dependents with another owner stay, and lose the reference to the owner who has gone', async () => {
    const [one, two] = [await bench.create('one'), await bench.create('two')];
    await bench.create('child', { ownerReferences: [ownedBy(one), ownedBy(two)] });
    await bench.remove('one');
    expect((await bench.all())['child']?.metadata.ownerReferences).toEqual([ownedBy(two)]);
    await bench.remove('two');
    expect(await bench.names()).toEqual([]);
  });

  it('dependents with finalizers wait for these', async () => {
    const owner = await bench.create('owner');
    await bench.create('child', { ownerReferences: [ownedBy(owner)], finalizers: ['example.com/mine'] });
    await bench.remove('owner');
    expect((await bench.all())['child']?.metadata.deletionTimestamp).toBeDefined();
    await bench.patch('child', { finalizers: null });
    expect(await bench.names()).toEqual([]);
  });

  it('whoever is born without owners is an orphan, and goes at once', async () => {
    const owner = await bench.create('owner');
    await bench.create('mistaken', { ownerReferences: [ownedBy(owner, { uid: 'another' })] });
    await bench.create('lost', { ownerReferences: [{ ...ownedBy(owner), name: 'nobody' }] });
    await bench.create('fine', { ownerReferences: [ownedBy(owner)] });
    expect(await bench.names()).toEqual(['fine', 'owner']);
  });

  it('owners of kinds that nobody serves are left in peace', async () => {
    const ownerReferences = [{ apiVersion: 'unknown.io/v1', kind: 'Mystery', name: 'x', uid: 'x' }];
    await bench.create('child', { ownerReferences });
    expect(await bench.names()).toEqual(['child']);
  });

  it('owners may be cluster-scoped', async () => {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'owner' } };
    const owner = await bench.cluster.client.request({ method: 'POST', path: '/api/v1/namespaces', body });
    await bench.create('child', { ownerReferences: [ownedBy(owner as never)] });
    expect(await bench.names()).toEqual(['child']);
    await bench.cluster.client.request({ method: 'DELETE', path: '/api/v1/namespaces/owner' });
    expect(await bench.names()).toEqual([]);
  });

  it('references that come later count as well', async () => {
    const owner = await bench.create('owner');
    await bench.create('child');
    await bench.patch('child', { ownerReferences: [ownedBy(owner)] });
    await bench.remove('owner');
    expect(await bench.names()).toEqual([]);
  });
});

describe('in the foreground', () => {
  it('owners wait for the dependents that block them', async () => {
    const owner = await bench.create('owner');
    const ownerReferences = [ownedBy(owner, { block: true })];
    await bench.create('child', { ownerReferences, finalizers: ['example.com/mine'] });
    await bench.remove('owner', 'Foreground');
    const waiting = await bench.all();
    expect(waiting['owner']?.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect(waiting['owner']?.metadata.deletionTimestamp).toBeDefined();
    expect(waiting['child']?.metadata.deletionTimestamp).toBeDefined();
    await bench.patch('child', { finalizers: null });
    expect(await bench.names()).toEqual([]);
  });

  it('owners do not wait for the dependents that do not block them', async () => {
    const owner = await bench.create('owner');
    await bench.create('child', { ownerReferences: [ownedBy(owner)], finalizers: ['example.com/mine'] });
    await bench.remove('owner', 'Foreground');
    expect(await bench.names()).toEqual(['child']);
    expect((await bench.all())['child']?.metadata.deletionTimestamp).toBeDefined();
  });

  it('dependents with another owner are released instead of being deleted', async () => {
    const [one, two] = [await bench.create('one'), await bench.create('two')];
    await bench.create('child', { ownerReferences: [ownedBy(one, { block: true }), ownedBy(two)] });
    await bench.remove('one', 'Foreground');
    expect(await bench.names()).toEqual(['child', 'two']);
    expect((await bench.all())['child']?.metadata.ownerReferences).toEqual([ownedBy(two)]);
  });

  it('chains are deleted from their ends, and wait in between', async () => {
    const owner = await bench.create('owner');
    const child = await bench.create('child', { ownerReferences: [ownedBy(owner, { block: true })] });
    const ownerReferences = [ownedBy(child, { block: true })];
    await bench.create('grandchild', { ownerReferences, finalizers: ['example.com/mine'] });
    await bench.remove('owner', 'Foreground');
    expect(await bench.names()).toEqual(['child', 'grandchild', 'owner']);
    expect((await bench.all())['child']?.metadata.finalizers).toEqual(['foregroundDeletion']);
    await bench.patch('grandchild', { finalizers: null });
    expect(await bench.names()).toEqual([]);
  });

  it('circles do not wait for themselves', async () => {
    const one = await bench.create('one');
    const two = await bench.create('two', { ownerReferences: [ownedBy(one, { block: true })] });
    await bench.patch('one', { ownerReferences: [ownedBy(two, { block: true })] });
    await bench.remove('one', 'Foreground');
    expect(await bench.names()).toEqual([]);
  });
});

describe('orphaning', () => {
  it('leaves dependents behind, without the reference', async () => {
    const [one, two] = [await bench.create('one'), await bench.create('two')];
    await bench.create('child', { ownerReferences: [ownedBy(one)] });
    await bench.create('shared', { ownerReferences: [ownedBy(one), ownedBy(two)] });
    await bench.remove('one', 'Orphan');
    const left = await bench.all();
    expect(Object.keys(left)).toEqual(['child', 'shared', 'two']);
    expect(left['child']?.metadata.ownerReferences).toBeUndefined();
    expect(left['shared']?.metadata.ownerReferences).toEqual([ownedBy(two)]);
  });
});

it('faults are for clients only: the collector works on', async () => {
  const owner = await bench.create('owner');
  await bench.create('child', { ownerReferences: [ownedBy(owner)] });
  await bench.cluster.settled();
  const faults = bench.cluster.faults.add({ answer: { status: 503 }, after: 1 });
  await bench.remove('owner');
  faults.remove();
  expect(await bench.names()).toEqual([]);
});
