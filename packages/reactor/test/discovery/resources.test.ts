import type { LocalCluster } from '@kopf-ts/apiserver';
import { EVERYTHING, type KubeClient, LoginError, type Registry } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { discover, KEX, noop } from './harness.js';

const DEFINITIONS = { method: 'GET', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions' };
const FORBIDDEN = { status: 403, message: 'this is forbidden' };
const NAMED_DISCOVERY = ['GET /apis'];
const PRUNING = { type: 'object', properties: { status: { type: 'object' } } };

function handlersOfKex({ on }: Registry): void {
  on.create('kopf.dev/kopfexamples', noop);
}

async function withKex(cluster: LocalCluster): Promise<void> {
  await cluster.define(KEX);
}

/** A server that is behind with its discovery: it answers as it did before, until told to catch up. */
function lagging(): { client: (client: KubeClient) => KubeClient; catchUp(): void; lag(): void } {
  const answers = new Map<string, unknown>();
  let isLagging = false;
  return {
    lag() {
      isLagging = true;
    },
    catchUp() {
      isLagging = false;
    },
    client: (client) => ({
      stream: (request) => client.stream(request),
      async request<T>(request: Parameters<KubeClient['request']>[0]): Promise<T> {
        if (request.path !== '/apis') return await client.request<T>(request);
        if (!isLagging || !answers.has(request.path)) answers.set(request.path, await client.request(request));
        return answers.get(request.path) as T;
      },
    }),
  };
}

describe('the first scan', () => {
  it('finds what the handlers are for, in as few requests as possible', async () => {
    const { watched, insights, requests, warnings } = await discover({ handlers: handlersOfKex, cluster: withKex });
    expect(watched()).toEqual(['kopfexamples.v1.kopf.dev']);
    expect(insights.isReady).toBe(true);
    expect(requests.filter((request) => request.startsWith('GET'))).toEqual(['GET /api', 'GET /apis']);
    expect(warnings()).toEqual([]);
  });

  it('finds what the framework itself needs', async () => {
    const { insights } = await discover({ handlers: handlersOfKex });
    expect(insights.find({ group: '', plural: 'namespaces' })).toMatchObject({ plural: 'namespaces' });
    expect(insights.find({ group: '', plural: 'events' })).toMatchObject({ plural: 'events' });
    expect(insights.find('customresourcedefinitions.v1.apiextensions.k8s.io')).toBeDefined();
    expect(insights.find('validatingwebhookconfigurations')).toBeDefined();
    expect(insights.find('kopf.dev/clusterkopfpeerings')).toBeUndefined();
  });

  it('looks at no other groups, if all handlers have theirs', async () => {
    const { insights } = await discover({ handlers: handlersOfKex, cluster: withKex });
    const groups = new Set(insights.all.map(({ group }) => group));
    expect([...groups].sort()).toEqual(['', 'admissionregistration.k8s.io', 'apiextensions.k8s.io', 'kopf.dev']);
  });

  it('looks at everything, if some handler has no group', async () => {
    const { insights, watched } = await discover({
      handlers: ({ on }) => on.event(EVERYTHING, noop),
      cluster: withKex,
    });
    expect(insights.find('apps/deployments')).toBeDefined();
    expect(watched()).toEqual(expect.arrayContaining(['kopfexamples.v1.kopf.dev', 'pods.v1', 'deployments.v1.apps']));
    expect(watched()).not.toContain('events.v1');
  });

  it('tells what is not served, once', async () => {
    const { warnings, cluster, advance } = await discover({ handlers: handlersOfKex });
    const expected = [
      expect.stringContaining(
        'Unresolved resources cannot be served (try creating their CRDs): ' +
          "Selector(group='kopf.dev', anyName='kopfexamples')",
      ),
    ];
    expect(warnings()).toEqual(expected);
    await cluster.define({ ...KEX, plural: 'strangers', kind: 'Stranger' });
    await advance(1);
    expect(warnings()).toEqual(expected);
  });

  it('tells it again if it is gone and comes again', async () => {
    const { warnings, cluster, advance } = await discover({ handlers: handlersOfKex });
    await cluster.define(KEX);
    await advance(1);
    expect(warnings()).toHaveLength(1);
    await cluster.delete('customresourcedefinitions/kopfexamples.kopf.dev');
    await advance(1);
    expect(warnings()).toHaveLength(2);
    expect(warnings()[1]).toBe(warnings()[0]);
  });

  it.each([
    ['a server error', { answer: { status: 503, message: 'not now' } }, 'not now'],
    ['garbage', { answer: { status: 200, body: 'garbage' } }, ''],
    ['a broken connection', { reset: true }, ''],
  ])('is tried for ever after %s, which is told of', async (_title, fault, text) => {
    const discovery = await discover({
      handlers: handlersOfKex,
      cluster: async (cluster) => {
        await withKex(cluster);
        cluster.faults.add({ match: { path: '/apis' }, ...fault });
      },
    });
    await discovery.advance(600);
    expect(discovery.endings.size).toBe(0);
    expect(discovery.warnings()).toEqual([expect.stringContaining('Discovery failed; retrying')]);
    expect(discovery.warnings()[0]).toContain(text);
    expect(discovery.health.readiness()).toMatchObject({
      isReady: false,
      report: {
        conditions: expect.arrayContaining([
          expect.objectContaining({
            name: 'resources discovered',
            met: false,
            why: expect.stringContaining('Discovery failed'),
          }),
        ]),
      },
    });
    const attempts = discovery.requests.filter((request) => request === 'GET /apis').length;
    expect(attempts).toBeGreaterThan(15);
    expect(attempts).toBeLessThan(40);

    discovery.cluster.faults.clear();
    await discovery.advance(31);
    expect(discovery.watched()).toEqual(['kopfexamples.v1.kopf.dev']);
    expect(discovery.health.readiness().isReady).toBe(true);
  });

  it.each(['/api', '/apis'])(
    'waits if %s is not permitted, says what is needed, and goes on when it is',
    async (path) => {
      const message = `forbidden: User "joe" cannot get path "${path}"`;
      const discovery = await discover({
        handlers: handlersOfKex,
        cluster: async (cluster) => {
          await withKex(cluster);
          cluster.faults.add({ match: { path }, answer: { status: 403, message } });
        },
      });
      await discovery.advance(300);
      expect(discovery.endings.size).toBe(0);
      expect(discovery.warnings()).toEqual([expect.stringMatching(/not permitted to discover.*system:discovery/)]);
      expect(discovery.warnings()[0]).toContain(message);
      expect(discovery.health.readiness()).toMatchObject({
        isReady: false,
        report: {
          conditions: expect.arrayContaining([expect.objectContaining({ why: expect.stringContaining(message) })]),
        },
      });
      discovery.cluster.faults.clear();
      await discovery.advance(31);
      expect(discovery.watched()).toEqual(['kopfexamples.v1.kopf.dev']);
      expect(discovery.health.readiness().isReady).toBe(true);
    },
  );

  it('is fatal if there is no way to log in', async () => {
    const discovery = await discover({
      client: (client) => ({
        stream: (request) => client.stream(request),
        request: () => Promise.reject(new LoginError('no credentials')),
      }),
    });
    expect(discovery.endings.get('resource discovery')).toMatchObject({ message: 'no credentials' });
  });
});

describe('a group that does not answer', () => {
  /** A server of the older times, where each version is asked for separately; and one of its groups is broken. */
  function withBrokenMetrics(state: { isBroken: boolean }): (client: KubeClient) => KubeClient {
    const resourcesOf = (plural: string, kind: string): object => ({
      resources: [{ name: plural, kind, namespaced: true, verbs: ['list', 'watch', 'patch'] }],
    });
    const group = (name: string): object => ({
      name,
      versions: [{ version: 'v1' }],
      preferredVersion: { version: 'v1' },
    });
    return (client) => ({
      stream: (request) => client.stream(request),
      async request<T>(request: Parameters<KubeClient['request']>[0]): Promise<T> {
        const answers: Record<string, object> = {
          '/apis': { groups: [group('kopf.dev'), group('metrics.k8s.io')] },
          '/apis/kopf.dev/v1': resourcesOf('kopfexamples', 'KopfExample'),
          '/apis/metrics.k8s.io/v1': resourcesOf('nodemetrics', 'NodeMetrics'),
        };
        if (state.isBroken && request.path === '/apis/metrics.k8s.io/v1') throw new Error('no backend');
        return (answers[request.path] ?? (await client.request(request))) as T;
      },
    });
  }

  it('does not hold up the others, is told of once, and is asked again later', async () => {
    const state = { isBroken: true };
    const { watched, warnings, advance, requests, insights, logger } = await discover({
      handlers: ({ on }) => {
        on.event('kopfexamples', noop);
        on.event({ category: 'all' }, noop);
      },
      client: withBrokenMetrics(state),
    });
    const ofMetrics = (): string[] => requests.filter((request) => request.includes('metrics'));
    expect(insights.isReady).toBe(true);
    expect(watched()).toContain('kopfexamples.v1.kopf.dev');
    expect(ofMetrics()).toHaveLength(1);
    expect(warnings().filter((warning) => warning.includes('metrics.k8s.io (no backend)'))).toHaveLength(1);
    await advance(600);
    expect(ofMetrics().length).toBeGreaterThan(4);
    expect(ofMetrics().length).toBeLessThan(12);
    expect(warnings().filter((warning) => warning.includes('metrics.k8s.io'))).toHaveLength(1);
    expect(insights.find('nodemetrics')).toBeUndefined();

    state.isBroken = false;
    await advance(300);
    expect(insights.find('nodemetrics')).toBeDefined();
    expect(logger.messages('info')).toEqual([expect.stringContaining('metrics.k8s.io')]);
    const asked = ofMetrics().length;
    await advance(3600);
    expect(ofMetrics()).toHaveLength(asked);
  });
});

describe('definitions that come, change, and go', () => {
  it('are not the reason for a rescan by merely being there', async () => {
    const { requests, advance } = await discover({ handlers: handlersOfKex, cluster: withKex });
    await advance(60);
    expect(requests.filter((request) => request === 'GET /apis')).toHaveLength(1);
  });

  it('bring a new kind', async () => {
    const { cluster, advance, watched, insights, revisions } = await discover({ handlers: handlersOfKex });
    expect(watched()).toEqual([]);
    const before = revisions();
    await cluster.define(KEX);
    await advance(1);
    expect(watched()).toEqual(['kopfexamples.v1.kopf.dev']);
    expect(insights.find('kopf.dev/kopfexamples')).toBeDefined();
    expect(revisions()).toBe(before + 1);
  });

  it('take the kind away', async () => {
    const { cluster, advance, watched, insights } = await discover({ handlers: handlersOfKex, cluster: withKex });
    await cluster.delete('customresourcedefinitions/kopfexamples.kopf.dev');
    await advance(1);
    expect(watched()).toEqual([]);
    expect(insights.find('kopf.dev/kopfexamples')).toBeUndefined();
  });

  it('take the kind away only when the last of its objects is gone', async () => {
    const { cluster, advance, insights, watched, warnings } = await discover({
      handlers: handlersOfKex,
      cluster: async (cluster) => {
        await withKex(cluster);
        await cluster.create({
          apiVersion: 'kopf.dev/v1',
          kind: 'KopfExample',
          metadata: { name: 'held', namespace: 'default', finalizers: ['example.com/held'] },
        });
      },
    });
    const [original] = insights.watched;
    await cluster.delete('customresourcedefinitions/kopfexamples.kopf.dev');
    await advance(60);
    expect(cluster.get('kopfexamples/default/held')?.metadata).toHaveProperty('deletionTimestamp');
    expect([...insights.watched][0]).toBe(original);
    expect(warnings()).toEqual([]);
    await cluster.patch('kopfexamples/default/held', { metadata: { finalizers: null } });
    await advance(60);
    expect(watched()).toEqual([]);
  });

  it('replace the kind if it is changed by them, and keep it if it is not', async () => {
    const { cluster, advance, insights } = await discover({ handlers: handlersOfKex, cluster: withKex });
    const [original] = insights.watched;
    await cluster.patch('customresourcedefinitions/kopfexamples.kopf.dev', { metadata: { labels: { a: 'b' } } });
    await advance(1);
    expect([...insights.watched]).toEqual([original]);
    expect([...insights.watched][0]).toBe(original);

    await cluster.patch('customresourcedefinitions/kopfexamples.kopf.dev', [
      { op: 'add', path: '/spec/versions/0/subresources', value: { status: {} } },
    ]);
    await advance(1);
    expect([...insights.watched][0]).not.toBe(original);
    expect([...insights.watched][0]?.subresources).toEqual(new Set(['status']));
  });

  it('of other groups are of no interest', async () => {
    const { cluster, advance, requests } = await discover({ handlers: handlersOfKex });
    const before = requests.length;
    await cluster.define({ ...KEX, group: 'example.com' });
    await advance(60);
    expect(requests.slice(before).filter((request) => NAMED_DISCOVERY.includes(request))).toEqual([]);
  });

  it('are scanned for all together, if they come together', async () => {
    const { cluster, advance, requests, insights } = await discover({
      handlers: ({ on }) => on.event(EVERYTHING, noop),
    });
    const before = requests.length;
    for (let number = 1; number <= 10; number += 1) {
      await cluster.define({ ...KEX, group: `g${number}.example.com` });
    }
    await advance(5);
    expect(requests.slice(before).filter((request) => NAMED_DISCOVERY.includes(request))).toHaveLength(1);
    expect(insights.all.filter(({ plural }) => plural === 'kopfexamples')).toHaveLength(10);
  });

  it('are waited for, if the server is behind them: when the kind comes', async () => {
    const server = lagging();
    const { cluster, advance, watched, requests } = await discover({ handlers: handlersOfKex, client: server.client });
    server.lag();
    await cluster.define(KEX);
    await advance(5);
    expect(watched()).toEqual([]);
    server.catchUp();
    await advance(10);
    expect(watched()).toEqual(['kopfexamples.v1.kopf.dev']);
    const asked = requests.length;
    await advance(60);
    expect(requests.slice(asked).filter((request) => NAMED_DISCOVERY.includes(request))).toEqual([]);
  });

  it('are waited for, if the server is behind them: when the kind goes, or changes', async () => {
    const server = lagging();
    const { cluster, advance, watched, insights } = await discover({
      handlers: handlersOfKex,
      cluster: withKex,
      client: server.client,
    });
    server.lag();
    await cluster.patch('customresourcedefinitions/kopfexamples.kopf.dev', [
      { op: 'add', path: '/spec/versions/0/subresources', value: { status: {} } },
    ]);
    await advance(3);
    expect([...insights.watched][0]?.subresources).toEqual(new Set());
    server.catchUp();
    await advance(10);
    expect([...insights.watched][0]?.subresources).toEqual(new Set(['status']));

    server.lag();
    await cluster.delete('customresourcedefinitions/kopfexamples.kopf.dev');
    await advance(3);
    expect(watched()).toEqual(['kopfexamples.v1.kopf.dev']);
    server.catchUp();
    await advance(10);
    expect(watched()).toEqual([]);
  });

  it('are not waited for endlessly, if the server never serves them', async () => {
    const server = lagging();
    const { cluster, advance, requests } = await discover({ handlers: handlersOfKex, client: server.client });
    server.lag();
    await cluster.define(KEX);
    await advance(300);
    const asked = requests.filter((request) => NAMED_DISCOVERY.includes(request)).length;
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThan(20);
    await advance(3600);
    expect(requests.filter((request) => NAMED_DISCOVERY.includes(request))).toHaveLength(asked);
  });

  it('are noticed when they have come, changed or gone while the connection was lost', async () => {
    const { cluster, advance, watched, insights } = await discover({
      handlers: ({ on }) => {
        on.event('kopf.dev/kopfexamples', noop);
        on.event('kopf.dev/changeds', noop);
        on.event('kopf.dev/addeds', noop);
      },
      cluster: async (cluster) => {
        await withKex(cluster);
        await cluster.define({ ...KEX, plural: 'changeds', kind: 'Changed' });
      },
    });
    const outage = cluster.faults.add({ match: DEFINITIONS, answer: { status: 503 } });
    await cluster.faults.restart();
    await cluster.delete('customresourcedefinitions/kopfexamples.kopf.dev');
    await cluster.define({ ...KEX, plural: 'addeds', kind: 'Added' });
    await cluster.patch('customresourcedefinitions/changeds.kopf.dev', { spec: { names: { shortNames: ['chg'] } } });
    cluster.faults.compact();
    await advance(30);
    expect(watched()).toEqual(['changeds.v1.kopf.dev', 'kopfexamples.v1.kopf.dev']);
    outage.remove();
    await advance(30);
    expect(watched()).toEqual(['addeds.v1.kopf.dev', 'changeds.v1.kopf.dev']);
    expect(insights.find('chg')?.plural).toBe('changeds');
  });

  it('are noticed when they have come or gone between the scan and the listing', async () => {
    const { cluster, advance, settle, watched } = await discover({
      handlers: ({ on }) => {
        on.event('kopf.dev/kopfexamples', noop);
        on.event('kopf.dev/addeds', noop);
      },
      cluster: async (cluster) => {
        await withKex(cluster);
        cluster.faults.add({ match: DEFINITIONS, answer: { status: 503 }, times: 3 });
      },
    });
    await cluster.delete('customresourcedefinitions/kopfexamples.kopf.dev');
    await cluster.define({ ...KEX, plural: 'addeds', kind: 'Added' });
    await settle();
    await advance(30);
    expect(watched()).toEqual(['addeds.v1.kopf.dev']);
  });

  it('keep all that is known, if they cannot be scanned for; it is told of once, and tried for ever', async () => {
    const discovery = await discover({
      handlers: ({ on }) => {
        on.event('kopf.dev/kopfexamples', noop);
        on.event('kopf.dev/addeds', noop);
      },
      cluster: withKex,
    });
    discovery.logger.clear();
    const outage = discovery.cluster.faults.add({ match: { path: '/apis' }, answer: FORBIDDEN });
    await discovery.cluster.define({ ...KEX, plural: 'addeds', kind: 'Added' });
    await discovery.advance(300);
    expect(discovery.endings.size).toBe(0);
    expect(discovery.watched()).toEqual(['kopfexamples.v1.kopf.dev']);
    expect(discovery.warnings()).toEqual([expect.stringContaining('Discovery of the changed resources failed')]);
    expect(discovery.health.readiness().isReady).toBe(false);
    outage.remove();
    await discovery.advance(31);
    expect(discovery.watched()).toEqual(['addeds.v1.kopf.dev', 'kopfexamples.v1.kopf.dev']);
    expect(discovery.health.readiness().isReady).toBe(true);
  });

  it('come and go many times', async () => {
    const { cluster, advance, watched } = await discover({ handlers: handlersOfKex });
    for (let round = 0; round < 20; round += 1) {
      await cluster.define(KEX);
      await advance(1);
      expect(watched()).toEqual(['kopfexamples.v1.kopf.dev']);
      await cluster.delete('customresourcedefinitions/kopfexamples.kopf.dev');
      await advance(1);
      expect(watched()).toEqual([]);
    }
  });
});

describe('definitions that are not watched', () => {
  it('because it is not permitted: it is decided after one attempt, and told', async () => {
    const discovery = await discover({
      handlers: handlersOfKex,
      cluster: async (cluster) => {
        await withKex(cluster);
        cluster.faults.add({ match: DEFINITIONS, answer: FORBIDDEN });
      },
    });
    expect(discovery.clock.now()).toBe(0);
    expect(discovery.watched()).toEqual(['kopfexamples.v1.kopf.dev']);
    expect(discovery.warnings()).toEqual([expect.stringContaining('Not enough permissions to watch for resources')]);
    expect(discovery.health.readiness().isReady).toBe(true);
    const asked = discovery.requests.length;
    await discovery.advance(500);
    expect(discovery.requests).toHaveLength(asked);

    discovery.cluster.faults.clear();
    await discovery.cluster.delete('customresourcedefinitions/kopfexamples.kopf.dev');
    await discovery.advance(200);
    expect(discovery.watched()).toEqual([]);
    expect(discovery.logger.messages('warn').filter((line) => line.includes('Not enough'))).toHaveLength(1);
  });

  it('because only listing is permitted: their schemas are known all the same', async () => {
    const discovery = await discover({
      handlers: handlersOfKex,
      cluster: async (cluster) => {
        await cluster.define({ ...KEX, schema: PRUNING });
        cluster.faults.add({ match: { ...DEFINITIONS, watch: true }, answer: FORBIDDEN });
      },
    });
    expect(discovery.warnings()).toEqual([expect.stringContaining('Not enough permissions to watch for resources')]);
    const [resource] = discovery.insights.watched;
    expect(resource && discovery.statusSchemas.prunes(resource, 'fn')).toBe(true);
  });

  it('because it is switched off: then each is read once, for its schema', async () => {
    const { cluster, advance, insights, watched, requests, statusSchemas, warnings } = await discover({
      settings: { scanning: { disabled: true } },
      handlers: ({ on }) => {
        on.event('kopf.dev/kopfexamples', noop);
        on.event('apps/deployments', noop);
        on.event('networking.k8s.io/ingresses', noop);
      },
      cluster: (cluster) => cluster.define({ ...KEX, schema: PRUNING }),
    });
    const base = 'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect(requests.filter((request) => request.includes('definitions')).sort()).toEqual([
      `${base}/ingresses.networking.k8s.io`,
      `${base}/kopfexamples.kopf.dev`,
    ]);
    const resource = insights.find('kopf.dev/kopfexamples');
    expect(resource && statusSchemas.prunes(resource, 'fn')).toBe(true);
    expect(watched()).toContain('kopfexamples.v1.kopf.dev');
    expect(warnings()).toEqual([]);
    await cluster.delete('customresourcedefinitions/kopfexamples.kopf.dev');
    await advance(60);
    expect(watched()).toContain('kopfexamples.v1.kopf.dev');
  });
});

