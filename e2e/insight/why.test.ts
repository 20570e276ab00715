/** Why: the true reasons, on both servers, as those who ask an operator get them. */
import { type AnyObject, ApiConflictError, type KubeClient, type Registry, TemporaryError } from '@kopf-ts/core';
import { insight } from 'kopf-ts';
import { expect, it } from 'vitest';
import { freePorts } from '../controlplane/ports.js';
import { describeOnClusters, type TestCluster } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator, type TestOperatorOptions } from '../support/operators/operators.js';

const noop = (): void => {};

interface Asked {
  readonly kind: TestKind;
  readonly namespace: string;
  readonly client: KubeClient;
  /** Waits until that is among the reasons, and gives the sentence. */
  told(reason: insight.WhyReason, name?: string): Promise<string>;
  act(action: 'pause' | 'resume' | 'retry', name?: string): Promise<void>;
}

async function asked(
  cluster: TestCluster,
  declare: (registry: Registry, kind: TestKind) => void,
  options: (place: {
    kind: TestKind;
    namespace: string;
  }) => TestOperatorOptions | Promise<TestOperatorOptions> = () => ({}),
): Promise<Asked> {
  const [kind, namespace] = [await cluster.newKind(), await cluster.newNamespace()];
  const url = `http://127.0.0.1:${(await freePorts(1))[0]}`;
  const own = await options({ kind, namespace });
  await startOperator(cluster, (registry) => declare(registry, kind), { namespaces: [namespace], ...own, admin: url });
  const objectOf = (name: string) => ({ resource: `${kind.plural}.${kind.group}`, namespace, name });
  return {
    kind,
    namespace,
    client: cluster.client,
    async told(reason, name = 'one') {
      return await eventually(async () => {
        const object = objectOf(name);
        const { findings } = insight.explain({ object, ...(await insight.askWhy({ url }, object)) });
        expect(findings.map((one) => one.reason)).toContain(reason);
        return findings.find((one) => one.reason === reason)?.text ?? '';
      });
    },
    async act(action, name = 'one') {
      await insight.askAction({ url }, { action, ...objectOf(name), by: 'the test' });
    },
  };
}

