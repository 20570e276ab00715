import { describe, expect, it } from 'vitest';
import { TemporaryError } from '../../src/errors.js';
import { HandledObject } from './cycle.js';

const REASONS = ['create', 'update', 'delete', 'resume'] as const;
const STARTED = '2026-11-16T01:41:20.000000+00:00';
const HANDLED = { 'kopf.zalando.org/last-handled-configuration': '{"spec":{"field":"v"}}\n' };

/** An object in such a state that the reason is that. */
function objectFor(reason: (typeof REASONS)[number]): HandledObject {
  const object = new HandledObject({ initial: reason === 'resume' });
  const noop = () => {};
  object.on.create('kopfexamples', { id: 'create' }, noop);
  object.on.update('kopfexamples', { id: 'update' }, noop);
  object.on.delete('kopfexamples', { id: 'delete' }, noop);
  object.on.resume('kopfexamples', { id: 'resume' }, noop);
  object.edit({ metadata: { finalizers: ['kopf.zalando.org/KopfFinalizerMarker'] } });
  if (reason !== 'create') object.edit({ metadata: { annotations: HANDLED } });
  if (reason === 'update') object.edit({ spec: { field: 'w' } });
  if (reason === 'delete') object.edit({ metadata: { deletionTimestamp: STARTED } });
  return object;
}

const PAIRS = REASONS.flatMap((current) =>
  REASONS.filter((other) => other !== current).map((other) => ({ other, current })),
);

describe('Records of another reason', () => {
  it.each(PAIRS)('of "$other" are superseded by "$current", reported, and purged', async ({ other, current }) => {
    const object = objectFor(current);
    const record = `{"started":"${STARTED}","purpose":"${other}","retries":1,"success":false,"failure":false}`;
    object.edit({ metadata: { annotations: { [`kopf.zalando.org/${other}`]: record } } });
    const cycle = await object.cycle();
    expect(cycle.reason).toBe(current);
    expect(cycle.superseded).toEqual([other]);
    expect(object.annotations).not.toHaveProperty(`kopf.zalando.org/${other}`);
  });

  it('do not take with them the delayed handlers of the current reason', async () => {
    const object = objectFor('update');
    const calls: number[] = [];
    object.on.update('kopfexamples', { id: 'slow' }, ({ retry }) => {
      calls.push(retry);
      if (retry < 3) throw new TemporaryError('not yet', { delay: 100 });
    });
    const delayed = `{"started":"${STARTED}","delayed":"2026-11-16T01:43:00.000000+00:00","purpose":"update","retries":2,"success":false,"failure":false}`;
    const extra = `{"started":"${STARTED}","purpose":"create","retries":1,"success":true,"failure":false}`;
    const annotations = { 'kopf.zalando.org/slow': delayed, 'kopf.zalando.org/create': extra };
    object.edit({ metadata: { annotations } });
    await object.cycle();
    expect(calls).toEqual([]);
    expect(object.annotations).toHaveProperty(['kopf.zalando.org/slow'], delayed);
    expect(object.annotations).not.toHaveProperty(['kopf.zalando.org/create']);
    await object.clock.advance(100);
    await object.cycle();
    expect(calls).toEqual([2]);
  });

  it('of a handler that resumes are taken over by the update that it is mixed into', async () => {
    const object = new HandledObject({ initial: true });
    const calls: unknown[] = [];
    object.edit({ metadata: { annotations: HANDLED } });
    object.on.resume('kopfexamples', { id: 'r' }, ({ reason, retry }) => {
      calls.push([reason, retry]);
      if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
    });
    await object.cycle();
    object.edit({ spec: { field: 'w' } });
    await object.handle();
    expect(calls).toEqual([
      ['resume', 0],
      ['update', 1],
    ]);
    expect(Object.keys(object.annotations)).toEqual(Object.keys(HANDLED));
  });

  it('of one function for updates and deletions do not make the deletion look done', async () => {
    const object = objectFor('update');
    const calls: unknown[] = [];
    const both = ({ reason }: { reason: string }) => void calls.push(reason);
    object.on.update('kopfexamples', { id: 'both' }, both);
    object.on.delete('kopfexamples', { id: 'both' }, both);
    await object.cycle();
    await object.cycle();
    object.edit({ metadata: { deletionTimestamp: STARTED } });
    await object.handle();
    expect(calls).toEqual(['update', 'delete']);
  });
});
