import { EventEmitter } from 'node:events';
import { apiError, type Fact, settings as makeSettings, TemporaryError } from '@kopf-ts/core';
import { facts as makeFacts, runInContext, toggleSet } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger, recordingObserver } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { liveInsights } from '../../src/discovery/insights.js';
import { joinPeers } from '../../src/orchestration/peers.js';
import { health } from '../../src/probing/health.js';
import { strayErrors } from '../../src/running/stray.js';
import { writeGuards } from '../../src/write-guards.js';
import { callOf } from '../running/calls.js';
import { type OperatedOptions, operated } from '../support/operated.js';

async function observed(options: OperatedOptions = {}) {
  const observer = recordingObserver();
  const operator = await operated({ ...options, observers: [observer] });
  return { observer, operator };
}

/** What is told of one object, in short, without what is told of streams, of calls and of phases. */
const story = (told: readonly Fact[]): readonly string[] =>
  told.flatMap((fact) =>
    /^(call|stream)\.|^object\.phase$/.test(fact.kind) || !('object' in fact) ? [] : [fact.kind],
  );

const ONE = expect.objectContaining({
  kind: 'KopfExample',
  namespace: 'default',
  name: 'one',
  uid: expect.any(String),
});

describe('what is told of an object', () => {
  it('is its cause, who is considered, and what is sent; each with the object, the operator and the time', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    operator.registry.on.create('kopfexamples', { id: 'fn' }, ({ patch }) => {
      patch.spec['done'] = true;
    });
    await operator.start();
    await operator.create('one');
    const round = ['object.cause', 'handler.considered', 'patch.sent'];
    // What the handler has asked for differs from what was handled: nobody wants it, so it is only remembered.
    expect(story(observer.told)).toEqual([...round, ...round, 'object.cause']);
    for (const fact of observer.told) {
      expect(fact).toMatchObject({ operator: 'me', at: expect.any(Number) });
      expect('object' in fact ? fact.object : ONE).toEqual(ONE);
      expect(Object.isFrozen(fact)).toBe(true);
    }
    const causes = observer.of('object.cause');
    expect(causes.map(({ reason }) => reason)).toEqual(['create', 'update', 'noop']);
    expect(causes[1]).toMatchObject({ paths: [['spec', 'done']], version: expect.any(String) });
    expect(observer.of('handler.considered')).toMatchObject([
      { handler: { id: 'fn', kind: 'change' }, rejection: undefined },
      { handler: { id: 'fn', kind: 'change' }, rejection: { filter: 'reason', wanted: 'create', found: 'update' } },
    ]);
    const [sent] = observer.of('patch.sent');
    expect(sent?.requests).toEqual([
      { address: 'object', type: 'merge', content: expect.any(Object), version: sent?.version },
    ]);
    expect(sent?.requests[0]?.content).toMatchObject({ spec: { done: true } });
  });

  it('is where it has changed', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    operator.registry.on.update('kopfexamples', () => {});
    await operator.start();
    await operator.create('one');
    await operator.edit('one', { spec: { field: 'w', other: 'x' } });
    const update = observer.of('object.cause').find(({ reason }) => reason === 'update');
    expect(update?.paths).toEqual([
      ['spec', 'other'],
      ['spec', 'field'],
    ]);
  });

  it('is who does not want it, and why: also if nobody does', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    operator.registry.on.create('kopfexamples', { id: 'fn', labels: { a: 'b' } }, () => {});
    operator.registry.on.event('kopfexamples', { id: 'ev', field: 'spec.none' }, () => {});
    operator.registry.timer('kopfexamples', { id: 'tm', interval: 5, when: () => false }, () => {});
    await operator.start();
    await operator.create('one');
    const rejected = observer.of('handler.considered').map(({ handler, rejection }) => [handler.id, rejection?.filter]);
    expect(Object.fromEntries(rejected)).toEqual({ fn: 'labels', 'ev/spec.none': 'field', tm: 'when' });
  });

  it('is what it waits for, and what wakes it up', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    let attempts = 0;
    operator.registry.on.create('kopfexamples', { id: 'fn' }, () => {
      attempts += 1;
      if (attempts < 3) throw new TemporaryError('later', { delay: 10 });
    });
    await operator.start();
    await operator.create('one');
    const [waiting] = observer.of('object.waiting');
    expect(waiting).toMatchObject({ object: ONE, why: 'delay' });
    expect((waiting?.until ?? 0) - operator.clock.now()).toBeCloseTo(10, 1);
    expect(observer.of('object.woken')).toEqual([]);
    await operator.advance(10);
    expect(observer.of('object.woken').map(({ why }) => why)).toEqual(['time']);
    await operator.edit('one', { spec: { field: 'w' } });
    expect(observer.of('object.woken').map(({ why }) => why)).toEqual(['time', 'event']);
  });

  it('is whether it is worked on, waits for its turn, waits for later, or does nothing', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    operator.registry.on.create('kopfexamples', { id: 'fn' }, ({ retry }) => {
      if (retry === 0) throw new TemporaryError('later', { delay: 10 });
    });
    await operator.start();
    await operator.create('one');
    const phases = () => observer.of('object.phase').map(({ before, phase }) => `${before} → ${phase}`);
    const turn = ['idle → queued', 'queued → running'];
    expect(phases().slice(0, 2)).toEqual(turn);
    expect(phases().at(-1)).toBe('running → waiting');
    await operator.advance(10);
    expect(phases().at(-1)).toBe('running → idle');
    // Each goes on where the one before has ended.
    const told = observer.of('object.phase');
    for (const [index, { before, object }] of told.entries()) {
      expect(before).toBe(told[index - 1]?.phase ?? 'idle');
      expect(object).toEqual(ONE);
    }
  });

  it('is that its handling has failed, and for how long it is left alone', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    operator.settings.queueing.errorDelays = [7];
    const when = (): never => {
      throw new Error('boo');
    };
    operator.registry.on.create('kopfexamples', { id: 'fn', when }, () => {});
    await operator.start();
    await operator.create('one');
    expect(observer.of('object.failed')).toMatchObject([{ object: ONE, error: { message: 'boo' }, pause: 7 }]);
    expect(observer.of('object.waiting')).toMatchObject([{ why: 'throttling' }]);
    expect(story(observer.told).slice(-2)).toEqual(['object.failed', 'object.waiting']);
  });

  it('is that it is gone', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    operator.registry.on.create('kopfexamples', () => {});
    await operator.start();
    await operator.create('one');
    expect(observer.of('object.gone')).toEqual([]);
    await operator.remove('one');
    expect(observer.of('object.gone')).toMatchObject([{ object: ONE }]);
    expect(observer.of('object.cause').at(-1)).toMatchObject({ reason: 'gone' });
  });

  it('is that the breaker has tripped, each time', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    operator.registry.on.update('kopfexamples', { id: 'counter' }, ({ spec, patch }) => {
      patch.spec['count'] = (spec['count'] as number) + 1;
    });
    await operator.start();
    await operator.create('one', { spec: { count: 0 } });
    await operator.edit('one', { spec: { count: 1 } });
    for (let second = 0; second < 5; second++) await operator.advance(1);
    const trips = observer.of('breaker.tripped');
    expect(trips[0]).toMatchObject({ object: ONE, fields: ['spec.count'], handlers: ['counter'], pause: 1 });
    expect(trips.map(({ pause }) => pause)).toEqual([1, 2, 4].slice(0, trips.length));
    expect(trips.length).toBeGreaterThan(1);
  });
});

