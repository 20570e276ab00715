import { ApiError, type KubeClient, type KubeRequest } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeEach(async () => {
  cluster = await localCluster({ listen: false, clock: manualClock(), authorize: 'rbac' });
});
afterEach(async () => {
  await cluster.stop();
});

const RBAC = 'rbac.authorization.k8s.io';
const MAPS = '/api/v1/namespaces/default/configmaps';

/** What comes of a request: the status, and why not. */
async function outcome(
  client: KubeClient,
  method: KubeRequest['method'],
  path: string,
  body?: object,
): Promise<string> {
  try {
    await client.request({ method, path, ...(body === undefined ? {} : { body }) });
    return 'fine';
  } catch (error) {
    if (error instanceof ApiError) return `${error.status}: ${(error.payload as { message: string }).message}`;
    throw error;
  }
}

const bindingOf = (name: string, role: string, user: string, namespace?: string) => {
  const [kind, roleName] = role.split(' ');
  return {
    apiVersion: `${RBAC}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    subjects: [{ kind: 'User', name: user, apiGroup: RBAC }],
    roleRef: { apiGroup: RBAC, kind, name: roleName },
  };
};
const roleOf = (name: string, rules: readonly object[], more: object = {}) => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
  ...more,
});

describe('roles', () => {
  it('allow nothing to somebody without any', async () => {
    const joe = cluster.clientAs({ username: 'joe' });
    expect(await outcome(joe, 'GET', MAPS)).toBe(
      '403: configmaps is forbidden: User "joe" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
    expect(await outcome(joe, 'GET', '/version')).toBe('fine');
    expect(await outcome(joe, 'GET', '/nowhere')).toBe('403: forbidden: User "joe" cannot get path "/nowhere"');
  });

  it('allow everything to administrators', async () => {
    expect(await outcome(cluster.client, 'GET', '/api/v1/secrets')).toBe('fine');
    const other = cluster.clientAs({ username: 'root', groups: ['system:masters'] });
    expect(await outcome(other, 'DELETE', MAPS)).toBe('fine');
  });

  it('allow what they say, where they are bound, from the next request on', async () => {
    const joe = cluster.clientAs({ username: 'joe' });
    await cluster.create(bindingOf('viewers', 'ClusterRole view', 'joe', 'default'));
    expect(await outcome(joe, 'GET', MAPS)).toBe('fine');
    expect(await outcome(joe, 'GET', '/api/v1/namespaces/default/secrets')).toContain('403');
    expect(await outcome(joe, 'GET', '/api/v1/configmaps')).toContain('at the cluster scope');
    expect(await outcome(joe, 'POST', MAPS, { metadata: { name: 'a' } })).toContain('cannot create');
    await cluster.delete('rolebindings/default/viewers');
    expect(await outcome(joe, 'GET', MAPS)).toContain('403');
  });

  it('are checked before the body is looked at', async () => {
    const joe = cluster.clientAs({ username: 'joe' });
    expect(await outcome(joe, 'POST', MAPS, [])).toContain('403');
  });

  it('for updates are not enough to create by an update', async () => {
    const joe = cluster.clientAs({ username: 'joe' });
    const group = 'coordination.k8s.io';
    await cluster.create(roleOf('leases', [{ apiGroups: [group], resources: ['leases'], verbs: ['update'] }]));
    await cluster.create(bindingOf('leases', 'ClusterRole leases', 'joe'));
    const path = `/apis/${group}/v1/namespaces/default/leases/one`;
    const lease = { apiVersion: `${group}/v1`, kind: 'Lease', metadata: { name: 'one' } };
    expect(await outcome(joe, 'PUT', path, lease)).toContain('cannot create resource "leases"');
    expect(await outcome(cluster.client, 'PUT', path, lease)).toBe('fine');
  });

  it('are not enforced by default', async () => {
    await using open = await localCluster({ listen: false, clock: manualClock() });
    expect(await outcome(open.clientAs({ username: 'joe' }), 'GET', MAPS)).toBe('fine');
    expect(open.list('clusterroles')).toEqual([]);
  });

  it('let the controllers of the cluster do their work', async () => {
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await cluster.settled();
    expect(cluster.get('serviceaccounts/shop/default')).toBeDefined();
    await cluster.delete('namespaces/shop');
    await cluster.settled();
    expect(cluster.get('namespaces/shop')).toBeUndefined();
  });
});

describe('nobody gives more than they have', () => {
  const manager = [{ apiGroups: [RBAC], resources: ['*'], verbs: ['create', 'patch'] }];
  const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] };
  const path = `/apis/${RBAC}/v1/clusterroles`;

  it('by a role', async () => {
    const joe = cluster.clientAs({ username: 'joe' });
    await cluster.create(roleOf('manager', manager));
    await cluster.create(bindingOf('manager', 'ClusterRole manager', 'joe'));
    expect(await outcome(joe, 'POST', path, roleOf('same', manager))).toBe('fine');
    expect(await outcome(joe, 'POST', path, roleOf('more', [secrets]))).toBe(
      '403: clusterroles.rbac.authorization.k8s.io "more" is forbidden: user "joe" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    );
    const aggregationRule = { clusterRoleSelectors: [{}] };
    expect(await outcome(joe, 'POST', path, roleOf('sum', [], { aggregationRule }))).toContain(
      'must have cluster-admin privileges to use the aggregationRule',
    );
  });

  it('by a binding, unless they may bind that role', async () => {
    const joe = cluster.clientAs({ username: 'joe' });
    await cluster.create(
      roleOf('manager', [
        ...manager,
        { apiGroups: [RBAC], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['edit'] },
      ]),
    );
    await cluster.create(bindingOf('manager', 'ClusterRole manager', 'joe'));
    const bindings = `/apis/${RBAC}/v1/clusterrolebindings`;
    expect(await outcome(joe, 'POST', bindings, bindingOf('a', 'ClusterRole view', 'joe'))).toContain(
      'not currently held',
    );
    expect(await outcome(joe, 'POST', bindings, bindingOf('b', 'ClusterRole edit', 'joe'))).toBe('fine');
    expect(await outcome(joe, 'POST', bindings, bindingOf('c', 'ClusterRole nothing', 'joe'))).toContain('404');
  });
});

describe('aggregated roles', () => {
  it('begin with what they are made of', () => {
    const admin = cluster.get('clusterroles/admin') as { rules?: readonly unknown[] };
    const view = cluster.get('clusterroles/view') as { rules?: readonly unknown[] };
    expect(view.rules?.length).toBeGreaterThan(5);
    expect(admin.rules).toEqual(expect.arrayContaining([...(view.rules ?? [])]));
  });

  it('follow the roles that they are made of', async () => {
    const selectors = [{ matchLabels: { part: 'yes' } }];
    await cluster.create(roleOf('sum', [], { aggregationRule: { clusterRoleSelectors: selectors } }));
    const rule = { apiGroups: ['kopf.dev'], resources: ['*'], verbs: ['get'] };
    await cluster.create({ ...roleOf('part', [rule]), metadata: { name: 'part', labels: { part: 'yes' } } });
    await cluster.settled();
    expect(cluster.get('clusterroles/sum')).toMatchObject({ rules: [rule] });
    await cluster.delete('clusterroles/part');
    await cluster.settled();
    expect(cluster.get('clusterroles/sum')).toMatchObject({ rules: null });
  });
});

describe('reviews', () => {
  it('tell what is allowed, and by what', async () => {
    await cluster.create(bindingOf('viewers', 'ClusterRole view', 'joe', 'default'));
    const joe = cluster.clientAs({ username: 'joe' });
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const ask = async (resourceAttributes: object) =>
      (await joe.request<{ status: object }>({ method: 'POST', path, body: { spec: { resourceAttributes } } })).status;
    expect(await ask({ verb: 'list', resource: 'pods', namespace: 'default' })).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "viewers/default" of ClusterRole "view" to User "joe"',
    });
    expect(await ask({ verb: 'list', resource: 'pods', namespace: 'kube-system' })).toEqual({ allowed: false });
  });
});
