/** What generated requests have found, where the real server is not needed to know the answer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeAll(async () => {
  cluster = await localCluster({ controllers: false });
});
afterAll(async () => {
  await cluster.stop();
});

interface Answer {
  readonly status: number;
  readonly warning: string | null;
  readonly body: Record<string, never> & {
    metadata: { labels: Record<string, string>; uid: string };
    spec: Record<string, unknown>;
    details: { causes: { field: string }[] };
    items: unknown;
    message: string;
  };
}

const send = async (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const response = await fetch(`${cluster.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${cluster.token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    warning: response.headers.get('warning'),
    body: (text.startsWith('{') ? JSON.parse(text) : { message: text }) as Answer['body'],
  };
};

const pods = '/api/v1/namespaces/default/pods';
const jobs = '/apis/batch/v1/namespaces/default/jobs';
const services = '/api/v1/namespaces/default/services';
const configMaps = '/api/v1/namespaces/default/configmaps';
const pod = (spec: object, name = 'a') => ({
  metadata: { name },
  spec: { containers: [{ name: 'm', image: 'i' }], ...spec },
});
const fieldsOf = ({ body }: Answer): string[] => body.details.causes.map(({ field }) => field);

describe('pods', () => {
  it.each<[string, object, string[]]>([
    ['spread', { topologySpreadConstraints: [{ topologyKey: 'z' }] }, ['maxSkew', 'whenUnsatisfiable']],
    ['tolerate', { tolerations: [{ operator: 'Equal' }] }, ['operator']],
    ['have gates and a node', { schedulingGates: [{ name: 'a/b' }], nodeName: 'n' }, ['nodeName']],
    ['have volumes', { volumes: [{ name: 'v', nfs: {} }] }, ['server', 'path', 'path']],
  ])('that %s in a wrong way are refused', async (_, spec, expected) => {
    const answer = await send('POST', `${pods}?dryRun=All`, pod(spec));
    expect(answer.status).toBe(422);
    expect(fieldsOf(answer).map((field) => field.split('.').at(-1))).toEqual(expected);
  });

  it('with a port that is there twice are told of', async () => {
    const ports = [{ containerPort: 80 }, { containerPort: 80 }];
    const { warning } = await send(
      'POST',
      `${pods}?dryRun=All`,
      pod({ containers: [{ name: 'm', image: 'i', ports }] }),
    );
    expect(warning).toContain('spec.containers[0].ports[1]: duplicate port definition');
  });

  it('of the system have its priority', async () => {
    const { body } = await send('POST', `${pods}?dryRun=All`, pod({ priorityClassName: 'system-node-critical' }));
    expect(body.spec['priority']).toBe(2_000_001_000);
  });
});

describe('jobs', () => {
  const spec = {
    template: {
      metadata: { labels: { app: 'x' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'm', image: 'i' }] },
    },
  };

  it('have the labels of their template if they have none', async () => {
    const { body } = await send('POST', `${jobs}?dryRun=All`, { metadata: { name: 'a' }, spec });
    expect(Object.keys(body.metadata.labels).sort()).toEqual([
      'app',
      'batch.kubernetes.io/controller-uid',
      'batch.kubernetes.io/job-name',
      'controller-uid',
      'job-name',
    ]);
    const { body: own } = await send('POST', `${jobs}?dryRun=All`, {
      metadata: { name: 'a', labels: { app: 'x' } },
      spec,
    });
    expect(own.metadata.labels).toEqual({ app: 'x' });
  });

  it('keep their templates', async () => {
    await send('POST', jobs, { metadata: { name: 'kept' }, spec });
    const patch = { spec: { template: { spec: { restartPolicy: 'OnFailure' } } } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    expect(fieldsOf(await send('PATCH', `${jobs}/kept`, patch, headers))).toEqual(['spec.template']);
  });

  it('are warned of even if there are none', async () => {
    expect((await send('DELETE', `${jobs}/none`)).warning).toContain('child pods are preserved');
    expect((await send('DELETE', `${jobs}?labelSelector=none`)).warning).toContain('child pods are preserved');
  });
});

describe('sets', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'm', image: 'i' }] } };
  const setOf = (spec: object) => ({
    metadata: { name: 'a' },
    spec: { selector: { matchLabels: { a: 'b' } }, template, ...spec },
  });
  const refusedFields = async (plural: string, spec: object): Promise<readonly string[]> =>
    fieldsOf(await send('POST', `/apis/apps/v1/namespaces/default/${plural}?dryRun=All`, setOf(spec)));

  it.each<[string, object, string[]]>([
    ['daemonsets', { updateStrategy: { type: 'Other' } }, ['updateStrategy']],
    ['daemonsets', { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } }, ['maxUnavailable']],
    [
      'daemonsets',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: '200%' } } },
      ['maxSurge', 'maxSurge'],
    ],
    ['statefulsets', { updateStrategy: { type: 'Other' } }, ['updateStrategy']],
    ['statefulsets', { podManagementPolicy: 'Other' }, ['podManagementPolicy']],
    ['statefulsets', { template: { ...template, metadata: { labels: { a: 'b', c: '_' } } } }, ['labels', 'labels']],
  ])('%s with %j are refused', async (plural, spec, expected) => {
    expect((await refusedFields(plural, spec)).map((field) => field.split('.').at(-1))).toEqual(expected);
  });
});

describe('claims', () => {
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  const versionOf = ({ body }: Answer): string =>
    (body.metadata as unknown as { resourceVersion: string }).resourceVersion;

  it('get their phase stored by the first write, whatever that is', async () => {
    const created = await send('POST', claims, { metadata: { name: 'phased' }, spec });
    expect(created.body).toMatchObject({ status: { phase: 'Pending' } });
    const first = await send('PATCH', `${claims}/phased`, {}, headers);
    expect(versionOf(first)).not.toBe(versionOf(created));
    expect(versionOf(await send('PATCH', `${claims}/phased`, {}, headers))).toBe(versionOf(first));
  });

  it('do not shrink', async () => {
    await send('POST', claims, { metadata: { name: 'big' }, spec });
    const patch = { spec: { resources: { requests: { storage: '0' } } } };
    const answer = await send('PATCH', `${claims}/big`, patch, headers);
    expect(fieldsOf(answer)).toContain('spec.resources.requests.storage');
  });
});

it.each<[object, string[]]>([
  [{ local: { path: '/x' } }, ['spec.nodeAffinity']],
  [{ hostPath: { path: '/x' }, local: { path: '/x' } }, ['spec.local']],
  [{ hostPath: { path: '/x' }, capacity: {} }, ['spec.capacity', 'spec.capacity']],
  [{ hostPath: { path: '/x' }, persistentVolumeReclaimPolicy: 'Other' }, ['spec.persistentVolumeReclaimPolicy']],
])('volumes with %j are refused', async (rest, expected) => {
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...rest };
  const answer = await send('POST', '/api/v1/persistentvolumes?dryRun=All', { metadata: { name: 'a' }, spec });
  expect(fieldsOf(answer)).toEqual(expected);
});

describe('patches', () => {
  const type = (name: string) => ({ 'content-type': `application/${name}` });
  const priorities = '/apis/scheduling.k8s.io/v1/priorityclasses';

  it('that are lists replace everything, for those who ignore what is unknown', async () => {
    await send('POST', configMaps, { metadata: { name: 'listed' } });
    const strict = await send('PATCH', `${configMaps}/listed`, [], type('merge-patch+json'));
    expect([strict.status, strict.body.message]).toEqual([400, expect.stringContaining('error decoding patch')]);
    const path = `${configMaps}/listed?fieldValidation=Ignore`;
    expect((await send('PATCH', path, [], type('merge-patch+json'))).status).toBe(422);
    expect((await send('PATCH', path, '3', type('merge-patch+json'))).body.message).toBe('Invalid JSON Patch');
  });

  it('that are strategic make other integers of those that are too big', async () => {
    await send('POST', priorities, { metadata: { name: 'big' }, value: 10 });
    const answer = await send('PATCH', `${priorities}/big`, { value: -2147483649 }, type('strategic-merge-patch+json'));
    expect(answer.body.message).toContain('value: Forbidden: may not be changed in an update.');
  });
});

it('objects of another version are read before they are refused for it', async () => {
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
  const body = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a' },
    spec: { maxReplicas: 2, scaleTargetRef: { kind: 'A', name: 'b' }, foo: 1 },
  };
  const { status, warning, body: answer } = await send('POST', path, body);
  expect({ status, warning }).toEqual({ status: 400, warning: '299 - "unknown field \\"spec.foo\\""' });
  expect(answer.message).toContain('the API version in the data (autoscaling/v2) does not match');
});

it('slices of endpoints keep their type, and are refused for that alone', async () => {
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const slice = { metadata: { name: 'six' }, addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8::1'] }] };
  await send('POST', slices, slice);
  expect(fieldsOf(await send('PUT', `${slices}/six`, { ...slice, addressType: 'IPv4' }))).toEqual(['addressType']);
});

it('slices of endpoints count changes of their labels and endpoints', async () => {
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const slice = { metadata: { name: 'a' }, addressType: 'IPv4', endpoints: [{ addresses: ['1.2.3.4'] }] };
  const generationOf = ({ body }: Answer): unknown => (body.metadata as unknown as { generation: number }).generation;
  await send('POST', slices, slice);
  expect(generationOf(await send('PUT', `${slices}/a`, slice))).toBe(1);
  const metadata = { name: 'a', labels: { a: 'b' } };
  expect(generationOf(await send('PUT', `${slices}/a`, { ...slice, metadata }))).toBe(2);
});

it('cron jobs leave room for the names of their jobs', async () => {
  const body = { metadata: { name: 'x'.repeat(53) }, spec: { schedule: '* * * * *', jobTemplate: {} } };
  const answer = await send('POST', '/apis/batch/v1/namespaces/default/cronjobs', body);
  expect(fieldsOf(answer)).toContain('metadata.name');
});

it('endpoints have addresses', async () => {
  const body = { metadata: { name: 'a' }, subsets: [{ ports: [{ port: 80 }] }] };
  expect(fieldsOf(await send('POST', '/api/v1/namespaces/default/endpoints', body))).toEqual(['subsets[0]']);
});

it('warnings that do not fit into a header are not given', async () => {
  const { status, warning } = await send('POST', `${configMaps}?dryRun=All`, {
    metadata: { name: 'a' },
    'new\nline': 1,
  });
  expect({ status, warning }).toEqual({ status: 201, warning: null });
});

describe('services', () => {
  it.each([
    [{ clusterIP: 'None' }, ['IPv4', 'IPv6']],
    [{ clusterIP: 'None', ipFamilyPolicy: 'SingleStack' }, ['IPv4']],
    [{ clusterIP: 'None', selector: { a: 'b' } }, ['IPv4']],
  ])('%j have the families %j', async (spec, families) => {
    const { body } = await send('POST', `${services}?dryRun=All`, { metadata: { name: 'a' }, spec });
    expect(body.spec['ipFamilies']).toEqual(families);
  });

  it('that nobody reaches from elsewhere have no policy for that', async () => {
    const spec = { externalTrafficPolicy: 'Local', ports: [{ port: 80 }] };
    const answer = await send('POST', `${services}?dryRun=All`, { metadata: { name: 'a' }, spec });
    expect(fieldsOf(answer)).toEqual(['spec.externalTrafficPolicy']);
  });
});

describe('bodies', () => {
  it('are refused for values that they overwrite themselves', async () => {
    const { status, body } = await send('POST', configMaps, '{"metadata":{"name":1,"name":"a"}}');
    expect([status, body.message]).toEqual([400, expect.stringContaining('ObjectMeta.metadata.name of type string')]);
  });

  it('of patches are not even read if there is nothing to patch', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    expect((await send('PATCH', `${configMaps}/none`, '{', headers)).status).toBe(404);
  });
});

describe('lists', () => {
  it('of metadata are nothing if they are empty', async () => {
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    expect((await send('GET', '/api/v1/namespaces/default/secrets', undefined, { accept })).body.items).toBeNull();
  });
});
