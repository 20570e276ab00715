import { subhandler } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';
const cyclic = (): object => {
  const self: Record<string, unknown> = {};
  self['self'] = self;
  return self;
};

describe('A handler that throws', () => {
  it.each([
    ['a text', 'just a text', /just a text/],
    ['an empty text', '', /./],
    ['null', null, /null/],
    ['undefined', undefined, /undefined/],
    ['a number', 42, /42/],
    ['a frozen object', Object.freeze({ code: 7 }), /./],
    ['a symbol', Symbol('boo'), /boo/],
    ['something cyclic', cyclic(), /./],
    ['an object without a prototype', Object.create(null), /./],
    ['a frozen error', Object.freeze(new Error('cold')), /cold/],
  ])('%s is retried as after any other error', async (_what, thrown, text) => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ name, retry }) => {
      calls.push(`${name} ${retry}`);
      if (name === 'name1' && retry === 0) throw thrown;
    });
    await operator.start();
    await operator.create('name1');
    await operator.create('other');
    await operator.advance(60);
    expect(calls).toEqual(['name1 0', 'other 0', 'name1 1']);
    const line = operator.logger.find("Handler 'c' failed with an exception and will try again in 60 seconds");
    expect(line?.message).toMatch(text);
    expect(line?.fields).toMatchObject({ object: { name: 'name1' } });
    // What is not an error has no stack of its own, and ours would lead astray.
    expect(line?.fields.error).toBe(thrown instanceof Error ? thrown : undefined);
    expect(operator.logger.find('Throttling')).toBeUndefined();
  });
});

describe('A handler that returns', () => {
  it.each([
    ['something cyclic', cyclic()],
    ['a big integer', 10n],
    ['a big integer inside', { deep: [10n] }],
    ['a function', () => {}],
    ['a map', new Map([['a', 1]])],
    ['a set inside', { tags: new Set(['a']) }],
    ['a symbol', Symbol('x')],
    [
      'what cannot be written',
      {
        toJSON: () => {
          throw new Error('unwritable');
        },
      },
    ],
  ])('%s has done its work; the result is dropped, and that is told', async (_what, result) => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {
      calls.push('c');
      return result;
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(calls).toEqual(['c']);
    expect(operator.logger.find("Handler 'c' has returned a value that cannot be stored")?.level).toBe('error');
    const { metadata, status } = await operator.get('name1');
    expect(status).toBeUndefined();
    expect(metadata?.annotations).toHaveProperty([LAST_HANDLED]);
  });
});

describe('A patch that cannot be sent', () => {
  it.each([
    ['something cyclic', cyclic()],
    ['a big integer', { n: 10n }],
    [
      'what cannot be written',
      {
        toJSON: () => {
          throw new Error('unwritable');
        },
      },
    ],
  ])('with %s in it is sent without that, and the handler is not called again', async (_what, value) => {
    await using operator = await operated({
      through: (client) => ({
        ...client,
        stream: (request) => client.stream(request),
        // As over the network.
        request: async (request) => await client.request({ ...request, body: overTheWire(request.body) }),
      }),
    });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ patch }) => {
      calls.push('c');
      patch.merge['data'] = value;
      patch.metadata.labels['fine'] = 'yes';
      return 'done';
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(calls).toEqual(['c']);
    expect(await operator.get('name1')).toMatchObject({ metadata: { labels: { fine: 'yes' } }, status: { c: 'done' } });
    expect(operator.logger.find("The field 'data' of the patch cannot be sent. It is dropped:")?.level).toBe('error');
    expect(operator.logger.find('Throttling')).toBeUndefined();
  });

  it('because a function of it throws is sent without that one', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ patch }) => {
      calls.push('c');
      patch.fns.push(function broken() {
        throw new Error('boo!');
      });
      patch.fns.push((body) => {
        body['data'] = { fine: true };
      });
    });
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(calls).toEqual(['c']);
    expect((await operator.get('name1'))['data']).toEqual({ fine: true });
    expect(operator.logger.messages('error')).toEqual([
      "The function 'broken' of the patch has failed. It is dropped: boo!",
    ]);
    await operator.remove('name1');
    expect(calls).toEqual(['c', 'd']);
  });
});

function overTheWire(body: unknown): unknown {
  return body === undefined ? undefined : JSON.parse(JSON.stringify(body));
}

describe('A handler that never ends', () => {
  it('is told of, is no trouble for other objects, and does not keep the operator from stopping', async () => {
    await using operator = await operated({ settings: { queueing: { exitTimeout: 2 } } });
    const done: unknown[] = [];
    let signal: AbortSignal | undefined;
    operator.registry.on.create('kopfexamples', { id: 'c' }, async (kwargs) => {
      if (kwargs.name !== 'stuck') return void done.push(kwargs.name);
      signal = kwargs.signal;
      await new Promise(() => {});
    });
    await operator.start();
    await operator.create('stuck');
    await operator.create('other');
    expect(done).toEqual(['other']);
    await operator.advance(59);
    expect(operator.logger.find('is still running')).toBeUndefined();
    await operator.advance(61);
    expect(operator.logger.messages('warn')).toEqual([
      "Handler 'c' has been running for 60 s.",
      "Handler 'c' has been running for 120 s.",
    ]);
    const stopping = operator.stop();
    await operator.settle();
    await operator.advance(100);
    expect(signal?.aborted).toBe(true);
    expect(operator.logger.find('Unprocessed streams left for')?.level).toBe('warn');
    await stopping;
  });
});

type Change = Record<'body' | 'spec', Readonly<Record<string, unknown>>>;

function refuse(): never {
  throw new TypeError('not deleted');
}

describe('A handler that changes the body', () => {
  it.each([
    ['a field', ({ body }: Change) => Object.assign(body['spec'] as object, { x: 1 })],
    ['the spec', ({ spec }: Change) => Object.assign(spec, { x: 1 })],
    ['by deleting', ({ spec }: Change) => Reflect.deleteProperty(spec, 'field') || refuse()],
  ])('(%s) fails as with any other error, and changes nothing', async (_what, change) => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c', retries: 2, backoff: 1 }, (kwargs) => {
      calls.push(JSON.stringify(kwargs.spec));
      change(kwargs);
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual(['{"field":"v"}', '{"field":"v"}']);
    expect(operator.logger.find("Handler 'c' failed with an exception")?.fields['error']).toBeInstanceOf(TypeError);
  });
});

describe('A handler with sub-handlers of the same ids', () => {
  it('fails with a clear message, and none of them is called', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'p', retries: 1 }, () => {
      subhandler('same', function one() {
        calls.push('one');
      });
      subhandler('same', function two() {
        calls.push('two');
      });
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual([]);
    expect(operator.logger.messages('error').join()).toContain(
      "registers sub-handlers with duplicate ids: 'p/same' is for the function 'one' and for the function 'two'.",
    );
  });
});

describe('A handler that floods the logs', () => {
  it('loses no line, and posts nothing unless asked to', async () => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ logger }) => {
      for (let line = 0; line < 10_000; line++) logger.info(`line ${line}`);
    });
    await operator.start();
    await operator.create('name1');
    expect(operator.logger.messages('info').filter((line) => line.startsWith('line '))).toHaveLength(10_000);
    expect(operator.events).toEqual([]);
    expect((await operator.get('name1')).metadata?.annotations).toHaveProperty([LAST_HANDLED]);
  });
});
