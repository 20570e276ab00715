import { describe, expect, it } from 'vitest';
import { TemporaryError } from '../../src/errors.js';
import { HandledObject } from './cycle.js';

/** Does not compress, as it is all different; and does not depend on chance. */
function noise(bytes: number): string {
  let seed = 1;
  let text = '';
  while (text.length < bytes) {
    seed = (seed * 48271) % 2147483647;
    text += seed.toString(36);
  }
  return text.slice(0, bytes);
}

const totalSize = (annotations: Readonly<Record<string, string>>): number =>
  Object.entries(annotations).reduce((total, [key, value]) => total + key.length + value.length, 0);

describe('an object that is too big for its last handled state to be kept', () => {
  it.each([
    ['compressed, when it can be', 'x'.repeat(280_000), 'last-handled-configuration-gzip'],
    ['by its digest, when it cannot', noise(900_000), 'last-handled-configuration-digest'],
  ])('is handled once, and remembered in whatever form fits: %s', async (_how, blob, annotation) => {
    const object = new HandledObject({ spec: { blob, size: 1 } });
    const calls: string[] = [];
    object.on.create('kopfexamples', function create() {
      calls.push('create');
      if (calls.length === 1) throw new TemporaryError('not yet', { delay: 1 });
    });
    object.on.update('kopfexamples', { field: 'spec.size' }, function update({ new: size }) {
      calls.push(`update to ${String(size)}`);
    });

    await object.handle();
    expect(calls).toEqual(['create', 'create']);
    expect(Object.keys(object.annotations)).toEqual([`kopf.zalando.org/${annotation}`]);
    expect(totalSize(object.annotations)).toBeLessThan(256 * 1024);

    // Nothing has changed, so nothing is done.
    expect((await object.cycle()).reason).toBe('noop');

    object.edit({ spec: { size: 2 } });
    await object.handle();
    expect(calls.slice(2)).toEqual(['update to 2']);
    expect((await object.cycle()).reason).toBe('noop');

    // Once it fits, it is kept as usual, and the other forms are gone.
    object.edit({ spec: { blob: null } });
    await object.handle();
    expect(object.annotations).toEqual({ 'kopf.zalando.org/last-handled-configuration': '{"spec":{"size":2}}\n' });
  });
});
