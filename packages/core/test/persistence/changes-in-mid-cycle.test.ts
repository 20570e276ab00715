import { annotationsProgressStorage } from '@kopf-ts/storage';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PermanentError, TemporaryError } from '../../src/errors.js';
import { subhandler } from '../../src/execution/subhandlers/subhandlers.js';
import { HandledObject, type HandledOptions } from './cycle.js';

/** An object that was handled once, so that all of its changes are updates. */
async function handledObject(
  options: HandledOptions,
  declare: (object: HandledObject) => void,
): Promise<HandledObject> {
  const object = new HandledObject(options);
  declare(object);
  await object.handle();
  object.logger.clear();
  return object;
}

const stored = (object: HandledObject, id: string) =>
  JSON.parse(object.annotations[`kopf.zalando.org/${id}`] ?? 'null');

describe('A change by others in the middle of handling, which is never lost', () => {
  async function twoUpdaters(options: HandledOptions) {
    const calls: [string, unknown][] = [];
    const object = await handledObject({ ...options, spec: { field: 1 } }, ({ on }) => {
      on.update('kopfexamples', function u1({ spec }) {
        calls.push(['u1', spec.field]);
      });
      on.update('kopfexamples', function u2({ spec, retry }) {
        calls.push(['u2', spec.field]);
        if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
      });
    });
    object.edit({ spec: { field: 2 } });
    await object.cycle();
    await object.cycle();
    object.edit({ spec: { field: 3 } });
    await object.handle();
    return { calls, object };
  }

  it('is seen by the handlers that were done with the previous one', async () => {
    const { calls, object } = await twoUpdaters({});
    expect(calls).toEqual([
      ['u1', 2],
      ['u2', 2],
      ['u1', 3],
      ['u2', 3],
    ]);
    expect(JSON.parse(object.annotations['kopf.zalando.org/last-handled-configuration'] ?? '')).toEqual({
      spec: { field: 3 },
    });
    expect(Object.keys(object.annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);
  });

  it('is not seen by them in the mode of compatibility', async () => {
    const { calls } = await twoUpdaters({ compat: 'kopf' });
    expect(calls).toEqual([
      ['u1', 2],
      ['u2', 2],
      ['u2', 3],
    ]);
  });

  it('is known by the digests in the records, which are not there in the mode of compatibility', async () => {
    const declare = ({ on }: HandledObject) => {
      on.create('kopfexamples', function first() {});
      on.create('kopfexamples', function second() {});
    };
    const [ours, kopfs] = [new HandledObject(), new HandledObject({ compat: 'kopf' })];
    for (const object of [ours, kopfs]) {
      declare(object);
      await object.cycle();
    }
    expect(stored(ours, 'first')).toMatchObject({ success: true, digest: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(stored(ours, 'second')).not.toHaveProperty('digest');
    expect(stored(kopfs, 'first')).toEqual({ ...stored(ours, 'first'), digest: undefined });
  });

  it('does not repeat what was done on records of Kopf, which have no digests', async () => {
    const calls: unknown[] = [];
    const object = await handledObject({ spec: { field: 1 } }, ({ on }) => {
      on.update('kopfexamples', function u1() {
        calls.push('u1');
      });
      on.update('kopfexamples', function u2() {
        calls.push('u2');
      });
    });
    const started = '2026-11-16T01:41:20.123456+00:00';
    const record = `{"started":"${started}","stopped":"${started}","purpose":"update","retries":1,"success":true,"failure":false}`;
    object.edit({ spec: { field: 2 }, metadata: { annotations: { 'kopf.zalando.org/u1': record } } });
    await object.handle();
    expect(calls).toEqual(['u2']);
  });

  it('of another field does not disturb a handler of one field', async () => {
    const calls: [string, unknown][] = [];
    const object = await handledObject({ spec: { a: 1, b: 1 } }, ({ on }) => {
      on.update('kopfexamples', { field: 'spec.a' }, function fa({ new: value }) {
        calls.push(['a', value]);
      });
      on.update('kopfexamples', { field: 'spec.b' }, function fb({ new: value, retry }) {
        calls.push(['b', value]);
        if (retry === 0) throw new TemporaryError('not yet', { delay: 1 });
      });
    });
    object.edit({ spec: { a: 2, b: 2 } });
    await object.cycle();
    await object.cycle();
    object.edit({ spec: { b: 3 } });
    await object.handle();
    expect(calls).toEqual([
      ['a', 2],
      ['b', 2],
      ['b', 3],
    ]);
  });

  it('gives a new chance to those that have failed for good', async () => {
    const calls: unknown[] = [];
    const object = await handledObject({ spec: { field: 'good' } }, ({ on }) => {
      on.update('kopfexamples', function strict({ spec }) {
        calls.push(spec.field);
        if (spec.field === 'bad') throw new PermanentError('bad');
      });
      on.update('kopfexamples', function slow({ retry }) {
        if (retry === 0) throw new TemporaryError('not yet', { delay: 1 });
      });
    });
    object.edit({ spec: { field: 'bad' } });
    await object.cycle();
    await object.cycle();
    object.edit({ spec: { field: 'better' } });
    await object.handle();
    expect(calls).toEqual(['bad', 'better']);
  });

  it('starts those handlers anew: with no retries, and with all of their time', async () => {
    const attempts: [unknown, number, number][] = [];
    const object = await handledObject({ spec: { field: 1 } }, ({ on }) => {
      on.update('kopfexamples', { retries: 2, timeout: 20 }, function limited({ spec, retry, runtime }) {
        attempts.push([spec.field, retry, runtime]);
        if (retry === 0) throw new TemporaryError('once more', { delay: 5 });
      });
      on.update('kopfexamples', function slow({ spec }) {
        if (spec.field === 2) throw new TemporaryError('not yet', { delay: 100 });
      });
    });
    object.edit({ spec: { field: 2 } });
    await object.handle(5);
    await object.clock.advance(60);
    object.edit({ spec: { field: 3 } });
    await object.handle();
    expect(attempts).toEqual([
      [2, 0, 0],
      [2, 1, 5],
      [3, 0, 0],
      [3, 1, 5],
    ]);
    expect(object.logger.messages('error').filter((text) => text.includes('timed out'))).toEqual([]);
  });

  it('is seen by sub-handlers, too', async () => {
    const calls: [string, unknown][] = [];
    const object = await handledObject({ spec: { field: 1 } }, ({ on }) => {
      on.update('kopfexamples', function p({ spec }) {
        subhandler('done', () => void calls.push(['done', spec.field]));
        subhandler('slow', ({ retry }) => {
          calls.push(['slow', spec.field]);
          if (retry === 0) throw new TemporaryError('not yet', { delay: 1 });
        });
      });
    });
    object.edit({ spec: { field: 2 } });
    await object.cycle();
    await object.cycle();
    object.edit({ spec: { field: 3 } });
    await object.handle();
    expect(calls).toEqual([
      ['done', 2],
      ['slow', 2],
      ['done', 3],
      ['slow', 3],
    ]);
    expect(Object.keys(object.annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);
  });

  it('during a deletion repeats nothing: what is deleted is deleted once', async () => {
    const calls: string[] = [];
    const object = await handledObject({}, ({ on }) => {
      on.delete('kopfexamples', function d1() {
        calls.push('d1');
      });
      on.delete('kopfexamples', function d2({ retry }) {
        calls.push('d2');
        if (retry === 0) throw new TemporaryError('not yet', { delay: 1 });
      });
    });
    object.edit({ metadata: { deletionTimestamp: '2026-11-16T02:00:00Z' } });
    await object.cycle();
    object.edit({ metadata: { labels: { some: 'label' } } });
    await object.handle();
    expect(calls).toEqual(['d1', 'd2', 'd2']);
  });
});

describe('A change that is undone in the middle of handling', () => {
  async function undone(options: HandledOptions) {
    const calls: [string, unknown][] = [];
    const object = await handledObject({ ...options, spec: { field: 1 } }, ({ on }) => {
      on.update('kopfexamples', function u1({ spec }) {
        calls.push(['u1', spec.field]);
      });
      on.update('kopfexamples', function u2({ spec }) {
        calls.push(['u2', spec.field]);
      });
    });
    object.edit({ spec: { field: 2 } });
    await object.cycle();
    expect(calls.splice(0)).toEqual([['u1', 2]]);
    object.edit({ spec: { field: 1 } });
    await object.handle();
    return { object, calls };
  }

  it('leaves nothing behind, once those who have acted on it have learned of that', async () => {
    const { object, calls } = await undone({});
    expect(calls).toEqual([['u1', 1]]);
    expect(Object.keys(object.annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);

    object.edit({ spec: { field: 5 } });
    await object.handle();
    expect(calls.slice(1)).toEqual([
      ['u1', 5],
      ['u2', 5],
    ]);
  });

  it('leaves nothing behind of those who have not acted yet', async () => {
    const object = await handledObject({}, ({ on }) => void on.update('kopfexamples', function u() {}));
    const untried =
      '{"started":"2026-11-16T01:41:20.000000+00:00","purpose":"update","retries":0,"success":false,"failure":false}';
    object.edit({ metadata: { annotations: { 'kopf.zalando.org/u': untried } } });
    const cycle = await object.cycle();
    expect(cycle.reason).toBe('noop');
    expect(cycle.merge).toEqual({ metadata: { annotations: { 'kopf.zalando.org/u': null } } });
    expect(await object.cycle()).toMatchObject({ merge: {}, next: { action: 'finish' } });
  });
});

describe('A handler whose filters stop matching in the middle of handling', () => {
  async function mismatched(options: HandledOptions) {
    const calls: [unknown, unknown][] = [];
    const object = await handledObject({ ...options, spec: { phase: 'New' } }, ({ on }) => {
      on.update('kopfexamples', { field: 'spec.phase', new: 'Created' }, function created({ new: phase, retry }) {
        calls.push([phase, retry]);
        if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
      });
    });
    object.edit({ spec: { phase: 'Created' } });
    await object.cycle();
    object.edit({ spec: { phase: 'Running' } });
    await object.handle();
    return calls;
  }

  it('is still called until it is done', async () => {
    expect(await mismatched({})).toEqual([
      ['Created', 0],
      ['Running', 1],
    ]);
  });

  it('is dropped in the mode of compatibility', async () => {
    expect(await mismatched({ compat: 'kopf' })).toEqual([['Created', 0]]);
  });

  it('is not called if it was never called before', async () => {
    const calls: string[] = [];
    const object = await handledObject({ spec: { a: 1, b: 1 } }, ({ on }) => {
      on.update('kopfexamples', { field: 'spec.a' }, function fa() {
        calls.push('a');
      });
      on.update('kopfexamples', { field: 'spec.b' }, function fb() {
        calls.push('b');
      });
    });
    object.edit({ spec: { a: 2, b: 2 } });
    await object.cycle();
    object.edit({ spec: { b: 1 } });
    await object.handle();
    expect(calls).toEqual(['a']);
    expect(Object.keys(object.annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);
  });

  it('learns of the field being as it was', async () => {
    const calls: [string, unknown][] = [];
    const object = await handledObject({ spec: { a: 1, b: 1 } }, ({ on }) => {
      on.update('kopfexamples', { field: 'spec.a' }, function fa({ new: value }) {
        calls.push(['a', value]);
      });
      on.update('kopfexamples', { field: 'spec.b' }, function fb({ retry }) {
        if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
      });
    });
    object.edit({ spec: { a: 2, b: 2 } });
    await object.cycle();
    await object.cycle();
    object.edit({ spec: { a: 1 } });
    await object.handle();
    expect(calls).toEqual([
      ['a', 2],
      ['a', 1],
    ]);
  });
});

describe('Whatever is changed, and whenever, and however handlers fail', () => {
  it('each handler has seen the last state before it counts as handled', async () => {
    const edit = fc.record({ after: fc.nat(4), value: fc.nat(3) });
    const scenario = fc.record({
      handlers: fc.integer({ min: 2, max: 4 }),
      edits: fc.array(edit, { minLength: 1, maxLength: 5 }),
      failures: fc.array(fc.boolean(), { maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ handlers, edits, failures }) => {
        const seen = new Map<string, unknown>();
        const plan = [...failures];
        const object = await handledObject({ spec: { field: 0 }, storage: annotationsProgressStorage() }, ({ on }) => {
          for (let index = 0; index < handlers; index++) {
            const id = `u${index}`;
            seen.set(id, 0);
            on.update('kopfexamples', { id, backoff: 5 }, ({ spec }) => {
              seen.set(id, spec.field);
              if (plan.shift()) throw new Error('as planned');
            });
          }
        });
        for (const { after, value } of edits) {
          await object.handle(after);
          object.edit({ spec: { field: value } });
        }
        const cycles = await object.handle(200);
        expect(cycles.at(-1)?.next.action).toBe('finish');
        const [last] = edits.slice(-1);
        expect([...seen.values()]).toEqual(Array(handlers).fill(last?.value));
        expect(Object.keys(object.annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);
      }),
      { numRuns: 40 },
    );
  });
});
