import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeEach(async () => {
  cluster = await localCluster({ controllers: false });
});
afterEach(async () => {
  await cluster.stop();
});

const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  await fetch(`${cluster.url}${path}`, { headers: { authorization: `Bearer ${cluster.token}`, ...headers } });

const definition = (names: object, spec: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing', ...names },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    ...spec,
  },
});

describe('health', () => {
  it.each(['/healthz', '/livez', '/readyz', '/healthz/ping', '/livez/etcd', '/readyz/shutdown'])(
    '%s is fine',
    async (path) => {
      const response = await get(path);
      expect([response.status, await response.text()]).toEqual([200, 'ok']);
    },
  );

  it.each(['/healthz/', '/healthz/nothing', '/livez/shutdown', '/readyz/ping/'])('%s is nothing', async (path) => {
    const response = await get(path);
    expect([response.status, await response.text()]).toEqual([404, '404 page not found\n']);
  });

  it('is told check by check if one asks for it', async () => {
    const text = await (await get('/livez?verbose')).text();
    expect(text).toBe('[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n');
  });

  it('is for everyone, as the version is; all other requests without credentials get 401', async () => {
    const statuses = ['/healthz', '/version', '/healthz/ping', '/api/v1', '/apis'].map(
      async (path) => (await fetch(`${cluster.url}${path}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 401, 401, 401]);
  });
});

describe('paths that lead nowhere', () => {
  const pages = async (paths: readonly string[]) =>
    await Promise.all(paths.map(async (path) => (await get(path)).headers.get('content-type')));

  it('are pages in groups of definitions, and statuses in groups of the server', async () => {
    await cluster.create(definition({}));
    const custom = ['/apis/example.com/v2', '/apis/example.com/v1/others', '/apis/example.com/v2/things'];
    expect(await pages(custom)).toEqual(custom.map(() => 'text/plain; charset=utf-8'));
    const builtin = ['/apis/apps/v2', '/apis/apps/v1/others', '/api/v1/others'];
    expect(await pages(builtin)).toEqual(builtin.map(() => 'application/json'));
  });

  it('are also those of the wrong scope', async () => {
    await cluster.create(definition({}, { scope: 'Cluster' }));
    const paths = ['/apis/example.com/v1/namespaces/default/things', '/apis/example.com/v1/things'];
    expect(await pages(paths)).toEqual(['text/plain; charset=utf-8', 'application/json']);
  });
});

describe('aggregated discovery', () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

  it('is given once, until something changes', async () => {
    const first = await get('/apis', { accept });
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('public');
    expect((await get('/apis', { accept, 'if-none-match': etag })).status).toBe(304);
    await cluster.create(definition({}));
    const next = await get('/apis', { accept, 'if-none-match': etag });
    expect([next.status, next.headers.get('etag') === etag]).toEqual([200, false]);
  });
});
