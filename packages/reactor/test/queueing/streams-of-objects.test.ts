import type { AnyObject, KubeClient, KubeRequest, Scheduler } from '@kopf-ts/core';
import { TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';
import { gate } from './handled-by-hand.js';

const ONE_AT_A_TIME = { queueing: { workerLimit: 1 } };

describe('Objects', () => {
  it('are handled in parallel to each other, and each in order', async () => {
    await using operator = await operated();
    const slowness = gate();
    const log: string[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, async ({ name, type }) => {
      log.push(`${name} ${type}`);
      if (name === 'slow') await slowness.pass();
    });
    await operator.start();
    await operator.create('slow');
    await operator.edit('slow', { spec: { field: 'w' } });
    await operator.create('fast');
    expect(log).toEqual(['slow ADDED', 'fast ADDED']);
    slowness.open();
    await operator.settle();
    expect(log).toEqual(['slow ADDED', 'fast ADDED', 'slow MODIFIED']);
  });

  it('with endless events do not starve the others, even with one worker for all', async () => {
    await using operator = await operated({ settings: ONE_AT_A_TIME });
    const log: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ name, patch }) => {
      log.push(name);
      // Another label each time: or it would be slowed down, as it changes the same one again and again.
      if (name === 'busy' && log.length < 50) patch.metadata.labels[`count-${log.length}`] = '';
    });
    for (const name of ['busy', 'patient', 'quiet']) await operator.create(name);
    await operator.start();
    // First looks at objects and all the rest take turns.
    expect(log.slice(0, 5)).toEqual(['busy', 'busy', 'patient', 'busy', 'quiet']);
    expect(log.length).toBeGreaterThanOrEqual(50);
  });

  it.each([
    ['delayed by their handlers', () => new TemporaryError('later', { delay: 60 }), "Handler 'c' failed temporarily"],
    ['throttled', undefined, 'Throttling for 1 seconds'],
  ])('that are %s hold no place among those who run', async (_name, error, message) => {
    await using operator = await operated({ settings: ONE_AT_A_TIME });
    const calls: unknown[] = [];
    const when = ({ name }: { name: string | undefined }) => {
      if (error === undefined && name === 'ill') throw new Error('bad filter');
      return true;
    };
    operator.registry.on.create('kopfexamples', { id: 'c', when }, ({ name }) => {
      if (error !== undefined && name === 'ill') throw error();
      calls.push(name);
    });
    for (const name of ['ill', 'well']) await operator.create(name);
    await operator.start();
    expect(calls).toEqual(['well']);
    expect(operator.logger.find(message)).toBeDefined();
  });

  it('no more of them run at once than permitted', async () => {
    await using operator = await operated({ settings: { queueing: { workerLimit: 2 } } });
    const slowness = gate();
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => slowness.pass());
    for (const name of ['name1', 'name2', 'name3', 'name4']) await operator.create(name);
    await operator.start();
    expect(slowness.waiting).toBe(2);
    slowness.open();
  });

  it('that change while being handled are handled once more, as they are then; and a limited number of events waits', async () => {
    await using operator = await operated({ settings: { queueing: { eventsLimit: 10 } } });
    const slowness = gate();
    const updates: unknown[] = [];
    const events: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => slowness.pass());
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ spec }) => void updates.push(spec['field']));
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ spec }) => void events.push(spec['field']));
    await operator.start();
    await operator.create('name1', { spec: { field: 0 } });
    for (let field = 1; field <= 150; field++) await operator.edit('name1', { spec: { field } });
    slowness.open();
    await operator.settle();
    expect(updates).toEqual([150]);
    // One of those ten is that of our own patch.
    expect(events.slice(0, 11)).toEqual([0, 142, 143, 144, 145, 146, 147, 148, 149, 150, 150]);
    expect(operator.logger.messages('warn')).toEqual([
      '141 events of the object were dropped: its event handlers are slower than its changes. ' +
        'See settings.queueing.eventsLimit.',
    ]);
  });

  it('of a patch that changes nothing are not waited for: the next update is handled at once', async () => {
    await using operator = await operated();
    const seen: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ patch }) => {
      patch.metadata.labels['constant'] = 'yes';
    });
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ spec }) => void seen.push(spec['field']));
    await operator.start();
    await operator.create('name1');
    await operator.advance(1.5);
    seen.length = 0;
    await operator.edit('name1', { spec: { field: 'w' } });
    expect(seen).toEqual(['w']);
  });

  it('edited by their own handlers are not created twice', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, async () => {
      calls.push('create');
      await operator.edit('name1', { spec: { more: 1 } });
    });
    operator.registry.on.update('kopfexamples', { id: 'u' }, () => void calls.push('update'));
    await operator.start();
    await operator.create('name1');
    await operator.edit('name1', { metadata: { labels: { after: 'that' } } });
    await operator.advance(100);
    expect(calls.filter((call) => call === 'create')).toHaveLength(1);
    expect(calls.at(-1)).toBe('update');
  });
});

