/** Objects are written by strangers: their keys may be named as anything, also as what every object inherits. */
import { afterEach, describe, expect, it } from 'vitest';
import { TemporaryError } from '../../src/errors.js';
import { subhandler } from '../../src/execution/subhandlers/subhandlers.js';
import { getOwn, type Mapping } from '../../src/values/json.js';
import { HandledObject } from './cycle.js';

const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

/** As it comes from the cluster: the keys are those of the object itself. */
function hostile(value: unknown): Mapping {
  return JSON.parse(`{${KEYS.map((key) => `"${key}":${JSON.stringify(value)}`).join(',')}}`) as Mapping;
}

const untouched = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));

afterEach(() => {
  expect(JSON.stringify(Object.getOwnPropertyNames(Object.prototype))).toBe(untouched);
  expect(({} as Mapping)['polluted']).toBeUndefined();
});

describe('an object with hostile keys everywhere', () => {
  const make = (compat?: 'kopf') => {
    const object = new HandledObject({ compat, spec: hostile({ polluted: 'yes' }) });
    object.edit({
      ...hostile({ polluted: 'top' }),
      metadata: { labels: hostile('label'), annotations: hostile('note') },
      status: hostile({ polluted: 'status' }),
    });
    return object;
  };

  it.each([undefined, 'kopf'] as const)(
    'is handled once, and is not changed ever after (compat: %s)',
    async (compat) => {
      const object = make(compat);
      const seen: unknown[] = [];
      object.on.create('kopfexamples', function created({ spec, labels, annotations, status, new: essence }) {
        seen.push(JSON.stringify({ spec, labels, annotations, status, essence }));
      });
      await object.handle();
      expect(seen).toHaveLength(1);
      for (const key of KEYS) expect(String(seen[0]).split(`"${key}":`)).toHaveLength(9);
      expect(await object.cycle()).toMatchObject({ reason: 'noop', merge: {}, ops: [] });
    },
  );

  it.each(KEYS)('has changes of %s noticed by those who look there, and by no others', async (key) => {
    const object = make();
    const calls: unknown[] = [];
    const field = ['spec', key, 'polluted'];
    object.on.update('kopfexamples', { field, old: 'yes', new: 'no' }, function narrow({ old, new: new_, diff }) {
      calls.push({ old, new: new_, diff });
    });
    object.on.update('kopfexamples', { field: ['spec', key, 'other'] }, function another() {
      calls.push('never');
    });
    object.on.create(
      'kopfexamples',
      { labels: { [key]: 'label' }, annotations: { [key]: 'note' } },
      function filtered() {
        calls.push('created');
      },
    );
    await object.handle();
    object.edit({ spec: JSON.parse(`{"${key}":{"polluted":"no"}}`) as Mapping });
    await object.handle();
    expect(calls).toEqual(['created', { old: 'yes', new: 'no', diff: [['change', [], 'yes', 'no']] }]);
    expect(getOwn(object.body['spec'] as object, key)).toEqual({ polluted: 'no' });
  });
});

describe('handlers with hostile ids', () => {
  it.each(KEYS)('have their progress, their results and their sub-handlers under %s', async (id) => {
    const object = new HandledObject();
    object.edit({ status: {} });
    object.on.create('kopfexamples', { id }, ({ retry }) => {
      subhandler(id, ({ retry: again }) => {
        if (again === 0) throw new TemporaryError('not yet', { delay: 1 });
        return hostile('of the sub-handler');
      });
      return retry;
    });
    const first = await object.cycle();
    expect(JSON.stringify(first.merge)).toContain(`kopf.zalando.org/${id}.${id}`);
    await object.clock.advance(1);
    await object.handle();
    const status = object.body['status'] as object;
    expect(Object.keys(status)).toEqual([`${id}/${id}`, id]);
    expect(getOwn(status, id)).toBe(1);
    expect(JSON.stringify(getOwn(status, `${id}/${id}`))).toBe(JSON.stringify(hostile('of the sub-handler')));
    expect(Object.keys(object.annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);
  });
});

describe('patches with hostile keys', () => {
  it.each(KEYS)('change what they name, and nothing else: %s', async (key) => {
    const object = new HandledObject();
    object.on.create('kopfexamples', function patching({ patch }) {
      patch.metadata.labels[key] = 'label';
      patch.metadata.annotations[key] = 'note';
      patch.spec[key] = { polluted: true };
      Reflect.set(patch, key, { polluted: true });
      patch.fns.push((body) => {
        Object.defineProperty(body['spec'], `${key}2`, { value: 1, enumerable: true });
      });
    });
    const { merge, ops } = await object.cycle();
    const value = JSON.stringify({ polluted: true });
    const { annotations, ...metadata } = merge['metadata'] as { annotations: Mapping };
    expect(JSON.stringify(merge['spec'])).toBe(`{"${key}":${value}}`);
    expect(JSON.stringify(metadata)).toBe(`{"labels":{"${key}":"label"}}`);
    expect(getOwn(annotations, key)).toBe('note');
    expect(JSON.stringify(getOwn(merge, key))).toBe(value);
    expect(ops).toEqual([{ op: 'add', path: `/spec/${key}2`, value: 1 }]);
    expect(JSON.stringify(object.body['spec'])).toBe(`{"field":"v","${key}":${value},"${key}2":1}`);
  });
});
