import { leasePeering } from '@kopf-ts/peering';
import { ABSENT, insight, type MetaFilter, PermanentError, PRESENT, settings, TemporaryError } from 'kopf-ts';
import { manualClock } from 'kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { asked, KIND } from './asked.js';

const noop = (): void => {};

describe('A handler is not called, and it is told by which filter, and with which values:', () => {
  const isGold = (value: unknown): boolean => value === 'gold';
  interface Filters {
    readonly labels?: MetaFilter;
    readonly annotations?: MetaFilter;
    readonly field?: string;
    readonly value?: number;
    readonly when?: () => boolean;
  }
  it.each<[Filters, object, string]>([
    [
      { labels: { tier: 'gold' } },
      { metadata: { labels: { tier: 'silver' } } },
      'the label "tier" must be "gold", but is "silver"',
    ],
    [{ labels: { tier: 'gold' } }, {}, 'the label "tier" must be "gold", but is absent'],
    [{ labels: { tier: PRESENT } }, {}, 'the object must have the label "tier", but has none'],
    [
      { labels: { tier: ABSENT } },
      { metadata: { labels: { tier: 'x' } } },
      'the object must not have the label "tier", but has: "x"',
    ],
    [
      { labels: { tier: isGold } },
      { metadata: { labels: { tier: 'x' } } },
      `the function 'isGold' rejected the label "tier", which is "x"`,
    ],
    [
      { annotations: { 'a.dev/b': 'yes' } },
      { metadata: { annotations: { 'a.dev/b': 'no' } } },
      'the annotation "a.dev/b" must be "yes", but is "no"',
    ],
    [{ field: 'spec.size' }, { spec: {} }, 'the object must have the field spec.size, but has none'],
    [{ field: 'spec.size', value: 5 }, { spec: { size: 4 } }, 'the field spec.size must be 5, but is 4'],
    [
      {
        when: function onMondays() {
          return false;
        },
      },
      {},
      `its condition ("when"), the function 'onMondays', was not met`,
    ],
  ])('%j', async (filters, object, expected) => {
    const { create, why, texts } = await asked(({ on }) => {
      on.create(KIND, { id: 'fn', ...filters }, noop);
      // It wants all objects: so they are not left out on the server.
      on.update(KIND, { id: 'other' }, noop);
    });
    await create('one', object);
    const id = filters.field === undefined ? 'fn' : `fn/${filters.field}`;
    expect(await texts('filtered')).toEqual([`'${id}' was not called for the creation: ${expected} (0 s ago).`]);
    expect((await why()).findings[0]?.reason).toBe('filtered');
  });

  it('a field that has not changed, or has changed to something else', async () => {
    const { create, patch, texts } = await asked(({ on }) => {
      on.field(KIND, { id: 'resized', field: 'spec.size' }, noop);
      on.update(KIND, { id: 'grown', field: 'spec.color', new: 'red' }, noop);
    });
    await create('one', { spec: { size: 1, color: 'green' } });
    await patch('one', { spec: { color: 'blue' } });
    expect(await texts('filtered')).toEqual([
      "'resized/spec.size' was not called for an update: the field spec.size has not changed (0 s ago). Its previous call was 0 s ago.",
      `'grown/spec.color' was not called for an update: the field spec.color must have become "red", but became "blue" (0 s ago).`,
    ]);
  });

  it('daemons and handlers of events as well', async () => {
    const { create, texts } = await asked(({ on, daemon }) => {
      on.event(KIND, { id: 'seen', labels: { a: 'b' } }, noop);
      daemon(KIND, { id: 'run', annotations: { a: 'b' } }, noop);
    });
    await create('one');
    expect(await texts('filtered')).toEqual([
      `'seen' was not called: the label "a" must be "b", but is absent (0 s ago).`,
      `'run' does not run: the annotation "a" must be "b", but is absent (0 s ago).`,
    ]);
  });

  it('and when the filter is another one, so is the answer', async () => {
    const answers: string[][] = [];
    for (const labels of [{ tier: 'gold' }, { tier: 'bronze' }, { level: 'gold' }, { tier: 'silver' }]) {
      const { create, texts } = await asked(({ on }) => {
        on.create(KIND, { id: 'fn', labels }, noop);
        on.update(KIND, { id: 'other' }, noop);
      });
      await create('one', { metadata: { labels: { tier: 'silver' } } });
      answers.push(await texts('filtered'));
    }
    expect(answers).toEqual([
      [`'fn' was not called for the creation: the label "tier" must be "gold", but is "silver" (0 s ago).`],
      [`'fn' was not called for the creation: the label "tier" must be "bronze", but is "silver" (0 s ago).`],
      [`'fn' was not called for the creation: the label "level" must be "gold", but is absent (0 s ago).`],
      [],
    ]);
  });

  it('a label that all handlers want, so that the server is asked for no other objects', async () => {
    const labels = { tier: 'gold' };
    const { create, why } = await asked(({ on }) => void on.create(KIND, { id: 'fn', labels }, noop));
    await create('one', { metadata: { labels: { tier: 'silver', app: 'web' } } });
    expect((await why()).findings).toEqual([
      {
        reason: 'filtered',
        text:
          'The operator watches only objects with the labels tier=gold, because all its handlers of this kind require that: ' +
          'it has not seen this one. It has the labels tier=silver, app=web.',
      },
    ]);
  });

  it('handlers of other reasons are listed, but they are no answer to why', async () => {
    const { create, why } = await asked(({ on }) => {
      on.update(KIND, { id: 'updated' }, noop);
      on.create(KIND, { id: 'created' }, noop);
    });
    await create('one');
    const { handlers, findings } = await why();
    expect(handlers.map(({ text }) => text)).toContain(
      "'updated' was not called for the creation: it is for updates, but this is the creation (0 s ago).",
    );
    expect(findings.map(({ reason }) => reason)).not.toContain('filtered');
  });
});

