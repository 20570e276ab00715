import {
  type AnyObject,
  HandlerTimeoutError,
  type KubeClient,
  type KubeRequest,
  PermanentError,
  StepError,
  type StepKwargs,
  step,
  subhandler,
  TemporaryError,
} from '@kopf-ts/core';
import { smartProgressStorage, statusProgressStorage } from '@kopf-ts/storage';
import { describe, expect, it } from 'vitest';
import { type Operated, type OperatedOptions, operated } from '../support/operated.js';

const PREFIX = 'kopf.zalando.org';

interface StoredRecord {
  readonly success?: boolean;
  readonly failure?: boolean;
  readonly retries?: number;
  readonly token?: string;
  readonly result?: string;
  readonly subrefs?: readonly string[];
}

const recordsOf = ({ metadata }: AnyObject): Record<string, StoredRecord> =>
  Object.fromEntries(
    Object.entries(metadata?.annotations ?? {})
      .filter(([key]) => key.startsWith(`${PREFIX}/`) && !key.endsWith('last-handled-configuration'))
      .map(([key, text]) => [key.slice(PREFIX.length + 1), JSON.parse(text) as StoredRecord]),
  );

/** The process is gone: nothing of what it does reaches the cluster any more. */
function killable(): { kill(): void; through: NonNullable<OperatedOptions['through']> } {
  let isDead = false;
  const never = new Promise<never>(() => {});
  return {
    kill: () => {
      isDead = true;
    },
    through: (client) => ({
      request: <T>(request: KubeRequest) => (isDead ? never : client.request<T>(request)),
      stream: (request) => client.stream(request),
    }),
  };
}

/** What happens instead of the patches, if anything. */
function throughPatches(patch: (request: KubeRequest, send: () => Promise<unknown>) => Promise<unknown>) {
  return (client: KubeClient): KubeClient => ({
    request: async <T>(request: KubeRequest) =>
      (request.method === 'PATCH'
        ? await patch(request, () => client.request(request))
        : await client.request(request)) as T,
    stream: (request) => client.stream(request),
  });
}

