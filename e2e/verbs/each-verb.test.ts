/** Each verb with its options, on both servers alike. */
import {
  type AnyObject,
  type Api,
  ApiConflictError,
  ApiNotFoundError,
  ApplyConflictError,
  api as apiOver,
} from '@kopf-ts/core';
import { systemClock } from '@kopf-ts/reactor';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';

describeOnClusters('each verb', (cluster) => {
  let things: TestKind;
  let namespace: string;
  let api: Api;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
    api = apiOver(cluster().client, { namespace, fieldManager: 'tester', clock: systemClock });
  });
  const named = (name: string, labels?: Record<string, string>) => ({ metadata: { name, ...(labels && { labels }) } });
  const namesOf = (objects: readonly AnyObject[]) => objects.map(({ metadata }) => metadata?.name).toSorted();
  const failure = (promise: PromiseLike<unknown>): Promise<unknown> =>
    Promise.resolve(promise).then(
      () => undefined,
      (error: unknown) => error,
    );

  it('lists by labels and fields, page by page, in one namespace and in all', async () => {
    const tiers = ['front', 'back', 'test'];
    for (const tier of tiers) await api('configmaps').create(named(tier, { tier, by: namespace }));
    const listed = async (options: Parameters<ReturnType<Api>['list']>[0]) => {
      const whole = namesOf(await api('configmaps').list(options));
      const each: AnyObject[] = [];
      for await (const one of api('configmaps').each(options)) each.push(one);
      expect(namesOf(each)).toEqual(whole);
      return whole;
    };
    const by = namespace;
    expect(await listed({ labels: { by, tier: ['front', 'back'] } })).toEqual(['back', 'front']);
    expect(await listed({ labels: { by, tier: { not: ['front', 'back'] } } })).toEqual(['test']);
    expect(await listed({ labels: { by, tier: { not: 'test' } } })).toEqual(['back', 'front']);
    expect(await listed({ labels: { by, tier: true, canary: false } })).toEqual(tiers.toSorted());
    expect(await listed({ labels: `by=${by},tier in (test)` })).toEqual(['test']);
    expect(await listed({ labels: { by }, fields: { 'metadata.name': 'back' } })).toEqual(['back']);
    expect(await listed({ labels: { by }, fields: { 'metadata.name': { not: 'back' } } })).toEqual(['front', 'test']);
    expect(await listed({ labels: { by }, pageSize: 1 })).toEqual(tiers.toSorted());
    expect(await listed({ labels: { by }, allNamespaces: true, pageSize: 2 })).toEqual(tiers.toSorted());
    expect(await listed({ labels: { by }, namespace: 'kube-system' })).toEqual([]);
    const [first] = await api('configmaps').list({ labels: { by } });
    expect(first).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(await api(first as never).find('front')).toMatchObject(named('front'));
  });

  it('patches a list by its keys, and as a whole', async () => {
    const containers = [{ name: 'app', image: 'one' }];
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
    const spec = { replicas: 0, selector: { matchLabels: { app: 'web' } }, template };
    await api('deployments').create({ ...named('web'), spec });
    const more = { spec: { template: { spec: { containers: [{ name: 'more', image: 'two' }] } } } };
    const images = ({ spec: { template: of } }: AnyObject) =>
      of.spec.containers.map(({ image }: { image: string }) => image).toSorted();
    expect(images(await api('deployments').patch('web', more, { type: 'strategic' }))).toEqual(['one', 'two']);
    expect(images(await api('deployments').patch('web', more))).toEqual(['two']);
    const path = '/spec/template/spec/containers/0/image';
    const operations = [
      { op: 'test', path, value: 'two' },
      { op: 'replace', path, value: 'three' },
    ] as const;
    expect(images(await api('deployments').patch('web', operations))).toEqual(['three']);
    expect(await failure(api('deployments').patch('web', operations))).toMatchObject({ status: 422 });
  });

  it('creates and applies: with owners, as a trial, by force, under a name that is made up', async () => {
    const owner = await api(things.selector).create({ ...named('parent', { team: 'a' }), spec: {} });
    const made = await api('configmaps').create({ metadata: { generateName: 'made-' } }, { owner });
    expect(made.metadata).toMatchObject({ labels: { team: 'a' }, ownerReferences: [{ uid: owner.metadata?.uid }] });
    expect(made.metadata?.name).toMatch(/^made-.{5}$/);
    const tried = await api('configmaps').apply({ ...named('tried'), data: { a: '1' } }, { dryRun: true });
    expect(tried['data']).toEqual({ a: '1' });
    expect(await api('configmaps').find('tried')).toBeUndefined();
    const [ours, theirs] = [
      { ...named('shared'), data: { a: '1' } },
      { ...named('shared'), data: { a: '2' } },
    ] as const;
    await api('configmaps').apply(ours);
    const conflict = await failure(api('configmaps').apply(theirs, { fieldManager: 'others' }));
    expect(conflict).toBeInstanceOf(ApplyConflictError);
    expect((conflict as ApplyConflictError).conflicts).toEqual([{ field: '.data.a', manager: 'tester' }]);
    expect((await api('configmaps').apply(theirs, { fieldManager: 'others', force: true }))['data']).toEqual({
      a: '2',
    });
  });

  it('has verbs for the status, which leave the rest alone', async () => {
    await api(things.selector).create({ ...named('one'), spec: { field: 'x' } });
    const status = () => api(things.selector).status;
    await status().patch('one', { status: { phase: 'a' } });
    await status().patch('one', [{ op: 'add', path: '/status/count', value: 1 }]);
    await status().replace('one', (one) => ({ ...one, status: { ...one['status'], count: one['status'].count + 1 } }));
    expect((await status().get('one'))['status']).toEqual({ phase: 'a', count: 2 });
    await status().apply({ ...named('one'), status: { phase: 'b' } }, { force: true });
    expect(await api(things.selector).get('one')).toMatchObject({
      spec: { field: 'x' },
      status: { phase: 'b', count: 2 },
    });
  });

  it('scales, evicts, and gives tokens', async () => {
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { automountServiceAccountToken: false, containers: [{ name: 'app', image: 'one' }] },
    };
    const spec = { replicas: 0, selector: { matchLabels: { app: 'web' } }, template };
    await api('replicasets').create({ ...named('web'), spec });
    expect((await api('replicasets').scale.get('web')).wanted).toBe(0);
    await api('replicasets').scale.set('web', 0);
    await api('serviceaccounts').create(named('robot'));
    const { token, expires } = await api('serviceaccounts').token('robot', {
      expirationSeconds: 600,
      audiences: ['x'],
    });
    expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({ aud: ['x'] });
    expect(expires.getTime()).toBeGreaterThan(Date.now() + 500_000);
    // The account that pods have by default is made a moment after the namespace.
    await eventually(() => api('pods').create({ ...named('web'), ...template, ...named('web') }));
    await api('pods').evict('web', { dryRun: true });
    expect(await api('pods').find('web')).toBeDefined();
    await api('pods').evict('web', { gracePeriodSeconds: 0 });
    expect(await api('pods').find('web')).toBeUndefined();
  });

  it('deletes: that very object, as a trial, if there is one, with its children or without, all that are selected', async () => {
    const { metadata } = await api(things.selector).create({ ...named('one'), spec: {} });
    const wrong = api(things.selector).delete('one', { preconditions: { uid: 'another' } });
    expect(await failure(wrong)).toBeInstanceOf(ApiConflictError);
    const outdated = api(things.selector).delete('one', { preconditions: { resourceVersion: '1' } });
    expect(await failure(outdated)).toBeInstanceOf(ApiConflictError);
    await api(things.selector).delete('one', { dryRun: true });
    await api(things.selector).delete('one', { preconditions: { uid: metadata?.uid ?? '' } });
    expect(await failure(api(things.selector).delete('one'))).toBeInstanceOf(ApiNotFoundError);
    await api(things.selector).delete('one', { ifGone: 'ignore' });

    for (const [name, propagation] of [
      ['foreground', 'Foreground'],
      ['orphan', 'Orphan'],
    ] as const) {
      await api(things.selector).create({ ...named(name), spec: {} });
      await api(things.selector).delete(name, { propagation });
      const held = await api(things.selector).find(name);
      const holds = held === undefined ? [] : held.metadata?.finalizers;
      expect([[], [propagation === 'Orphan' ? 'orphan' : 'foregroundDeletion']]).toContainEqual(holds);
    }

    for (const app of ['a', 'b']) await api('configmaps').create(named(`of-${app}`, { app }));
    await api('configmaps').deleteCollection({ labels: { app: 'a' }, dryRun: true });
    await api('configmaps').deleteCollection({ labels: { app: 'a' } });
    expect(namesOf(await api('configmaps').list({ labels: { app: true } }))).toEqual(['of-b']);
    await api('configmaps').deleteCollection({ fields: { 'metadata.name': 'of-b' } });
    expect(await api('configmaps').list({ labels: { app: true } })).toEqual([]);
  });
});