describe('Of handlers that were called, it is told', () => {
  it('that they have succeeded, and that there is nothing left to do', async () => {
    const { create, texts, advance } = await asked(({ on }) => void on.create(KIND, { id: 'fn' }, noop));
    await create('one');
    await advance(90);
    expect(await texts('succeeded')).toEqual(["'fn' succeeded for the creation 1 min 30 s ago (0 s)."]);
    expect(await texts('done')).toEqual(['There is nothing left to do: all handlers have succeeded.']);
  });

  it('that one is already done, while another one is not', async () => {
    const { create, texts, patch } = await asked(({ on }) => {
      on.create(KIND, { id: 'quick' }, noop);
      on.create(KIND, { id: 'slow', retries: 5 }, () => {
        throw new TemporaryError('not yet', { delay: 60 });
      });
    });
    await create('one');
    await patch('one', { status: { x: 1 } });
    expect(await texts('succeeded')).toEqual(["'quick' succeeded for the creation 0 s ago (0 s)."]);
    const [text] = await texts('retrying');
    expect(text).toMatch(
      /^'slow' is waiting for a retry for the creation: attempt 1 failed 0 s ago, the next one is in 1 min, at [\d:]+ UTC: not yet$/,
    );
  });

  it('that they wait for a retry, also after a restart of the operator, from the object', async () => {
    const { create, cluster, runner, journal } = await asked(
      ({ on }) =>
        void on.create(KIND, { id: 'fn' }, () => {
          throw new TemporaryError('the database is asleep', { delay: 600 });
        }),
    );
    await create('one');
    await runner.stop();
    expect(journal.bytes).toBeGreaterThan(0);
    const { insight } = await import('kopf-ts');
    const { withStorages } = await import('../../src/defaults.js');
    const marks = await insight.marksOf({
      body: cluster.get(`${KIND}/default/one`) as object,
      settings: withStorages(settings()),
    });
    const object = { resource: `${KIND}.kopf.dev`, namespace: 'default', name: 'one' };
    const { findings } = insight.explain({ object, marks, utc: cluster.clock.utc() });
    expect(findings).toEqual([
      {
        reason: 'retrying',
        handler: 'fn',
        text: expect.stringMatching(
          /^'fn' is waiting for a retry for the creation: no success after 1 attempt, the next one is due in 10 min, at [\d:]+ UTC: the database is asleep$/,
        ),
      },
    ]);
  });

  it('that they have failed for good', async () => {
    const { create, texts } = await asked(
      ({ on }) =>
        void on.create(KIND, { id: 'fn' }, () => {
          throw new PermanentError('never');
        }),
    );
    await create('one');
    expect(await texts('failed')).toEqual([
      "'fn' failed for good for the creation 0 s ago, and will not be retried: never",
    ]);
  });

  it('that they are being called', async () => {
    const { create, texts } = await asked(
      ({ on }) =>
        void on.create(
          KIND,
          { id: 'fn' },
          ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
        ),
    );
    await create('one');
    expect(await texts('running')).toEqual(["'fn' is being called right now."]);
  });
});

