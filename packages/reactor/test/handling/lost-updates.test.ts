import { type AnyObject, TemporaryError } from '@kopf-ts/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';
const PATH = '/apis/kopf.dev/v1/namespaces/default/kopfexamples/name1';

const lastHandled = (object: AnyObject) => JSON.parse(object.metadata?.annotations?.[LAST_HANDLED] ?? 'null');

describe('No update is lost', () => {
  it('by a patch that changes nothing, in a hundred random edits', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom(0, 0, 0.1, 6)), {
          minLength: 100,
          maxLength: 100,
        }),
        async (edits) => {
          await using operator = await operated();
          let seen: unknown;
          operator.registry.on.event('kopfexamples', { id: 'e' }, ({ patch }) => {
            patch.metadata.labels['constant'] = 'yes';
          });
          operator.registry.on.create('kopfexamples', { id: 'c' }, ({ spec }) => {
            seen = spec['field'];
          });
          operator.registry.on.update('kopfexamples', { id: 'u' }, ({ spec }) => {
            seen = spec['field'];
          });
          await operator.start();
          await operator.create('name1', { spec: { field: -1 } });
          operator.patches.length = 0;
          for (const [field, pause] of edits) {
            await operator.edit('name1', { spec: { field } });
            await operator.advance(pause);
            expect(seen).toBe(field);
          }
          expect(lastHandled(await operator.get('name1')).spec.field).toBe(seen);
          expect(operator.patches.every(({ body }) => LAST_HANDLED in (body.metadata?.annotations ?? {}))).toBe(true);
        },
      ),
      { numRuns: 2 },
    );
  }, 60_000);

  it('by handlers that were done with an earlier state: the last that each has seen is what is remembered', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('edit' as const), field: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(0.5, 1, 3, 10) }),
    );
    const scenario = fc.record({
      handlers: fc.integer({ min: 2, max: 5 }),
      // How many times each handler fails for each value it meets.
      failures: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 5, maxLength: 5 }),
      delays: fc.array(fc.constantFrom(0, 1, 4), { minLength: 5, maxLength: 5 }),
      steps: fc.array(step, { minLength: 5, maxLength: 15 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ handlers, failures, delays, steps }) => {
        await using operator = await operated();
        const seen: unknown[] = [];
        for (let index = 0; index < handlers; index++) {
          operator.registry.on.update('kopfexamples', { id: `u${index}` }, ({ spec, retry }) => {
            if (retry < (failures[index] ?? 0)) throw new TemporaryError('not yet', { delay: delays[index] ?? 0 });
            seen[index] = spec['field'];
          });
        }
        await operator.start();
        await operator.create('name1', { spec: { field: 0 } });
        for (let index = 0; index < handlers; index++) seen[index] = 0;
        for (const each of steps) {
          if (each.kind === 'edit') await operator.edit('name1', { spec: { field: each.field } });
          else await operator.advance(each.seconds);
        }
        await operator.advance(1000);
        const object = await operator.get('name1');
        const { field } = (object as { spec: { field: number } }).spec;
        expect(lastHandled(object).spec.field).toBe(field);
        expect(seen).toEqual(Array.from({ length: handlers }, () => field));
        expect(Object.keys(object.metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
      }),
      { numRuns: 20 },
    );
  }, 60_000);

  it('by the end of a match: whoever has begun, comes to an end, and that is told', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.field(
      'kopfexamples',
      { id: 'f', field: 'status.phase', new: 'Created' },
      ({ retry, status }) => {
        calls.push([retry, status['phase']]);
        if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
      },
    );
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => {});
    await operator.start();
    await operator.create('name1');
    await operator.edit('name1', { status: { phase: 'Created' } });
    await operator.advance(5);
    await operator.edit('name1', { status: { phase: 'Running' } });
    await operator.advance(5);
    expect(calls).toEqual([
      [0, 'Created'],
      [1, 'Running'],
    ]);
    expect(operator.logger.messages('info')).toContain(
      "Some handlers no longer match the object, but are not done yet. Still called: 'f/status.phase'.",
    );
    expect(Object.keys((await operator.get('name1')).metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
  });

  describe('by the end of all matches, so that nobody wants the object any more', () => {
    const labelled = { metadata: { labels: { mine: 'yes' } }, spec: { field: 'v' } };
    const unlabelled = { metadata: { labels: { mine: null } } };

    it.each(['create', 'update'] as const)('a handler of %s that has begun comes to an end', async (reason) => {
      await using operator = await operated();
      const calls: unknown[] = [];
      const { on } = operator.registry;
      const register = reason === 'create' ? on.create : on.update;
      register('kopfexamples', { id: 'h', labels: { mine: 'yes' } }, ({ retry, labels }) => {
        calls.push([retry, labels['mine']]);
        if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
      });
      await operator.start();
      await operator.create('name1', labelled);
      if (reason === 'update') await operator.edit('name1', { spec: { field: 'w' } });
      await operator.advance(5);
      await operator.edit('name1', unlabelled);
      await operator.advance(100);
      expect(calls).toEqual([
        [0, 'yes'],
        [1, undefined],
      ]);
      expect(operator.logger.messages('info')).toContain(
        "Some handlers no longer match the object, but are not done yet. Still called: 'h'.",
      );
      // Nothing is left but what was handled last.
      expect(Object.keys((await operator.get('name1')).metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
      await operator.edit('name1', { spec: { field: 'x' } });
      await operator.advance(100);
      expect(calls).toHaveLength(2);
    });

    it('a deletion handler that has begun comes to an end, and holds the object until then', async () => {
      await using operator = await operated();
      const calls: unknown[] = [];
      operator.registry.on.delete('kopfexamples', { id: 'h', labels: { mine: 'yes' } }, ({ retry }) => {
        calls.push(retry);
        if (retry < 2) throw new TemporaryError('not yet', { delay: 10 });
      });
      await operator.start();
      await operator.create('name1', labelled);
      await operator.remove('name1');
      await operator.edit('name1', unlabelled);
      await operator.advance(5);
      expect((await operator.get('name1')).metadata?.finalizers).toHaveLength(1);
      await operator.advance(100);
      expect(calls).toEqual([0, 1, 2]);
      await expect(operator.get('name1')).rejects.toThrow('not found');
    });

    it('a handler of another operator for other objects is left to that one', async () => {
      await using operator = await operated();
      const calls: unknown[] = [];
      const register = ({ registry }: Pick<typeof operator, 'registry'>, mine: string): void => {
        registry.on.create('kopfexamples', { id: 'h', labels: { mine } }, ({ retry }) => {
          calls.push([mine, retry]);
          if (retry < 2) throw new TemporaryError('not yet', { delay: 10 });
        });
      };
      register(operator, 'yes');
      await operator.start();
      await using other = await operated({ after: operator });
      register(other, 'no');
      await other.start();
      await operator.create('name1', labelled);
      await operator.advance(100);
      await other.settle();
      expect(calls).toEqual([0, 1, 2].map((retry) => ['yes', retry]));
    });
  });

  it('by a change that is undone in the middle: nothing stale stays, and who acted on it learns of it', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.update('kopfexamples', { id: 'u1' }, ({ spec }) => void calls.push(['u1', spec['field']]));
    operator.registry.on.update('kopfexamples', { id: 'u2' }, ({ spec, retry }) => {
      calls.push(['u2', spec['field']]);
      if (retry === 0) throw new TemporaryError('not yet', { delay: 100 });
    });
    await operator.start();
    await operator.create('name1', { spec: { field: 'v' } });
    await operator.edit('name1', { spec: { field: 'w' } });
    await operator.edit('name1', { spec: { field: 'v' } });
    await operator.advance(1000);
    expect(calls).toEqual([
      ['u1', 'w'],
      ['u2', 'w'],
      ['u1', 'v'],
      ['u2', 'v'],
    ]);
    expect(Object.keys((await operator.get('name1')).metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
    calls.length = 0;
    await operator.edit('name1', { spec: { field: 'x' } });
    await operator.advance(1000);
    expect(calls.filter((call) => (call as string[])[0] === 'u1')).toEqual([['u1', 'x']]);
  });

  it('that others make between our reading and our patch: its answer has them', async () => {
    await using operator = await operated();
    const seen: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, async ({ spec }) => {
      seen.push(['c', spec['field']]);
      await operator.cluster.client.request({
        method: 'PATCH',
        path: PATH,
        contentType: 'application/merge-patch+json',
        body: { spec: { field: 'by others' } },
      });
    });
    operator.registry.on.update(
      'kopfexamples',
      { id: 'u' },
      ({ old, new: value }) => void seen.push(['u', old, value]),
    );
    await operator.start();
    const frozen = operator.cluster.faults.freezeStreams();
    await operator.create('name1', { spec: { field: 'v' } });
    frozen.remove();
    await operator.advance(100);
    expect(seen).toEqual([
      ['c', 'v'],
      ['u', { spec: { field: 'v' } }, { spec: { field: 'by others' } }],
    ]);
  });

  it('that comes while a handler runs', async () => {
    await using operator = await operated();
    const seen: unknown[] = [];
    let finish = (): void => {};
    operator.registry.on.update('kopfexamples', { id: 'u' }, async ({ spec }) => {
      seen.push(spec['field']);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    await operator.start();
    await operator.create('name1', { spec: { field: 0 } });
    for (let field = 1; field <= 50; field++) await operator.edit('name1', { spec: { field } });
    finish();
    await operator.settle();
    finish();
    await operator.settle();
    expect(seen).toEqual([1, 50]);
    expect(lastHandled(await operator.get('name1')).spec.field).toBe(50);
  });
});

describe('Functions of a patch', () => {
  async function inConflict(declare: (operator: Operated) => void, settings = {}) {
    const operator = await operated({ settings });
    declare(operator);
    await operator.start();
    return operator;
  }

  it('that are in conflict with changes of others are applied to the newer state', async () => {
    const calls: string[] = [];
    await using operator = await inConflict(({ registry, cluster }) => {
      registry.on.create('kopfexamples', { id: 'c' }, async ({ patch }) => {
        calls.push('c');
        patch.fns.push(function addItem(body) {
          const spec = body['spec'] as { items: string[] };
          if (!spec.items.includes('ours')) spec.items.push('ours');
        });
        await cluster.client.request({
          method: 'PATCH',
          path: PATH,
          contentType: 'application/merge-patch+json',
          body: { spec: { items: ['theirs', 'more'] } },
        });
      });
    });
    await operator.create('name1', { spec: { items: ['theirs'] } });
    await operator.advance(100);
    expect(calls).toEqual(['c']);
    expect((await operator.get('name1'))['spec']).toEqual({ items: ['theirs', 'more', 'ours'] });
    expect(operator.logger.messages('error')).toEqual([]);
  });

  it.each([undefined, 'kopf' as const])(
    'that remain are applied before handlers are called (compat: %s)',
    async (compat) => {
      const seen: unknown[] = [];
      await using operator = await inConflict(
        ({ registry, cluster }) => {
          registry.on.event('kopfexamples', { id: 'e' }, async ({ patch, type }) => {
            if (type !== 'ADDED') return;
            patch.fns.push(function addItem(body) {
              const spec = body['spec'] as { items: string[] };
              if (!spec.items.includes('ours')) spec.items.push('ours');
            });
            await cluster.client.request({
              method: 'PATCH',
              path: PATH,
              contentType: 'application/merge-patch+json',
              body: { spec: { other: 1 } },
            });
          });
          registry.on.create('kopfexamples', { id: 'c' }, ({ spec }) => void seen.push({ ...spec }));
          registry.on.delete('kopfexamples', { id: 'd' }, () => {});
        },
        { persistence: { compat } },
      );
      await operator.create('name1', { spec: { items: ['theirs'] } });
      await operator.advance(100);
      const line = 'Could not apply the patch in full due to conflicts with newer changes.';
      // Unlike Kopf, we look at the newest state first, and so there is no conflict.
      const conflicts = operator.logger.messages().filter((message) => message.startsWith(line));
      expect(conflicts).toHaveLength(compat === 'kopf' ? 1 : 0);
      expect(seen).toEqual([{ items: ['theirs', 'ours'], other: 1 }]);
      expect((await operator.get('name1')).metadata?.finalizers).toHaveLength(1);
    },
  );
});

describe('An object that is re-created under the same name while its handler runs', () => {
  it('is not touched by what the handler wanted to do with the old one', async () => {
    await using operator = await operated();
    const uids: unknown[] = [];
    const finish: (() => void)[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, async ({ uid, patch }) => {
      uids.push(uid);
      const order = uids.length;
      await new Promise<void>((resolve) => finish.push(resolve));
      patch.spec['order'] = order;
      return { order };
    });
    await operator.start();
    const first = await operator.create('name1');
    await operator.remove('name1');
    const second = await operator.create('name1');
    expect(uids).toEqual([first.metadata?.uid, second.metadata?.uid]);
    finish[0]?.();
    await operator.advance(10);
    const untouched = await operator.get('name1');
    expect(untouched.status).toBeUndefined();
    expect(untouched.metadata?.annotations).toBeUndefined();
    finish[1]?.();
    await operator.advance(10);
    expect(await operator.get('name1')).toMatchObject({ status: { c: { order: 2 } }, spec: { order: 2 } });
    expect(operator.logger.messages('error')).toEqual([]);
  });
});

describe('A handler that changes the object through the client', () => {
  it('goes on with what it has made, and is called once', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, async ({ client }) => {
      calls.push('c');
      await client?.request({
        method: 'PATCH',
        path: PATH,
        contentType: 'application/merge-patch+json',
        body: { metadata: { labels: { by: 'handler' } } },
      });
      return 'done';
    });
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ labels }) => void calls.push(`u ${labels['by']}`));
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual(['c', 'u handler']);
    expect(await operator.get('name1')).toMatchObject({
      metadata: { labels: { by: 'handler' } },
      status: { c: 'done' },
    });
  });
});
