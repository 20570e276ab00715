import type { AnyObject } from '@kopf-ts/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareVersions } from '../../src/kinds/versions.js';
import { type Client, inProcess, MERGE } from '../support/listeners.js';

let client: Client;
beforeEach(async () => {
  client = await inProcess();
});
afterEach(async () => {
  await client.cluster.stop();
});

const containers = [{ name: 'c', image: 'busybox' }];
const template = { metadata: { labels: { app: 'x' } }, spec: { containers } };
const create = async (path: string, object: object) => (await client.send('POST', path, object)).body as AnyObject;
const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'x' } }, template } };

describe('defaults', () => {
  it('of pods', async () => {
    const { spec, status } = await create(PODS, { metadata: { name: 'p' }, spec: { containers } });
    expect(spec).toMatchObject({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      containers: [{ imagePullPolicy: 'Always', terminationMessagePath: '/dev/termination-log' }],
    });
    expect(status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
  });

  it('of deployments', async () => {
    const { spec, status } = await create(DEPLOYMENTS, { ...deployment, status: { replicas: 7 } });
    expect(spec).toMatchObject({
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    });
    expect(status).toEqual({});
  });

  it('of services', async () => {
    const { spec } = await create('/api/v1/namespaces/default/services', {
      metadata: { name: 's' },
      spec: { ports: [{ port: 80 }] },
    });
    expect(spec).toMatchObject({
      type: 'ClusterIP',
      sessionAffinity: 'None',
      clusterIP: expect.stringMatching(/^10\.96\.\d+\.\d+$/),
      ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }],
    });
  });

  it('of secrets: texts become data', async () => {
    const secret = await create('/api/v1/namespaces/default/secrets', {
      metadata: { name: 's' },
      stringData: { a: 'b' },
    });
    expect(secret).toMatchObject({ type: 'Opaque', data: { a: 'Yg==' } });
    expect(secret).not.toHaveProperty('stringData');
  });
});

describe('rules', () => {
  it.each([
    [PODS, { metadata: { name: 'p' }, spec: {} }, 'spec.containers: Required value'],
    [
      PODS,
      { metadata: { name: 'P' }, spec: { containers } },
      'metadata.name: Invalid value: "P": a lowercase RFC 1123 subdomain',
    ],
    [
      PODS,
      { metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }] } },
      'spec.containers[0].image: Required value',
    ],
    [DEPLOYMENTS, { metadata: { name: 'd' }, spec: { template } }, 'spec.selector: Required value'],
    [
      DEPLOYMENTS,
      { metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'y' } }, template } },
      'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
    ],
    ['/api/v1/namespaces/default/services', { metadata: { name: 's' }, spec: {} }, 'spec.ports: Required value'],
    [
      '/api/v1/namespaces/default/configmaps',
      { metadata: { name: 'm' }, data: { 'a b': 'c' } },
      'data[a b]: Invalid value: "a b"',
    ],
    ['/api/v1/namespaces', { metadata: { name: 'a.b' } }, 'metadata.name: Invalid value: "a.b": must not contain dots'],
    [
      '/api/v1/namespaces/kube-system/events',
      { metadata: { name: 'e' }, involvedObject: { kind: 'Pod', namespace: 'default' } },
      'involvedObject.namespace: Invalid value: "default": does not match event.namespace',
    ],
    [
      '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
      { metadata: { name: 'r' }, roleRef: { kind: 'X', name: 'y' } },
      'roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole"',
    ],
  ])('%s of %j', async (path, object, message) => {
    expect(await client.send('POST', path, object)).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', message: expect.stringContaining(message) },
    });
  });

  it('what is immutable stays', async () => {
    await create(DEPLOYMENTS, deployment);
    const other = {
      spec: { selector: { matchLabels: { app: null, tier: 'y' } }, template: { metadata: { labels: { tier: 'y' } } } },
    };
    expect(await client.send('PATCH', `${DEPLOYMENTS}/d`, other, MERGE)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('field is immutable') },
    });
  });
});

