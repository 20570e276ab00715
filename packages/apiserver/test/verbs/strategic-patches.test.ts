import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeEach(async () => {
  cluster = await localCluster({ controllers: false });
});
afterEach(async () => {
  await cluster.stop();
});

const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

const patch = async (path: string, body: object): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(`${cluster.url}${path}`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${cluster.token}`,
      'content-type': 'application/strategic-merge-patch+json',
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const rule = (verb: string) => ({ apiGroups: [''], resources: ['pods'], verbs: [verb] });
const makeDeployment = async (): Promise<void> => {
  const labels = { app: 'demo' };
  const containers = [{ name: 'main', image: 'one' }];
  await cluster.create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'one', namespace: 'default' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
};

describe('strategic merge patches', () => {
  it('merge mappings, remove by nulls, and replace lists that have no keys', async () => {
    await cluster.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'one', namespace: 'default', labels: { a: '1', b: '2' } },
      rules: [rule('get'), rule('list')],
    });
    const answer = await patch(`${ROLES}/one`, {
      metadata: { labels: { a: null, c: '3' } },
      rules: [rule('watch')],
    });
    expect(answer).toMatchObject({ status: 200, body: { rules: [rule('watch')] } });
    expect(cluster.get('roles.rbac.authorization.k8s.io/default/one')?.metadata?.labels).toEqual({ b: '2', c: '3' });
  });

  it('go deep into objects whose keyed lists they leave alone', async () => {
    await makeDeployment();
    const spec = { replicas: 3, template: { spec: { tolerations: [{ operator: 'Exists' }] } } };
    expect(await patch(`${DEPLOYMENTS}/one`, { spec })).toMatchObject({ status: 200, body: { spec } });
    expect(await patch(`${DEPLOYMENTS}/one/status`, { status: { replicas: 2 } })).toMatchObject({
      status: 200,
      body: { status: { replicas: 2 } },
    });
  });

  it('merge lists item by item where they have keys', async () => {
    await makeDeployment();
    const containers = [
      { name: 'main', image: 'two' },
      { name: 'side', image: 'three' },
    ];
    const answer = await patch(`${DEPLOYMENTS}/one`, { spec: { template: { spec: { containers } } } });
    expect(answer).toMatchObject({ status: 200, body: { spec: { template: { spec: { containers } } } } });
  });

  it.each([
    ['$patch', { spec: { template: { spec: { containers: [{ name: 'main', $patch: 'other' }] } } } }, 500],
    ['$retainKeys', { spec: { strategy: { $retainKeys: 'type' } } }, 400],
    ['$deleteFromPrimitiveList', { metadata: { $deleteFromPrimitiveList: ['x'] } }, 400],
    ['$setElementOrder', { spec: { template: { spec: { '$setElementOrder/containers': [{ x: 1 }] } } } }, 500],
    ['types', { spec: { replicas: { some: 'thing' } } }, 422],
  ])('are refused as a whole if they are wrong: %s', async (_, body, status) => {
    await makeDeployment();
    const before = cluster.get('deployments.apps/default/one');
    expect((await patch(`${DEPLOYMENTS}/one`, body)).status).toBe(status);
    expect(cluster.get('deployments.apps/default/one')).toEqual(before);
  });

  it('change nothing of the request when they are tried again', async () => {
    await makeDeployment();
    const body = { metadata: { '$setElementOrder/finalizers': ['example.com/x'], finalizers: ['example.com/x'] } };
    expect((await patch(`${DEPLOYMENTS}/one`, body)).status).toBe(200);
    expect((await patch(`${DEPLOYMENTS}/one`, body)).status).toBe(200);
    expect(cluster.get('deployments.apps/default/one')?.metadata?.finalizers).toEqual(['example.com/x']);
  });

  it('are for scales, but not for custom objects', async () => {
    await makeDeployment();
    await cluster.create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    await cluster.create({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 'a', namespace: 'default' },
    });
    expect((await patch('/apis/example.com/v1/namespaces/default/things/a', {})).status).toBe(415);
    expect((await patch(`${DEPLOYMENTS}/one/scale`, { spec: { replicas: 2 } })).status).toBe(200);
    expect(cluster.get('deployments.apps/default/one')?.spec).toMatchObject({ replicas: 2 });
  });
});
