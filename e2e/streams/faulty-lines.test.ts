import { type FaultHandle, type FaultProxy, faultProxy } from '@kopf-ts/apiserver';
import type { HttpKubeClient } from '@kopf-ts/client';
import type { Resource } from '@kopf-ts/core';
import { resourceUrl } from '@kopf-ts/core/engine';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../support/client.js';
import { createThing, newKind, newNamespace } from '../support/objects.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { isVersionCheck } from '../support/version-checks.js';
import { becomesTrue } from '../support/waiting.js';
import { type Watching, watchers } from '../support/watchers.js';

/** The pauses are shorter than by default, and the silence is noticed sooner; nothing else differs. */
const overrides = { watching: { inactivityTimeout: 3, reconnectBackoff: 0.02 } };

describeOnRealCluster('watching a real cluster through a line that fails', () => {
  /** Goes to the server directly; for the tests themselves. */
  let direct: HttpKubeClient;
  let client: HttpKubeClient;
  let proxy: FaultProxy;
  let things: Resource;
  let namespace: string;
  const { start, end } = watchers();

  beforeAll(async () => {
    direct = clientOf(realCluster());
    things = await newKind(direct);
  });
  afterAll(() => direct?.close());
  beforeEach(async () => {
    const { url, ca } = realCluster();
    proxy = await faultProxy({ target: { url, ca } });
    client = clientOf(realCluster(), { server: proxy.url });
    namespace = await newNamespace(direct);
  });
  afterEach(async () => {
    await end();
    await client?.close();
    await proxy?.stop();
  });

  const create = (name: string) => createThing(direct, things, namespace, name);
  const remove = (name: string) => direct.request({ method: 'DELETE', path: resourceUrl(things, { namespace, name }) });
  const begin = async (): Promise<Watching> => {
    const watching = start(client, things, { namespace, overrides });
    expect(await watching.saw('LISTED')).toBe(true);
    return watching;
  };
  const lists = (requests: readonly string[]) =>
    requests.filter(
      (request) =>
        (!request.includes('watch=true') || request.includes('sendInitialEvents')) && !isVersionCheck(request),
    );
  const sinceListed = ({ seen }: Watching) => seen.slice(seen.indexOf('LISTED') + 1);

  it('goes on from the last version when the stream is frozen, without a list', async () => {
    const watching = await begin();
    const last = await create('one');
    expect(await watching.saw('ADDED one')).toBe(true);
    const before = watching.client.requests.length;
    const frost = proxy.faults.freezeStreams();
    await create('two');
    expect(await becomesTrue(() => watching.client.requests.length > before)).toBe(true);
    frost.remove();
    expect(await watching.saw('ADDED two')).toBe(true);
    const resumed = watching.client.requests.slice(before);
    expect(resumed[0]).toContain(`resourceVersion=${last.metadata?.resourceVersion}&`);
    expect(lists(resumed)).toEqual([]);
    expect(watching.seen).toEqual(['LISTED', 'ADDED one', 'ADDED two']);
  });

  it('goes on from the last version without any bookmarks, without a list', async () => {
    const watching = await begin();
    proxy.faults.dropBookmarks();
    const before = watching.client.requests.length;
    const attempts = () => watching.client.requests.slice(before).filter((request) => !isVersionCheck(request));
    expect(await becomesTrue(() => attempts().length >= 2)).toBe(true);
    await create('one');
    expect(await watching.saw('ADDED one')).toBe(true);
    expect(lists(watching.client.requests.slice(before))).toEqual([]);
  });

  it('goes on from the last version when the streams are reset again and again, without a list', async () => {
    const watching = await begin();
    const before = watching.client.requests.length;
    for (const name of ['a', 'b', 'c', 'd']) {
      const attempts = watching.client.requests.length;
      expect(await becomesTrue(() => proxy.faults.resetStreams() > 0)).toBe(true);
      await create(name);
      expect(await becomesTrue(() => watching.client.requests.length > attempts)).toBe(true);
    }
    expect(await watching.saw('ADDED d')).toBe(true);
    expect(sinceListed(watching)).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d']);
    expect(lists(watching.client.requests.slice(before))).toEqual([]);
  });

  describe('recovers by itself after a while of', () => {
    it.each<[string, () => FaultHandle]>([
      ['HTTP 503', () => proxy.faults.add({ answer: { status: 503 } })],
      ['HTTP 403', () => proxy.faults.add({ answer: { status: 403 } })],
      ['HTTP 401, with the same token', () => proxy.faults.add({ answer: { status: 401 } })],
      ['HTTP 429', () => proxy.faults.add({ answer: { status: 429, retryAfter: 1 } })],
      ['garbage', () => proxy.faults.add({ answer: { status: 200, body: '<html>' } })],
      ['broken connections', () => proxy.faults.add({ reset: true })],
    ])('%s', async (_title, fail) => {
      const watching = await begin();
      const outage = fail();
      proxy.faults.resetStreams();
      expect(await becomesTrue(() => outage.hits >= 3)).toBe(true);
      expect(await becomesTrue(() => watching.phases.at(-1)?.phase === 'down')).toBe(true);
      await create('meanwhile');
      outage.remove();
      const isThere = (name: string) => () => sinceListed(watching).some((line) => line.endsWith(` ${name}`));
      expect(await becomesTrue(isThere('meanwhile'), 40_000)).toBe(true);
      await create('after');
      expect(await watching.saw('ADDED after')).toBe(true);
      expect(watching.phases.at(-1)).toMatchObject({ phase: 'watching', error: undefined });
      expect(watching.logger.messages('warn').filter((line) => line.includes('is down'))).toHaveLength(1);
    });

    it('a refusal of connections', async () => {
      const watching = await begin();
      const refusal = proxy.faults.refuseConnections();
      proxy.faults.cutConnections();
      await create('meanwhile');
      expect(await becomesTrue(() => watching.phases.at(-1)?.phase === 'down')).toBe(true);
      refusal.remove();
      expect(await watching.saw('ADDED meanwhile')).toBe(true);
      expect(watching.seen).toEqual(['LISTED', 'ADDED meanwhile']);
    });
  });

  it('lists anew when the version is forgotten, and concludes what has been deleted', async () => {
    for (const name of ['lost', 'kept']) await create(name);
    const watching = await begin();
    const refusal = proxy.faults.refuseConnections();
    proxy.faults.cutConnections();
    await remove('lost');
    await create('found');
    proxy.faults.compact();
    refusal.remove();
    expect(await watching.saw('LISTED', 2)).toBe(true);
    expect(sinceListed(watching).sort()).toEqual(['- found', '- kept', 'DELETED lost (vanished)', 'LISTED']);
  });
});
