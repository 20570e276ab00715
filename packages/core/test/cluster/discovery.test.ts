import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { discover } from '../../src/cluster/discover.js';
import { apiError } from '../../src/errors.js';
import type { KubeRequest } from '../../src/seams/client.js';
import { formatResource } from '../../src/values/resources/resource.js';
import { type ScriptedClient, scriptedClient } from './scripted-client.js';

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** A server with these answers, and with HTTP 404 for all others. */
function serving(answers: Record<string, unknown>): ScriptedClient {
  const client = scriptedClient();
  client.answerAll(({ path }: KubeRequest) => answers[path] ?? apiError({ status: 404 }));
  return client;
}

const POD = { name: 'pods', kind: 'Pod', namespaced: true, singularName: 'pod', verbs: ['list', 'watch'] };
const LEGACY = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': {
    kind: 'APIResourceList',
    resources: [
      { ...POD, shortNames: ['po'], categories: ['all'] },
      { name: 'pods/status', kind: 'Pod', namespaced: true },
      { name: 'pods/log', kind: 'Pod', namespaced: true },
      { name: 'strangers/scale', kind: 'Scale', namespaced: true },
      { name: 'nodes', kind: 'Node', namespaced: false, singularName: '' },
    ],
  },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      {
        name: 'g1',
        versions: [{ version: 'v2' }, { version: 'v1' }],
        preferredVersion: { version: 'v1' },
      },
      { name: 'g2', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
    ],
  },
  '/apis/g1/v1': { resources: [{ name: 'as', kind: 'A', namespaced: true }] },
  '/apis/g1/v2': { resources: [{ name: 'as', kind: 'A', namespaced: true }] },
  '/apis/g2/v1': { resources: [{ name: 'bs', kind: 'B', namespaced: false }] },
};

const AGGREGATED = {
  '/api': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            freshness: 'Current',
            resources: [
              {
                resource: 'pods',
                responseKind: { group: '', version: '', kind: 'Pod' },
                scope: 'Namespaced',
                singularResource: 'pod',
                verbs: ['list', 'watch'],
                shortNames: ['po'],
                categories: ['all'],
                subresources: [{ subresource: 'status' }, { subresource: 'log' }],
              },
              { resource: 'nodes', responseKind: { kind: 'Node' }, scope: 'Cluster', singularResource: '' },
              { resource: 'strangers', responseKind: {}, subresources: [{ subresource: 'scale' }] },
            ],
          },
        ],
      },
    ],
  },
  '/apis': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'g1' },
        versions: [
          { version: 'v1', resources: [{ resource: 'as', responseKind: { kind: 'A' }, scope: 'Namespaced' }] },
          { version: 'v2', resources: [{ resource: 'as', responseKind: { kind: 'A' }, scope: 'Namespaced' }] },
        ],
      },
      {
        metadata: { name: 'g2' },
        versions: [{ version: 'v1', resources: [{ resource: 'bs', responseKind: { kind: 'B' }, scope: 'Cluster' }] }],
      },
    ],
  },
};

describe.each([
  ['version by version', LEGACY],
  ['in one go', AGGREGATED],
] as const)('discovery %s', (_title, answers) => {
  it('describes the resources', async () => {
    const { resources, failed } = await discover(serving(answers), { groups: new Set(['']) });
    expect(failed).toEqual([]);
    expect(resources).toEqual([
      {
        group: '',
        version: 'v1',
        plural: 'pods',
        kind: 'Pod',
        singular: 'pod',
        shortcuts: new Set(['po']),
        categories: new Set(['all']),
        subresources: new Set(['status', 'log']),
        namespaced: true,
        preferred: true,
        verbs: new Set(['list', 'watch']),
      },
      {
        group: '',
        version: 'v1',
        plural: 'nodes',
        kind: 'Node',
        singular: 'node',
        shortcuts: new Set(),
        categories: new Set(),
        subresources: new Set(),
        namespaced: false,
        preferred: true,
        verbs: new Set(),
      },
    ]);
  });

  it.each([
    [undefined, ['pods.v1', 'nodes.v1', 'as.v1.g1', 'as.v2.g1', 'bs.v1.g2']],
    [[''], ['pods.v1', 'nodes.v1']],
    [['g2'], ['bs.v1.g2']],
    [
      ['', 'g1'],
      ['pods.v1', 'nodes.v1', 'as.v1.g1', 'as.v2.g1'],
    ],
    [['X'], []],
    [[], []],
  ])('of groups %j finds %j', async (groups, expected) => {
    const { resources } = await discover(serving(answers), groups === undefined ? {} : { groups: new Set(groups) });
    expect(resources.map((resource) => formatResource(resource)).sort()).toEqual(expected.sort());
  });

  it('tells the preferred version from the others', async () => {
    const { resources } = await discover(serving(answers), { groups: new Set(['g1']) });
    const preferred = resources.filter((resource) => resource.preferred);
    expect(preferred.map((resource) => formatResource(resource))).toEqual(['as.v1.g1']);
    expect(resources).toHaveLength(2);
  });

  it('throws if the cluster itself does not answer', async () => {
    const client = serving({ ...answers, '/apis': apiError({ status: 503 }) });
    await expect(discover(client)).rejects.toMatchObject({ status: 503 });
  });
});

