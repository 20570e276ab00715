import {
  type AnyObject,
  apiError,
  type Clock,
  type Logger,
  Patch,
  type PatchFn,
  sleep,
  TemporaryError,
} from '@kopf-ts/core';
import { OutpacedError, type PatchOutcome } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { BODY, DELETED_BODY, harness } from './harness.js';

const addOne: PatchFn = (body) => {
  (body as AnyObject & { items: number[] }).items.push(1);
};

describe('After each attempt', () => {
  it.each<{ what: string; result: unknown; merge: unknown }>([
    { what: 'a mapping', result: { x: 1 }, merge: { status: { fn: { x: 1 } } } },
    { what: 'a text', result: 'done', merge: { status: { fn: 'done' } } },
    { what: 'false', result: false, merge: { status: { fn: false } } },
  ])('the result is stored in the status: $what', async ({ result, merge }) => {
    const h = harness();
    h.registry.daemon('kopfexamples', async function fn() {
      return result;
    });
    await h.event();
    expect(h.sent).toEqual([{ at: 0, merge, fns: 0, body: BODY }]);
  });

  it.each<{ what: string; result: unknown }>([
    { what: 'nothing', result: undefined },
    { what: 'null', result: null },
  ])('nothing is sent if there is $what to send', async ({ result }) => {
    const h = harness();
    h.registry.timer('kopfexamples', { interval: 1 }, function fn() {
      return result;
    });
    await h.event();
    await h.clock.advance(5);
    expect(h.sent).toEqual([]);
  });

  it('a result that cannot be stored is dropped, and the rest of the patch is sent', async () => {
    const h = harness();
    h.registry.daemon('kopfexamples', function fn({ patch }) {
      patch.spec['x'] = 1;
      return { big: 123n };
    });
    await h.event();
    expect(h.sent.map(({ merge }) => merge)).toEqual([{ spec: { x: 1 } }]);
    expect(h.logger.find("Daemon 'fn' has returned a value that cannot be stored")?.level).toBe('error');
    expect(h.memory.daemons.foreverStopped).toEqual(new Set(['fn']));
  });

  it('the patch is sent, also if the attempt has failed; and is not sent twice', async () => {
    const h = harness();
    h.registry.daemon('kopfexamples', { backoff: 5 }, function fn({ retry, patch }) {
      patch.status['attempts'] = retry;
      if (retry === 0) throw new Error('boo!');
      patch.status['isDone'] = true;
    });
    await h.event();
    await h.clock.advance(5);
    expect(h.sent.map(({ at, merge }) => [at, merge])).toEqual([
      [0, { status: { attempts: 0 } }],
      [5, { status: { attempts: 1, isDone: true } }],
    ]);
  });

  it('functions go with the patch, and do not leak into the next one', async () => {
    const h = harness();
    h.registry.timer('kopfexamples', { interval: 1 }, function fn({ patch }) {
      if (h.clock.now() === 0) patch.fns.push(addOne);
      patch.status['at'] = h.clock.now();
    });
    await h.event();
    await h.clock.advance(1);
    expect(h.sent.map(({ merge, fns }) => [merge, fns])).toEqual([
      [{ status: { at: 0 } }, 1],
      [{ status: { at: 1 } }, 0],
    ]);
  });

  it('functions that were in conflict are carried to the next attempt, together with the new ones', async () => {
    const outcomes: PatchOutcome[] = [{ remaining: new Patch({}, { fns: [addOne] }) }];
    const h = harness({ answer: () => outcomes.shift() ?? {} });
    const carried: boolean[] = [];
    h.registry.daemon('kopfexamples', function fn({ retry, patch }) {
      carried.push(!patch.isEmpty);
      patch.fns.push(addOne);
      if (retry < 2) throw new TemporaryError('boo!', { delay: 3 });
    });
    await h.event();
    await h.clock.advance(6);
    expect(h.sent.map(({ at, fns }) => [at, fns])).toEqual([
      [0, 1],
      [3, 2],
      [6, 1],
    ]);
    expect(carried).toEqual([false, true, false]);
  });

  it('functions that were in conflict are applied to a newer state, also if there is no next attempt', async () => {
    const outcomes: PatchOutcome[] = [{ remaining: new Patch({}, { fns: [addOne] }) }];
    const h = harness({ answer: () => outcomes.shift() ?? {} });
    h.registry.daemon('kopfexamples', function fn({ patch }) {
      patch.fns.push(addOne);
    });
    await h.event();
    const newer = { ...BODY, metadata: { ...BODY.metadata, resourceVersion: '101' } };
    await h.event({ body: newer });
    await h.clock.advance(1);
    expect(h.sent.map(({ at, fns, body }) => [at, fns, body])).toEqual([
      [0, 1, BODY],
      [1, 1, newer],
    ]);
    expect(h.daemons.size).toBe(0);
    expect(h.memory.daemons.foreverStopped).toEqual(new Set(['fn']));
  });

  it('it is fine if the object does not exist any more', async () => {
    const h = harness({ answer: () => ({ missing: true }) });
    const calls: number[] = [];
    h.registry.timer('kopfexamples', { interval: 1 }, function fn() {
      calls.push(h.clock.now());
      return 'x';
    });
    await h.event();
    await h.clock.advance(2);
    expect(calls).toEqual([0, 1, 2]);
    expect(h.logger.messages('error')).toEqual([]);
  });
});

