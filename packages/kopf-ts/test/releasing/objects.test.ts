import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { type Settings, settings } from '@kopf-ts/core';
import {
  annotationsDiffBaseStorage,
  annotationsProgressStorage,
  statusDiffBaseStorage,
  statusProgressStorage,
} from '@kopf-ts/storage';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Released, type ReleaseOptions, release } from '../../src/release/release.js';

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';
const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

async function clusterWithFoos(): Promise<LocalCluster> {
  const cluster = await localCluster({ listen: false });
  onTestFinished(() => cluster.stop());
  await cluster.define({ group: 'example.com', plural: 'foos', kind: 'Foo', subresources: ['status'] });
  return cluster;
}

interface Marks {
  readonly namespace?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly status?: object;
}

async function foo(cluster: LocalCluster, name: string, marks: Marks = {}): Promise<void> {
  const { namespace = 'default', annotations = {}, finalizers = [], status } = marks;
  await cluster.create({
    apiVersion: 'example.com/v1',
    kind: 'Foo',
    metadata: { name, namespace, annotations: { ...annotations }, finalizers: [...finalizers] },
    spec: { empty: {} },
  });
  if (status !== undefined) await cluster.patch(`foos/${namespace}/${name}`, { status }, { subresource: 'status' });
}

async function released(cluster: LocalCluster, options: Partial<ReleaseOptions> = {}): Promise<readonly Released[]> {
  const all: Released[] = [];
  for await (const one of release({ client: cluster.client, selector: 'foos', ...options })) all.push(one);
  return all;
}

const metadataOf = (cluster: LocalCluster, reference: string) => cluster.get(reference)?.metadata ?? {};