describe('definitions that cannot be discovered at first', () => {
  it('hold up nothing, and are watched as soon as they can be', async () => {
    let isSilent = true;
    const silenced = ({ metadata }: { metadata: { name: string } }): object =>
      metadata.name === 'apiextensions.k8s.io'
        ? { metadata, versions: [{ version: 'v1', freshness: 'Stale', resources: [] }] }
        : {};
    const { cluster, advance, watched, insights } = await discover({
      handlers: handlersOfKex,
      client: (client) => ({
        stream: (request) => client.stream(request),
        async request<T>(request: Parameters<KubeClient['request']>[0]): Promise<T> {
          const answer = await client.request<T>(request);
          if (request.path !== '/apis' || !isSilent) return answer;
          const { items } = answer as { items: { metadata: { name: string } }[] };
          return { ...answer, items: items.map((item) => ({ ...item, ...silenced(item) })) };
        },
      }),
    });
    expect(insights.isReady).toBe(true);
    isSilent = false;
    await advance(60);
    await cluster.define(KEX);
    await advance(1);
    expect(watched()).toEqual(['kopfexamples.v1.kopf.dev']);
  });
});

describe('the schemas of definitions', () => {
  it('are known before the kinds are served', async () => {
    const { insights, statusSchemas, clock } = await discover({
      handlers: handlersOfKex,
      cluster: async (cluster) => {
        await cluster.define({ ...KEX, schema: PRUNING });
        cluster.faults.add({ match: DEFINITIONS, latency: 2 });
      },
    });
    await clock.advance(1.9);
    expect(insights.isReady).toBe(false);
    expect(insights.find('kopf.dev/kopfexamples')).toBeDefined();
    await clock.advance(0.2);
    expect(insights.isReady).toBe(true);
    const [resource] = insights.watched;
    expect(resource && statusSchemas.prunes(resource, 'fn')).toBe(true);
  });

  it('do not hold up the start for long', async () => {
    const { insights, clock, watched } = await discover({
      handlers: handlersOfKex,
      cluster: async (cluster) => {
        await withKex(cluster);
        cluster.faults.add({ match: DEFINITIONS, latency: 3600 });
      },
    });
    await clock.advance(4.9);
    expect(insights.isReady).toBe(false);
    await clock.advance(0.2);
    expect(watched()).toEqual(['kopfexamples.v1.kopf.dev']);
  });

  it('are not waited for if there are no custom resources', async () => {
    const { insights } = await discover({
      handlers: ({ on }) => on.event('v1/pods', noop),
      cluster: async (cluster) => {
        cluster.faults.add({ match: DEFINITIONS, latency: 3600 });
      },
    });
    expect(insights.isReady).toBe(true);
  });

  it('are known by the newest definition', async () => {
    const { cluster, advance, insights, statusSchemas } = await discover({ handlers: handlersOfKex, cluster: withKex });
    const resource = insights.find('kopf.dev/kopfexamples');
    expect(resource && statusSchemas.prunes(resource, 'fn')).toBe(false);
    await cluster.patch('customresourcedefinitions/kopfexamples.kopf.dev', [
      { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: PRUNING },
    ]);
    await advance(1);
    expect(resource && statusSchemas.prunes(resource, 'fn')).toBe(true);
  });
});
