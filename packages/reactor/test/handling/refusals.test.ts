/** What the cluster refuses is a failure of the handler that has asked for it, and of nobody else. */
import { ApiError, allAtOnce, type KubeClient, type KubeRequest, subhandler } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

interface RefusingOptions {
  /** Whether that payload is refused. */
  readonly refuses: (text: string) => boolean;
  readonly status: number;
  readonly causes?: readonly object[];
  readonly message?: string;
}

function refusing({ refuses, status, causes, message = 'that is not nice' }: RefusingOptions) {
  return (client: KubeClient): KubeClient => ({
    stream: (request) => client.stream(request),
    async request<T>(request: KubeRequest): Promise<T> {
      if (request.method === 'PATCH' && refuses(JSON.stringify(request.body))) {
        const details = causes === undefined ? {} : { details: { causes } };
        throw new ApiError({ status, payload: { kind: 'Status', message, ...details } });
      }
      return await client.request<T>(request);
    },
  });
}

const DENIAL = 'admission webhook "x.example.com" denied the request: not today';

describe('Of several handlers called together, only the culprit fails', () => {
  it.each<[string, Omit<RefusingOptions, 'refuses'>]>([
    ['422 that names the field', { status: 422, causes: [{ field: 'spec.bad', message: 'Unsupported value' }] }],
    ['422 that names a deeper field', { status: 422, causes: [{ field: 'spec.bad.list[0].name', message: 'no' }] }],
    ['422 that names nothing', { status: 422 }],
    ['422 that names something else', { status: 422, causes: [{ field: 'spec.unrelated', message: 'no' }] }],
    ['400', { status: 400 }],
    ['a denial with 403', { status: 403, message: DENIAL }],
    ['a denial with 400', { status: 400, message: DENIAL }],
  ])('by %s', async (_what, answer) => {
    const through = refusing({ ...answer, refuses: (text) => text.includes('"bad"') });
    await using operator = await operated({ through, lifecycle: allAtOnce });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'good' }, ({ patch }) => {
      calls.push('good');
      patch.spec['good'] = 'yes';
      return { done: true };
    });
    operator.registry.on.create('kopfexamples', { id: 'culprit', backoff: 5, retries: 3 }, ({ patch, retry }) => {
      calls.push(`culprit ${retry}`);
      patch.spec[retry < 2 ? 'bad' : 'fine'] = { list: [{ name: 'x' }] };
    });
    operator.registry.on.create('kopfexamples', { id: 'silent' }, () => void calls.push('silent'));
    await operator.start();
    await operator.create('name1');
    expect(calls).toEqual(['good', 'culprit 0', 'silent']);
    await operator.advance(100);
    expect(calls).toEqual(['good', 'culprit 0', 'silent', 'culprit 1', 'culprit 2']);
    const object = await operator.get('name1');
    expect(object['spec']).toMatchObject({ good: 'yes', fine: { list: [{ name: 'x' }] } });
    expect(object['spec']).not.toHaveProperty('bad');
    expect(object.status).toEqual({ good: { done: true } });
    expect(Object.keys(object.metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
    const errors = operator.logger.messages('error');
    expect(errors).toHaveLength(2);
    expect(errors[0]).toMatch(
      /^Handler 'culprit' failed with an exception and will try again in 5 seconds: .*spec\.bad/,
    );
    expect(errors[0]).toContain(answer.message ?? 'that is not nice');
  });

  it('by its own policy: permanently, if it says so', async () => {
    const through = refusing({ status: 422, refuses: (text) => text.includes('"bad"') });
    await using operator = await operated({ through });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c', errors: 'permanent' }, ({ patch }) => {
      calls.push('c');
      patch.spec['bad'] = 1;
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(calls).toEqual(['c']);
    expect(Object.keys((await operator.get('name1')).metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
  });

  it('be it a sub-handler: its parent waits for it, and its siblings are not called again', async () => {
    const through = refusing({ status: 422, refuses: (text) => text.includes('"bad"') });
    await using operator = await operated({ through });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'p' }, () => {
      subhandler('one', ({ patch }) => {
        calls.push('one');
        patch.spec['one'] = 1;
      });
      subhandler('two', { backoff: 3 }, ({ patch, retry }) => {
        calls.push(`two ${retry}`);
        patch.spec[retry === 0 ? 'bad' : 'two'] = 2;
      });
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual(['one', 'two 0', 'two 1']);
    expect((await operator.get('name1'))['spec']).toMatchObject({ one: 1, two: 2 });
    expect(Object.keys((await operator.get('name1')).metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
  });

  it('be it a handler of events, which is not retried: what it has asked for is dropped and told of', async () => {
    const through = refusing({ status: 422, refuses: (text) => text.includes('"bad"') });
    await using operator = await operated({ through });
    const calls: string[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ patch }) => {
      patch.metadata.labels['bad'] = 'x';
    });
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {
      calls.push('c');
      return 'done';
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual(['c']);
    expect((await operator.get('name1')).status).toEqual({ c: 'done' });
    expect(operator.logger.messages('error')[0]).toMatch(/^Handler 'e' .*metadata\.labels\.bad.*that is not nice/);
  });

  it('be it a function of a patch', async () => {
    const through = refusing({ status: 422, refuses: (text) => text.includes('bad') });
    await using operator = await operated({ through, lifecycle: allAtOnce });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'good' }, () => {
      calls.push('good');
      return 1;
    });
    operator.registry.on.create('kopfexamples', { id: 'fn', retries: 1 }, ({ patch }) => {
      calls.push('fn');
      patch.fns.push(function spoil(body) {
        body['spec'] = { bad: true };
      });
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual(['good', 'fn']);
    expect((await operator.get('name1')).status).toEqual({ good: 1 });
    expect(Object.keys((await operator.get('name1')).metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
  });
});

describe('When everything is refused for a while', () => {
  it.each([
    [422, undefined],
    [400, undefined],
    [403, DENIAL],
  ])(
    '(%i) nobody is called again, nothing is lost, and the deletion goes through in the end',
    async (status, message) => {
      let isStrict = true;
      const through = refusing({ status, ...(message && { message }), refuses: () => isStrict });
      await using operator = await operated({ through });
      const calls: string[] = [];
      operator.registry.on.create('kopfexamples', { id: 'c' }, ({ patch }) => {
        calls.push('c');
        patch.spec['by'] = 'c';
        return 'created';
      });
      operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
      await operator.start();
      await operator.create('name1');
      await operator.advance(12);
      isStrict = false;
      await operator.advance(30);
      expect(calls).toEqual(['c']);
      expect(await operator.get('name1')).toMatchObject({ spec: { by: 'c' }, status: { c: 'created' } });
      isStrict = true;
      await operator.remove('name1');
      await operator.advance(12);
      isStrict = false;
      await operator.advance(30);
      expect(calls).toEqual(['c', 'd']);
      expect(operator.memories.size).toBe(0);
    },
  );
});

describe('A lifecycle that picks nobody', () => {
  it('is asked again less and less often, says so once, and harms nobody else', async () => {
    let picks = 0;
    await using operator = await operated({
      lifecycle: (handlers, { name }) => {
        if (name !== 'lazy') return handlers;
        picks += 1;
        return picks > 8 ? handlers : [];
      },
    });
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1' }, ({ name }) => void calls.push(name));
    operator.registry.on.create('kopfexamples', { id: 'c2' }, ({ name }) => void calls.push(name));
    await operator.start();
    await operator.create('lazy');
    await operator.create('other');
    const atFirst = picks;
    expect(atFirst).toBeLessThanOrEqual(2);
    expect(calls).toEqual(['other', 'other']);
    await operator.advance(2);
    expect(picks - atFirst).toBe(1);
    expect((await operator.get('lazy')).metadata?.annotations).not.toHaveProperty([LAST_HANDLED]);
    await operator.advance(400);
    expect(calls).toEqual(['other', 'other', 'lazy', 'lazy']);
    expect(operator.logger.messages('warn')).toEqual([expect.stringContaining('picked none of the handlers')]);
  });
});
