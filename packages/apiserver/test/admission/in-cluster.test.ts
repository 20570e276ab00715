import { ApiError } from '@kopf-ts/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';
import { certify, HookServer, jsonPatchOf } from './support.js';

let hooks: HookServer;
let cluster: LocalCluster;
beforeAll(async () => {
  const { authority, certificate } = certify();
  hooks = await HookServer.start(authority, certificate);
});
afterAll(async () => {
  await hooks.stop();
});
beforeEach(async () => {
  hooks.asked.length = 0;
  hooks.answers.clear();
  cluster = await localCluster({ listen: false, controllers: false });
});
afterEach(async () => {
  await cluster.stop();
});

async function register(apiGroups: readonly string[], resources: readonly string[]): Promise<void> {
  const caBundle = Buffer.from(hooks.ca).toString('base64');
  await cluster.create({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: { url: `https://127.0.0.1:${hooks.port}/hook`, caBundle },
        rules: [{ apiGroups, apiVersions: ['v1'], operations: ['*'], resources }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  });
}

describe('scales', () => {
  const path = '/apis/apps/v1/namespaces/default/deployments/web';
  const scale = async (replicas: number) =>
    await cluster.client.request<{ spec: unknown }>({
      method: 'PATCH',
      path: `${path}/scale`,
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas } },
    });

  beforeEach(async () => {
    const labels = { app: 'web' };
    await cluster.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    await register(['apps'], ['deployments/scale']);
  });

  it('are shown as scales, before and after', async () => {
    await scale(3);
    const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
    expect(hooks.asked.map(({ request }) => request)).toEqual([
      expect.objectContaining({
        kind,
        requestKind: kind,
        resource: { group: 'apps', version: 'v1', resource: 'deployments' },
        subResource: 'scale',
        operation: 'UPDATE',
        options: { apiVersion: 'meta.k8s.io/v1', kind: 'UpdateOptions' },
        object: expect.objectContaining({ kind: 'Scale', spec: { replicas: 3 } }),
        oldObject: expect.objectContaining({ kind: 'Scale', spec: { replicas: 1 } }),
      }),
    ]);
  });

  it('are patched as scales', async () => {
    hooks.answers.set('/hook', jsonPatchOf({ op: 'replace', path: '/spec/replicas', value: 7 }));
    expect((await scale(3)).spec).toEqual({ replicas: 7 });
    const { spec } = await cluster.client.request<{ spec: unknown }>({ method: 'GET', path });
    expect(spec).toMatchObject({ replicas: 7 });
  });
});

describe('events', () => {
  it('are shown in the group which the webhook asked for, and come back in their own', async () => {
    await register(['events.k8s.io'], ['events']);
    hooks.answers.set('/hook', jsonPatchOf({ op: 'replace', path: '/note', value: 'patched' }));
    const created = await cluster.create({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'x', namespace: 'default' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
      message: 'told',
    });
    expect(hooks.asked[0]?.request['object']).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { name: 'p' },
      note: 'told',
    });
    expect(created).toMatchObject({ apiVersion: 'v1', involvedObject: { name: 'p' }, message: 'patched' });
  });
});

describe('objects that a webhook spoils', () => {
  it('are an internal error, since it is not the fault of the client', async () => {
    await register([''], ['configmaps']);
    hooks.answers.set('/hook', jsonPatchOf({ op: 'add', path: '/data', value: { key: 5 } }));
    const creating = cluster.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', namespace: 'default' },
    });
    const error = await creating.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 500, payload: { reason: 'InternalError' } });
    expect((error as ApiError).message).toContain('cannot unmarshal number into Go struct field ConfigMap.data');
  });
});
