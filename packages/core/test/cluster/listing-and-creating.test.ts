import { describe, expect, it } from 'vitest';
import { createObject } from '../../src/cluster/create.js';
import { list, listPages } from '../../src/cluster/list.js';
import { apiError } from '../../src/errors.js';
import { makeResource } from '../../src/values/resources/resource.js';
import { KEX, kex, kexList } from './fixtures.js';
import { scriptedClient } from './scripted-client.js';

const LIST = '/apis/kopf.dev/v1/kopfexamples';

describe('listing', () => {
  it('gives the items with their kinds, and the version of the list', async () => {
    const client = scriptedClient();
    client.answer(kexList('100', [kex('a', '1'), kex('b', '2')]));
    expect(await list(client, KEX)).toEqual({ items: [kex('a', '1'), kex('b', '2')], resourceVersion: '100' });
    expect(client.log).toEqual([`GET ${LIST}?limit=500`]);
  });

  it('does not override the kinds that the items have', async () => {
    const client = scriptedClient();
    const item = { apiVersion: 'other/v2', kind: 'Other', metadata: { name: 'x' } };
    client.answer({ apiVersion: 'v1', kind: 'List', metadata: {}, items: [item] });
    expect(await list(client, KEX)).toEqual({ items: [item], resourceVersion: undefined });
  });

  it('takes a list of nothing for an empty one', async () => {
    const client = scriptedClient();
    client.answer({ kind: 'KopfExampleList', metadata: { resourceVersion: '1' }, items: null });
    expect(await list(client, KEX)).toEqual({ items: [], resourceVersion: '1' });
  });

  it('goes page by page, in a namespace', async () => {
    const client = scriptedClient();
    client.answer(kexList('100', [kex('a', '1')], 'next/1'), kexList('100', [kex('b', '2')]));
    const { items } = await list(client, KEX, { namespace: 'ns', pageSize: 1, retries: 'none' });
    expect(items.map((item) => item.metadata?.name)).toEqual(['a', 'b']);
    expect(client.log).toEqual([
      'GET /apis/kopf.dev/v1/namespaces/ns/kopfexamples?limit=1',
      'GET /apis/kopf.dev/v1/namespaces/ns/kopfexamples?limit=1&continue=next%2F1',
    ]);
    expect(client.requests.map(({ retries }) => retries)).toEqual(['none', 'none']);
  });

  it('can be of the objects with some fields only', async () => {
    const client = scriptedClient();
    client.answer(kexList('100', [kex('a', '1')]));
    await list(client, KEX, { fieldSelector: 'metadata.name=a' });
    expect(client.log).toEqual([`GET ${LIST}?fieldSelector=metadata.name%3Da&limit=500`]);
  });

  it('asks for the next page only when it is needed', async () => {
    const client = scriptedClient();
    client.answer(kexList('100', [kex('a', '1')], 'more'));
    for await (const page of listPages(client, KEX)) {
      expect(page.isFirst).toBe(true);
      break;
    }
    expect(client.requests).toHaveLength(1);
  });

  it('asks for the next page while this one is being looked at, if so wanted; and for no more', async () => {
    const client = scriptedClient();
    client.answer(kexList('100', [kex('a', '1')], 'more'), kexList('100', [kex('b', '2')], 'most'), kexList('100', []));
    const requested: number[] = [];
    for await (const _page of listPages(client, KEX, { readsAhead: true })) requested.push(client.requests.length);
    expect(requested).toEqual([2, 3, 3]);
  });

  it('tells of a failure to read ahead only after the page before it', async () => {
    const client = scriptedClient();
    client.answer(kexList('100', [kex('a', '1')], 'more'), apiError({ status: 500 }));
    const names: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const { items } of listPages(client, KEX, { readsAhead: true })) {
        await new Promise((resolve) => setImmediate(resolve));
        names.push(items[0]?.metadata?.name);
      }
    };
    await expect(read()).rejects.toMatchObject({ status: 500 });
    expect(names).toEqual(['a']);
  });

  it.each([false, true])(
    'begins again, and in one piece, if the pages have expired: read ahead or not (%s)',
    async (readsAhead) => {
      const client = scriptedClient();
      client.answer(
        kexList('100', [kex('a', '1')], 'more'),
        apiError({ status: 410 }),
        kexList('200', [kex('a', '1'), kex('b', '150')]),
      );
      expect(await list(client, KEX, { readsAhead })).toMatchObject({ items: [{}, {}], resourceVersion: '200' });
      expect(client.log).toEqual([`GET ${LIST}?limit=500`, `GET ${LIST}?limit=500&continue=more`, `GET ${LIST}`]);
    },
  );

  it('does not begin again if the very list is refused', async () => {
    const client = scriptedClient();
    client.answer(apiError({ status: 410 }));
    await expect(list(client, KEX)).rejects.toMatchObject({ status: 410 });
    expect(client.requests).toHaveLength(1);
  });

  it.each([403, 500, 666])('throws HTTP %s as it is', async (status) => {
    const client = scriptedClient();
    client.answer(apiError({ status }));
    await expect(list(client, KEX)).rejects.toMatchObject({ status });
  });

  it('ends with the signal even if the client does not', async () => {
    const client = scriptedClient({ obeysSignals: false });
    const controller = new AbortController();
    const listing = list(client, KEX, { signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(listing).rejects.toThrow('stop');
  });
});

describe('creating', () => {
  it('fills in the name and the namespace', async () => {
    const client = scriptedClient();
    client.answer(kex('a', '1'));
    const body = { spec: { x: 1 } };
    expect(await createObject(client, KEX, { namespace: 'ns', name: 'a', body })).toEqual(kex('a', '1'));
    expect(client.requests[0]).toEqual({
      method: 'POST',
      path: '/apis/kopf.dev/v1/namespaces/ns/kopfexamples',
      contentType: 'application/json',
      body: { spec: { x: 1 }, metadata: { name: 'a', namespace: 'ns' } },
    });
    expect(body).toEqual({ spec: { x: 1 } });
  });

  it('keeps the name and the namespace that the body has', async () => {
    const client = scriptedClient();
    client.answer({});
    const metadata = { name: 'own', namespace: 'own-ns', labels: { a: 'b' } };
    await createObject(client, KEX, { namespace: 'ns', name: 'a', body: { metadata } });
    expect(client.requests[0]).toMatchObject({
      path: '/apis/kopf.dev/v1/namespaces/own-ns/kopfexamples',
      body: { metadata },
    });
  });

  it('creates cluster-scoped objects, with the body made of the name alone', async () => {
    const client = scriptedClient();
    client.answer({});
    const resource = makeResource({
      group: 'kopf.dev',
      version: 'v1',
      plural: 'clusterkopfpeerings',
      namespaced: false,
    });
    await createObject(client, resource, { name: 'default' });
    expect(client.requests[0]).toMatchObject({
      path: '/apis/kopf.dev/v1/clusterkopfpeerings',
      body: { metadata: { name: 'default' } },
    });
  });
});
