import { apiError, type KubeRequest } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { describePeering, removeRecords, touch } from '../../src/kopf/peering-records.js';

const resource = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfpeerings', namespaced: true });
const lastseen = new Date('2020-12-31T23:59:59.123Z');

function scripted(answer: () => unknown) {
  const requests: KubeRequest[] = [];
  const request = async <T>(asked: KubeRequest): Promise<T> => {
    requests.push(asked);
    return answer() as T;
  };
  const client = { request, stream: () => expect.unreachable() };
  return { at: { client, resource, namespace: 'ns1', name: 'name1' }, requests };
}

describe('writing of records', () => {
  it('is one merge-patch of the object', async () => {
    const { at, requests } = scripted(() => ({ metadata: { name: 'name1' } }));
    const written = await touch(at, { identity: 'id1', priority: 0, lifetime: 60, lastseen });
    expect(requests).toMatchObject([
      {
        method: 'PATCH',
        path: '/apis/kopf.dev/v1/namespaces/ns1/kopfpeerings/name1',
        contentType: 'application/merge-patch+json',
        body: { status: { id1: { priority: 0, lifetime: 60, lastseen: '2020-12-31T23:59:59.123000+00:00' } } },
      },
    ]);
    expect(written).toEqual({ body: { metadata: { name: 'name1' } } });
  });

  it('is a removal if there is no lifetime', async () => {
    const { at, requests } = scripted(() => ({}));
    await touch(at, { identity: 'id1', priority: 0, lifetime: 0, lastseen });
    expect(requests.map(({ body }) => body)).toEqual([{ status: { id1: null } }]);
  });

  it('tells that there is no such object', async () => {
    const { at } = scripted(() => {
      throw apiError({ status: 404 });
    });
    expect(await touch(at, { identity: 'id1', priority: 0, lifetime: 60, lastseen })).toBeUndefined();
  });

  it('fails with all other errors', async () => {
    const { at } = scripted(() => {
      throw apiError({ status: 403 });
    });
    await expect(removeRecords(at, ['id1'])).rejects.toMatchObject({ status: 403 });
  });
});

describe('removing of records', () => {
  it('is for all the given ones at once, dead or alive', async () => {
    const { at, requests } = scripted(() => ({}));
    await removeRecords(at, ['id1', 'id2', '__proto__']);
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(requests[0]?.body)).toBe('{"status":{"id1":null,"id2":null,"__proto__":null}}');
  });

  it('can be for a version only', async () => {
    const { at, requests } = scripted(() => ({}));
    await removeRecords(at, ['id1'], { version: '123' });
    expect(requests[0]?.body).toEqual({ metadata: { resourceVersion: '123' }, status: { id1: null } });
  });
});

it.each([
  ['ns1', "'name1' in 'ns1'"],
  [undefined, "'name1' cluster-wide"],
])('is described with its namespace %s: %s', (namespace, text) => {
  expect(describePeering({ name: 'name1', namespace })).toBe(text);
});