/** A cluster whose objects have no uids. */
function withoutUids(client: KubeClient): KubeClient {
  const strip = (object: AnyObject): AnyObject => {
    const { uid: _uid, ...metadata } = object.metadata ?? {};
    return { ...object, metadata };
  };
  return {
    async request<T>(request: KubeRequest) {
      const answer = await client.request<AnyObject & { items?: AnyObject[] }>(request);
      return (answer.items === undefined ? strip(answer) : { ...answer, items: answer.items.map(strip) }) as T;
    },
    async *stream<T>(request: KubeRequest) {
      for await (const event of client.stream<{ object: AnyObject }>(request)) {
        yield { ...event, object: strip(event.object) } as T;
      }
    },
  };
}

describe('Objects without uids', () => {
  it('are told apart by their names, and each has a memo of its own', async () => {
    await using operator = await operated({ through: withoutUids });
    const memos = new Set<unknown>();
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ memo }) => void memos.add(memo));
    await operator.start();
    for (const name of ['name1', 'name2']) await operator.create(name);
    await operator.edit('name1', { spec: { field: 'w' } });
    expect(memos.size).toBe(2);
    expect([...operator.memories].map(({ key }) => key)).toEqual([
      'KopfExample//kopf.dev/v1//name1//default//2020-01-01T00:00:00Z',
      'KopfExample//kopf.dev/v1//name2//default//2020-01-01T00:00:00Z',
    ]);
  });

  it('that are created again in the same second are others: neither lost nor mixed up with the former ones', async () => {
    await using operator = await operated({ through: withoutUids });
    const slowness = gate();
    const log: string[] = [];
    const memos = new Set<unknown>();
    operator.registry.on.create('kopfexamples', { id: 'c' }, async ({ spec, memo }) => {
      log.push(`create ${spec['field']}`);
      memos.add(memo);
      await slowness.pass();
    });
    operator.registry.on.event(
      'kopfexamples',
      { id: 'e' },
      ({ type, spec }) => void log.push(`${type} ${spec['field']}`),
    );
    await operator.start();
    await operator.create('name1');
    await operator.remove('name1');
    await operator.create('name1', { spec: { field: 'w' } });
    slowness.open();
    await operator.settle();
    expect(log.filter((line) => line.startsWith('create'))).toEqual(['create v', 'create w']);
    expect(log).toContain('DELETED v');
    expect(memos.size).toBe(2);
    expect(operator.memories.size).toBe(1);
    expect((await operator.get('name1')).metadata?.annotations).toHaveProperty([
      'kopf.zalando.org/last-handled-configuration',
    ]);
  });
});

describe('Objects without uids that vanish unseen', () => {
  it.each([
    ['for good', false],
    ['and are created again later', true],
  ])('%s, are told of as the same ones, and are forgotten', async (_name, isCreatedAgain) => {
    await using operator = await operated({ through: withoutUids });
    const log: string[] = [];
    const memos: unknown[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type, memo }) => {
      log.push(String(type));
      memos.push(memo);
    });
    await operator.start();
    await operator.create('name1');
    operator.paused.turn(true);
    await operator.settle();
    await operator.remove('name1');
    await operator.advance(10);
    if (isCreatedAgain) await operator.create('name1');
    operator.paused.turn(false);
    await operator.settle();
    expect(log.sort()).toEqual(isCreatedAgain ? ['ADDED', 'DELETED', 'null'] : ['ADDED', 'DELETED']);
    expect(new Set(memos).size).toBe(isCreatedAgain ? 2 : 1);
    expect(operator.memories.size).toBe(isCreatedAgain ? 1 : 0);
  });
});

