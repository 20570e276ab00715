import { allAtOnce, oneByOne, shuffled, subhandler, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

describe('The lifecycle', () => {
  it.each([
    ['all at once', allAtOnce, [['c1', 'c2', 'c3']], 1],
    ['one by one', oneByOne, [['c1'], ['c2'], ['c3']], 3],
    ['by the fewest attempts (the default one)', undefined, [['c1'], ['c2'], ['c3']], 3],
  ])('%s', async (_name, lifecycle, expected, patchCount) => {
    await using operator = await operated(lifecycle === undefined ? {} : { lifecycle });
    const cycles = new Map<unknown, string[]>();
    for (const id of ['c1', 'c2', 'c3']) {
      operator.registry.on.create('kopfexamples', { id }, ({ body }) => {
        const version = body.metadata?.resourceVersion;
        cycles.set(version, [...(cycles.get(version) ?? []), id]);
      });
    }
    await operator.start();
    await operator.create('name1');
    expect([...cycles.values()]).toEqual(expected);
    expect(operator.patches).toHaveLength(patchCount);
  });

  it('shuffled: all at once, in the order of chance', async () => {
    let chance = 1;
    await using operator = await operated({ lifecycle: shuffled, random: () => (chance -= 0.1) });
    const calls: string[] = [];
    for (const id of ['c1', 'c2', 'c3']) {
      operator.registry.on.create('kopfexamples', { id }, () => void calls.push(id));
    }
    await operator.start();
    await operator.create('name1');
    expect(calls).toEqual(['c3', 'c2', 'c1']);
    expect(operator.patches).toHaveLength(1);
  });

  it('is passed on to sub-handlers: two levels of them in one cycle and one patch', async () => {
    await using operator = await operated({ lifecycle: allAtOnce });
    operator.registry.on.create('kopfexamples', { id: 'p' }, () => {
      for (const one of ['a', 'b']) {
        subhandler(one, () => {
          for (const two of ['x', 'y']) subhandler(two, () => `${one}${two}`);
        });
      }
    });
    await operator.start();
    operator.logger.clear();
    await operator.create('name1');
    expect(operator.patches).toHaveLength(1);
    expect((await operator.get('name1')).status).toEqual({
      'p/a/x': 'ax',
      'p/a/y': 'ay',
      'p/b/x': 'bx',
      'p/b/y': 'by',
    });
    expect(operator.logger.messages().filter((line) => /invoked|succeeded\.$/.test(line))).toEqual([
      "Handler 'p' is invoked.",
      "Handler 'p/a' is invoked.",
      "Handler 'p/a/x' is invoked.",
      "Handler 'p/a/x' succeeded.",
      "Handler 'p/a/y' is invoked.",
      "Handler 'p/a/y' succeeded.",
      "Handler 'p/a' succeeded.",
      "Handler 'p/b' is invoked.",
      "Handler 'p/b/x' is invoked.",
      "Handler 'p/b/x' succeeded.",
      "Handler 'p/b/y' is invoked.",
      "Handler 'p/b/y' succeeded.",
      "Handler 'p/b' succeeded.",
      "Handler 'p' succeeded.",
    ]);
  });
});

describe('Sub-handlers', () => {
  it('go on over several cycles; the parent is done with the last of them, and no trace stays', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'p' }, () => {
      subhandler('s1', () => void calls.push('s1'));
      subhandler('s2', ({ retry }) => {
        calls.push(`s2 ${retry}`);
        if (retry === 0) throw new TemporaryError('not yet', { delay: 3 });
      });
      return 'done';
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(2);
    expect(calls).toEqual(['s1', 's2 0']);
    expect((await operator.get('name1')).status).toBeUndefined();
    await operator.advance(1);
    expect(calls).toEqual(['s1', 's2 0', 's2 1']);
    const { metadata, status } = await operator.get('name1');
    expect(status).toEqual({ p: 'done' });
    expect(Object.keys(metadata?.annotations ?? {})).toEqual(['kopf.zalando.org/last-handled-configuration']);
  });
});