describe('requests of discovery', () => {
  it.each([
    [[], []],
    [[''], ['GET /api', 'GET /api/v1']],
    [['g2'], ['GET /apis', 'GET /apis/g2/v1']],
    [['X'], ['GET /apis']],
  ])('of groups %j from an older server are %j', async (groups, expected) => {
    const client = serving(LEGACY);
    await discover(client, { groups: new Set(groups) });
    expect(client.log).toEqual(expected);
  });

  it('are two for everything from a newer server', async () => {
    const client = serving(AGGREGATED);
    await discover(client);
    expect(client.requests).toEqual([
      { method: 'GET', path: '/api', accept: ACCEPT },
      { method: 'GET', path: '/apis', accept: ACCEPT },
    ]);
  });
});

describe('discovery of a group that does not answer', () => {
  it('takes the absence of a version for the absence of resources', async () => {
    const logger = recordingLogger();
    const client = serving({ ...LEGACY, '/apis/g1/v2': apiError({ status: 404 }) });
    const { resources, failed } = await discover(client, { groups: new Set(['g1']), logger });
    expect(resources.map((resource) => formatResource(resource))).toEqual(['as.v1.g1']);
    expect(failed).toEqual([]);
    expect(logger.lines).toEqual([]);
  });

  it.each([
    ['HTTP 403', apiError({ status: 403, payload: 'no way' }), 'no way'],
    ['HTTP 503', apiError({ status: 503 }), 'HTTP 503'],
    ['HTTP 666', apiError({ status: 666 }), 'HTTP 666'],
    ['a broken connection', new TypeError('cut'), 'cut'],
  ])('goes on after %s, tells of it once, and does not retry', async (_title, error, text) => {
    const logger = recordingLogger();
    const client = serving({ ...LEGACY, '/apis/g1/v1': error, '/apis/g1/v2': error });
    const { resources, failed, problems } = await discover(client, { logger });
    expect(resources.map((resource) => formatResource(resource))).toEqual(['pods.v1', 'nodes.v1', 'bs.v1.g2']);
    expect(failed).toEqual(['g1']);
    expect([...problems]).toEqual([['g1', text]]);
    expect(logger.messages('warn')).toEqual([expect.stringContaining(`g1 (${text})`)]);
    expect(client.requests.find(({ path }) => path === '/apis/g1/v1')).toMatchObject({ retries: 'none' });
  });

  it('takes what a stale group has told before, and tells of it', async () => {
    const logger = recordingLogger();
    const resources = [{ resource: 'pods', responseKind: { kind: 'PodMetrics' }, scope: 'Namespaced' }];
    const client = serving({
      '/apis': {
        kind: 'APIGroupDiscoveryList',
        items: [
          { metadata: { name: 'metrics.k8s.io' }, versions: [{ version: 'v1beta1', freshness: 'Stale', resources }] },
          { metadata: { name: 'g3' }, versions: [{ version: 'v1', freshness: 'Stale' }] },
        ],
      },
    });
    const discovery = await discover(client, { groups: new Set(['metrics.k8s.io', 'g3']), logger });
    expect(discovery.resources.map((resource) => formatResource(resource))).toEqual(['pods.v1beta1.metrics.k8s.io']);
    expect(discovery.failed).toEqual(['metrics.k8s.io', 'g3']);
    expect(logger.messages('warn')).toEqual([expect.stringMatching(/metrics\.k8s\.io .*g3 /)]);
  });

  it.each([['none' as const], [undefined]])('asks for retries as its caller does: %j', async (retries) => {
    const client = serving(AGGREGATED);
    await discover(client, { retries });
    expect(client.requests.map((request) => request.retries)).toEqual([retries, retries]);
  });

  it('does not take an abort for a failure of a group', async () => {
    const controller = new AbortController();
    const client = scriptedClient();
    client.answerAll(({ path }: KubeRequest) => {
      if (path === '/apis') return LEGACY['/apis'];
      controller.abort(new Error('stop'));
      return controller.signal.reason;
    });
    await expect(discover(client, { groups: new Set(['g1']), signal: controller.signal })).rejects.toThrow('stop');
  });
});