describe('If the patch cannot be sent', () => {
  const down = () => apiError({ status: 503 });

  it('a timer goes on, and the patch is sent again in between, with longer and longer pauses', async () => {
    let isDown = true;
    const h = harness({
      settings: { queueing: { errorDelays: [1, 2, 4] } },
      answer: () => {
        if (isDown) throw down();
        return {};
      },
    });
    const calls: number[] = [];
    h.registry.timer('kopfexamples', { interval: 10 }, function fn({ patch }) {
      calls.push(h.clock.now());
      patch.status[`at${h.clock.now()}`] = true;
    });
    await h.event();
    await h.clock.advance(10);
    expect(h.sent.map(({ at }) => at)).toEqual([0, 1, 3, 7, 10]);
    expect(h.sent.at(-1)?.merge).toEqual({ status: { at0: true, at10: true } });
    isDown = false;
    await h.clock.advance(10);
    expect(h.sent.map(({ at }) => at)).toEqual([0, 1, 3, 7, 10, 14, 20]);
    expect(h.sent.at(-1)?.merge).toEqual({ status: { at20: true } });
    expect(calls).toEqual([0, 10, 20]);
    expect(h.logger.messages('error')[0]).toBe(
      "Timer 'fn' has a patch that could not be applied, will try again in 1 seconds or with the next attempt: HTTP 503",
    );
  });

  it('what others are faster than is sent again soon, and is no error', async () => {
    let isOutpaced = true;
    const h = harness({
      answer: () => {
        if (isOutpaced) throw new OutpacedError(apiError({ status: 409 }));
        return {};
      },
    });
    h.registry.timer('kopfexamples', { interval: 600 }, function fn({ patch }) {
      patch.fns.push(addOne);
    });
    await h.event();
    isOutpaced = false;
    await h.clock.advance(1);
    expect(h.sent.map(({ at, fns }) => [at, fns])).toEqual([
      [0, 1],
      [1, 1],
    ]);
    expect(h.logger.messages('error')).toEqual([]);
    expect(h.logger.messages('info')).toContain(
      "Timer 'fn' has a patch for an object that changes faster than it can be patched. " +
        'Will try again in 1 seconds or with the next attempt.',
    );
  });

  it('a daemon that is done ends only when the patch is sent, and is over even if stopped meanwhile', async () => {
    let failures = 2;
    const h = harness({
      answer: () => {
        if (failures-- > 0) throw down();
        return {};
      },
    });
    h.registry.daemon('kopfexamples', async function fn() {
      return 'x';
    });
    await h.event();
    await h.clock.advance(1.5);
    expect(h.daemons.size).toBe(1);
    await h.clock.advance(0.5);
    expect(h.sent.map(({ at, merge }) => [at, merge])).toEqual([0, 1, 2].map((at) => [at, { status: { fn: 'x' } }]));
    expect(h.daemons.size).toBe(0);
    expect(h.memory.daemons.foreverStopped).toEqual(new Set(['fn']));
  });

  it('a daemon that is asked to stop tries once more, and does not wait any longer', async () => {
    const h = harness({
      answer: () => {
        throw down();
      },
    });
    h.registry.daemon('kopfexamples', async function fn() {
      return 'x';
    });
    await h.event();
    await h.clock.advance(0.5);
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(h.sent.map(({ at }) => at)).toEqual([0, 0.5]);
    expect(h.daemons.size).toBe(0);
    expect(h.logger.find("Daemon 'fn' has exited, and its last patch is lost.")?.level).toBe('warn');
    expect(h.memory.daemons.foreverStopped).toEqual(new Set(['fn']));
  });

  it.each([400, 413, 422])(
    'since the cluster refuses what is in it (%i), it is dropped, and the handler has failed',
    async (status) => {
      let failures = 1;
      const h = harness({
        answer: () => {
          if (failures-- > 0) throw apiError({ status, payload: { kind: 'Status', message: 'spec.x is not nice' } });
          return {};
        },
      });
      const retries: unknown[] = [];
      h.registry.timer('kopfexamples', { interval: 5, backoff: 3 }, function fn({ patch, retry }) {
        retries.push(retry);
        patch.status[`at${h.clock.now()}`] = true;
      });
      await h.event();
      await h.clock.advance(8);
      expect(h.sent.map(({ at, merge }) => [at, merge])).toEqual([
        [0, { status: { at0: true } }],
        [3, { status: { at3: true } }],
        [8, { status: { at8: true } }],
      ]);
      expect(retries).toEqual([0, 1, 0]);
      expect(h.logger.messages('error')).toEqual([
        "Timer 'fn' failed with an exception and will try again in 3 seconds: " +
          "The cluster refuses the patch of Timer 'fn': spec.x is not nice",
      ]);
    },
  );

  it('since it is not JSON, it is dropped, so that it does not spoil the next ones', async () => {
    const error = new TypeError('Do not know how to serialize a BigInt');
    let failures = 1;
    const h = harness({
      answer: () => {
        if (failures-- > 0) throw error;
        return {};
      },
    });
    h.registry.timer('kopfexamples', { interval: 5 }, function fn({ patch }) {
      patch.status[`at${h.clock.now()}`] = true;
    });
    await h.event();
    await h.clock.advance(5);
    expect(h.sent.map(({ at, merge }) => [at, merge])).toEqual([
      [0, { status: { at0: true } }],
      [5, { status: { at5: true } }],
    ]);
    expect(h.logger.find("Timer 'fn' has a patch that cannot be applied. The patch is dropped: ")?.level).toBe('error');
  });

  it('a daemon that is forced to end does not hang on that', async () => {
    const h = harness({
      answer: (_sent, { signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    });
    h.registry.daemon('kopfexamples', { cancellationTimeout: 5 }, async function fn({ stopped }) {
      await sleep(999, stopped);
      return 'x';
    });
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(h.sent).toHaveLength(1);
    expect(h.logger.messages('error')).toEqual([]);
    expect(h.daemons.size).toBe(0);
  });
});

describe('If the framework itself fails', () => {
  it('a daemon is called again', async () => {
    const h = harness();
    let failures = 1;
    const failing: Logger = {
      ...h.logger,
      child: (fields) => ({
        ...h.logger.child(fields),
        debug: (text) => {
          if (text.includes('is invoked') && failures-- > 0) throw new Error('a bug');
        },
      }),
    };
    Object.assign(h.parts, { logger: failing });
    const calls: number[] = [];
    h.registry.daemon('kopfexamples', function fn() {
      calls.push(h.clock.now());
    });
    await h.event();
    await h.clock.advance(5);
    expect(calls).toEqual([1]);
    expect(h.logger.find("Daemon 'fn' could not be called: a bug")?.level).toBe('error');
    expect(h.memory.daemons.foreverStopped).toEqual(new Set(['fn']));
  });

  it('a timer that could not go on is started again by the next event', async () => {
    const h = harness();
    let failures = 1;
    const { clock } = h;
    const failing: Clock = {
      ...clock,
      sleep: (delay, options) => (failures-- > 0 ? Promise.reject(new Error('a bug')) : clock.sleep(delay, options)),
    };
    Object.assign(h.parts, { clock: failing });
    const calls: number[] = [];
    h.registry.timer('kopfexamples', { interval: 1 }, function fn() {
      calls.push(clock.now());
    });
    await h.event();
    await clock.advance(5);
    expect(calls).toEqual([0]);
    expect(h.logger.find("Timer 'fn' has ended unexpectedly: a bug")?.level).toBe('error');
    await h.event();
    await clock.advance(1);
    expect(calls).toEqual([0, 5, 6]);
  });
});
