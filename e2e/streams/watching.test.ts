import { type HttpKubeClient, KubeConnectionError } from '@kopf-ts/client';
import { type AnyObject, type KubeClient, type KubeRequest, Patch, type Resource } from '@kopf-ts/core';
import { list, listPages, patchObject, resourceUrl, type ServerCapabilities } from '@kopf-ts/core/engine';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../controlplane/index.js';
import { clientOf } from '../support/client.js';
import { createThing, newKind, newNamespace } from '../support/objects.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { becomesTrue } from '../support/waiting.js';
import { watchers } from '../support/watchers.js';

const withoutStreaming = (): ServerCapabilities => ({ streamingLists: false });

describeOnRealCluster('watching a real cluster', () => {
  let client: HttpKubeClient;
  let things: Resource;
  const { start, end } = watchers();

  beforeAll(async () => {
    client = clientOf(realCluster());
    things = await newKind(client);
  });
  afterEach(end);
  afterAll(() => client?.close());

  const create = (namespace: string, name: string) => createThing(client, things, namespace, name);
  const change = (namespace: string, name: string) =>
    patchObject(client, things, { namespace, name, patch: new Patch({ spec: { changed: true } }) });
  const remove = (namespace: string, name: string) =>
    client.request({ method: 'DELETE', path: resourceUrl(things, { namespace, name }) });

  it.each([
    ['streamed', {}],
    ['paged', withoutStreaming()],
  ])('lists what there is and tells of every change, with %s lists', async (title, capabilities) => {
    const namespace = await newNamespace(client);
    for (const name of ['a', 'b', 'c']) await create(namespace, name);
    const watching = start(client, things, { namespace, capabilities, pageSize: 2 });
    expect(await watching.saw('LISTED')).toBe(true);
    expect([...watching.seen].sort()).toEqual(['- a', '- b', '- c', 'LISTED']);
    expect(watching.seen.at(-1)).toBe('LISTED');

    await create(namespace, 'd');
    await change(namespace, 'a');
    await remove(namespace, 'b');
    expect(await watching.saw('DELETED b')).toBe(true);
    expect(watching.seen.slice(4)).toEqual(['ADDED d', 'MODIFIED a', 'DELETED b']);

    const lists = watching.client.requests.filter((request) => !request.includes('watch=true'));
    const streams = watching.client.requests.filter((request) => request.includes('watch=true'));
    expect(lists).toHaveLength(title === 'paged' ? 2 : 0);
    expect(streams).toHaveLength(1);
    expect(watching.capabilities.streamingLists).toBe(title === 'streamed');
    expect(watching.logger.messages('warn')).toEqual([]);
  });

  it('goes on from the last version when the server ends the stream, and misses nothing', async () => {
    const namespace = await newNamespace(client);
    const watching = start(client, things, { namespace, overrides: { watching: { serverTimeout: 1 } } });
    expect(await watching.saw('LISTED')).toBe(true);
    for (let index = 0; index < 5; index += 1) {
      const streams = watching.client.requests.length;
      expect(await becomesTrue(() => watching.client.requests.length > streams)).toBe(true);
      await create(namespace, `t-${index}`);
    }
    expect(await watching.saw('ADDED t-4')).toBe(true);
    expect(watching.seen).toEqual(['LISTED', ...Array.from({ length: 5 }, (_, index) => `ADDED t-${index}`)]);
    expect(watching.client.requests.filter((request) => request.includes('sendInitialEvents'))).toHaveLength(1);
  });

  it('gets bookmarks with versions that are newer than any of its events', async () => {
    const namespace = await newNamespace(client);
    const { resourceVersion } = await list(client, things, { namespace });
    const query = { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds: 5 };
    const events = client.stream<{ type: string; object: AnyObject }>({
      method: 'GET',
      path: resourceUrl(things, { namespace, query }),
    });
    const own = await create(namespace, 'own');
    const bookmarks: AnyObject[] = [];
    for await (const { type, object } of events) {
      // The stream is open. Now, another object of the kind moves the version, though not in this namespace.
      if (type === 'ADDED') await create(await newNamespace(client), 'elsewhere');
      if (type === 'BOOKMARK') bookmarks.push(object);
    }
    expect(bookmarks.length).toBeGreaterThan(0);
    expect(Number(bookmarks.at(-1)?.metadata?.resourceVersion)).toBeGreaterThan(Number(own.metadata?.resourceVersion));
  });
});