describe('releasing objects', () => {
  it('takes the finalizer and the annotations off, and nothing else', async () => {
    const cluster = await clusterWithFoos();
    await foo(cluster, 'one', {
      annotations: { mine: 'yes', [LAST_HANDLED]: '{}', 'kopf.zalando.org/created': '{"retries": 1}' },
      finalizers: [FINALIZER, 'somebody.else/finalizer'],
      status: { phase: 'Ready' },
    });
    expect(await released(cluster)).toMatchObject([
      {
        namespace: 'default',
        name: 'one',
        finalizer: FINALIZER,
        fields: expect.arrayContaining([
          ['metadata', 'annotations', LAST_HANDLED],
          ['metadata', 'annotations', 'kopf.zalando.org/created'],
        ]),
        isDeleting: false,
      },
    ]);
    const { annotations, finalizers } = metadataOf(cluster, 'foos/default/one');
    expect({ annotations, finalizers }).toEqual({
      annotations: { mine: 'yes' },
      finalizers: ['somebody.else/finalizer'],
    });
    expect(cluster.get('foos/default/one')).toMatchObject({ spec: { empty: {} }, status: { phase: 'Ready' } });
  });

  it('lets go those that wait for their deletion', async () => {
    const cluster = await clusterWithFoos();
    await foo(cluster, 'one', { annotations: { [LAST_HANDLED]: '{}' }, finalizers: [FINALIZER] });
    await cluster.delete('foos/default/one');
    expect(cluster.get('foos/default/one')).toBeDefined();
    expect(await released(cluster)).toMatchObject([{ name: 'one', isDeleting: true }]);
    expect(cluster.get('foos/default/one')).toBeUndefined();
  });

  it('only looks, if told so', async () => {
    const cluster = await clusterWithFoos();
    await foo(cluster, 'one', { annotations: { [LAST_HANDLED]: '{}' }, finalizers: [FINALIZER] });
    const before = cluster.get('foos/default/one');
    expect(await released(cluster, { dryRun: true })).toMatchObject([{ name: 'one', finalizer: FINALIZER }]);
    expect(cluster.get('foos/default/one')).toEqual(before);
  });

  it('passes by those that have nothing of it', async () => {
    const cluster = await clusterWithFoos();
    await foo(cluster, 'one', { annotations: { mine: 'yes' }, finalizers: ['somebody.else/finalizer'], status: {} });
    const before = cluster.get('foos/default/one');
    expect(await released(cluster)).toEqual([]);
    expect(cluster.get('foos/default/one')).toEqual(before);
  });

  it('takes the progress off the status, too', async () => {
    const cluster = await clusterWithFoos();
    await foo(cluster, 'one', { status: { phase: 'Ready', kopf: { progress: { created: { retries: 1 } } } } });
    await foo(cluster, 'two', { status: { kopf: { progress: {}, other: 1 } } });
    expect(await released(cluster)).toMatchObject([
      { name: 'one', fields: [['status', 'kopf']] },
      { name: 'two', fields: [['status', 'kopf', 'progress']] },
    ]);
    expect(cluster.get('foos/default/one')).toMatchObject({ status: { phase: 'Ready' } });
    expect(cluster.get('foos/default/one')?.status).not.toHaveProperty('kopf');
    expect(cluster.get('foos/default/two')?.status).toEqual({ kopf: { other: 1 } });
  });

  it.each<[string, Settings['persistence']['progressStorage'], Settings['persistence']['diffbaseStorage'], Marks]>([
    [
      'another prefix',
      annotationsProgressStorage({ prefix: 'my.example.com' }),
      annotationsDiffBaseStorage({ prefix: 'my.example.com' }),
      {
        annotations: {
          'my.example.com/kopf-managed': 'yes',
          'my.example.com/created': '{}',
          'my.example.com/last-handled-configuration': '{}',
        },
      },
    ],
    [
      'prefixes that differ',
      annotationsProgressStorage({ prefix: 'my.example.com' }),
      annotationsDiffBaseStorage({ prefix: 'their.example.com', key: 'state' }),
      { annotations: { 'their.example.com/state-gzip': 'abc', 'their.example.com/kopf-managed': 'yes' } },
    ],
    [
      'all in the status',
      statusProgressStorage({ name: 'mine' }),
      statusDiffBaseStorage({ name: 'mine' }),
      { status: { mine: { progress: { a: {} }, dummy: 'x', 'last-handled-configuration': '{}' } } },
    ],
  ])('finds what custom storages have left: %s', async (_title, progressStorage, diffbaseStorage, marks) => {
    const cluster = await clusterWithFoos();
    await foo(cluster, 'one', { annotations: { ...marks.annotations, mine: 'yes', [LAST_HANDLED]: '{}' } });
    if (marks.status) await cluster.patch('foos/default/one', { status: marks.status }, { subresource: 'status' });
    const own = settings({ persistence: { progressStorage, diffbaseStorage, finalizer: 'mine/finalizer' } });
    expect(await released(cluster, { settings: own })).toHaveLength(1);
    // What is of other operators, is left to them.
    expect(metadataOf(cluster, 'foos/default/one').annotations).toEqual({ mine: 'yes', [LAST_HANDLED]: '{}' });
    expect(JSON.stringify(cluster.get('foos/default/one')?.status ?? {})).not.toMatch(/progress|dummy|last-handled/);
    expect(await released(cluster, { settings: own })).toEqual([]);
  });

  it.each<[readonly (string | RegExp)[] | undefined, readonly string[]]>([
    [undefined, ['ns1', 'ns2', 'other']],
    [['ns1'], ['ns1']],
    [['ns*'], ['ns1', 'ns2']],
    [
      ['ns*,!ns1', /oth.*/],
      ['ns2', 'other'],
    ],
  ])('is done in the namespaces %j', async (namespaces, expected) => {
    const cluster = await clusterWithFoos();
    for (const name of ['ns1', 'ns2', 'other']) {
      await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      await foo(cluster, 'one', { namespace: name, finalizers: [FINALIZER] });
    }
    const found = await released(cluster, { namespaces });
    expect(found.map(({ namespace }) => namespace).toSorted()).toEqual(expected);
  });

  it('serves several kinds, and fails if there are none of a name', async () => {
    const cluster = await clusterWithFoos();
    await foo(cluster, 'one', { finalizers: [FINALIZER] });
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'two', namespace: 'default', finalizers: [FINALIZER] },
    });
    await expect(released(cluster, { selector: ['foos', 'bars'] })).rejects.toThrow(
      'There is no kind "bars" in the cluster.',
    );
    expect(metadataOf(cluster, 'foos/default/one').finalizers).toEqual([FINALIZER]);
    expect((await released(cluster, { selector: ['foos', 'configmaps'] })).map(({ name }) => name)).toEqual([
      'one',
      'two',
    ]);
  });

  it('refuses namespaces for objects that are in none', async () => {
    const cluster = await clusterWithFoos();
    await expect(released(cluster, { selector: 'nodes', namespaces: ['default'] })).rejects.toThrow(
      /Objects of .*nodes.* are not in namespaces/,
    );
  });

  it('goes on with the others if one cannot be released', async () => {
    const cluster = await clusterWithFoos();
    await foo(cluster, 'one', { finalizers: [FINALIZER] });
    await foo(cluster, 'two', { finalizers: [FINALIZER] });
    cluster.faults.add({ match: { method: 'PATCH', path: /foos\/one/ }, answer: { status: 403, message: 'No way.' } });
    expect(await released(cluster)).toMatchObject([
      { name: 'one', error: expect.objectContaining({ message: expect.stringContaining('No way.') }) },
      { name: 'two' },
    ]);
    expect(metadataOf(cluster, 'foos/default/two').finalizers).toBeUndefined();
  });
});
