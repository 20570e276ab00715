import { describe, expect, it } from 'vitest';
import { TemporaryError } from '../../src/errors.js';
import { subhandler } from '../../src/execution/subhandlers/subhandlers.js';
import { HandledObject } from './cycle.js';

const PREFIX = 'kopf.zalando.org';

function withAnnotation(name: string, value: string): HandledObject {
  const object = new HandledObject();
  object.edit({ metadata: { annotations: { [`${PREFIX}/${name}`]: value } } });
  return object;
}

describe('a trace that somebody has broken', () => {
  it.each([
    ['no JSON at all', '{oops'],
    ['JSON of another shape', '[1, 2]'],
    ['a scalar', '"text"'],
  ])('counts as absent and is told of once, while the object is handled to the end: %s', async (_what, value) => {
    const object = withAnnotation('fn', value);
    let calls = 0;
    object.on.create('kopfexamples', { retries: 5 }, function fn() {
      calls += 1;
      if (calls < 3) throw new TemporaryError('not yet', { delay: 1 });
    });
    object.on.create('kopfexamples', function other() {});
    const cycles = await object.handle();

    expect(calls).toBe(3);
    expect(cycles.at(-1)?.next.action).toBe('finish');
    expect(Object.keys(object.annotations)).toEqual([`${PREFIX}/last-handled-configuration`]);
    expect(object.logger.messages('warn').filter((text) => text.includes(`${PREFIX}/fn`))).toHaveLength(1);
  });

  it('a broken state of the object counts as never handled, and is replaced', async () => {
    const object = withAnnotation('last-handled-configuration', 'not json');
    let calls = 0;
    object.on.create('kopfexamples', function fn() {
      calls += 1;
    });
    await object.handle();
    expect(calls).toBe(1);
    expect(object.annotations[`${PREFIX}/last-handled-configuration`]).toBe('{"spec":{"field":"v"}}\n');
    expect(object.logger.messages('warn').filter((text) => text.includes('last-handled-configuration'))).toHaveLength(
      1,
    );
  });

  it('of a sub-handler: told of once, however many times the parent is called', async () => {
    const object = withAnnotation('parent.sub', '{oops');
    let calls = 0;
    object.on.create('kopfexamples', function parent() {
      subhandler('sub', () => {
        calls += 1;
        if (calls < 3) throw new TemporaryError('not yet', { delay: 1 });
      });
      subhandler('idle', () => {
        throw new TemporaryError('never', { delay: 100 });
      });
    });
    // The first attempt to store its progress replaces the broken record; so let it be broken anew.
    for (let cycle = 0; cycle < 3; cycle++) {
      object.edit({ metadata: { annotations: { [`${PREFIX}/parent.sub`]: '{oops' } } });
      await object.cycle();
    }
    expect(calls).toBeGreaterThan(0);
    expect(object.logger.messages('warn').filter((text) => text.includes('parent.sub'))).toHaveLength(1);
  });
});