describe('A step', () => {
  it('is done once, however often its handler is called, and gives the same result each time', async () => {
    await using op = await operated();
    const calls: string[] = [];
    const results: unknown[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async ({ retry }) => {
      const network = await step('network', async ({ key }) => {
        calls.push('network');
        return { id: 7, tags: ['a', null], key };
      });
      if (retry === 0) throw new TemporaryError('Later.', { delay: 10 });
      const disk = await step('disk', () => {
        calls.push('disk');
        return network.id + 1;
      });
      results.push(network.id, network.tags, disk);
      if (retry === 1) throw new TemporaryError('Later.', { delay: 10 });
    });
    await op.start();
    await op.create('a');
    await op.advance(100);
    expect(calls).toEqual(['network', 'disk']);
    expect(results).toEqual([7, ['a', null], 8, 7, ['a', null], 8]);
    expect(op.logger.messages('warn')).toEqual([]);
  });

  it('is on the server before it resolves, with its result, as a sub-handler of its handler', async () => {
    await using op = await operated();
    const seen: Record<string, StoredRecord>[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      await step('one', async () => {
        seen.push(recordsOf(await op.get('a')));
        return { id: 1 };
      });
      seen.push(recordsOf(await op.get('a')));
      await step('two', () => undefined);
      seen.push(recordsOf(await op.get('a')));
    });
    await op.start();
    await op.create('a');
    expect(seen).toMatchObject([
      { fn: { success: false, retries: 0, subrefs: ['fn/one'], token: expect.any(String) } },
      { fn: { success: false, subrefs: ['fn/one'] }, 'fn.one': { success: true, retries: 1, result: '{"id":1}' } },
      { fn: { subrefs: ['fn/one', 'fn/two'] }, 'fn.one': {}, 'fn.two': { success: true, result: '' } },
    ]);
    // One before the first step, one for each, and the last one, which forgets all of it.
    expect(op.patches).toHaveLength(4);
    expect(recordsOf(await op.get('a'))).toEqual({});
  });

  it('is one request each, besides the first and the last one; the stream brings nothing new of it', async () => {
    await using op = await operated();
    let calls = 0;
    op.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      calls += 1;
      for (const name of ['a', 'b', 'c', 'd', 'e']) await step(name, () => name);
    });
    op.registry.on.update('kopfexamples', { id: 'up' }, () => {
      calls += 100;
    });
    await op.start();
    await op.create('a');
    await op.advance(100);
    expect(calls).toBe(1);
    expect(op.patches).toHaveLength(7);
  });

  it('that fails is tried again by its own rules, without the others', async () => {
    await using op = await operated();
    const calls: string[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn', retries: 50 }, async ({ retry }) => {
      await step('one', () => void calls.push(`one in ${retry}`));
      await step('two', { backoff: 5 }, ({ retry: own }) => {
        calls.push(`two ${own} in ${retry}`);
        if (own < 2) throw new Error('Not yet.');
      });
      calls.push('done');
    });
    await op.start();
    await op.create('a');
    expect(calls).toEqual(['one in 0', 'two 0 in 0']);
    await op.edit('a', { status: { irrelevant: 1 } });
    await op.advance(4);
    expect(calls).toHaveLength(2);
    await op.advance(1);
    expect(calls).toEqual(['one in 0', 'two 0 in 0', 'two 1 in 1']);
    await op.advance(5);
    expect(calls.slice(3)).toEqual(['two 2 in 2', 'done']);
  });

  it.each<[string, object, () => unknown, RegExp, unknown]>([
    ['its retries are used up', { retries: 1 }, () => Promise.reject(new Error('no')), /no/, Error],
    ['it says so', {}, () => Promise.reject(new PermanentError('no')), /no/, PermanentError],
    ['it is to fail at the first error', { errors: 'permanent' }, () => Promise.reject(new Error('no')), /no/, Error],
  ])('fails for good if %s, and so does its handler, unless it is caught', async (_, options, fn, message, cause) => {
    await using op = await operated();
    const errors: unknown[] = [];
    let calls = 0;
    op.registry.on.create('kopfexamples', { id: 'fn' }, async ({ retry }) => {
      try {
        await step('one', options, () => {
          calls += 1;
          return fn();
        });
      } catch (error) {
        errors.push(error);
        expect(recordsOf(await op.get('a'))['fn.one']).toMatchObject({ failure: true, retries: 1 });
        if (retry === 0) throw new TemporaryError('Again.', { delay: 1 });
        throw error;
      }
    });
    await op.start();
    await op.create('a');
    await op.advance(100);
    expect(calls).toBe(1);
    const [first, second] = errors as [StepError, StepError];
    expect(errors).toHaveLength(2);
    expect([first instanceof StepError, second instanceof StepError]).toEqual([true, true]);
    expect(first.cause).toBeInstanceOf(cause);
    expect(first.message).toMatch(message);
    expect(second.message).toMatch(message);
    expect(op.logger.find("Handler 'fn' failed permanently")).toBeDefined();
  });

  it('is out of its own time, and aborts', async () => {
    await using op = await operated();
    let error: unknown;
    let reason: unknown;
    op.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      try {
        await step('slow', { timeout: 5 }, ({ signal }) => {
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              reason = signal.reason;
              reject(signal.reason as Error);
            });
          });
        });
      } catch (thrown) {
        error = thrown;
        throw thrown;
      }
    });
    await op.start();
    await op.create('a');
    await op.advance(10);
    expect(error).toBeInstanceOf(StepError);
    expect(reason).toBeInstanceOf(HandlerTimeoutError);
  });

  it.each<[string, unknown, RegExp]>([
    ['too large', { text: 'x'.repeat(8 * 1024) }, /8203 bytes as JSON, and there is room for 8192/],
    ['a function', () => 1, /result is a function/],
    ['a Date in a list', { list: [new Date(0)] }, /result\.list\[0\] is a Date/],
    ['a Map', { map: new Map() }, /result\.map is a Map/],
    ['not a number', Number.NaN, /result is NaN/],
    ['nothing in a list', [undefined], /result\[0\] is undefined/],
  ])('whose result is %s fails for good, and says so', async (_, result, message) => {
    await using op = await operated();
    let calls = 0;
    op.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      await step('one', () => {
        calls += 1;
        return result;
      });
    });
    await op.start();
    await op.create('a');
    await op.advance(1000);
    expect(calls).toBe(1);
    expect(op.logger.messages('error').join('\n')).toMatch(message);
  });

  it.each(['a/b.c-d_e', '__proto__x', '1', 'x'.repeat(200)])(
    'can have a name of letters, digits and some others: %j',
    async (name) => {
      await using op = await operated();
      const calls: string[] = [];
      op.registry.on.create('kopfexamples', { id: 'fn' }, async ({ retry }) => {
        const result = await step(name, { backoff: 1 }, ({ retry }) => {
          calls.push(`step ${retry}`);
          if (retry === 0) throw new Error('Again.');
          return 'result';
        });
        calls.push(`${result} in ${retry}`);
        if (retry === 1) throw new TemporaryError('Later.', { delay: 1 });
      });
      await op.start();
      await op.create('a');
      await op.advance(10);
      expect(calls).toEqual(['step 0', 'step 1', 'result in 1', 'result in 2']);
      expect(recordsOf(await op.get('a'))).toEqual({});
    },
  );

  it('can have a result of 8 KB', async () => {
    await using op = await operated();
    const text = 'é'.repeat(4095);
    const results: unknown[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async ({ retry }) => {
      results.push(await step('one', () => text));
      if (retry === 0) throw new TemporaryError('Again.', { delay: 1 });
    });
    await op.start();
    await op.create('a');
    await op.advance(10);
    expect(results).toEqual([text, text]);
  });

  it.each([
    ['annotations', smartProgressStorage()],
    ['the status', statusProgressStorage()],
  ])('in %s is done again, by another key, for changes by others, but not for our own', async (_, progressStorage) => {
    await using op = await operated({ settings: { persistence: { progressStorage } } });
    const calls: string[] = [];
    const keys: string[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async ({ spec, patch, retry }) => {
      const result = await step('one', ({ key }) => {
        calls.push(`one of ${spec.size}`);
        keys.push(key);
        return calls.length;
      });
      expect(result).toBe(calls.length);
      patch.spec.own = retry;
      if (retry < 3) throw new TemporaryError('Later.', { delay: 10 });
    });
    await op.start();
    await op.create('a', { spec: { size: 1 } });
    await op.advance(10);
    expect(calls).toEqual(['one of 1']);
    await op.edit('a', { spec: { size: 2 } });
    await op.advance(10);
    await op.edit('a', { spec: { size: 1 } });
    await op.advance(100);
    expect(calls).toEqual(['one of 1', 'one of 2', 'one of 1']);
    expect(new Set(keys).size).toBe(3);
    expect(recordsOf(await op.get('a'))).toEqual({});
  });

  it('is not done again for what the server makes of each write', async () => {
    let writes = 0;
    await using op = await operated({
      through: (client) => ({
        request: <T>(request: KubeRequest) => {
          if (request.method !== 'PATCH') return client.request<T>(request);
          writes += 1;
          const body = request.body as AnyObject;
          return client.request<T>({
            ...request,
            body: { ...body, spec: { ...(body['spec'] as object), stamp: writes } },
          });
        },
        stream: (request) => client.stream(request),
      }),
    });
    const calls: string[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async ({ retry }) => {
      await step('one', () => void calls.push('one'));
      await step('two', () => void calls.push('two'));
      if (retry < 2) throw new TemporaryError('Later.', { delay: 10 });
    });
    await op.start();
    await op.create('a');
    await op.advance(100);
    expect(calls).toEqual(['one', 'two']);
  });

  it.each([
    ['was stored, but the answer is lost', true],
    ['could not be stored', false],
  ])('that %s is not done again', async (_, isStored) => {
    let isBroken = false;
    await using op = await operated({
      through: throughPatches(async (_request, send) => {
        if (!isBroken) return await send();
        if (isStored) await send();
        throw new Error('The connection is broken.');
      }),
    });
    const calls: string[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      calls.push('fn');
      const result = await step('one', () => {
        isBroken = true;
        return 'the result';
      });
      calls.push(result);
    });
    await op.start();
    await op.create('a');
    await op.advance(10);
    expect(calls).toEqual(['fn']);
    isBroken = false;
    await op.advance(1000);
    expect(calls).toEqual(['fn', 'fn', 'the result']);
    expect(recordsOf(await op.get('a'))).toEqual({});
  });

  it('is done in the meantime of others, if the handler wants that', async () => {
    await using op = await operated();
    const calls: string[] = [];
    const results: unknown[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async ({ retry }) => {
      const names = ['a', 'b', 'c'];
      const all = names.map((name) =>
        step(name, { backoff: 5 }, async () => {
          calls.push(name);
          if (name === 'b' && retry === 0) throw new Error('Not yet.');
          return `${name} is done`;
        }),
      );
      results.push(...(await Promise.all(all)));
    });
    await op.start();
    await op.create('a');
    await op.advance(100);
    expect(calls.slice(0, 3).sort()).toEqual(['a', 'b', 'c']);
    expect(calls.slice(3)).toEqual(['b']);
    expect(results).toEqual(['a is done', 'b is done', 'c is done']);
    expect(recordsOf(await op.get('a'))).toEqual({});
  });

  it('that nobody waits for is still waited for', async () => {
    await using op = await operated();
    const calls: string[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, ({ retry }) => {
      void step('one', { backoff: 5 }, async () => {
        calls.push(`one in ${retry}`);
        if (retry === 0) throw new Error('Not yet.');
      }).catch(() => {});
    });
    await op.start();
    await op.create('a');
    await op.advance(100);
    expect(calls).toEqual(['one in 0', 'one in 1']);
  });

  it('can be of a sub-handler, and is forgotten with it', async () => {
    await using op = await operated();
    const calls: string[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, () => {
      subhandler('sub', async ({ retry }) => {
        await step('one', () => void calls.push(`one in ${retry}`));
        if (retry === 0) {
          expect(Object.keys(recordsOf(await op.get('a')))).toEqual(['fn', 'fn.sub', 'fn.sub.one']);
          throw new TemporaryError('Later.', { delay: 5 });
        }
      });
    });
    await op.start();
    await op.create('a');
    await op.advance(1);
    expect(Object.keys(recordsOf(await op.get('a')))).toEqual(['fn', 'fn.sub', 'fn.sub.one']);
    await op.advance(100);
    expect(calls).toEqual(['one in 0']);
    expect(op.logger.messages('error')).toEqual(["Handler 'fn/sub' failed temporarily: Later."]);
    expect(recordsOf(await op.get('a'))).toEqual({});
  });

  it('is seen in the progress of the handlers', async () => {
    await using op = await operated();
    let done: unknown;
    op.registry.on.create('kopfexamples', { id: 'fn' }, async (kwargs) => {
      await step('one', () => 1);
      done = [...kwargs.progress].map(([id, { success }]) => [id, success]);
    });
    await op.start();
    await op.create('a');
    expect(done).toEqual([
      ['fn/one', true],
      ['fn', false],
    ]);
  });

  it('fails for good before it is done, if there is no room in the object for its result', async () => {
    await using op = await operated();
    const calls: string[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      calls.push('fn');
      await step('one', () => void calls.push('one'));
    });
    await op.start();
    await op.create('a', { metadata: { annotations: { text: 'x'.repeat(256 * 1024 - 100) } } });
    await op.advance(1000);
    expect(calls).toEqual(['fn']);
    expect(op.logger.find("Handler 'fn' failed permanently: There is no room")).toBeDefined();
  });

  it('that is left by a handler that fails, synchronously or not, is not done twice', async () => {
    await using op = await operated();
    const calls: string[] = [];
    const slow = async ({ logger: _ }: StepKwargs): Promise<void> => {
      calls.push('begun');
      await op.clock.sleep(30);
      calls.push('ended');
    };
    op.registry.on.create('kopfexamples', { id: 'sync', backoff: 1 }, ({ retry }) => {
      void step('one', slow).catch(() => {});
      if (retry === 0) throw new Error('Left.');
    });
    op.registry.on.create('kopfexamples', { id: 'async', backoff: 1, timeout: 600 }, async ({ retry }) => {
      void step('one', slow).catch(() => {});
      await op.clock.sleep(1);
      if (retry === 0) throw new Error('Left.');
    });
    await op.start();
    await op.create('a');
    await op.advance(200);
    expect(calls).toEqual(['begun', 'ended', 'begun', 'ended']);
  });

  it('that Kopf has rewritten without the result is done again', async () => {
    await using op = await operated();
    const calls: string[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async ({ retry }) => {
      await step('one', () => void calls.push(`one in ${retry}`));
      if (retry === 0) throw new TemporaryError('Later.', { delay: 10 });
    });
    await op.start();
    await op.create('a');
    const key = `${PREFIX}/fn.one`;
    const { result, token, digest, ...known } = JSON.parse((await op.get('a')).metadata?.annotations?.[key] ?? '{}');
    expect(result).toBe('');
    await op.edit('a', { metadata: { annotations: { [key]: JSON.stringify(known) } } });
    await op.advance(100);
    expect(calls).toEqual(['one in 0', 'one in 1']);
  });

  it('with a result that somebody has broken is done again', async () => {
    await using op = await operated();
    const calls: string[] = [];
    op.registry.on.create('kopfexamples', { id: 'fn' }, async ({ retry }) => {
      await step('one', () => void calls.push(`one in ${retry}`));
      if (retry === 0) throw new TemporaryError('Later.', { delay: 10 });
    });
    await op.start();
    await op.create('a');
    const key = `${PREFIX}/fn.one`;
    const record = JSON.parse((await op.get('a')).metadata?.annotations?.[key] ?? '{}') as object;
    await op.edit('a', { metadata: { annotations: { [key]: JSON.stringify({ ...record, result: '{' }) } } });
    await op.advance(100);
    expect(calls).toEqual(['one in 0', 'one in 1']);
  });
});