describe('Of the operator, it is told', () => {
  it('that the namespace is out of its scope', async () => {
    const { create, texts, why } = await asked(({ on }) => void on.create(KIND, { id: 'fn' }, noop), {
      namespaces: ['kube-system'],
    });
    await create('one');
    expect(await texts('out-of-scope')).toEqual([
      'The operator does not serve the namespace default. It serves kube-system.',
    ]);
    expect((await why()).findings[0]?.reason).toBe('out-of-scope');
  });

  it('that it serves the kind, also if the group is left out in the question', () => {
    const operator = { ...insight.journal({ clock: manualClock() }).operator(), resources: ['kopfexamples.kopf.dev'] };
    const reasonsFor = (resource: string): readonly string[] =>
      insight.explain({ object: { resource, name: 'one' }, operator }).findings.map(({ reason }) => reason);
    expect(reasonsFor('kopfexamples')).not.toContain('kind-unserved');
    expect(reasonsFor('kopfexample')).toContain('kind-unserved');
    expect(reasonsFor('kopfexamples.kopf')).toContain('kind-unserved');
  });

  it('that it does not serve the kind', async () => {
    const { create, texts } = await asked(({ on }) => void on.create('pods', { id: 'fn' }, noop));
    await create('one');
    expect(await texts('kind-unserved')).toEqual([
      'The operator does not serve kopfexamples.kopf.dev: it has no handlers for it, or the cluster has no such kind. It serves pods.',
    ]);
  });

  it('that it is paused by a peer, and by which', async () => {
    const peering = { apiVersion: 'kopf.dev/v1', kind: 'ClusterKopfPeering', metadata: { name: 'default' } };
    const { create, texts, why } = await asked(({ on }) => void on.create(KIND, { id: 'fn' }, noop), {
      settings: settings(),
      identity: 'us',
      async prepare(cluster) {
        await cluster.define({
          group: 'kopf.dev',
          plural: 'clusterkopfpeerings',
          kind: 'ClusterKopfPeering',
          namespaced: false,
        });
        const them = { priority: 100, lastseen: cluster.clock.utc().toISOString(), lifetime: 60 };
        await cluster.create({ ...peering, status: { them } });
      },
    });
    await create('one');
    const [text] = await texts('paused-by-peer');
    expect(text).toMatch(/^The operator is paused in favour of its peers: \[.*them.*\]\.$/);
    expect((await why()).findings[0]?.reason).toBe('paused-by-peer');
  });

  it('that it is not the leader, and who is', async () => {
    const { create, texts } = await asked(({ on }) => void on.create(KIND, { id: 'fn' }, noop), {
      settings: settings(),
      peering: leasePeering({ name: 'op', namespace: 'default', identity: 'us' }),
      async prepare(cluster) {
        const spec = { holderIdentity: 'them', leaseDurationSeconds: 600, renewTime: '2000-01-01T00:00:00.000000Z' };
        const metadata = { name: 'op', namespace: 'default' };
        await cluster.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
      },
    });
    await create('one');
    expect(await texts('not-leader')).toEqual([
      'This replica of the operator is on standby: it is not the leader. The leader is them.',
    ]);
  });

  it('that it was paused by hand', async () => {
    const { operator, create, texts } = await asked(({ on }) => void on.create(KIND, { id: 'fn' }, noop));
    await create('one');
    operator.control.pause();
    expect(await texts('operator-paused')).toEqual(['The whole operator is paused by hand until it is resumed.']);
  });

  it('that it may not watch the kind', async () => {
    const { create, texts, advance } = await asked(({ on }) => void on.create(KIND, { id: 'fn' }, noop), {
      async prepare(cluster) {
        const answer = { status: 403, reason: 'Forbidden', message: 'kopfexamples is forbidden' };
        cluster.faults.add({ match: { method: 'GET', path: /kopfexamples$/ }, answer });
      },
    });
    await create('one');
    await advance(1);
    const [text] = await texts('forbidden');
    expect(text).toMatch(/^The operator has no permission to watch kopfexamples.kopf.dev: .*forbidden/);
  });

  it('that the indices are not filled yet, and what they wait for', async () => {
    const { create, texts, advance } = await asked(
      ({ on, index }) => {
        on.create(KIND, { id: 'fn' }, noop);
        index('pods', { id: 'byName' }, ({ name }) => ({ [name]: 1 }));
      },
      {
        async prepare(cluster) {
          const answer = { status: 503, message: 'the server is busy' };
          cluster.faults.add({ match: { method: 'GET', path: /pods$/ }, answer });
        },
      },
    );
    await create('one');
    await advance(1);
    const [text] = await texts('indexing');
    expect(text).toMatch(
      /^No handlers are called until the indices are filled. Missing: pods. pods cannot be listed: .*busy/,
    );
  });
});

