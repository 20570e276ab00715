import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeEach(async () => {
  cluster = await localCluster({ listen: false, clock: manualClock() });
});
afterEach(async () => {
  await cluster.stop();
});

const containers = [{ name: 'main', image: 'busybox' }];
const create = (plural: string, object: object, root = '/api/v1/namespaces/default') =>
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
  cluster.client.request<any>({ method: 'POST', path: `${root}/${plural}`, body: object });
const used = (name = 'q') =>
  (cluster.get(`resourcequotas/default/${name}`) as { status?: { used?: object } }).status?.used;
const limit = async (hard: object) => {
  await create('resourcequotas', { metadata: { name: 'q' }, spec: { hard } });
  await cluster.settled();
};

describe('quotas', () => {
  it('count what is created, and what is deleted', async () => {
    await limit({ configmaps: '3', 'count/deployments.apps': '1' });
    // Every namespace may have some of its own.
    expect(used()).toEqual({ configmaps: '0', 'count/deployments.apps': '0' });
    await create('configmaps', { metadata: { name: 'a' } });
    expect(used()).toMatchObject({ configmaps: '1' });
    await cluster.client.request({ method: 'DELETE', path: '/api/v1/namespaces/default/configmaps/a' });
    await cluster.settled();
    expect(used()).toMatchObject({ configmaps: '0' });
  });

  it('refuse what is too much', async () => {
    await limit({ pods: '1', 'requests.cpu': '1' });
    await expect(create('pods', { metadata: { name: 'a' }, spec: { containers } })).rejects.toThrow(
      'pods "a" is forbidden: failed quota: q: must specify requests.cpu for: main',
    );
    const sized = (cpu: string) => ({ containers: [{ ...containers[0], resources: { requests: { cpu } } }] });
    await expect(create('pods', { metadata: { name: 'b' }, spec: sized('1500m') })).rejects.toThrow(
      'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=1500m, used: requests.cpu=0, limited: requests.cpu=1',
    );
    await create('pods', { metadata: { name: 'c' }, spec: sized('600m') });
    expect(used()).toEqual({ pods: '1', 'requests.cpu': '600m' });
    await expect(create('pods', { metadata: { name: 'd' }, spec: sized('600m') })).rejects.toThrow(
      'exceeded quota: q, requested: pods=1,requests.cpu=600m, used: pods=1,requests.cpu=600m, limited: pods=1,requests.cpu=1',
    );
  });

  it('count nothing of what is only tried', async () => {
    await limit({ secrets: '1' });
    const path = '/api/v1/namespaces/default/secrets?dryRun=All';
    for (const name of ['a', 'b']) await cluster.client.request({ method: 'POST', path, body: { metadata: { name } } });
    expect(used()).toEqual({ secrets: '0' });
  });
});

describe('limits', () => {
  it('are set where nothing is said, and told of', async () => {
    const limits = [{ type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '100m' } }];
    await create('limitranges', { metadata: { name: 'l' }, spec: { limits } });
    const pod = await create('pods', { metadata: { name: 'a' }, spec: { containers } });
    expect(pod.spec.containers[0].resources).toEqual({ limits: { cpu: '500m' }, requests: { cpu: '100m' } });
    expect(pod.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container main; cpu limit for container main',
    });
    expect(pod.status.qosClass).toBe('Burstable');
  });

  it('refuse what is beyond them', async () => {
    const limits = [{ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }];
    await create('limitranges', { metadata: { name: 'l' }, spec: { limits } });
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
    await expect(create('persistentvolumeclaims', { metadata: { name: 'a' }, spec })).rejects.toThrow(
      'maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
    );
  });
});

describe('priorities', () => {
  const classes = '/apis/scheduling.k8s.io/v1';
  it('of the system are there from the beginning, and stay', async () => {
    const names = cluster.list('priorityclasses').map(({ metadata }) => metadata?.name);
    expect(names).toEqual(['system-cluster-critical', 'system-node-critical']);
    const path = `${classes}/priorityclasses/system-node-critical`;
    await expect(cluster.client.request({ method: 'DELETE', path })).rejects.toThrow('cannot be deleted');
  });

  it('are given to pods by name, or by default', async () => {
    await create('priorityclasses', { metadata: { name: 'high' }, value: 1000 }, classes);
    await create('priorityclasses', { metadata: { name: 'usual' }, value: 5, globalDefault: true }, classes);
    const named = await create('pods', { metadata: { name: 'a' }, spec: { containers, priorityClassName: 'high' } });
    const unnamed = await create('pods', { metadata: { name: 'b' }, spec: { containers } });
    expect([named.spec.priority, unnamed.spec.priority, unnamed.spec.priorityClassName]).toEqual([1000, 5, 'usual']);
    await expect(
      create('pods', { metadata: { name: 'c' }, spec: { containers, priorityClassName: 'none' } }),
    ).rejects.toThrow('no PriorityClass with name none was found');
  });
});

describe('standards of pod security', () => {
  const label = (labels: Record<string, string>) =>
    cluster.client.request({
      method: 'PATCH',
      path: '/api/v1/namespaces/default',
      contentType: 'application/merge-patch+json',
      body: {
        metadata: {
          labels: Object.fromEntries(
            Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]),
          ),
        },
      },
    });
  const shared = { metadata: { name: 'a' }, spec: { hostNetwork: true, containers } };

  it.each([
    ['privileged', undefined],
    ['baseline', 'violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'],
    ['restricted', 'violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true), allowPrivilegeEsc'],
  ])('refuse what is too free where %s is enforced', async (level, refusal) => {
    await label({ enforce: level });
    const answer = create('pods', shared);
    await (refusal === undefined ? answer : expect(answer).rejects.toThrow(refusal));
  });

  it('follow the version that is asked for', async () => {
    const probed = { name: 'main', image: 'busybox', livenessProbe: { tcpSocket: { host: 'a.b', port: 80 } } };
    const pod = { metadata: { name: 'a' }, spec: { containers: [probed] } };
    await label({ enforce: 'baseline' });
    await expect(create('pods', pod)).rejects.toThrow('probe or lifecycle host');
    await label({ 'enforce-version': 'v1.33' });
    await create('pods', pod);
  });

  it('do not keep workloads from being made, nor pods from being labelled', async () => {
    await create('pods', shared);
    await label({ enforce: 'restricted' });
    const [selector, template] = [
      { matchLabels: { app: 'a' } },
      { metadata: { labels: { app: 'a' } }, spec: shared.spec },
    ];
    const deployment = { metadata: { name: 'a' }, spec: { selector, template } };
    await create('deployments', deployment, '/apis/apps/v1/namespaces/default');
    await cluster.client.request({
      method: 'PATCH',
      path: '/api/v1/namespaces/default/pods/a',
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { a: 'b' } } },
    });
  });

  it('are asked for in words that are known', async () => {
    await expect(label({ enforce: 'strict' })).rejects.toThrow('must be one of privileged, baseline, restricted');
    await expect(label({ warn: 'baseline', 'warn-version': 'v2' })).rejects.toThrow('must be "latest" or "v1.x"');
  });
});
