import { describe, expect, it } from 'vitest';
import { liveInsights } from '../../src/discovery/insights.js';
import { discover } from './harness.js';

const LIST_AND_WATCH = { method: 'GET', path: '/api/v1/namespaces' };
const FORBIDDEN = { status: 403, message: 'namespaces is forbidden' };

function namespace(name: string): { apiVersion: string; kind: string; metadata: { name: string } } {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

async function withNamespaces(cluster: { create(object: object): Promise<object> }, ...names: string[]): Promise<void> {
  for (const name of names) await cluster.create(namespace(name));
}

describe('the scope', () => {
  it('is the whole cluster if told so, without asking for the namespaces', async () => {
    const discovery = await discover({ scope: { clusterwide: true } });
    expect(discovery.namespaces()).toEqual([null]);
    expect(discovery.requests.filter((request) => request.includes('namespaces'))).toEqual([]);
    expect(discovery.warnings()).toEqual([]);
  });

  it.each([
    ['nothing', {}],
    ['no namespaces', { namespaces: [] }],
    ['no cluster', { clusterwide: false }],
  ])('is the whole cluster if there is %s in it, with a warning', async (_title, scope) => {
    const discovery = await discover({ scope });
    expect(discovery.namespaces()).toEqual([null]);
    expect(discovery.warnings()).toEqual([expect.stringContaining('the whole cluster is served')]);
  });

  it('cannot be both the whole cluster and some namespaces', async () => {
    const contradiction = discover({ scope: { clusterwide: true, namespaces: ['ns1'] } });
    await expect(contradiction).rejects.toThrow('both cluster-wide and restricted');
  });
});

describe('namespaces by patterns', () => {
  it('are all those that match, told of at once, from one and the same stream', async () => {
    const discovery = await discover({
      scope: { namespaces: ['ns*,!ns3', /extra-\d/] },
      cluster: (cluster) => withNamespaces(cluster, 'ns1', 'ns2', 'ns3', 'other', 'extra-1'),
    });
    expect(discovery.namespaces()).toEqual(['extra-1', 'ns1', 'ns2']);
    expect(discovery.requests.filter((request) => request.includes('namespaces'))).toEqual([
      'WATCH /api/v1/namespaces',
    ]);
    expect(discovery.health.readiness().isReady).toBe(true);
  });

  it('are not known until the listing is complete', async () => {
    const discovery = await discover({
      scope: { namespaces: ['ns*'] },
      cluster: async (cluster) => {
        await withNamespaces(cluster, 'ns1', 'ns2');
        // Some of the lines come, but not all of them.
        cluster.faults.add({ match: { ...LIST_AND_WATCH, watch: true }, stream: { resetAfter: 5 }, times: 1 });
        cluster.faults.add({ match: { ...LIST_AND_WATCH }, answer: { status: 500 } });
      },
    });
    expect(discovery.insights.isReady).toBe(false);
    expect(discovery.namespaces()).toEqual([]);
    expect(discovery.health.readiness()).toMatchObject({
      isReady: false,
      report: {
        conditions: expect.arrayContaining([
          { name: 'namespaces known', met: false, why: 'not yet', secondsInState: 0 },
        ]),
      },
    });
    discovery.cluster.faults.clear();
    await discovery.advance(20);
    expect(discovery.namespaces()).toEqual(['ns1', 'ns2']);
    expect(discovery.health.readiness().isReady).toBe(true);
  });

  it('come and go', async () => {
    const { cluster, settle, namespaces } = await discover({
      scope: { namespaces: ['ns*'] },
      cluster: (cluster) => withNamespaces(cluster, 'ns1'),
    });
    await withNamespaces(cluster, 'ns2', 'unrelated');
    await settle();
    expect(namespaces()).toEqual(['ns1', 'ns2']);
    await cluster.delete('namespaces/ns1');
    await settle();
    expect(cluster.get('namespaces/ns1')).toBeUndefined();
    expect(namespaces()).toEqual(['ns2']);
  });

  it('are noticed when they have come and gone while the connection was lost', async () => {
    const { cluster, advance, settle, namespaces } = await discover({
      scope: { namespaces: ['ns*'] },
      cluster: (cluster) => withNamespaces(cluster, 'ns1'),
    });
    const outage = cluster.faults.add({ match: LIST_AND_WATCH, answer: { status: 503 } });
    await cluster.faults.restart();
    await cluster.delete('namespaces/ns1');
    await withNamespaces(cluster, 'ns2');
    cluster.faults.compact();
    await settle();
    expect(namespaces()).toEqual(['ns1']);
    outage.remove();
    await advance(20);
    expect(namespaces()).toEqual(['ns2']);
  });

  it('wait for the kind of namespaces to be discovered, for as long as it takes', async () => {
    const discovery = await discover({
      scope: { namespaces: ['*'] },
      cluster: async (cluster) => {
        cluster.faults.add({ match: { path: '/api' }, answer: { status: 503 }, times: 4 });
      },
    });
    await discovery.advance(2);
    expect(discovery.insights.isReady).toBe(false);
    await discovery.advance(30);
    expect(discovery.namespaces()).toContain('default');
  });
});

describe('namespaces by labels', () => {
  const labelled = (name: string, labels: Record<string, string>) => ({
    ...namespace(name),
    metadata: { name, labels },
  });
  const scope = { namespaces: { labels: { tenant: ['a', 'b'] } } };

  it('are those that the server selects, and come and go with their labels', async () => {
    const { cluster, settle, namespaces } = await discover({
      scope,
      async cluster(cluster) {
        await cluster.create(labelled('ns1', { tenant: 'a' }));
        await cluster.create(labelled('ns2', { tenant: 'c' }));
      },
    });
    expect(namespaces()).toEqual(['ns1']);
    await cluster.create(labelled('ns3', { tenant: 'b' }));
    await settle();
    expect(namespaces()).toEqual(['ns1', 'ns3']);
    const label = (name: string, tenant: string | null) =>
      cluster.client.request({
        method: 'PATCH',
        path: `/api/v1/namespaces/${name}`,
        contentType: 'application/merge-patch+json',
        body: { metadata: { labels: { tenant } } },
      });
    await label('ns1', null);
    await label('ns2', 'b');
    await settle();
    expect(namespaces()).toEqual(['ns2', 'ns3']);
    await cluster.delete('namespaces/ns2');
    await settle();
    expect(namespaces()).toEqual(['ns3']);
  });

  it('are noticed when they were unlabelled while the connection was lost', async () => {
    const { cluster, advance, settle, namespaces } = await discover({
      scope,
      async cluster(cluster) {
        await cluster.create(labelled('ns1', { tenant: 'a' }));
      },
    });
    const outage = cluster.faults.add({ match: LIST_AND_WATCH, answer: { status: 503 } });
    await cluster.faults.restart();
    const path = '/api/v1/namespaces/ns1';
    const body = { metadata: { labels: { tenant: null } } };
    await cluster.client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
    cluster.faults.compact();
    await settle();
    expect(namespaces()).toEqual(['ns1']);
    outage.remove();
    await advance(20);
    expect(namespaces()).toEqual([]);
  });

  it('are none if it is not permitted to list them, with a warning', async () => {
    const discovery = await discover({
      scope,
      async cluster(cluster) {
        await cluster.create(labelled('ns1', { tenant: 'a' }));
        cluster.faults.add({ match: LIST_AND_WATCH, answer: FORBIDDEN });
      },
    });
    expect(discovery.namespaces()).toEqual([]);
    expect(discovery.insights.isReady).toBe(true);
    expect(discovery.warnings().join('\n')).toMatch(/Namespaces with the labels tenant in \(a,b\) cannot be served/);
  });
});

describe('a namespace that is being deleted', () => {
  const conditions = (...statuses: string[]): object => ({
    status: {
      conditions: statuses.map((status, index) => ({
        type: `Type${index}`,
        status,
        reason: `Reason${index}`,
        message: `message ${index}`,
      })),
    },
  });

  /** A namespace of the real server goes through its states by controllers; here, by hand. */
  async function terminating(body: object): ReturnType<typeof discover> {
    let push: (event: object) => void = () => {};
    const discovery = await discover({
      scope: { namespaces: ['ns*'] },
      cluster: (cluster) => withNamespaces(cluster, 'ns1'),
      client: (client) => ({
        request: (request) => client.request(request),
        async *stream(request) {
          const isOfNamespaces = request.path.startsWith('/api/v1/namespaces');
          if (!isOfNamespaces) return yield* client.stream(request) as AsyncIterable<never>;
          const extra: object[] = [];
          let wake = (): void => {};
          push = (event) => {
            extra.push(event);
            wake();
          };
          const iterator = client.stream(request)[Symbol.asyncIterator]();
          let next = iterator.next();
          for (;;) {
            const pushed = new Promise<'pushed'>((resolve) => {
              wake = () => resolve('pushed');
            });
            const outcome = extra.length > 0 ? 'pushed' : await Promise.race([next, pushed]);
            if (outcome === 'pushed') {
              yield extra.shift() as never;
              continue;
            }
            if (outcome.done) return;
            yield outcome.value as never;
            next = iterator.next();
          }
        },
      }),
    });
    expect(discovery.namespaces()).toEqual(['ns1']);
    const { metadata } = discovery.cluster.get('namespaces/ns1') ?? {};
    push({
      type: 'MODIFIED',
      object: { ...namespace('ns1'), metadata: { ...metadata, deletionTimestamp: '2020-01-01T00:00:00Z' }, ...body },
    });
    await discovery.settle();
    return discovery;
  }

  it('is served while it is not known what is in it', async () => {
    const { namespaces } = await terminating({});
    expect(namespaces()).toEqual(['ns1']);
  });

  it('is served while something is left in it, which is told of to those who debug', async () => {
    const { namespaces, logger } = await terminating(conditions('False', 'True'));
    expect(namespaces()).toEqual(['ns1']);
    expect(logger.messages('debug')).toContainEqual(
      expect.stringContaining('ns1 termination pending: Reason1: message 1'),
    );
  });

  it('is not served any more when nothing is left', async () => {
    const { namespaces, logger } = await terminating(conditions('False', 'False'));
    expect(namespaces()).toEqual([]);
    expect(logger.find('termination pending')).toBeUndefined();
  });

  it('is served also if the operator starts only then: the objects in it may wait for it', async () => {
    const { namespaces, cluster } = await discover({
      scope: { namespaces: ['ns*'] },
      cluster: async (cluster) => {
        await withNamespaces(cluster, 'ns1');
        await cluster.create({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'held', namespace: 'ns1', finalizers: ['example.com/held'] },
        });
        await cluster.delete('namespaces/ns1');
        await cluster.settled();
      },
    });
    expect(cluster.get('namespaces/ns1')?.metadata).toHaveProperty('deletionTimestamp');
    expect(namespaces()).toEqual(['ns1']);
  });
});

