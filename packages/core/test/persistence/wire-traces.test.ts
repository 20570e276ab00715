import { statusProgressStorage } from '@kopf-ts/storage';
import { describe, expect, it } from 'vitest';
import { splitStatus } from '../../src/cluster/patching/patch-payloads.js';
import { TemporaryError } from '../../src/errors.js';
import { subhandler } from '../../src/execution/subhandlers/subhandlers.js';
import { HandledObject } from './cycle.js';

const PREFIX = 'kopf.zalando.org';
const T0 = '2026-11-16T01:41:20.000000+00:00';

describe('Two creation handlers, a field handler and a deletion handler, as Kopf writes them', () => {
  it('go cycle by cycle with the same patches', async () => {
    const object = new HandledObject({ compat: 'kopf', spec: { field: 'v', é: 'ü' } });
    const calls: unknown[] = [];
    object.on.create('kopfexamples', function c1() {
      return { r: 1 };
    });
    object.on.create('kopfexamples', function c2({ retry }) {
      if (retry === 0) throw new TemporaryError('not yet', { delay: 0.2 });
      return 'done';
    });
    object.on.field('kopfexamples', { field: 'spec.field' }, function f({ old, new: new_, diff, reason }) {
      calls.push({ old, new: new_, diff, reason });
    });
    object.on.delete('kopfexamples', function d({ reason }) {
      calls.push(reason);
    });

    // The finalizer comes first, before any side effects.
    const cycle0 = await object.cycle();
    expect(cycle0.merge).toEqual({});
    expect(cycle0.ops).toEqual([{ op: 'add', path: '/metadata/finalizers', value: [`${PREFIX}/KopfFinalizerMarker`] }]);

    const cycle1 = await object.cycle();
    const untried = `{"started":"${T0}","purpose":"create","retries":0,"success":false,"failure":false}`;
    expect(JSON.stringify(cycle1.merge)).toBe(
      JSON.stringify({
        metadata: {
          annotations: {
            [`${PREFIX}/c1`]: `{"started":"${T0}","stopped":"${T0}","purpose":"create","retries":1,"success":true,"failure":false}`,
            [`${PREFIX}/c2`]: untried,
            [`${PREFIX}/f.spec.field`]: untried,
          },
        },
        status: { c1: { r: 1 } },
      }),
    );
    expect(cycle1.ops).toEqual([]);

    await object.clock.advance(0.1);
    const cycle2 = await object.cycle();
    expect(cycle2.merge).toEqual({
      metadata: {
        annotations: {
          [`${PREFIX}/c2`]:
            `{"started":"${T0}","delayed":"2026-11-16T01:41:20.300000+00:00","purpose":"create",` +
            '"retries":1,"success":false,"failure":false,"message":"not yet"}',
        },
      },
    });

    const cycle3 = await object.cycle();
    expect(cycle3.merge).toEqual({
      metadata: {
        annotations: {
          [`${PREFIX}/f.spec.field`]:
            `{"started":"${T0}","stopped":"2026-11-16T01:41:20.100000+00:00","purpose":"create",` +
            '"retries":1,"success":true,"failure":false}',
        },
      },
    });
    expect(calls).toEqual([{ old: undefined, new: 'v', diff: [['add', [], undefined, 'v']], reason: 'create' }]);

    // Nobody is awake.
    const cycle4 = await object.cycle();
    expect(cycle4.merge).toEqual({});
    expect(cycle4.next).toMatchObject({ action: 'sleep', seconds: 0.2, awakening: 'touch' });
    await object.clock.advance(0.2);
    expect(await object.touch()).toEqual({
      metadata: { annotations: { [`${PREFIX}/touch-dummy`]: '2026-11-16T01:41:20.300000+00:00' } },
    });

    const cycle5 = await object.cycle();
    expect(JSON.stringify(cycle5.merge)).toBe(
      JSON.stringify({
        metadata: {
          annotations: {
            [`${PREFIX}/c2`]: null,
            [`${PREFIX}/c1`]: null,
            [`${PREFIX}/f.spec.field`]: null,
            [`${PREFIX}/last-handled-configuration`]: '{"spec":{"field":"v","\\u00e9":"\\u00fc"}}\n',
            [`${PREFIX}/touch-dummy`]: null,
          },
        },
        status: { c2: 'done' },
      }),
    );

    const cycle6 = await object.cycle();
    expect(cycle6).toMatchObject({ reason: 'noop', merge: {}, ops: [], next: { action: 'finish' } });

    // A change that is handled at once leaves nothing but the new last handled state.
    object.edit({ spec: { field: 'w' } });
    const updating = await object.cycle();
    expect(updating.reason).toBe('update');
    expect(updating.merge).toEqual({
      metadata: {
        annotations: { [`${PREFIX}/last-handled-configuration`]: '{"spec":{"field":"w","\\u00e9":"\\u00fc"}}\n' },
      },
    });
    expect(calls[1]).toEqual({ old: 'v', new: 'w', diff: [['change', [], 'v', 'w']], reason: 'update' });

    object.edit({ metadata: { deletionTimestamp: '2026-11-16T01:42:00Z' } });
    const deleting = await object.cycle();
    expect(deleting.reason).toBe('delete');
    expect(deleting.merge).toEqual({});
    expect(deleting.ops).toEqual([{ op: 'remove', path: '/metadata/finalizers' }]);
    expect(calls[2]).toBe('delete');

    expect(await object.cycle()).toMatchObject({ reason: 'free', merge: {}, ops: [] });
  });

  it('take fewer patches of our own: no touching, and waiting is done in memory', async () => {
    const object = new HandledObject();
    object.on.create('kopfexamples', function c({ retry }) {
      if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
    });
    const cycles = await object.handle();
    expect(cycles.map(({ next }) => next.action)).toEqual(['await-event', 'sleep', 'await-event', 'finish']);
    expect(JSON.stringify(cycles)).not.toContain('touch-dummy');
    expect(cycles[1]?.next).toMatchObject({ seconds: 10, awakening: 'again' });
  });
});

