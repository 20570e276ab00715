import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { localCluster } from '../../src/index.js';

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

describe('a cluster begins with', () => {
  it('an account in each namespace, which comes back when it is deleted', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    await cluster.settled();
    const places = cluster.list('serviceaccounts').map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`);
    expect(places).toEqual([
      'default/default',
      'kube-node-lease/default',
      'kube-public/default',
      'kube-system/default',
    ]);
    const { uid } = cluster.get('serviceaccounts/default/default')?.metadata ?? {};
    await cluster.delete('serviceaccounts/default/default');
    await cluster.settled();
    expect(cluster.get('serviceaccounts/default/default')?.metadata?.uid).not.toBe(uid);
    expect(cluster.get('serviceaccounts/default/default')).toBeDefined();
  });

  it('the service of its API server', async () => {
    await using cluster = await localCluster({ clock: manualClock() });
    expect(cluster.get('services/default/kubernetes')).toMatchObject({
      metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: { clusterIP: '10.96.0.1', ports: [{ port: 443, targetPort: Number(new URL(cluster.url).port) }] },
    });
  });

  it('the certificate of its authority, if it has one', async () => {
    await using plain = await localCluster({ listen: false, clock: manualClock() });
    await plain.settled();
    expect(plain.list('configmaps')).toEqual([]);

    await using cluster = await localCluster({ tls: true, listen: false, clock: manualClock() });
    await cluster.create(namespace('shop'));
    await cluster.settled();
    const reference = 'configmaps/shop/kube-root-ca.crt';
    expect(cluster.get(reference)).toMatchObject({ data: { 'ca.crt': cluster.security.tls?.ca } });
    await cluster.patch(reference, { data: { 'ca.crt': 'x' } });
    await cluster.settled();
    expect(cluster.get(reference)).toMatchObject({ data: { 'ca.crt': cluster.security.tls?.ca } });
  }, 20_000);

  it('nothing of that where a namespace is about to go', async () => {
    await using cluster = await localCluster({ listen: false, clock: manualClock() });
    await cluster.create(namespace('shop'));
    const held = { name: 'held', namespace: 'shop', finalizers: ['kopf.dev/x'] };
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: held });
    await cluster.delete('namespaces/shop');
    await cluster.settled();
    expect(cluster.get('namespaces/shop')).toBeDefined();
    expect(cluster.list('serviceaccounts/shop/')).toEqual([]);
  });
});