describe('without permissions', () => {
  it('to list namespaces, only the exact names are served, after one attempt', async () => {
    const discovery = await discover({
      scope: { namespaces: ['ns1', 'ns[12]', 'other-*', /re/] },
      cluster: async (cluster) => {
        cluster.faults.add({ match: LIST_AND_WATCH, answer: FORBIDDEN });
      },
    });
    expect(discovery.clock.now()).toBe(0);
    expect(discovery.namespaces()).toEqual(['ns1']);
    expect(discovery.insights.isReady).toBe(true);
    expect(discovery.requests.filter((request) => request.includes('namespaces'))).toEqual([
      'WATCH /api/v1/namespaces',
      'GET /api/v1/namespaces',
    ]);
    expect(discovery.warnings()).toEqual([
      expect.stringContaining('Not enough permissions to list namespaces'),
      expect.stringContaining('ns[12]; other-*; /re/'),
    ]);
    expect(discovery.health.readiness().isReady).toBe(true);
  });

  it('to watch for namespaces, those of the listing are served', async () => {
    const discovery = await discover({
      scope: { namespaces: ['ns*'] },
      cluster: async (cluster) => {
        await withNamespaces(cluster, 'ns1', 'ns2');
        cluster.faults.add({ match: { ...LIST_AND_WATCH, watch: true }, answer: FORBIDDEN });
      },
    });
    expect(discovery.namespaces()).toEqual(['ns1', 'ns2']);
    expect(discovery.warnings()).toEqual([expect.stringContaining('Not enough permissions to watch for namespaces')]);
    expect(discovery.health.readiness().isReady).toBe(true);
    await discovery.advance(500);
    expect(discovery.requests.filter((request) => request.includes('namespaces'))).toHaveLength(3);
  });

  it('it is looked again from time to time whether they are granted; the warning is not repeated', async () => {
    const discovery = await discover({
      scope: { namespaces: ['ns*'] },
      cluster: async (cluster) => {
        await withNamespaces(cluster, 'ns1');
        cluster.faults.add({ match: LIST_AND_WATCH, answer: FORBIDDEN });
      },
    });
    expect(discovery.namespaces()).toEqual([]);
    const warnings = discovery.warnings();
    await discovery.advance(1500);
    expect(discovery.warnings()).toEqual(warnings);
    discovery.cluster.faults.clear();
    await discovery.advance(600);
    expect(discovery.namespaces()).toEqual(['ns1']);
  });

  it('that are lost later, nothing is forgotten, and the stream waits for them to come back', async () => {
    const discovery = await discover({
      scope: { namespaces: ['ns*'] },
      cluster: (cluster) => withNamespaces(cluster, 'ns1'),
    });
    await discovery.advance(120);
    const outage = discovery.cluster.faults.add({ match: LIST_AND_WATCH, answer: FORBIDDEN });
    await discovery.cluster.faults.restart();
    await discovery.advance(30);
    expect(discovery.namespaces()).toEqual(['ns1']);
    expect(discovery.logger.find('Not enough permissions')).toBeUndefined();
    expect(discovery.health.readiness().isReady).toBe(false);
    outage.remove();
    await withNamespaces(discovery.cluster, 'ns2');
    await discovery.advance(30);
    expect(discovery.namespaces()).toEqual(['ns1', 'ns2']);
  });
});

