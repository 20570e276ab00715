import { describe, expect, it } from 'vitest';
import { localCluster } from '../../src/index.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (data: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x' },
  data,
});

async function prepared() {
  const cluster = await localCluster({ listen: false, controllers: false });
  const apply = (manager: string, data: Readonly<Record<string, string>>, rest = '') =>
    cluster.client.request({
      method: 'PATCH',
      path: `${MAPS}/x?fieldManager=${manager}${rest}`,
      contentType: 'application/apply-patch+yaml',
      body: map(data),
    });
  return { cluster, apply, dataOf: () => cluster.get('configmaps/default/x')?.data };
}

describe('applying in a cluster', () => {
  it('creates, shares, conflicts, takes by force, and removes what nobody owns', async () => {
    const { cluster, apply, dataOf } = await prepared();
    await apply('a', { one: '1', both: '1' });
    await apply('b', { both: '1' });
    await expect(apply('b', { both: '2' })).rejects.toMatchObject({ status: 409 });
    await apply('b', { both: '2' }, '&force=true');
    await apply('a', {});
    expect(dataOf()).toEqual({ both: '2' });
    await cluster.stop();
  });

  it('changes neither versions nor times when nothing changes', async () => {
    const { cluster, apply } = await prepared();
    await apply('a', { one: '1' });
    const before = cluster.get('configmaps/default/x');
    await apply('a', { one: '1' });
    expect(cluster.get('configmaps/default/x')).toEqual(before);
    await cluster.stop();
  });
});