describe('what is told of patches', () => {
  it('is that the cluster could not be asked', async () => {
    let isDown = false;
    const { operator, observer } = await observed({
      through: (client) => ({
        ...client,
        request: (request) =>
          isDown && request.method === 'PATCH' ? Promise.reject(new Error('down')) : client.request(request),
      }),
    });
    await using _ = operator;
    operator.registry.on.create('kopfexamples', () => {});
    await operator.start();
    isDown = true;
    await operator.create('one');
    expect(observer.of('patch.failed')).toMatchObject([{ object: ONE, requests: [], error: { message: 'down' } }]);
    expect(observer.of('patch.sent')).toEqual([]);
    isDown = false;
    await operator.advance(60);
    expect(observer.of('patch.sent')).toHaveLength(1);
  });

  it('is that the kind cannot be written, with each failure, and once that it can be again', async () => {
    let status: number | undefined;
    const { operator, observer } = await observed({
      through: (client) => ({
        ...client,
        request: (request) =>
          status !== undefined && request.method === 'PATCH'
            ? Promise.reject(apiError({ status, payload: {} }))
            : client.request(request),
      }),
    });
    await using _ = operator;
    operator.registry.on.create('kopfexamples', () => {});
    await operator.start();
    status = 403;
    await operator.create('one');
    await operator.advance(5);
    const failures = observer.of('writes.failed');
    expect(failures.length).toBeGreaterThan(1);
    expect(failures[0]).toMatchObject({ resource: { plural: 'kopfexamples' }, error: { status: 403 } });
    expect(observer.of('writes.recovered')).toEqual([]);
    status = undefined;
    await operator.advance(60);
    await operator.create('two');
    expect(observer.of('writes.recovered')).toMatchObject([{ resource: { plural: 'kopfexamples' } }]);
    expect(observer.of('writes.failed')).toEqual(failures);
  });

  it.each([404, 409, 422])(
    'is not that the kind cannot be written, if it is about one object: HTTP %d',
    async (status) => {
      const { operator, observer } = await observed({
        through: (client) => ({
          ...client,
          request: (request) =>
            request.method === 'PATCH' ? Promise.reject(apiError({ status, payload: {} })) : client.request(request),
        }),
      });
      await using _ = operator;
      operator.registry.on.create('kopfexamples', () => {});
      await operator.start();
      await operator.create('one');
      expect(observer.of('writes.failed')).toEqual([]);
    },
  );

  it('is what is dropped, and why', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    operator.registry.on.create('kopfexamples', { id: 'fn' }, ({ patch }) => {
      patch.metadata['uid'] = 'another';
      patch.spec['bad'] = 10n;
      patch.spec['good'] = 10;
      patch.fns.push(function failing() {
        throw new Error('boo');
      });
    });
    await operator.start();
    await operator.create('one');
    expect(observer.of('patch.dropped').map(({ what, why }) => [what, why])).toEqual([
      ["the function 'failing'", 'boo'],
      ['metadata.uid', 'it belongs to the cluster'],
      ['spec.bad', expect.stringContaining('BigInt')],
    ]);
    expect(await operator.get('one')).toMatchObject({ spec: { good: 10 } });
  });

  it('is nothing that is not wanted: the way of sending is the usual one', async () => {
    const observer = recordingObserver(['call.ended']);
    await using operator = await operated({ observers: [observer] });
    operator.registry.on.create('kopfexamples', () => {});
    await operator.start();
    await operator.create('one');
    expect(new Set(observer.told.map(({ kind }) => kind))).toEqual(new Set(['call.ended']));
  });
});