describeOnRealCluster('watching through the troubles of a real cluster', () => {
  let controlPlane: ControlPlane;
  let client: HttpKubeClient;
  let things: Resource;
  const namespace = 'default';
  const { start, end } = watchers();

  beforeAll(async () => {
    controlPlane = await startControlPlane();
    client = clientOf(controlPlane);
    things = await newKind(client);
  });
  afterEach(end);
  afterAll(async () => {
    await client?.close();
    await controlPlane?.stop();
  });

  const create = (name: string) => createThing(client, things, namespace, name);
  const remove = (name: string) => client.request({ method: 'DELETE', path: resourceUrl(things, { namespace, name }) });

  it('begins a list anew when its pages expire in between', async () => {
    for (const name of ['p-1', 'p-2', 'p-3']) await create(name);
    const names: (string | undefined)[][] = [];
    const firsts: boolean[] = [];
    for await (const page of listPages(client, things, { namespace, pageSize: 2 })) {
      names.push(page.items.map((item) => item.metadata?.name));
      firsts.push(page.isFirst);
      if (names.length > 1) continue;
      await create('p-4');
      await controlPlane.compact();
      // A new server has nothing in its own memory to make up for what etcd has forgotten.
      await controlPlane.restartApiServer({ abruptly: true });
    }
    expect(names).toEqual([
      ['p-1', 'p-2'],
      ['p-1', 'p-2', 'p-3', 'p-4'],
    ]);
    expect(firsts).toEqual([true, true]);
    for (const name of ['p-1', 'p-2', 'p-3', 'p-4']) await remove(name);
  });

  describe.each([
    ['streamed', {}],
    ['paged', withoutStreaming()],
  ])('with %s lists', (title, capabilities) => {
    it('survives a restart of the API server, and tells of what happened after it', async () => {
      const watching = start(client, things, { namespace, capabilities });
      expect(await watching.saw('LISTED')).toBe(true);
      await create(`${title}-before`);
      expect(await watching.saw(`ADDED ${title}-before`)).toBe(true);
      await controlPlane.restartApiServer({ abruptly: true });
      await create(`${title}-after`);
      const isThere = () => watching.seen.some((line) => line.endsWith(` ${title}-after`));
      expect(await becomesTrue(isThere, 40_000)).toBe(true);
      expect(watching.seen).not.toContain(`DELETED ${title}-before (vanished)`);
      for (const name of ['before', 'after']) await remove(`${title}-${name}`);
    });
  });

  it('lists anew when its version is forgotten, and concludes what has been deleted', async () => {
    await create('lost');
    await create('kept');
    const line = cuttable(client);
    const watching = start(line.client, things, { namespace });
    expect(await watching.saw('LISTED')).toBe(true);

    line.cut();
    await remove('lost');
    await create('found');
    // A new server remembers nothing of what was before it, so that there is no way to go on from there.
    await controlPlane.restartApiServer({ abruptly: true });
    line.mend();
    expect(await watching.saw('LISTED', 2)).toBe(true);
    const since = watching.seen.slice(watching.seen.indexOf('LISTED') + 1);
    expect(since.sort()).toEqual(['- found', '- kept', 'DELETED lost (vanished)', 'LISTED']);
  });
});

/** The connection of a watcher, which can be cut, while others are still connected. */
function cuttable(client: KubeClient) {
  let knife = new AbortController();
  let isCut = false;
  const refused = () => new KubeConnectionError('The line is cut.');
  const cuttableClient: KubeClient = {
    async request(request) {
      if (isCut) throw refused();
      return client.request(request);
    },
    async *stream<T>(request: KubeRequest) {
      if (isCut) throw refused();
      const signal = AbortSignal.any([knife.signal, ...(request.signal ? [request.signal] : [])]);
      yield* client.stream<T>({ ...request, signal });
    },
  };
  return {
    client: cuttableClient,
    cut() {
      isCut = true;
      knife.abort(refused());
    },
    mend() {
      isCut = false;
      knife = new AbortController();
    },
  };
}