describe('Keys of steps', () => {
  const keysIn = (op: Operated, keys: Record<string, string[]>): void => {
    const note = (what: string, { key }: StepKwargs): void => {
      keys[what] = [...(keys[what] ?? []), key];
    };
    op.registry.on.create('kopfexamples', { id: 'c' }, async ({ name }) => {
      await step('one', { backoff: 1 }, (kwargs) => {
        note(`${name} one`, kwargs);
        if (kwargs.retry < 2) throw new Error('Again.');
      });
      await step('two', (kwargs) => note(`${name} two`, kwargs));
    });
    op.registry.on.update('kopfexamples', { id: 'u' }, async ({ name, spec }) => {
      await step('one', (kwargs) => note(`${name} updated to ${spec.size}`, kwargs));
    });
  };

  it('are the same for all attempts, and differ for all else', async () => {
    await using op = await operated();
    const keys: Record<string, string[]> = {};
    keysIn(op, keys);
    await op.start();
    for (const name of ['a', 'b']) await op.create(name, { spec: { size: 1 } });
    await op.advance(10);
    for (const size of [2, 1, 2]) {
      await op.edit('a', { spec: { size } });
      await op.advance(10);
    }
    expect(Object.entries(keys).map(([what, all]) => [what, all.length, new Set(all).size])).toEqual([
      ['a one', 3, 1],
      ['b one', 3, 1],
      ['a two', 1, 1],
      ['b two', 1, 1],
      ['a updated to 2', 2, 2],
      ['a updated to 1', 1, 1],
    ]);
    const all = Object.values(keys).flatMap((some) => [...new Set(some)]);
    expect(new Set(all).size).toBe(all.length);
    expect(all.every((key) => /^[0-9a-f]{32}$/.test(key))).toBe(true);
  });

  it('are the same after a process was killed in the middle of its first step', async () => {
    const { kill, through } = killable();
    await using first = await operated({ through });
    const keys: string[] = [];
    first.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      await step('one', ({ key }) => {
        keys.push(key);
        kill();
      });
    });
    await first.start();
    await first.create('a');
    await using second = await operated({ after: first });
    second.registry.on.create('kopfexamples', { id: 'fn' }, async () => {
      await step('one', ({ key }) => void keys.push(key));
    });
    await first.clock.advance(5);
    await second.start();
    await second.advance(10);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(recordsOf(await second.get('a'))).toEqual({});
  });
});