describe('what is told of daemons and timers', () => {
  it('is when they start, wait, are stopped, and end', async () => {
    const { operator, observer } = await observed();
    await using _ = operator;
    operator.registry.timer('kopfexamples', { id: 'tm', interval: 5 }, () => {});
    operator.registry.daemon('kopfexamples', { id: 'short' }, () => {});
    await operator.start();
    await operator.create('one');
    const of = (id: string) =>
      observer.told.filter((fact) => fact.kind.startsWith('daemon.') && 'handler' in fact && fact.handler?.id === id);
    expect(of('tm')).toMatchObject([
      { kind: 'daemon.started', object: ONE, handler: { kind: 'timer' } },
      { kind: 'daemon.waiting', delay: 5 },
    ]);
    expect(of('short')).toMatchObject([{ kind: 'daemon.started' }, { kind: 'daemon.stopped', isOver: true }]);
    await operator.remove('one');
    expect(of('tm').slice(2)).toMatchObject([
      { kind: 'daemon.stopping', why: 'resource-deleted' },
      { kind: 'daemon.stopped', object: ONE, isOver: false },
    ]);
  });
});

describe('what is told of others', () => {
  it('is what the peers rule, when it changes', async () => {
    const [observer, clock, logger] = [recordingObserver(), manualClock(), recordingLogger()];
    const settings = makeSettings();
    const parts = {
      ...{ clock, logger, settings, insights: liveInsights(), writeGuards: writeGuards(), paused: toggleSet('any') },
      ...{ registry: {} as never, client: {} as never, poster: { post: () => {} } },
      health: health({ clock, settings }),
      facts: makeFacts({ observers: [observer], operator: 'me', clock, logger }),
      signal: new AbortController().signal,
    };
    const rulings = [true, true, false, false, true];
    const joined = joinPeers(
      {
        async join({ paused, signal }) {
          for (const isOn of rulings) paused.turn(isOn);
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      },
      'ns1',
      parts,
    );
    await clock.settle();
    expect(observer.of('peering.ruled').map(({ namespace, isPaused }) => [namespace, isPaused])).toEqual([
      ['ns1', true],
      ['ns1', false],
      ['ns1', true],
    ]);
    joined.task.stop();
    await joined.task.ended;
    joined.dispose();
  });

  it('is the stray errors of handlers', () => {
    const [observer, clock, logger, source] = [
      recordingObserver(),
      manualClock(),
      recordingLogger(),
      new EventEmitter(),
    ];
    const facts = makeFacts({ observers: [observer], operator: 'me', clock, logger });
    const settings = makeSettings({ process: { onStray: 'log' } });
    const stopping = new AbortController();
    const running = strayErrors({ settings, logger, source, facts }).service.run(stopping.signal);
    const error = new Error('boo');
    runInContext({ settings, ...callOf('fn', 'obj1', logger) }, () => source.emit('unhandledRejection', error));
    expect(observer.of('error.stray')).toMatchObject([
      { error, origin: 'rejection', handler: { id: 'fn' }, object: { name: 'obj1' } },
    ]);
    expect(logger.messages('error')).toHaveLength(1);
    stopping.abort();
    return running;
  });
});