describe('with the scanning disabled', () => {
  it('only the exact names are served, and the cluster is not asked for namespaces', async () => {
    const discovery = await discover({
      scope: { namespaces: ['ns1', 'ns2', 'ns[34]'] },
      settings: { scanning: { disabled: true } },
    });
    expect(discovery.namespaces()).toEqual(['ns1', 'ns2']);
    expect(discovery.requests.filter((request) => request.includes('namespaces'))).toEqual([]);
    expect(discovery.warnings()).toEqual([expect.stringContaining('ns[34]')]);
  });

  it('there is no warning if all names are exact', async () => {
    const discovery = await discover({ scope: { namespaces: ['ns1'] }, settings: { scanning: { disabled: true } } });
    expect(discovery.warnings()).toEqual([]);
  });
});

describe('the discovery of namespaces', () => {
  it('ends when aborted, without errors', async () => {
    const discovery = await discover({ scope: { namespaces: ['*'] } });
    expect(discovery.endings.size).toBe(0);
    await discovery.stop();
    expect([...discovery.endings]).toEqual(
      expect.arrayContaining([
        ['namespace discovery', undefined],
        ['resource discovery', undefined],
      ]),
    );
    expect(discovery.health.streams()).toEqual([]);
  });

  it('has nothing to say until it knows', () => {
    expect(liveInsights().isReady).toBe(false);
  });
});