describe('discovery of a malformed group', () => {
  const entry = { name: 'xs', kind: 'X', namespaced: true };
  const good = { name: 'goods', kind: 'Good', namespaced: true };

  it.each<[string, unknown]>([
    ['xs of v1 without a kind', { ...entry, kind: undefined }],
    ['xs of v1 without a kind', { ...entry, kind: 7 }],
    ['an entry of v1 without a name', { ...entry, name: undefined }],
    ['an entry of v1 without a name', null],
    ['an entry of v1 without a name', 'xs'],
    ['xs of v1 with fields of wrong types', { ...entry, verbs: 'list' }],
    ['xs of v1 with fields of wrong types', { ...entry, shortNames: [1] }],
    ['xs of v1 with fields of wrong types', { ...entry, namespaced: 'yes' }],
  ])('names what is wrong, and skips only that: %s', async (problem, bad) => {
    const logger = recordingLogger();
    const client = serving({ ...LEGACY, '/apis/g2/v1': { resources: [bad, good] } });
    const { resources, failed } = await discover(client, { logger });
    expect(resources.map((resource) => formatResource(resource)).sort()).toEqual(
      ['pods.v1', 'nodes.v1', 'as.v1.g1', 'as.v2.g1', 'goods.v1.g2'].sort(),
    );
    expect(failed).toEqual(['g2']);
    expect(logger.messages('warn')).toEqual([expect.stringContaining(`g2 (malformed: ${problem})`)]);
  });

  it.each<[string, string, unknown]>([
    [
      'g2',
      'without a kind',
      { metadata: { name: 'g2' }, versions: [{ version: 'v1', resources: [{ resource: 'xs', verbs: ['list'] }] }] },
    ],
    [
      'g2',
      'without a name',
      { metadata: { name: 'g2' }, versions: [{ version: 'v1', resources: [{ responseKind: { kind: 'X' } }] }] },
    ],
    ['g2', 'an entry', { metadata: { name: 'g2' }, versions: [{ version: 'v1', resources: [null] }] }],
    [
      'g2',
      'wrong types',
      {
        metadata: { name: 'g2' },
        versions: [{ version: 'v1', resources: [{ resource: 'xs', responseKind: { kind: 'X' }, verbs: {} }] }],
      },
    ],
    [
      'g2',
      'wrong types',
      {
        metadata: { name: 'g2' },
        versions: [{ version: 'v1', resources: [{ resource: 'xs', responseKind: { kind: 'X' }, subresources: [{}] }] }],
      },
    ],
    ['g2', 'not a list', { metadata: { name: 'g2' }, versions: [{ version: 'v1', resources: 'none' }] }],
    ['g2', 'a version without a name', { metadata: { name: 'g2' }, versions: [{ resources: [] }] }],
    ['g2', 'not a list', { metadata: { name: 'g2' }, versions: 'v1' }],
    ['(unnamed)', 'a group without a name', { versions: [] }],
    ['(unnamed)', 'a group without a name', null],
  ])('in one go: %s (%s)', async (group, problem, bad) => {
    const [g1] = AGGREGATED['/apis'].items;
    const client = serving({ ...AGGREGATED, '/apis': { kind: 'APIGroupDiscoveryList', items: [bad, g1] } });
    const { resources, problems } = await discover(client);
    expect(resources.map((resource) => formatResource(resource))).toEqual([
      'pods.v1',
      'nodes.v1',
      'as.v1.g1',
      'as.v2.g1',
    ]);
    expect([...problems]).toEqual([[group, expect.stringContaining(problem)]]);
  });

  it.each<[string, unknown]>([
    ['(unnamed)', { versions: [{ version: 'v1' }] }],
    ['(unnamed)', null],
    ['g2', { name: 'g2' }],
    ['g2', { name: 'g2', versions: [{}] }],
  ])('is not asked for, if it cannot be: %s', async (group, bad) => {
    const client = serving({ ...LEGACY, '/apis': { groups: [bad, ...LEGACY['/apis'].groups.slice(0, 1)] } });
    const { resources, failed } = await discover(client);
    expect(resources).toHaveLength(4);
    expect(failed).toEqual([group]);
  });

  it.each([[{}], [{ kind: 'Status', code: 200 }], [null], [undefined], ['moved'], [[]]])(
    'is another matter than an answer of something else, which is no absence of groups: %j',
    async (answer) => {
      const client = scriptedClient();
      client.answerAll(() => answer);
      await expect(discover(client)).rejects.toMatchObject({ code: 'KOPF_BAD_DISCOVERY' });
    },
  );
});
