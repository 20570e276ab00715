import { type AnyObject, ApiError, type KubeClient } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';
const INFO_OVER = 'Throttling is over. Switching back to normal operations.';

describe('A patch that is refused', () => {
  it.each([
    ['an error of the server', { status: 500 }],
    ['an unavailable server', { status: 503 }],
    ['missing permissions', { status: 403, reason: 'Forbidden' }],
    ['too many requests', { status: 429, retryAfter: 1 }],
  ])('by %s is sent again after a while, and the handlers are not called again', async (_what, answer) => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {
      calls.push('c');
      return 'done';
    });
    await operator.start();
    operator.cluster.faults.add({ match: { method: 'PATCH' }, answer, times: 2 });
    await operator.create('name1');
    await operator.advance(0.9);
    expect(operator.patches).toHaveLength(1);
    await operator.advance(1.2);
    expect(operator.patches).toHaveLength(3);
    expect(operator.patches[1]).toEqual(operator.patches[0]);
    expect(calls).toEqual(['c']);
    const object = await operator.get('name1');
    expect(object.status).toEqual({ c: 'done' });
    expect(object.metadata?.annotations?.[LAST_HANDLED]).toBe('{"spec":{"field":"v"}}\n');
    expect(operator.logger.messages().filter((line) => line.startsWith('Throttling'))).toEqual([
      expect.stringMatching(/^Throttling for 1 seconds due to an unexpected error: ./),
      INFO_OVER,
      expect.stringMatching(/^Throttling for 1 seconds due to an unexpected error: ./),
      INFO_OVER,
    ]);
    // Nobody has removed anything: it was not there yet.
    expect(operator.logger.find('removed from the object')).toBeUndefined();
  });

  it('by a broken connection is sent again after a while', async () => {
    let failures = 1;
    const through = (client: KubeClient): KubeClient => ({
      stream: (request) => client.stream(request),
      async request<T>(request: Parameters<KubeClient['request']>[0]): Promise<T> {
        if (request.method === 'PATCH' && failures-- > 0) throw new Error('socket hang up');
        return await client.request<T>(request);
      },
    });
    await using operator = await operated({ through });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => void calls.push('c'));
    await operator.start();
    await operator.create('name1');
    expect(operator.logger.messages('error')).toEqual([
      'Throttling for 1 seconds due to an unexpected error: socket hang up',
    ]);
    await operator.advance(1);
    expect(calls).toEqual(['c']);
    expect((await operator.get('name1')).metadata?.annotations).toHaveProperty([LAST_HANDLED]);
  });

  it.each([1, 2, 3, 5])('by %i conflicts in a row is sent again at once: these are nothing special', async (times) => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {
      calls.push('c');
      return 'done';
    });
    await operator.start();
    operator.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 409, reason: 'Conflict' }, times });
    await operator.create('name1');
    await operator.advance(1);
    expect(operator.patches).toHaveLength(times + 1);
    // From the fourth one on, it is only about whose object it is.
    const isGuarded = operator.patches.map(({ body }) => 'resourceVersion' in body.metadata);
    expect(isGuarded).toEqual(Array.from({ length: times + 1 }, (_item, index) => index < 3));
    expect(calls).toEqual(['c']);
    expect((await operator.get('name1')).status).toEqual({ c: 'done' });
    expect(operator.logger.find('Throttling')).toBeUndefined();
  });

  it.each([
    { what: 'functions', status: false },
    { what: 'the status of a kind that has it as a subresource', status: true },
  ])('by more conflicts than are worth trying at once is sent later, and is no error: $what', async ({ status }) => {
    const calls: string[] = [];
    let edits = 0;
    const addItem = (body: AnyObject): void => {
      (body['spec'] as { items: string[] }).items.push('ours');
    };
    await using operator = await operated({
      status,
      through: (client) => ({
        stream: (request) => client.stream(request),
        // Others are always faster, until they are done.
        async request(request) {
          const isOurs = status ? request.path.endsWith('/status') : request.method === 'PATCH';
          if (isOurs && edits < 25) {
            edits += 1;
            const path = request.path.replace('/status', '');
            const contentType = 'application/merge-patch+json';
            await client.request({ method: 'PATCH', path, contentType, body: { spec: { edits } } });
          }
          return await client.request(request);
        },
      }),
    });
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ patch }) => {
      calls.push('c');
      if (!status) patch.fns.push(addItem);
      return 'done';
    });
    await operator.start();
    await operator.create('name1', { spec: { items: ['theirs'] } });
    await operator.advance(60);
    const outpaced = operator.logger
      .messages('info')
      .filter((message) => message.startsWith('Others change the object'));
    expect(outpaced).toHaveLength(2);
    expect(edits).toBe(25);
    const { spec, status: stored } = (await operator.get('name1')) as unknown as { spec: object; status: object };
    expect(spec).toEqual({ items: status ? ['theirs'] : ['theirs', 'ours'], edits: 25 });
    expect(stored).toEqual({ c: 'done' });
    expect(calls).toEqual(['c']);
    expect(operator.logger.messages('error')).toEqual([]);
    expect(operator.logger.messages('warn')).toEqual([]);
    expect(operator.logger.find('Throttling')).toBeUndefined();
  });

  it('for what is in it is a failure of the handler that has asked for it, by its own policy', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c', backoff: 5 }, ({ retry }) => {
      calls.push(`c ${retry}`);
      return calls.length;
    });
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => void calls.push('u'));
    await operator.start();
    const answer = { status: 422, reason: 'Invalid', message: 'spec.x: Invalid value' };
    operator.cluster.faults.add({ match: { method: 'PATCH' }, answer, times: 1 });
    await operator.create('name1');
    await operator.advance(10);
    expect(calls).toEqual(['c 0', 'c 1']);
    expect((await operator.get('name1')).status).toEqual({ c: 2 });
    expect(operator.logger.messages('error')).toEqual([
      "Handler 'c' failed with an exception and will try again in 5 seconds: " +
        'The cluster refuses what it asks for in status.c: spec.x: Invalid value',
    ]);
    expect(operator.logger.find('removed from the object')).toBeUndefined();
  });

  it('is not repeated for the resuming handlers that were done', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    await operator.create('name1', {
      metadata: { annotations: { [LAST_HANDLED]: '{"spec":{"field":"old"}}\n' } },
      spec: { field: 'new' },
    });
    operator.registry.on.resume('kopfexamples', { id: 'r' }, () => void calls.push('r'));
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => void calls.push('u'));
    operator.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 500 }, times: 2 });
    await operator.start();
    await operator.advance(100);
    expect(calls).toEqual(['r', 'u']);
  });

  it('with the finalizer in it holds up the handlers until it is accepted', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => void calls.push('c'));
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    await operator.start();
    operator.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 500 }, times: 3 });
    await operator.create('name1');
    await operator.advance(3.9);
    expect(calls).toEqual([]);
    await operator.advance(0.2);
    expect(calls).toEqual(['c']);
  });

  it('goes on with the newest state, and the old patch first', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ spec }) => void calls.push(['c', spec['field']]));
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ diff }) => void calls.push(['u', diff]));
    await operator.start();
    const fault = operator.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 500 }, times: 1 });
    await operator.create('name1');
    expect(fault.hits).toBe(1);
    await operator.edit('name1', { spec: { field: 'w' } });
    await operator.advance(10);
    expect(calls).toEqual([
      ['c', 'v'],
      ['u', [['change', ['spec', 'field'], 'v', 'w']]],
    ]);
  });

  it('because the object is gone is not an error', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, async () => {
      calls.push('c');
      const path = '/apis/kopf.dev/v1/namespaces/default/kopfexamples/name1';
      await operator.cluster.client.request({ method: 'DELETE', path });
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual(['c']);
    expect(operator.logger.messages('debug')).toContain('Patching was skipped: the object does not exist anymore.');
    expect(operator.logger.messages('error')).toEqual([]);
    expect(operator.memories.size).toBe(0);
  });

  it('with the compatibility mode is forgotten, as in Kopf', async () => {
    await using operator = await operated({ settings: { persistence: { compat: 'kopf' } } });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => void calls.push('c'));
    await operator.start();
    operator.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 500 }, times: 1 });
    await operator.create('name1');
    await operator.advance(10);
    expect(calls).toEqual(['c', 'c']);
  });
});