/** With peers in it that are alive; and its kind, if that is not there yet. */
async function createPeering(
  client: KubeClient,
  namespace: string,
  peers: Readonly<Record<string, object>>,
): Promise<void> {
  const properties = { status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const schema = { openAPIV3Schema: { type: 'object', properties } };
  const names = { plural: 'kopfpeerings', singular: 'kopfpeering', kind: 'KopfPeering' };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'kopfpeerings.kopf.dev' },
    spec: {
      group: 'kopf.dev',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await client.request({ method: 'POST', path, body: definition }).catch((error: unknown) => {
    if (!(error instanceof ApiConflictError)) throw error;
  });
  const lastseen = new Date().toISOString();
  const status = Object.fromEntries(Object.entries(peers).map(([id, peer]) => [id, { ...peer, lastseen }]));
  const body = { apiVersion: 'kopf.dev/v1', kind: 'KopfPeering', metadata: { name: 'main' }, status };
  // The kind is served a moment later.
  await eventually(() =>
    client.request({ method: 'POST', path: `/apis/kopf.dev/v1/namespaces/${namespace}/kopfpeerings`, body }),
  );
}

describeOnClusters('why', (cluster) => {
  it.each<[string, object, AnyObject, RegExp]>([
    [
      'a label',
      { labels: { tier: 'gold' } },
      { metadata: { labels: { tier: 'silver' } } },
      /the label "tier" must be "gold", but is "silver"/,
    ],
    ['an annotation', { annotations: { tier: 'gold' } }, {}, /the annotation "tier" must be "gold", but is absent/],
    ['a field', { field: 'spec.size' }, {}, /the object must have the field spec\.size, but has none/],
    ['a value', { field: 'spec.size', value: 5 }, { spec: { size: 4 } }, /the field spec\.size must be 5, but is 4/],
    ['a condition', { when: () => false }, {}, /its condition \("when"\), the function 'when', was not met/],
  ])('filtered by %s', async (_, filters, body, expected) => {
    const { kind, namespace, told } = await asked(cluster(), ({ on }, { selector }) => {
      on.create(selector, { id: 'fn', ...filters }, noop);
      // It wants all objects: so they are not left out on the server.
      on.update(selector, { id: 'other' }, noop);
    });
    await kind.create(namespace, 'one', body);
    expect(await told('filtered')).toMatch(expected);
  });

  it('another filter has another answer, or none', async () => {
    const answers: string[] = [];
    for (const tier of ['gold', 'bronze', 'silver']) {
      const { kind, namespace, told } = await asked(cluster(), ({ on }, { selector }) => {
        on.create(selector, { id: 'fn', labels: { tier } }, noop);
        on.update(selector, { id: 'other' }, noop);
      });
      await kind.create(namespace, 'one', { metadata: { labels: { tier: 'silver' } } });
      answers.push(await told(tier === 'silver' ? 'succeeded' : 'filtered'));
    }
    expect(answers).toEqual([
      expect.stringContaining('the label "tier" must be "gold", but is "silver"'),
      expect.stringContaining('the label "tier" must be "bronze", but is "silver"'),
      expect.stringMatching(/^'fn' succeeded for the creation/),
    ]);
  });

  it('succeeded, then nothing changed in the essence, then an own change', async () => {
    const { kind, namespace, told } = await asked(cluster(), ({ on }, { selector }) => {
      on.create(selector, { id: 'made' }, noop);
      on.update(selector, { id: 'edited' }, ({ patch }) => {
        patch.spec['seen'] = true;
      });
    });
    await kind.create(namespace, 'one');
    expect(await told('succeeded')).toMatch(/^'made' succeeded for the creation/);
    await told('done');
    await kind.patch(namespace, 'one', { metadata: { annotations: { 'kopf.zalando.org/whatever': 'x' } } });
    expect(await told('unchanged')).toMatch(/did not affect its essence/);
    await kind.patch(namespace, 'one', { spec: { size: 1 } });
    await eventually(async () => expect(await told('own-change')).toMatch(/by the operator itself \(spec\.seen/));
  });

  it('waiting for a retry; retried, paused and resumed, with events; superseded by the deletion, which the finalizer holds', async () => {
    const { kind, namespace, told, act, client } = await asked(cluster(), ({ on }, { selector }) => {
      const later = (): never => {
        throw new TemporaryError('not yet', { delay: 600 });
      };
      on.create(selector, { id: 'made' }, later);
      on.delete(selector, { id: 'unmade' }, later);
    });
    await kind.create(namespace, 'one');
    expect(await told('retrying')).toMatch(
      /^'made' is waiting for a retry for the creation: attempt 1 failed .* the next one is in 10 min/,
    );
    await act('retry');
    await eventually(async () => expect(await told('retrying')).toMatch(/attempt 2 failed/));
    await act('pause');
    expect(await told('paused')).toMatch(/^The object is paused by an annotation, and resumes in/);
    await act('resume');
    await kind.delete(namespace, 'one');
    expect(await told('superseded')).toMatch(/^The handling of the creation was superseded by the deletion/);
    await eventually(async () => {
      const path = `/api/v1/namespaces/${namespace}/events`;
      const { items } = await client.request<{ items: { reason: string }[] }>({ method: 'GET', path });
      expect(items.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['Retried', 'Paused', 'Resumed']));
    });
    await kind.patch(namespace, 'one', { metadata: { finalizers: null } });
  });

  it('throttled, and the breaker', async () => {
    let isBroken = true;
    const { kind, namespace, told } = await asked(
      cluster(),
      ({ on }, { selector }) => {
        const when = (): boolean => {
          if (isBroken) throw new Error('a broken filter');
          return true;
        };
        on.update(selector, { id: 'fighter', when }, ({ patch }) => {
          patch.spec['size'] = 1;
        });
      },
      () => ({ overrides: { queueing: { errorDelays: [1] } } }),
    );
    await kind.create(namespace, 'one', { spec: { size: 1 } });
    expect(await told('throttled')).toMatch(/a broken filter/);
    isBroken = false;
    const fighting = (async () => {
      for (let round = 0; round < 100; round++) {
        await kind.patch(namespace, 'one', { spec: { size: round + 2 } });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    expect(await told('breaker')).toMatch(/'fighter' change the same fields again and again \(spec\.size\)/);
    await fighting;
  });

  it('filtered by a label that all handlers want, on the server already', async () => {
    const { kind, namespace, told } = await asked(cluster(), ({ on }, { selector }) => {
      on.create(selector, { id: 'fn', labels: { tier: 'gold' } }, noop);
    });
    await kind.create(namespace, 'one', { metadata: { labels: { tier: 'silver' } } });
    expect(await told('filtered')).toMatch(/^The operator watches only objects with the labels tier=gold/);
  });

  it('too large', async () => {
    const { kind, namespace, told } = await asked(cluster(), ({ on }, { selector }) => {
      on.create(selector, { id: 'fn' }, ({ patch }) => {
        patch.meta.annotations['big'] = 'x'.repeat(300_000);
      });
    });
    await kind.create(namespace, 'one');
    expect(await told('too-large')).toMatch(/^The object is too large to be changed/);
  });

  it('out of the scope', async () => {
    const { kind, namespace, told } = await asked(
      cluster(),
      ({ on }, { selector }) => void on.create(selector, { id: 'fn' }, noop),
      () => ({ namespaces: ['kube-system'] }),
    );
    await kind.create(namespace, 'one');
    expect(await told('out-of-scope')).toBe(
      `The operator does not serve the namespace ${namespace}. It serves kube-system.`,
    );
  });

  it('no permission to watch, so that also the indices are not ready', async () => {
    const { told } = await asked(
      cluster(),
      ({ on, index }, { selector }) => {
        on.create(selector, { id: 'fn' }, noop);
        index(selector, { id: 'byName' }, ({ name }) => ({ [name]: 1 }));
      },
      async ({ namespace }) => ({
        connection: await cluster().newUser({ namespace, group: 'other.example.com', plural: 'others' }),
      }),
    );
    expect(await told('forbidden')).toMatch(/^The operator has no permission to watch/);
    expect(await told('indexing')).toMatch(/^No handlers are called until the indices are filled/);
  });

  it('no permission to change it, so that the finalizer is missing', async () => {
    const { kind, namespace, told } = await asked(
      cluster(),
      ({ on }, { selector }) => void on.delete(selector, { id: 'unmade' }, noop),
      async ({ kind: { group, plural }, namespace: place }) => ({
        connection: await cluster().newUser({ namespace: place, group, plural, isReadOnly: true }),
        // By default, that is tried again for about a minute.
        overrides: { networking: { errorBackoffs: [0.1] } },
      }),
    );
    await kind.create(namespace, 'one');
    expect(await told('forbidden')).toMatch(/^The operator has no permission to change the object/);
    expect(await told('finalizer')).toMatch(/^The operator's finalizer is missing and could not be added/);
  });

  it('no permission to change it, as soon as it was refused, while it is tried again', async () => {
    const { kind, namespace, told } = await asked(
      cluster(),
      ({ on }, { selector }) =>
        void on.create(selector, { id: 'fn' }, ({ patch }) => void Object.assign(patch, { spec: { size: 1 } })),
      async ({ kind: { group, plural }, namespace: place }) => ({
        connection: await cluster().newUser({ namespace: place, group, plural, isReadOnly: true }),
        overrides: { networking: { errorBackoffs: [600] } },
      }),
    );
    await kind.create(namespace, 'one');
    expect(await told('forbidden')).toMatch(
      /^The operator has no permission to change the object .*next try in \d+ min/,
    );
  });

  it('paused by a peer', async () => {
    const { told } = await asked(
      cluster(),
      ({ on }, { selector }) => void on.create(selector, { id: 'fn' }, noop),
      async ({ namespace }) => {
        await createPeering(cluster().client, namespace, { them: { priority: 100, lifetime: 3600 } });
        return { standalone: false, peeringName: 'main', identity: 'us' };
      },
    );
    await eventually(async () =>
      expect(await told('paused-by-peer')).toMatch(
        /^The operator is paused in favour of its peers in the namespace .*: .*them/,
      ),
    );
  });

  it('not the leader', async () => {
    const { leasePeering } = await import('@kopf-ts/peering');
    const { told } = await asked(
      cluster(),
      ({ on }, { selector }) => void on.create(selector, { id: 'fn' }, noop),
      async ({ namespace }) => {
        const spec = {
          holderIdentity: 'them',
          leaseDurationSeconds: 3600,
          renewTime: new Date().toISOString().replace('Z', '000Z'),
        };
        const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'op' }, spec };
        const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
        await cluster().client.request({ method: 'POST', path, contentType: 'application/json', body });
        return { peering: leasePeering({ name: 'op', namespace, identity: 'us' }), standalone: undefined };
      },
    );
    const expected = 'This replica of the operator is on standby: it is not the leader. The leader is them.';
    await eventually(async () => expect(await told('not-leader')).toBe(expected));
  });
});