describe('A parent with two sub-handlers, as Kopf writes them', () => {
  it('goes cycle by cycle with the same patches', async () => {
    const object = new HandledObject({ compat: 'kopf' });
    const calls: string[] = [];
    let failures = 1;
    object.on.create('kopfexamples', function p() {
      calls.push('p');
      subhandler('s1', () => {
        calls.push('p/s1');
        return 11;
      });
      subhandler('s2', { field: 'spec.field' }, () => {
        calls.push('p/s2');
        if (failures-- > 0) throw new TemporaryError(undefined, { delay: 0 });
      });
      return 'parent';
    });

    const cycle0 = await object.cycle();
    expect(calls.splice(0)).toEqual(['p', 'p/s1']);
    expect(JSON.stringify(cycle0.merge)).toBe(
      JSON.stringify({
        metadata: {
          annotations: {
            [`${PREFIX}/p.s1`]: `{"started":"${T0}","stopped":"${T0}","purpose":"create","retries":1,"success":true,"failure":false}`,
            [`${PREFIX}/p.s2`]: `{"started":"${T0}","purpose":"create","retries":0,"success":false,"failure":false}`,
            [`${PREFIX}/p`]:
              `{"started":"${T0}","delayed":"${T0}","purpose":"create","retries":1,"success":false,"failure":false,` +
              '"message":"None","subrefs":["p/s1","p/s2"]}',
          },
        },
        status: { 'p/s1': 11 },
      }),
    );

    const cycle1 = await object.cycle();
    expect(calls.splice(0)).toEqual(['p', 'p/s2']);
    expect(cycle1.merge).toEqual({
      metadata: {
        annotations: {
          [`${PREFIX}/p.s2`]:
            `{"started":"${T0}","delayed":"${T0}","purpose":"create","retries":1,"success":false,"failure":false,` +
            '"message":"None"}',
          [`${PREFIX}/p`]:
            `{"started":"${T0}","delayed":"${T0}","purpose":"create","retries":2,"success":false,"failure":false,` +
            '"message":"None","subrefs":["p/s1","p/s2"]}',
        },
      },
    });

    const cycle2 = await object.cycle();
    expect(calls).toEqual(['p', 'p/s2']);
    expect(cycle2.merge).toEqual({
      metadata: {
        annotations: {
          [`${PREFIX}/p`]: null,
          [`${PREFIX}/p.s1`]: null,
          [`${PREFIX}/p.s2`]: null,
          [`${PREFIX}/last-handled-configuration`]: '{"spec":{"field":"v"}}\n',
        },
      },
      status: { p: 'parent' },
    });
    // The word is only stored, never said.
    expect(object.logger.messages().join('\n')).not.toContain('None');
  });

  it('is failed by its own retries, as every call for the sake of sub-handlers is an attempt', async () => {
    const object = new HandledObject({ compat: 'kopf' });
    const calls: string[] = [];
    object.on.create('kopfexamples', { retries: 1 }, function p() {
      subhandler('s1', () => void calls.push('s1'));
      subhandler('s2', () => void calls.push('s2'));
    });
    await object.handle();
    expect(calls).toEqual(['s1']);
    expect(object.logger.messages('error')).toEqual(["Handler 'p' has exceeded 1 retries."]);
  });
});

describe('A handler whose progress is in the status, which is a subresource, as Kopf writes it', () => {
  it('goes cycle by cycle with the same patches', async () => {
    const object = new HandledObject({ compat: 'kopf', storage: statusProgressStorage({ compat: 'kopf' }) });
    object.on.create('kopfexamples', function c({ retry }) {
      if (retry === 0) throw new TemporaryError(undefined, { delay: 10 });
    });

    const failed = await object.cycle();
    expect(JSON.stringify(splitStatus(failed.merge, true))).toBe(
      JSON.stringify({
        object: {},
        status: {
          status: {
            kopf: {
              progress: {
                c: {
                  started: T0,
                  stopped: null,
                  delayed: '2026-11-16T01:41:30.000000+00:00',
                  purpose: 'create',
                  retries: 1,
                  success: false,
                  failure: false,
                  message: 'None',
                  subrefs: null,
                },
              },
            },
          },
        },
      }),
    );

    expect((await object.cycle()).next).toMatchObject({ action: 'sleep', seconds: 10, awakening: 'touch' });
    await object.clock.advance(10);
    expect(splitStatus(await object.touch(), true)).toEqual({
      object: {},
      status: { status: { kopf: { dummy: '2026-11-16T01:41:30.000000+00:00' } } },
    });

    const succeeded = await object.cycle();
    expect(JSON.stringify(splitStatus(succeeded.merge, true))).toBe(
      JSON.stringify({
        object: { metadata: { annotations: { [`${PREFIX}/last-handled-configuration`]: '{"spec":{"field":"v"}}\n' } } },
        status: { status: { kopf: { progress: { c: null }, dummy: null } } },
      }),
    );
    expect(await object.cycle()).toMatchObject({ reason: 'noop', merge: {}, ops: [], next: { action: 'finish' } });
  });
});