describe('It is a mistake', () => {
  // biome-ignore lint/suspicious/noExplicitAny: as in JavaScript
  const untyped = step as any;

  const toldBy = async (
    handler: (kwargs: { name: string }) => unknown,
    options: OperatedOptions = {},
  ): Promise<string> => {
    await using op = await operated(options);
    op.registry.on.create('kopfexamples', { id: 'fn', errors: 'permanent' }, handler);
    await op.start();
    await op.create('a');
    await op.advance(10);
    return op.logger.messages('error').join('\n');
  };

  it.each<[string, (kwargs: { name: string }) => unknown, RegExp, OperatedOptions?]>([
    ['to have no name', () => untyped(() => 1), /step\(\) of Handler 'fn'.*the first argument must be the name/],
    ['to have no function', () => untyped('one'), /the last argument must be the function of the step/],
    ['to have options after the function', () => untyped('one', () => 1, {}), /the last argument must be the function/],
    [
      'to misspell an option',
      () => untyped('one', { retrys: 1 }, () => 1),
      /no option "retrys".*[Dd]id you mean "retries"/,
    ],
    ['to ignore errors', () => untyped('one', { errors: 'ignored' }, () => 1), /errors of steps cannot be ignored/],
    [
      'to have two steps of one name',
      async () => {
        await step('one', () => 1);
        await step('one', () => 1);
      },
      /Handler 'fn' has two steps or sub-handlers with the id 'fn\/one'/,
    ],
    [
      'to have two steps whose names are stored as one',
      async () => {
        await step('a/b', () => 1);
        await step('a.b', () => 2);
      },
      /Handler 'fn' has two steps or sub-handlers with ids that may be stored as one: 'fn\/a\/b' and 'fn\/a\.b'/,
    ],
    [
      'to have a step of the name of a sub-handler, which would not be called any more',
      async () => {
        subhandler('one', () => {});
        await step('one', () => 1);
      },
      /Handler 'fn' has two steps or sub-handlers with the id 'fn\/one'/,
    ],
    [
      'to have a step of the name of a step of a sub-handler',
      async () => {
        subhandler({ id: 'a', errors: 'permanent' }, () => step('b', () => 1));
        await step('a/b', () => 2);
      },
      /Handler 'fn\/a' has two steps or sub-handlers with the id 'fn\/a\/b'/,
    ],
    ...['a b', 'mail-me@example.com', 'line\nfeed', 'end.', '/', '_', '漢字', '__proto__', 'é'.repeat(200)].map(
      (name): [string, () => unknown, RegExp] => [
        `to have a name that no annotation can have: ${JSON.stringify(name)}`,
        () => step(name, () => 1),
        /step\(\) of Handler 'fn': the name ".*" must have only letters, digits/,
      ],
    ),
    [
      'to have steps in steps',
      () => step('one', () => step('two', () => 1)),
      /in step 'fn\/one': steps cannot be nested/,
    ],
    [
      'to have sub-handlers in steps',
      () => step('one', () => void subhandler('two', () => 1)),
      /subhandler\(\) in the step 'fn\/one': steps cannot have sub-handlers/,
    ],
    [
      'to have steps in the way of Kopf',
      () => step('one', () => 1),
      /step\(\) cannot keep results with settings\.persistence\.compat 'kopf'/,
      { settings: { persistence: { compat: 'kopf' } } },
    ],
    [
      'to have a storage that keeps only what it knows',
      () => step('one', () => 1),
      /settings\.persistence\.progressStorage does not keep its result/,
      { settings: { persistence: { progressStorage: smartProgressStorage({ compat: 'kopf' }) } } },
    ],
  ])('%s', async (_, handler, message, options) => {
    expect(await toldBy(handler, options)).toMatch(message);
  });

  it('to have steps outside of handlers, and in others than those of changes', async () => {
    await expect(step('one', () => 1)).rejects.toThrow('step() is called outside of any handler. Call it from one');
    await using op = await operated();
    op.registry.on.event('kopfexamples', { id: 'ev' }, () => step('one', () => 1));
    await op.start();
    await op.create('a');
    expect(op.logger.messages('error').join()).toMatch(/step\(\) in Handler 'ev': steps are only supported for/);
  });
});

describe('What steps have left', () => {
  it('is purged, if their change was undone while there was no operator', async () => {
    const { kill, through } = killable();
    await using first = await operated({ through });
    const declare = ({ registry }: Operated): void => {
      registry.on.create('kopfexamples', { id: 'c' }, () => {});
      registry.on.update('kopfexamples', { id: 'u', field: 'spec.size' }, async () => {
        await step('one', () => 1);
        await step('two', kill);
      });
    };
    declare(first);
    await first.start();
    await first.create('a', { spec: { size: 1 } });
    await first.edit('a', { spec: { size: 2 } });
    expect(Object.keys(recordsOf(await first.get('a')))).toEqual(['u.spec.size', 'u.spec.size.one']);
    await first.edit('a', { spec: { size: 1 } });
    await using second = await operated({ after: first });
    declare(second);
    await second.start();
    await second.advance(10);
    expect(recordsOf(await second.get('a'))).toEqual({});
  });
});