describe('generations', () => {
  it('count changes of the spec, not of the status', async () => {
    await create(DEPLOYMENTS, deployment);
    const scaled = await client.send('PATCH', `${DEPLOYMENTS}/d`, { spec: { replicas: 3 } }, MERGE);
    const observed = await client.send(
      'PATCH',
      `${DEPLOYMENTS}/d/status`,
      { status: { replicas: 3 }, spec: { replicas: 9 } },
      MERGE,
    );
    expect([scaled.body.metadata.generation, observed.body.metadata.generation]).toEqual([2, 2]);
    expect(observed.body).toMatchObject({ spec: { replicas: 3 }, status: { replicas: 3 } });
  });
});

describe('scales', () => {
  it('show and change the replicas', async () => {
    await create(DEPLOYMENTS, deployment);
    const { body } = await client.send('PATCH', `${DEPLOYMENTS}/d/scale`, { spec: { replicas: 4 } }, MERGE);
    expect(body).toMatchObject({ kind: 'Scale', spec: { replicas: 4 }, status: { selector: 'app=x' } });
    expect(client.cluster.get('deployments/default/d')).toMatchObject({ spec: { replicas: 4 } });
  });
});

describe('pods', () => {
  it('on nodes have time to end', async () => {
    await create(PODS, { metadata: { name: 'p' }, spec: { nodeName: 'n', containers } });
    const { body } = await client.send('DELETE', `${PODS}/p`);
    expect(body.metadata).toMatchObject({ deletionTimestamp: '2020-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 });
    await client.send('DELETE', `${PODS}/p?gracePeriodSeconds=0`);
    expect(client.cluster.get('pods/default/p')).toBeUndefined();
  });

  it('on no node end at once', async () => {
    await create(PODS, { metadata: { name: 'p' }, spec: { containers } });
    await client.send('DELETE', `${PODS}/p`);
    expect(client.cluster.get('pods/default/p')).toBeUndefined();
  });
});

describe('events', () => {
  it('of both groups are the same', async () => {
    const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default' };
    await create('/api/v1/namespaces/default/events', {
      metadata: { name: 'e' },
      involvedObject,
      reason: 'R',
      message: 'M',
      count: 2,
    });
    const { body } = await client.send('GET', '/apis/events.k8s.io/v1/namespaces/default/events/e');
    expect(body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: involvedObject,
      note: 'M',
      deprecatedCount: 2,
    });
    const { body: list } = await client.send('GET', '/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp');
    expect(list.items).toHaveLength(1);
  });
});

describe('namespaces', () => {
  it('wait for their finalizers', async () => {
    const created = await create('/api/v1/namespaces', { metadata: { name: 'n' } });
    expect(created).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'n' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    const { body } = await client.send('DELETE', '/api/v1/namespaces/n');
    expect(body.status).toEqual({ phase: 'Terminating' });
    await client.send('PUT', '/api/v1/namespaces/n/finalize', { metadata: { name: 'n' }, spec: { finalizers: [] } });
    expect((await client.send('GET', '/api/v1/namespaces/n')).status).toBe(404);
  });
});

describe('reviews', () => {
  it('everybody may do everything', async () => {
    const { body } = await client.send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'delete', resource: 'pods' } },
    });
    expect(body.status).toEqual({ allowed: true });
  });

  it('tokens are recognised', async () => {
    const path = '/apis/authentication.k8s.io/v1/tokenreviews';
    const known = await client.send('POST', path, { spec: { token: client.cluster.token } });
    expect(known.body.status).toMatchObject({
      authenticated: true,
      user: { groups: expect.arrayContaining(['system:masters']) },
    });
    const unknown = await client.send('POST', path, { spec: { token: 'nope' } });
    expect(unknown.body.status).not.toHaveProperty('authenticated');
  });
});

it('versions are preferred by their stability, then by their numbers', () => {
  const versions = [
    'foo1',
    'v1alpha1',
    'v10',
    'v2',
    'v11beta2',
    'foo10',
    'v3beta1',
    'v1',
    'v12alpha1',
    'v11alpha2',
    'v10beta3',
  ];
  expect([...versions].sort(compareVersions)).toEqual([
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'v1alpha1',
    'foo1',
    'foo10',
  ]);
});