describe('Of the object, it is told', () => {
  const succeed = (registry: Parameters<Parameters<typeof asked>[0]>[0]): void => {
    registry.on.create(KIND, { id: 'made' }, noop);
    registry.on.update(KIND, { id: 'edited' }, noop);
  };

  it('that nothing has changed in its essence', async () => {
    const { create, patch, texts } = await asked(succeed);
    await create('one');
    await patch('one', { status: { by: 'others' } });
    const [text] = await texts('unchanged');
    expect(text).toMatch(/^The latest change of the object, 0 s ago, did not affect its essence/);
  });

  it('that the latest change was its own', async () => {
    const { create, texts } = await asked(({ on }) => {
      on.create(KIND, { id: 'made' }, ({ patch }) => {
        patch.spec['size'] = 5;
      });
      on.update(KIND, { id: 'edited' }, noop);
    });
    await create('one');
    const [text] = await texts('own-change');
    expect(text).toMatch(
      /^The latest change of the object, 0 s ago, was made by the operator itself \(spec\.size, and its own marks\): handlers are not called for its own changes\.$/,
    );
  });

  it('that a change was superseded by the deletion', async () => {
    const { create, cluster, settled, texts } = await asked(({ on }) => {
      on.create(KIND, { id: 'made' }, () => {
        throw new TemporaryError('not yet', { delay: 60 });
      });
      on.delete(KIND, { id: 'unmade' }, () => {
        throw new TemporaryError('not yet', { delay: 60 });
      });
    });
    await create('one');
    await cluster.delete(`${KIND}/default/one`);
    await settled();
    expect(await texts('superseded')).toEqual([
      'The handling of the creation was superseded by the deletion 0 s ago; 1 handler had not finished.',
    ]);
    const [text] = await texts('finalizer');
    expect(text).toMatch(
      /^The object is being deleted \(since .*\), and the operator's finalizer holds it until its handlers are done\.$/,
    );
  });

  it('that it is throttled, and by which error', async () => {
    const { create, texts } = await asked(
      ({ on }) =>
        void on.create(
          KIND,
          {
            id: 'fn',
            when: () => {
              throw new Error('a broken filter');
            },
          },
          noop,
        ),
    );
    await create('one');
    const [text] = await texts('throttled');
    expect(text).toMatch(
      /^The object is throttled because its handling failed; retrying in 1 s, at [\d:]+ UTC: .*a broken filter/,
    );
  });

  it('that the breaker has tripped, and because of which handlers and fields', async () => {
    const { create, texts, patch } = await asked(
      ({ on }) =>
        void on.update(KIND, { id: 'fighter' }, ({ patch: own }) => {
          own.spec['size'] = 1;
        }),
    );
    await create('one', { spec: { size: 1 } });
    for (let round = 0; round < 30; round++) await patch('one', { spec: { size: 2 } });
    const [text] = await texts('breaker');
    expect(text).toMatch(
      /^The breaker tripped: 'fighter' change the same fields again and again \(spec\.size\)\. Handlers are slowed down; the next call is in/,
    );
  });

  it('that the operator may not change it, and that the finalizer is missing because of that', async () => {
    const { create, texts } = await asked(({ on }) => void on.delete(KIND, { id: 'fn' }, noop), {
      async prepare(cluster) {
        const answer = { status: 403, reason: 'Forbidden', message: 'patching is forbidden' };
        cluster.faults.add({ match: { method: 'PATCH' }, answer });
      },
    });
    await create('one');
    const [text] = await texts('forbidden');
    expect(text).toMatch(/^The operator has no permission to change the object \(0 s ago\): .*patching is forbidden/);
    expect(await texts('finalizer')).toEqual([
      "The operator's finalizer is missing and could not be added: handlers wait for it, so that no deletion is missed.",
    ]);
  });

  it('that it is deleted without the finalizer of the operator', async () => {
    const { create, cluster, settled, texts, patch } = await asked(
      ({ on }) => void on.delete(KIND, { id: 'fn' }, noop),
    );
    await create('one', { metadata: { finalizers: ['others.dev/hold'] } });
    await cluster.delete(`${KIND}/default/one`);
    await settled();
    await patch('one', { metadata: { labels: { a: 'b' } } });
    const [text] = await texts('finalizer');
    expect(text).toMatch(/^The object is being deleted without the operator's finalizer/);
  });

  it('that it is too large', async () => {
    const { create, texts } = await asked(
      ({ on }) =>
        void on.create(KIND, { id: 'fn' }, ({ patch }) => {
          patch.meta.annotations['big'] = 'x'.repeat(300_000);
        }),
    );
    await create('one');
    const [text] = await texts('too-large');
    expect(text).toMatch(/^The object is too large to be changed \(0 s ago\)\. Not written: /);
  });

  it('that it is paused by hand', async () => {
    const { create, operator, texts, why } = await asked(succeed);
    await create('one');
    operator.control.pause({ name: 'one' });
    expect(await texts('paused')).toEqual(['The object is paused by hand, until it is resumed.']);
    operator.control.resume({ name: 'one' });
    expect((await why()).findings.map(({ reason }) => reason)).not.toContain('paused');
  });

  it('that it is gone, or was never there', async () => {
    const { create, cluster, settled, texts } = await asked(succeed);
    await create('one');
    await cluster.delete(`${KIND}/default/one`);
    await settled();
    expect(await texts('gone')).toEqual(['The object was deleted 0 s ago: there is nothing left to do.']);
    expect(await texts('missing', 'two')).toEqual(['There is no such object in the cluster.']);
  });
});

it('Hostile names and messages stay texts', async () => {
  const evil = '\u001b]0;owned\u0007\u001b[31mred\u202e<script>alert(1)</script>\nnext';
  const { create, why } = await asked(
    ({ on }) =>
      void on.create(KIND, { id: 'fn' }, () => {
        throw new PermanentError(evil);
      }),
  );
  await create('one', { metadata: { labels: {} } });
  const { findings, timeline, handlers } = await why();
  const texts = [...findings, ...timeline, ...handlers].map(({ text }) => text);
  expect(texts.filter((text) => text.includes('<script>'))).toHaveLength(3);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  for (const text of texts) expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
});
