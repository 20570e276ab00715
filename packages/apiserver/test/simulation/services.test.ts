import type { AnyObject, Mapping } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { deployment, stage, template } from './stage.js';

const service = (spec: Mapping = {}): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', labels: { team: 'a' } },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }], ...spec },
});
const listening = template('web', {
  containers: [{ name: 'main', image: 'x', ports: [{ name: 'http', containerPort: 8080 }] }],
});

describe('services', () => {
  it('have the ready pods as their endpoints, in both ways', async () => {
    await using here = await stage({ pods: { stopAfter: 5 } });
    await here.create(service());
    expect(here.get('endpoints/default/web').metadata.labels).toEqual({
      team: 'a',
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    });
    await here.create(deployment('web', { replicas: 2, template: listening }));
    here.cluster.simulation.behave({ name: here.list('pods')[1].metadata.name }, { ready: false });
    await here.pass(1);
    const [ready, other] = here.list('pods');
    const address = ({ metadata, status }: typeof ready) => ({
      ip: status.podIP,
      nodeName: 'local',
      targetRef: { kind: 'Pod', namespace: 'default', name: metadata.name, uid: metadata.uid },
    });
    expect(here.get('endpoints/default/web').subsets).toEqual([
      {
        addresses: [address(ready)],
        notReadyAddresses: [address(other)],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ]);
    const [slice, ...more] = here.list('endpointslices');
    expect(more).toEqual([]);
    expect(slice).toMatchObject({
      addressType: 'IPv4',
      metadata: {
        labels: {
          team: 'a',
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
      },
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    });
    expect(slice.endpoints.map(({ conditions }: { conditions: unknown }) => conditions)).toEqual([
      { ready: true, serving: true, terminating: false },
      { ready: false, serving: false, terminating: false },
    ]);
    await here.cluster.patch('deployments/default/web', { spec: { replicas: 0 } });
    await here.pass(1);
    expect(here.get('endpoints/default/web').subsets).toBeUndefined();
    expect(here.list('endpointslices')[0].endpoints[0].conditions).toEqual({
      ready: false,
      serving: true,
      terminating: true,
    });
    await here.pass(5);
    expect(here.list('endpointslices')).toMatchObject([{ endpoints: null }]);
    await here.cluster.delete('services/default/web');
    await here.pass(0);
    expect([here.get('endpoints/default/web'), here.list('endpointslices')]).toEqual([undefined, []]);
  });

  it('without selectors are left to others', async () => {
    await using here = await stage();
    await here.create(service({ selector: undefined }));
    const subsets = [{ addresses: [{ ip: '10.1.2.3' }] }];
    await here.create({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'web', namespace: 'default' },
      subsets,
    });
    await here.cluster.delete('services/default/web');
    await here.pass(1);
    expect(here.get('endpoints/default/web').subsets).toEqual(subsets);
  });
});

describe('claims', () => {
  const claim = (spec: Mapping = {}): AnyObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
  const volume = (name: string, storage: string): AnyObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
  });
  const CLAIM = 'persistentvolumeclaims/default/data';

  it('are bound to volumes that are made for them, and go with them', async () => {
    await using here = await stage();
    await here.create(claim({ storageClassName: 'fast' }));
    const bound = here.get(CLAIM);
    expect(bound.status).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } });
    const [made] = here.list('persistentvolumes');
    expect(bound.spec.volumeName).toBe(made.metadata.name);
    expect(made).toMatchObject({ spec: { storageClassName: 'fast' }, status: { phase: 'Bound' } });
    await here.cluster.delete(CLAIM);
    await here.pass(0);
    expect(here.list('persistentvolumes')).toEqual([]);
  });

  it('take the smallest of the volumes that are there, or wait for one', async () => {
    await using here = await stage();
    await here.create(claim({ storageClassName: '' }));
    expect(here.get(CLAIM).status.phase).toBe('Pending');
    for (const [name, storage] of [
      ['small', '500Mi'],
      ['big', '1Ti'],
      ['fitting', '2Gi'],
    ] as const) {
      await here.create(volume(name, storage));
    }
    // Whatever fits is taken at once.
    expect(here.get(CLAIM).spec.volumeName).toBe('big');
    expect(here.list('persistentvolumes').map(({ status }) => status.phase)).toEqual([
      'Bound',
      'Available',
      'Available',
    ]);
    await here.cluster.delete(CLAIM);
    await here.pass(0);
    expect(here.get('persistentvolumes/big').status.phase).toBe('Released');
    await here.create(claim({ storageClassName: '' }));
    expect(here.get(CLAIM).spec.volumeName).toBe('fitting');
  });
});

describe('budgets', () => {
  const budget = (spec: Mapping): AnyObject => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  });

  it.each([
    [{ minAvailable: 2 }, { desiredHealthy: 2, disruptionsAllowed: 1 }],
    [{ minAvailable: '50%' }, { desiredHealthy: 2, disruptionsAllowed: 1 }],
    [{ maxUnavailable: 2 }, { desiredHealthy: 1, disruptionsAllowed: 2 }],
    [{ maxUnavailable: 0 }, { desiredHealthy: 3, disruptionsAllowed: 0 }],
  ])('say how many pods may go: %j', async (spec, expected) => {
    await using here = await stage();
    await here.create(budget(spec));
    await here.create(deployment('web'));
    expect(here.get('poddisruptionbudgets/default/web').status).toMatchObject({
      currentHealthy: 0,
      disruptionsAllowed: 0,
    });
    await here.pass(1);
    expect(here.get('poddisruptionbudgets/default/web').status).toMatchObject({
      observedGeneration: 1,
      currentHealthy: 3,
      expectedPods: 3,
      ...expected,
      conditions: [{ type: 'DisruptionAllowed', status: expected.disruptionsAllowed > 0 ? 'True' : 'False' }],
    });
    const [pod] = here.list('pods');
    await here.cluster.delete(`pods/default/${pod.metadata.name}`);
    await here.pass(0);
    expect(here.get('poddisruptionbudgets/default/web').status).toMatchObject({
      currentHealthy: 2,
      disruptionsAllowed: Math.max(0, expected.disruptionsAllowed - 1),
    });
  });
});
