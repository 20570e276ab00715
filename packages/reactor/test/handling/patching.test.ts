import { TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';
const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

const annotationsIn = ({ patches }: Operated) =>
  patches.map(({ body }) => Object.keys(body.metadata?.annotations ?? {}).sort());

describe('The number of patches', () => {
  it.each([1, 2, 3, 5])('is one per handler, for %i instant handlers with results', async (count) => {
    await using operator = await operated();
    for (let index = 0; index < count; index++) {
      operator.registry.on.create('kopfexamples', { id: `c${index}` }, () => ({ index }));
    }
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);

    expect(operator.patches).toHaveLength(count);
    const { metadata, status } = await operator.get('name1');
    expect(Object.keys(metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
    expect(Object.keys(status as object)).toHaveLength(count);
  });

  it('is four for three instant creation handlers and the finalizer for a deletion handler', async () => {
    await using operator = await operated();
    for (const id of ['c1', 'c2', 'c3']) operator.registry.on.create('kopfexamples', { id }, () => ({ id }));
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => {});
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(operator.patches).toHaveLength(4);
  });

  it('is one more per result, if the status is a subresource', async () => {
    await using operator = await operated({ status: true });
    operator.registry.on.create('kopfexamples', { id: 'c1' }, () => ({ a: 1 }));
    operator.registry.on.create('kopfexamples', { id: 'c2' }, () => undefined);
    await operator.start();
    await operator.create('name1');
    // Our marks go last: whoever reads them finds all the rest done.
    expect(operator.patches.map(({ path }) => path.endsWith('/status'))).toEqual([true, false, false]);
    expect((await operator.get('name1')).status).toEqual({ c1: { a: 1 } });
  });

  it('never includes touching: the delays are waited for in memory', async () => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c1' }, ({ retry }) => {
      if (retry < 3) throw new TemporaryError('not yet', { delay: 1000 });
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(3000);
    expect(operator.patches).toHaveLength(4);
    expect(operator.patches.filter(({ body }) => JSON.stringify(body).includes('touch-dummy'))).toEqual([]);
  });

  it('is zero for what the object already has', async () => {
    await using operator = await operated();
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ patch }) => {
      patch.metadata.labels['seen'] = 'yes';
    });
    await operator.start();
    await operator.create('name1', { metadata: { labels: { seen: 'yes' } }, spec: {} });
    await operator.edit('name1', { spec: { x: 1 } });
    await operator.advance(100);
    expect(operator.patches).toEqual([]);
  });

  it('is zero for functions that change nothing', async () => {
    await using operator = await operated();
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ patch }) => {
      patch.fns.push(() => {});
    });
    await operator.start();
    await operator.create('name1');
    expect(operator.patches).toEqual([]);
  });

  it('is one for a field that is edited by a handler and recorded by us', async () => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c1' }, ({ patch }) => {
      patch.spec['added'] = 'x';
      return 'done';
    });
    await operator.start();
    await operator.create('name1', { spec: { field: 'v' } });
    const [first, second, ...others] = operator.patches;
    expect(first?.body).toMatchObject({ spec: { added: 'x' }, status: { c1: 'done' } });
    // What was added by the handler, comes as an update; it has no handlers, but is remembered.
    expect(second?.body.metadata.annotations).toEqual({ [LAST_HANDLED]: '{"spec":{"field":"v","added":"x"}}\n' });
    expect(others).toEqual([]);
  });
});

