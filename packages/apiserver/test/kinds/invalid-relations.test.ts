/** Fields that do not go together, in kinds where the differential suite has found that nobody looked. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeAll(async () => {
  cluster = await localCluster({ controllers: false });
});
afterAll(async () => {
  await cluster.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
const send = async (method: string, path: string, body: unknown): Promise<{ status: number; body: any }> => {
  const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
  const response = await fetch(`${cluster.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${cluster.token}`, 'content-type': type },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
};

const containers = [{ name: 'm', image: 'i' }];
const job = { template: { spec: { containers, restartPolicy: 'Never' } } };
const set = {
  serviceName: 's',
  selector: { matchLabels: { a: 'b' } },
  template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
};
const codes = (values: readonly number[], operator = 'In') => ({
  podFailurePolicy: { rules: [{ action: 'Count', onExitCodes: { operator, values } }] },
});
const PLACES = {
  jobs: '/apis/batch/v1/namespaces/default/jobs',
  statefulsets: '/apis/apps/v1/namespaces/default/statefulsets',
  networkpolicies: '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
  ingressclasses: '/apis/networking.k8s.io/v1/ingressclasses',
  ingresses: '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
};

describe('what does not go together is refused', () => {
  it.each<[keyof typeof PLACES, object, string[]]>([
    ['jobs', { ...job, managedBy: 'me' }, ['spec.managedBy']],
    ['jobs', { ...job, maxFailedIndexes: 1 }, ['spec.backoffLimitPerIndex', 'spec.maxFailedIndexes']],
    [
      'jobs',
      { ...job, completionMode: 'Indexed', completions: 1, maxFailedIndexes: 2, backoffLimitPerIndex: 0 },
      ['spec.maxFailedIndexes'],
    ],
    ['jobs', { ...job, ...codes([4, 0, 4]) }, ['values[1]', 'values[2]', 'values']],
    ['jobs', { ...job, ...codes([], 'NotIn') }, ['values']],
    ['jobs', { ...job, ...codes([1]), podReplacementPolicy: 'TerminatingOrFailed' }, ['spec.podReplacementPolicy']],
    ['jobs', { ...job, podFailurePolicy: { rules: [{ action: 'FailIndex' }] } }, ['rules[0].action', 'rules[0]']],
    ['jobs', { ...job, podFailurePolicy: { rules: [{ onPodConditions: [{ type: 'x' }] }] } }, ['action', 'status']],
    ['statefulsets', { ...set, ordinals: { start: -2 } }, ['spec.ordinals.start']],
    ['statefulsets', { ...set, serviceName: 'No!' }, ['spec.serviceName']],
    ['networkpolicies', { podSelector: {}, egress: [{ to: [{}] }] }, ['spec.egress[0].to[0]']],
    [
      'networkpolicies',
      { podSelector: {}, egress: [{ ports: [{ endPort: 3 }] }] },
      ['spec.egress[0].ports[0].endPort'],
    ],
    [
      'networkpolicies',
      { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8'] } }] }] },
      ['except[0]'],
    ],
    [
      'networkpolicies',
      { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: 'fd00::/8', except: ['10.0.0.0/16'] } }] }] },
      ['except[0]'],
    ],
    ['networkpolicies', { podSelector: {}, policyTypes: ['Ingress', 'Egress', 'Ingress'] }, ['spec.policyTypes']],
    ['ingressclasses', { controller: 'a.b/c', parameters: { kind: 'K', scope: 'Everywhere' } }, ['name', 'scope']],
    [
      'ingresses',
      { defaultBackend: { service: { name: 's', port: { number: 1 } } }, tls: [{ secretName: 'A' }] },
      ['spec.tls[0].secretName'],
    ],
  ])('%s: %j', async (plural, spec, expected) => {
    const { status, body } = await send('POST', PLACES[plural], { metadata: { name: 'x' }, spec });
    expect(status).toBe(422);
    const fields: string[] = body.details.causes.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(
      expected.map((end) => expect.stringMatching(new RegExp(`${end.replace(/[.[\]]/g, '\\$&')}$`))),
    );
  });

  it.each([
    [
      'networkpolicies',
      {
        podSelector: {},
        egress: [{ to: [{ ipBlock: { cidr: 'fd00::/8', except: ['fd00:1::/32'] } }], ports: [{ port: 'dns' }] }],
      },
    ],
    ['jobs', { ...job, ...codes([1, 3], 'NotIn'), managedBy: 'a.b/c' }],
    [
      'ingressclasses',
      { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', scope: 'Namespace', namespace: 'x' } },
    ],
  ] as const)('and what does is not: %s', async (plural, spec) => {
    expect((await send('POST', PLACES[plural], { metadata: { name: 'fine' }, spec })).status).toBe(201);
  });
});

describe('containers for looking around', () => {
  const path = '/api/v1/namespaces/default/pods';
  const add = (...some: object[]) =>
    send('PATCH', `${path}/looked-at/ephemeralcontainers`, { spec: { ephemeralContainers: some } });

  it('become more, and never others', async () => {
    await send('POST', path, { metadata: { name: 'looked-at' }, spec: { containers } });
    expect((await add({ name: 'one', image: 'x', targetContainerName: 'm' })).status).toBe(200);
    expect((await add({ name: 'two', image: 'x' })).status).toBe(200);
    expect((await add({ name: 'm', image: 'x' })).body.message).toMatch('Duplicate value: "m"');
    expect((await add({ name: 'three', image: 'x', targetContainerName: 'one' })).body.message).toMatch(
      'Not found: "one"',
    );
    expect((await add({ name: 'one', image: 'y' })).body.message).toMatch('"one" may not be changed');
  });
});

describe('bindings', () => {
  const path = '/api/v1/namespaces/default/pods';
  const bind = (binding: object) =>
    send('POST', `${path}/bound/binding`, { apiVersion: 'v1', kind: 'Binding', ...binding });

  it('lead to nodes, under the name of the pod, and bring labels', async () => {
    await send('POST', path, { metadata: { name: 'bound', labels: { a: 'b' } }, spec: { containers } });
    const target = { kind: 'Node', name: 'n' };
    expect((await bind({ metadata: { name: 'other' }, target })).status).toBe(400);
    expect((await bind({ metadata: { name: 'bound' }, target: { kind: 'Pod' } })).body).toMatchObject({
      code: 500,
      message:
        '[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]',
    });
    expect((await bind({ metadata: { name: 'bound', uid: 'else' }, target })).status).toBe(409);
    expect((await bind({ metadata: { name: 'bound', labels: { c: 'd' } }, target })).status).toBe(201);
    const pod = cluster.get('pods/default/bound');
    expect(pod).toMatchObject({ metadata: { labels: { a: 'b', c: 'd' } }, spec: { nodeName: 'n' } });
  });
});

describe('documents for people', () => {
  it.each(['/', '/version'])('%s ends where it ends', async (path) => {
    const headers = { authorization: `Bearer ${cluster.token}` };
    expect(await (await fetch(`${cluster.url}${path}`, { headers })).text()).toMatch(/\n\}$/);
  });
});

describe('what jobs say of themselves', () => {
  it('is kept to what others rely on', async () => {
    await send('POST', PLACES.jobs, { metadata: { name: 'told' }, spec: job });
    const say = async (status: object): Promise<string> => {
      const answer = await send('PATCH', `${PLACES.jobs}/told/status`, { status });
      return answer.status === 200 ? 'fine' : answer.body.message;
    };
    const yes = (type: string) => ({ type, status: 'True' });
    const startTime = '2026-01-01T00:00:00Z';
    expect(await say({ conditions: [yes('Complete')] })).toMatch('without the SuccessCriteriaMet=true condition');
    expect(await say({ active: 1, ready: 2 })).toMatch('more ready pods than active');
    expect(await say({ startTime, failed: 2 })).toBe('fine');
    expect(await say({ startTime: '2026-02-01T00:00:00Z' })).toMatch('field is immutable for unsuspended job once set');
    expect(await say({ failed: 1 })).toMatch('cannot decrease the failed counter');
    const end = [yes('SuccessCriteriaMet'), yes('Complete')];
    expect(await say({ conditions: end })).toMatch('completionTime is required for Complete jobs');
    expect(await say({ conditions: end, completionTime: '2025-01-01T00:00:00Z' })).toMatch('equal to or after');
    expect(await say({ conditions: end, completionTime: startTime })).toBe('fine');
    expect(await say({ active: 1 })).toMatch('active>0 is invalid for finished job');
    expect(await say({ conditions: [{ type: 'Complete', status: 'False' }] })).toMatch('cannot disable the terminal');
  });
});

describe('definitions and their objects', () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const spec = {
    type: 'object',
    properties: {
      size: { type: 'integer' },
      free: { type: 'object' },
      one: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  const definition = (...paths: string[]) => ({
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          selectableFields: paths.map((jsonPath) => ({ jsonPath })),
        },
      ],
    },
  });

  it('are selected by fields that are there', async () => {
    const refused = async (...paths: string[]): Promise<string> =>
      (await send('POST', definitions, definition(...paths))).body.message;
    expect(await refused('.spec.none')).toMatch('is an invalid path: does not refer to a valid field');
    expect(await refused('.spec.free')).toMatch('must point to a field of type string, boolean or integer');
    expect(await refused('.spec.size', '.spec.size')).toMatch('Duplicate value: ".spec.size"');
    expect((await send('POST', definitions, definition('.spec.size'))).status).toBe(201);
  });

  it('have resources in them with proper labels', async () => {
    const gadget = (labels: object) => ({
      apiVersion: 'example.com/v1',
      kind: 'Gadget',
      metadata: { name: 'g' },
      spec: { one: { apiVersion: 'v1', kind: 'Pod', metadata: { labels } } },
    });
    const path = '/apis/example.com/v1/namespaces/default/gadgets';
    const { body } = await send('POST', path, gadget({ a: 'not ok' }));
    expect(body.details.causes).toMatchObject([{ field: 'spec.one.metadata.labels' }]);
    expect((await send('POST', path, gadget({ a: 'ok' }))).status).toBe(201);
  });
});