describe('When paused', () => {
  it('nothing is begun; those who run may end; and afterwards, all is handled as it is then, once', async () => {
    await using operator = await operated({ settings: ONE_AT_A_TIME });
    const slowness = gate();
    const log: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, async ({ name, spec }) => {
      log.push(`create ${name} ${spec['field']}`);
      await slowness.pass();
    });
    operator.registry.on.update(
      'kopfexamples',
      { id: 'u' },
      ({ name, spec }) => void log.push(`update ${name} ${spec['field']}`),
    );
    await operator.start();
    for (const name of ['running', 'waiting']) await operator.create(name);
    await operator.edit('running', { spec: { field: 'w' } });
    operator.paused.turn(true);
    await operator.settle();
    slowness.open();
    await operator.advance(1000);
    expect(log).toEqual(['create running v']);
    await operator.edit('waiting', { spec: { field: 'x' } });
    expect(log).toHaveLength(1);
    operator.paused.turn(false);
    await operator.settle();
    expect(log.slice(1).sort()).toEqual(['create waiting x', 'update running w']);
  });

  it('delays and throttling end with it; the delayed handlers are called when it is over and they are due', async () => {
    await using operator = await operated();
    const times: number[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ retry }) => {
      times.push(operator.clock.now());
      if (retry === 0) throw new TemporaryError('later', { delay: 60 });
    });
    await operator.start();
    await operator.create('name1');
    operator.paused.turn(true);
    await operator.advance(100);
    expect(times).toEqual([0]);
    operator.paused.turn(false);
    await operator.settle();
    expect(times).toEqual([0, 100]);
    await operator.advance(100);
    expect(times).toHaveLength(2);
  });

  it('on and off all the time: every change is handled once, and nobody is left behind', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => void calls.push('create'));
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ spec }) => void calls.push(spec['field']));
    await operator.start();
    await operator.create('name1');
    for (let field = 1; field <= 20; field++) {
      operator.paused.turn(true);
      if (field % 2 === 0) await operator.settle();
      await operator.edit('name1', { spec: { field } });
      operator.paused.turn(false);
      await operator.advance(2);
    }
    expect(calls).toEqual(['create', ...Array.from({ length: 20 }, (_, index) => index + 1)]);
  });
});

describe('When stopped', () => {
  it('what is queued is still handled, but not for longer than permitted; who is left is named', async () => {
    await using operator = await operated({ settings: { queueing: { workerLimit: 1, exitTimeout: 3 } } });
    const slowness = gate();
    const log: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, async ({ name, signal }) => {
      log.push(name);
      if (name !== 'stuck') return await slowness.pass();
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    });
    for (const name of ['first', 'second', 'stuck']) await operator.create(name);
    await operator.start();
    expect(log).toEqual(['first']);
    const stopped = operator.stop();
    slowness.open();
    await stopped;
    expect(log).toEqual(['first', 'second', 'stuck']);
    const { uid } = (await operator.get('stuck')).metadata ?? {};
    expect(operator.logger.messages('warn')).toContain(`Unprocessed streams left for [${uid}].`);
  });

  it('nobody is waited for who only waits for a delay', async () => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {
      throw new TemporaryError('later', { delay: 60 });
    });
    await operator.start();
    await operator.create('name1');
    const stopped = operator.stop();
    await operator.settle();
    expect(operator.logger.find('Unprocessed streams')).toBeUndefined();
    await stopped;
    expect(operator.clock.sleepers).toBe(0);
  });
});

it('A stream whose scheduler is broken fails as a whole, so that it can be begun anew', async () => {
  const scheduler: Scheduler = {
    size: 0,
    spawn() {},
    failed: Promise.reject(new Error('boo!')),
    close: async () => {},
  };
  scheduler.failed.catch(() => {});
  const operator = await operated({ parts: { scheduler: () => scheduler } });
  await operator.start();
  await expect(operator.stop()).rejects.toThrow('Event processing has failed with an unrecoverable error: boo!');
  await operator[Symbol.asyncDispose]();
});