describe('Throttling', () => {
  it('grows with each error, begins anew after a success, and is only of that object', async () => {
    await using operator = await operated({ settings: { queueing: { errorDelays: [10, 20] } } });
    let isBroken = true;
    const calls: unknown[] = [];
    const when = ({ name }: { name?: string | undefined }) => {
      if (isBroken && name === 'bad') throw new Error('boo!');
      return true;
    };
    operator.registry.on.create('kopfexamples', { id: 'c', when }, ({ name }) => {
      calls.push([name, operator.clock.now()]);
    });
    operator.registry.on.update('kopfexamples', { id: 'u', when }, ({ name }) => {
      calls.push([name, operator.clock.now()]);
    });
    await operator.start();
    await operator.create('bad');
    await operator.create('good');
    await operator.advance(10 + 20 + 20);
    expect(calls).toEqual([['good', 0]]);
    expect(operator.logger.messages().filter((line) => line.startsWith('Throttling'))).toEqual([
      'Throttling for 10 seconds due to an unexpected error: boo!',
      INFO_OVER,
      'Throttling for 20 seconds due to an unexpected error: boo!',
      INFO_OVER,
      'Throttling for 20 seconds due to an unexpected error: boo!',
      INFO_OVER,
      'Throttling for 20 seconds due to an unexpected error: boo!',
    ]);
    isBroken = false;
    await operator.advance(20);
    expect(calls).toEqual([
      ['good', 0],
      ['bad', 70],
    ]);
    isBroken = true;
    operator.logger.clear();
    await operator.edit('bad', { spec: { field: 'w' } });
    expect(operator.logger.messages('error')).toEqual(['Throttling for 10 seconds due to an unexpected error: boo!']);
  });

  it('does not keep the end of an object from being noticed', async () => {
    await using operator = await operated({ settings: { queueing: { errorDelays: [1000] } } });
    const seen: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type }) => void seen.push(type));
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {});
    await operator.start();
    operator.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 500 } });
    await operator.create('name1');
    await operator.remove('name1');
    expect(seen).toEqual(['ADDED', 'DELETED']);
    expect(operator.memories.size).toBe(0);
  });

  it('does not exist without delays for it', async () => {
    await using operator = await operated({ settings: { queueing: { errorDelays: [] } } });
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {});
    await operator.start();
    operator.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 500 }, times: 1 });
    await operator.create('name1');
    expect(operator.logger.find('Throttling')).toBeUndefined();
    expect(operator.logger.messages('error')).toHaveLength(1);
    await operator.edit('name1', { spec: { field: 'w' } });
    expect((await operator.get('name1')).metadata?.annotations).toHaveProperty([LAST_HANDLED]);
  });

  it('tells what the server has said', () => {
    const error = new ApiError({ status: 403, payload: { kind: 'Status', message: 'not allowed' } });
    expect(error.message).toBe('not allowed');
  });
});
