import type { AnyObject } from '@kopf-ts/core';
import { type ManualClock, manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

interface Event {
  readonly type: string;
  readonly object: AnyObject;
}

const MAPS = '/api/v1/namespaces/default/configmaps';
let clock: ManualClock;
let cluster: LocalCluster;

beforeEach(async () => {
  clock = manualClock();
  cluster = await localCluster({ listen: false, clock, controllers: false });
});
afterEach(async () => {
  await cluster.stop();
});

/** Collects the events of a watch in the background; `ended` says whether the server has ended it. */
function watch(query: string, path = MAPS): { readonly events: Event[]; readonly ended: () => boolean } {
  const events: Event[] = [];
  let isEnded = false;
  const run = async (): Promise<void> => {
    for await (const event of cluster.client.stream<Event>({ method: 'GET', path: `${path}?watch=true&${query}` })) {
      events.push(event);
    }
    isEnded = true;
  };
  void run();
  return { events, ended: () => isEnded };
}

const create = (name: string, labels?: Record<string, string>) =>
  cluster.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', ...(labels === undefined ? {} : { labels }) },
  });
const label = (name: string, labels: object) => cluster.patch(`configmaps/default/${name}`, { metadata: { labels } });
const told = (events: readonly Event[]): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ''}`.trim());
const version = (): string => cluster.list('configmaps').at(-1)?.metadata?.resourceVersion ?? '0';

describe('the beginning', () => {
  it('without a version, what is there comes first', async () => {
    await create('old');
    const { events } = watch('');
    await cluster.settled();
    await create('new');
    await cluster.settled();
    expect(told(events)).toEqual(['ADDED old', 'ADDED new']);
  });

  it('from a version, all changes after it come, also those of the past', async () => {
    await create('one');
    const from = version();
    await label('one', { a: 'b' });
    await create('two');
    const { events } = watch(`resourceVersion=${from}`);
    await cluster.settled();
    await cluster.delete('configmaps/default/one');
    await cluster.settled();
    expect(told(events)).toEqual(['MODIFIED one', 'ADDED two', 'DELETED one']);
  });

  it('the end of the initial events is marked for those who asked', async () => {
    await create('one');
    const { events } = watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true');
    await cluster.settled();
    expect(told(events)).toEqual(['ADDED one', 'BOOKMARK']);
    expect(events.at(-1)?.object).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
    });
  });

  it('a version that is forgotten is an error in the stream', async () => {
    await create('one');
    const from = version();
    await create('two');
    cluster.faults.compact();
    const { events, ended } = watch(`resourceVersion=${from}`);
    await cluster.settled();
    expect(events).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }]);
    expect(ended()).toBe(true);
  });

  it.each([
    ['sendInitialEvents=true', 422],
    ['resourceVersionMatch=NotOlderThan', 422],
    ['resourceVersion=abc', 500],
    ['timeoutSeconds=x', 400],
  ])('%s alone is refused', async (query, status) => {
    const stream = cluster.client.stream({ method: 'GET', path: `${MAPS}?watch=true&${query}` });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ status });
  });
});

describe('selections', () => {
  it('objects come and go as they enter and leave the selection', async () => {
    await create('one', { on: 'no' });
    const { events } = watch('labelSelector=on%3Dyes');
    await cluster.settled();
    await label('one', { on: 'yes' });
    await label('one', { more: 'x' });
    await label('one', { on: 'no' });
    await label('one', { on: 'never' });
    await cluster.settled();
    expect(told(events)).toEqual(['ADDED one', 'MODIFIED one', 'DELETED one']);
    // It is shown as it was while it was selected, with the version in which it left.
    expect(events.at(-1)?.object.metadata?.labels).toEqual({ on: 'yes', more: 'x' });
  });

  it('other namespaces and other names are not seen', async () => {
    const { events } = watch('fieldSelector=metadata.name%3Done', '/api/v1/configmaps');
    await cluster.settled();
    await create('one');
    await create('two');
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'kube-system' } });
    await cluster.settled();
    expect(events.map(({ object }) => object.metadata?.namespace)).toEqual(['default', 'kube-system']);
  });
});

describe('the end', () => {
  it('the server ends a watch in time, and tells the last version shortly before', async () => {
    const { events, ended } = watch('timeoutSeconds=90&allowWatchBookmarks=true');
    await clock.advance(59);
    // The one at the end of what was there at the beginning.
    expect(told(events)).toEqual(['BOOKMARK']);
    await clock.advance(1);
    expect(told(events)).toEqual(['BOOKMARK', 'BOOKMARK']);
    await clock.advance(28);
    expect(told(events)).toEqual(['BOOKMARK', 'BOOKMARK', 'BOOKMARK']);
    expect(ended()).toBe(false);
    await clock.advance(2);
    expect(ended()).toBe(true);
  });

  it('bookmarks are only for those who asked', async () => {
    const { events, ended } = watch('timeoutSeconds=90');
    await clock.advance(90);
    expect(events).toEqual([]);
    expect(ended()).toBe(true);
  });

  it('whoever leaves is forgotten: nobody sleeps for them', async () => {
    const before = clock.sleepers;
    const controller = new AbortController();
    const stream = cluster.client.stream({ method: 'GET', path: `${MAPS}?watch=true`, signal: controller.signal });
    const reading = stream[Symbol.asyncIterator]().next();
    await cluster.settled();
    expect(clock.sleepers).toBe(before + 1);
    controller.abort(new Error('leaving'));
    await expect(reading).rejects.toThrow('leaving');
    await cluster.settled();
    expect(clock.sleepers).toBe(before);
  });

  it('when the kind goes, its watches end', async () => {
    await cluster.define({ group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing' });
    const { ended } = watch('', '/apis/example.com/v1/things');
    await cluster.settled();
    await cluster.delete('customresourcedefinitions/things.example.com');
    await clock.advance(120);
    expect(ended()).toBe(true);
  });
});

it('the last state of a deleted object still has the finalizer, as it was never stored without', async () => {
  const { events } = watch('');
  await cluster.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', namespace: 'default', finalizers: ['example.com/a'] },
  });
  await cluster.delete('configmaps/default/one');
  await cluster.patch('configmaps/default/one', { metadata: { finalizers: null } });
  await cluster.settled();
  expect(told(events)).toEqual(['ADDED one', 'MODIFIED one', 'DELETED one']);
  expect(events.at(-1)?.object.metadata?.finalizers).toEqual(['example.com/a']);
  const versions = events.map(({ object }) => Number(object.metadata?.resourceVersion));
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
});

it('over HTTP, a watch begins before anything has happened', async () => {
  await using other = await localCluster({ clock });
  const leaving = new AbortController();
  const response = await fetch(`${other.url}${MAPS}?watch=true`, {
    headers: { authorization: `Bearer ${other.token}` },
    signal: leaving.signal,
  });
  expect(response.status).toBe(200);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await other.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } });
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toMatch(/^\{"type":"ADDED","object":\{.*"name":"one".*\}\}\n$/);
  leaving.abort();
});
