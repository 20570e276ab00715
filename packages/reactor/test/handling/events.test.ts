import { allAtOnce, oneByOne } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

describe('Handlers of events', () => {
  it('are called for everything that happens to an object, whatever the other handlers make of it', async () => {
    await using operator = await operated();
    await operator.create('listed');
    const seen: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type, name, spec }) => {
      seen.push([type, name, spec['field']]);
    });
    await operator.start();
    await operator.create('added');
    await operator.edit('listed', { spec: { field: 'w' } });
    await operator.remove('listed');
    expect(seen).toEqual([
      [null, 'listed', 'v'],
      ['ADDED', 'added', 'v'],
      ['MODIFIED', 'listed', 'w'],
      ['DELETED', 'listed', 'w'],
    ]);
    expect(operator.patches).toEqual([]);
  });

  it('see our own patches too, each once', async () => {
    await using operator = await operated();
    const seen: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type, body }) => {
      seen.push([type, body.metadata?.resourceVersion]);
    });
    operator.registry.on.create('kopfexamples', { id: 'c1' }, () => {});
    operator.registry.on.create('kopfexamples', { id: 'c2' }, () => {});
    await operator.start();
    await operator.create('name1');
    expect(seen.map((each) => (each as unknown[])[0])).toEqual(['ADDED', 'MODIFIED', 'MODIFIED']);
    expect(new Set(seen.map((each) => (each as unknown[])[1])).size).toBe(3);
  });

  it('may fail without any effect on the others', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e1' }, () => {
      throw new Error('boo!');
    });
    operator.registry.on.event('kopfexamples', { id: 'e2' }, () => void calls.push('e2'));
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => void calls.push('c'));
    await operator.start();
    await operator.create('name1');
    expect(calls).toEqual(['e2', 'c', 'e2']);
    expect(operator.logger.find("Handler 'e1' failed with an exception and will ignore it: boo!")?.level).toBe('error');
    expect(operator.logger.find('Throttling')).toBeUndefined();
  });

  it('are all called in the order of registration, whatever the lifecycle', async () => {
    await using operator = await operated({ lifecycle: oneByOne });
    const calls: string[] = [];
    for (const id of ['e1', 'e2', 'e3']) {
      operator.registry.on.event('kopfexamples', { id }, () => void calls.push(id));
    }
    await operator.start();
    await operator.create('name1');
    expect(calls).toEqual(['e1', 'e2', 'e3']);
  });

  it('put their results into the status', async () => {
    await using operator = await operated();
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type }) => (type === 'ADDED' ? { n: 1 } : undefined));
    await operator.start();
    await operator.create('name1');
    expect((await operator.get('name1')).status).toEqual({ e: { n: 1 } });
    expect(operator.patches).toHaveLength(1);
  });

  it('get all events, even if a filter has failed on some of them', async () => {
    await using operator = await operated();
    const seen: unknown[] = [];
    let block: (() => void) | undefined;
    const when = ({ spec }: { spec: Readonly<Record<string, unknown>> }) => {
      if (spec['field'] === 'bad') throw new Error('bad filter');
      return true;
    };
    operator.registry.on.event('kopfexamples', { id: 'e', when }, async ({ spec }) => {
      seen.push(spec['field']);
      if (spec['field'] === 'v') {
        await new Promise<void>((resolve) => {
          block = resolve;
        });
      }
    });
    await operator.start();
    await operator.create('name1');
    for (const field of ['a', 'bad', 'b']) await operator.edit('name1', { spec: { field } });
    block?.();
    await operator.settle();
    expect(seen).toEqual(['v', 'a', 'b']);
    expect(operator.logger.messages('error')).toEqual([
      'Throttling for 1 seconds due to an unexpected error: bad filter',
    ]);
  });
});

describe('The param', () => {
  it('is passed to the handler; without it, there is none', async () => {
    await using operator = await operated({ lifecycle: allAtOnce });
    const seen: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1', param: { size: 1 } }, ({ param }) => void seen.push(param));
    operator.registry.on.create('kopfexamples', { id: 'c2' }, ({ param }) => void seen.push(param));
    operator.registry.on.event('kopfexamples', { id: 'e', param: 'x' }, ({ param }) => void seen.push(param));
    await operator.start();
    await operator.create('name1');
    expect(seen).toEqual(['x', { size: 1 }, undefined, 'x']);
  });
});