describe('The finalizer', () => {
  it('comes first and alone, before any side effects', async () => {
    await using operator = await operated();
    const seen: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ body }) => {
      seen.push(body.metadata?.finalizers);
    });
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => {});
    await operator.start();
    await operator.create('name1');
    expect(operator.patches.map(({ contentType }) => contentType)).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
    ]);
    expect(operator.patches[0]?.body.at(-1)).toEqual({ op: 'add', path: '/metadata/finalizers', value: [FINALIZER] });
    expect(seen).toEqual([[FINALIZER]]);
  });

  it('goes together with the traces of a deletion, in one patch', async () => {
    await using operator = await operated();
    operator.registry.on.delete('kopfexamples', { id: 'd1' }, () => {});
    operator.registry.on.delete('kopfexamples', { id: 'd2' }, () => {});
    await operator.start();
    await operator.create('name1', { metadata: { finalizers: ['others/one'] }, spec: {} });
    operator.patches.length = 0;
    await operator.remove('name1');

    expect(annotationsIn(operator)).toEqual([
      ['kopf.zalando.org/d1', 'kopf.zalando.org/d2'],
      ['kopf.zalando.org/d1', 'kopf.zalando.org/d2'],
    ]);
    expect(operator.patches[1]?.body.metadata).toMatchObject({
      annotations: { 'kopf.zalando.org/d1': null, 'kopf.zalando.org/d2': null },
      finalizers: ['others/one'],
    });
    const { metadata } = await operator.get('name1');
    expect(metadata?.finalizers).toEqual(['others/one']);
    expect(Object.keys(metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
    await operator.advance(100);
    expect(operator.patches).toHaveLength(2);
    expect(operator.logger.messages()).toContain('Deletion, but we are done with it, and we do not care.');
  });

  it('is put on and taken off as the handlers come to want the object and not to want it', async () => {
    await using operator = await operated();
    operator.registry.on.delete('kopfexamples', { id: 'd', labels: { keep: 'yes' } }, () => {});
    await operator.start();
    await operator.create('name1');
    expect((await operator.get('name1')).metadata?.finalizers).toBeUndefined();
    await operator.edit('name1', { metadata: { labels: { keep: 'yes' } } });
    expect((await operator.get('name1')).metadata?.finalizers).toEqual([FINALIZER]);
    await operator.edit('name1', { metadata: { labels: { keep: null } } });
    expect((await operator.get('name1')).metadata?.finalizers).toBeUndefined();
    expect(operator.logger.messages('debug')).toContain('Adding the finalizer, thus preventing the actual deletion.');
    expect(operator.logger.messages('debug')).toContain(
      'Removing the finalizer, as there are no handlers requiring it.',
    );
  });

  it('is not put on an object that is already being deleted', async () => {
    await using operator = await operated();
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => {});
    await operator.create('name1', { metadata: { finalizers: ['others/one'] } });
    await operator.remove('name1');
    await operator.start();
    expect(operator.patches).toEqual([]);
    expect(operator.logger.messages('error')).toEqual([]);
  });

  it('is not needed for optional deletion handlers, which are then not called', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.delete('kopfexamples', { id: 'd', optional: true }, () => void calls.push('d'));
    await operator.start();
    await operator.create('name1');
    await operator.remove('name1');
    expect(calls).toEqual([]);
    expect(operator.patches.every(({ body }) => body.metadata?.finalizers === undefined)).toBe(true);
  });
});

describe('What a handler changes by itself', () => {
  it.each(['labels', 'annotations'] as const)(
    'by the %s of its patch is no reason to call it again',
    async (stanza) => {
      await using operator = await operated();
      const calls: string[] = [];
      operator.registry.on.create('kopfexamples', { id: 'c1' }, ({ patch }) => {
        calls.push('c1');
        patch.metadata[stanza]['stamp'] = `call-${calls.length}`;
      });
      operator.registry.on.create('kopfexamples', { id: 'c2' }, () => void calls.push('c2'));
      operator.registry.on.create('kopfexamples', { id: 'c3' }, () => void calls.push('c3'));
      await operator.start();
      await operator.create('name1');
      await operator.advance(100);
      expect(calls).toEqual(['c1', 'c2', 'c3']);
      expect((await operator.get('name1')).metadata?.[stanza]).toMatchObject({ stamp: 'call-1' });
    },
  );

  it('by a function of its patch is no reason to call it again', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1' }, ({ patch }) => {
      calls.push('c1');
      const stamp = calls.length;
      patch.fns.push((body) => {
        body['spec'] = { ...(body['spec'] as object), stamp };
      });
    });
    operator.registry.on.create('kopfexamples', { id: 'c2' }, () => void calls.push('c2'));
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual(['c1', 'c2']);
  });

  it('by its result is no reason to call it again, even if others look at that field', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1' }, () => {
      calls.push('c1');
      return { count: calls.length };
    });
    operator.registry.on.create('kopfexamples', { id: 'c2' }, () => void calls.push('c2'));
    operator.registry.on.field('kopfexamples', { id: 'f', field: 'status.c1' }, ({ new: value }) => {
      calls.push(`f ${JSON.stringify(value)}`);
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual(['c1', 'c2', 'f {"count":1}']);
  });

  it('is no reason to call the others again, be they done before or after it: only changes by others are news', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1' }, ({ labels }) => void calls.push(['c1', { ...labels }]));
    operator.registry.on.create('kopfexamples', { id: 'c2' }, ({ patch }) => {
      calls.push('c2');
      patch.metadata.labels['by'] = 'c2';
    });
    operator.registry.on.create('kopfexamples', { id: 'c3' }, () => void calls.push('c3'));
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual([['c1', {}], 'c2', 'c3']);
  });
});
