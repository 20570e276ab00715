import { DaemonStop, sleep } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { BODY, DELETED_BODY, deferred, forEver, type Harness, harness, UNWANTED_BODY } from './harness.js';

interface Cancellation {
  readonly cancellationBackoff?: number;
  readonly cancellationTimeout?: number;
  readonly cancellationPolling?: number;
}

const SIGNALLED = "Daemon 'fn' is signalled to exit gracefully.";
const FORCED = "Daemon 'fn' is signalled to exit by force.";
const ORPHANED = "Daemon 'fn' did not exit in time. Leaving it orphaned.";

/** Exits as soon as it is asked to. */
function spawnCooperative({ registry }: Harness, options: Cancellation & { labels?: { wanted: string } } = {}) {
  const reasons: unknown[] = [];
  registry.daemon('kopfexamples', options, async function fn({ stopped }) {
    await sleep(999, stopped);
    reasons.push([...(stopped.reason as DaemonStop).reasons]);
  });
  return reasons;
}

/** Exits only when it is forced to, and only after that long. */
function spawnCancellable({ registry, clock }: Harness, options: Cancellation, cleanup = 0) {
  const ended: number[] = [];
  registry.daemon('kopfexamples', options, async function fn({ signal }) {
    try {
      await sleep(999, signal);
    } finally {
      await clock.sleep(cleanup);
      ended.push(clock.now());
    }
  });
  return ended;
}

/** Does not care. */
function spawnStubborn({ registry }: Harness, options: Cancellation) {
  const hold = deferred<unknown>();
  registry.daemon('kopfexamples', options, async function fn() {
    return await hold.promise;
  });
  return hold;
}

describe('When the object is deleted', () => {
  it('a well-behaved daemon exits at once, and the object is not held', async () => {
    const h = harness();
    const reasons = spawnCooperative(h);
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(h.clock.now()).toBe(0);
    expect(reasons).toEqual([['resource-deleted']]);
    expect(h.memory.daemons.running.size).toBe(0);
    expect(h.memory.daemons.foreverStopped.size).toBe(0);
    expect(h.sent).toEqual([]);
  });

  it('the reason of stopping is an error that can be looked at, and the reasons accumulate in it', async () => {
    const h = harness();
    let seen: DaemonStop | undefined;
    h.registry.daemon('kopfexamples', { cancellationBackoff: 1 }, async function fn({ stopped }) {
      await sleep(999, stopped);
      seen = stopped.reason as DaemonStop;
      await forEver();
    });
    await h.event();
    await h.event({ body: DELETED_BODY });
    expect(seen).toBeInstanceOf(DaemonStop);
    expect([...(seen?.reasons ?? [])]).toEqual(['resource-deleted', 'daemon-signalled']);
  });

  it('without options, it is only asked, and looked at as often as the settings say', async () => {
    const h = harness({ settings: { background: { cancellationPolling: 7 } } });
    const hold = spawnStubborn(h, {});
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([7]);
    await h.clock.advance(1000);
    expect(await h.event({ body: DELETED_BODY })).toEqual([7]);
    expect(h.logger.messages().filter((text) => text.includes('is still exiting'))).toEqual([
      "Daemon 'fn' is still exiting. The next check is in 7 seconds.",
      "Daemon 'fn' is still exiting. The next check is in 7 seconds.",
    ]);
    expect(h.logger.find(FORCED)).toBeUndefined();
    hold.resolve(undefined);
    await h.clock.settle();
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
  });

  it('it is looked at as often as its own option says', async () => {
    const h = harness({ settings: { background: { cancellationPolling: 7 } } });
    spawnStubborn(h, { cancellationPolling: 3 });
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([3]);
  });

  it('with a backoff only, it has that time, and then is looked at for ever', async () => {
    const h = harness();
    spawnStubborn(h, { cancellationBackoff: 1.23 });
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([1.23]);
    await h.clock.advance(1);
    expect(await h.event({ body: DELETED_BODY })).toEqual([expect.closeTo(0.23)]);
    await h.clock.advance(0.23);
    expect(await h.event({ body: DELETED_BODY })).toEqual([60]);
    expect(h.logger.messages().filter((text) => text === SIGNALLED)).toHaveLength(1);
    expect(h.logger.find(FORCED)).toBeUndefined();
  });

  it('with a backoff and a timeout, it is forced after the backoff, and then exits at once', async () => {
    const h = harness();
    const ended = spawnCancellable(h, { cancellationBackoff: 1.23, cancellationTimeout: 10 });
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([1.23]);
    expect(h.logger.find(SIGNALLED)).toBeDefined();
    expect(h.logger.find(FORCED)).toBeUndefined();
    await h.clock.advance(1.23);
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(h.logger.find(FORCED)).toBeDefined();
    expect(ended).toEqual([1.23]);
    expect(h.memory.daemons.running.size).toBe(0);
  });

  it('with a backoff and a timeout, it has all of the timeout to exit after it was forced', async () => {
    const h = harness();
    const ended = spawnCancellable(h, { cancellationBackoff: 1.23, cancellationTimeout: 4.56 }, 4);
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([1.23]);
    await h.clock.advance(1.23);
    expect(await h.event({ body: DELETED_BODY })).toEqual([expect.closeTo(4.56)]);
    await h.clock.advance(4);
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(ended).toEqual([5.23]);
    expect(h.logger.find(ORPHANED)).toBeUndefined();
  });

  it('it has all of the timeout even if it was forced later than it could be', async () => {
    const h = harness();
    spawnCancellable(h, { cancellationBackoff: 1, cancellationTimeout: 5 }, 4);
    await h.event();
    await h.event({ body: DELETED_BODY });
    await h.clock.advance(100);
    expect(await h.event({ body: DELETED_BODY })).toEqual([5]);
    await h.clock.advance(4);
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(h.logger.find(ORPHANED)).toBeUndefined();
  });

  it('with a timeout only, it is forced at once; and if it ignores that, it is left alone and the object is released', async () => {
    const h = harness();
    const hold = spawnStubborn(h, { cancellationTimeout: 4.56 });
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([4.56]);
    expect(h.logger.find(FORCED)).toBeDefined();
    await h.clock.advance(4.56);
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(h.logger.find(ORPHANED)?.level).toBe('warn');
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(h.logger.messages().filter((text) => text === ORPHANED)).toHaveLength(1);

    hold.resolve({ late: 'result' });
    await h.clock.settle();
    expect(h.sent).toEqual([]);
    expect(h.logger.find("Daemon 'fn' has ended after it was left orphaned.")?.level).toBe('warn');
    expect(h.daemons.size).toBe(0);
  });

  it('with a timeout of zero, it is forced, but not waited for', async () => {
    const h = harness();
    spawnStubborn(h, { cancellationTimeout: 0 });
    await h.event();
    expect(await h.event({ body: DELETED_BODY })).toEqual([]);
    expect(h.logger.messages().filter((text) => text === FORCED || text === ORPHANED)).toEqual([FORCED, ORPHANED]);
  });

  it('a cancelled daemon is not a failed one, and is not retried', async () => {
    const h = harness();
    const ended = spawnCancellable(h, { cancellationTimeout: 5 });
    await h.event();
    await h.event({ body: DELETED_BODY });
    await h.clock.advance(100);
    expect(ended).toEqual([0]);
    expect(h.logger.messages('error')).toEqual([]);
    expect(h.logger.find("Daemon 'fn' is cancelled. Will escalate.")).toBeDefined();
  });

  it('a cancelled daemon may still return a result', async () => {
    const h = harness();
    h.registry.daemon('kopfexamples', { cancellationTimeout: 5 }, async function fn({ signal }) {
      try {
        await sleep(999, signal);
      } catch {
        return { bye: true };
      }
      return undefined;
    });
    await h.event();
    await h.event({ body: DELETED_BODY });
    expect(h.sent.map(({ merge }) => merge)).toEqual([{ status: { fn: { bye: true } } }]);
  });

  it('all daemons of the object are stopped together', async () => {
    const h = harness({ settings: { background: { instantExitTimeout: 5 } } });
    for (const id of ['one', 'two']) h.registry.daemon('kopfexamples', { id }, forEver);
    await h.event();
    const delays = h.begin({ body: DELETED_BODY });
    await h.clock.advance(5);
    expect(await delays).toEqual([60, 60]);
  });
});

describe('A chance to exit at once', () => {
  it('is as many turns of the event loop as the settings say', async () => {
    for (const [cycles, delays] of [
      [10, []],
      [2, [60]],
      [undefined, [60]],
    ] as const) {
      const h = harness({ settings: { background: { instantExitZeroTimeCycles: cycles } } });
      h.registry.daemon('kopfexamples', async function fn({ stopped }) {
        await sleep(999, stopped);
        for (let turn = 0; turn < 5; turn++) await h.clock.sleep(0);
      });
      await h.event();
      expect(await h.event({ body: DELETED_BODY })).toEqual(delays);
    }
  });

  it('is as long as the settings say, but not longer than needed', async () => {
    const h = harness({ settings: { background: { instantExitTimeout: 5 } } });
    h.registry.daemon('kopfexamples', async function fn({ stopped }) {
      await sleep(999, stopped);
      await h.clock.sleep(2);
    });
    await h.event();
    const delays = h.begin({ body: DELETED_BODY });
    let isDone = false;
    void delays.then(() => {
      isDone = true;
    });
    await h.clock.advance(1.9);
    expect(isDone).toBe(false);
    await h.clock.advance(0.1);
    expect(isDone).toBe(true);
    expect(await delays).toEqual([]);
  });
});

describe('When the object has vanished', () => {
  it('its daemons are stopped, even if the deletion was never announced', async () => {
    const h = harness();
    const reasons = spawnCooperative(h);
    await h.event();
    expect(await h.event({ eventType: 'DELETED' })).toEqual([]);
    expect(reasons).toEqual([['resource-deleted']]);
    expect(h.daemons.size).toBe(0);
  });

  it('those who need time are forced in time, though there are no more events', async () => {
    const h = harness();
    const ended = spawnCancellable(h, { cancellationBackoff: 1, cancellationTimeout: 5 });
    await h.event();
    expect(await h.event({ eventType: 'DELETED' })).toEqual([]);
    expect(h.daemons.size).toBe(1);
    await h.clock.advance(10);
    expect(ended).toEqual([1]);
    expect(h.daemons.size).toBe(0);
  });

  it('those who ignore everything are left alone in time', async () => {
    const h = harness();
    spawnStubborn(h, { cancellationBackoff: 1, cancellationTimeout: 5 });
    await h.event();
    await h.event({ eventType: 'DELETED' });
    await h.clock.advance(5.9);
    expect(h.logger.find(ORPHANED)).toBeUndefined();
    await h.clock.advance(0.1);
    expect(h.logger.find(ORPHANED)).toBeDefined();
    expect(h.clock.sleepers).toBe(0);
  });

  it('those who are never forced are only asked, and can still be found by the killer', async () => {
    const h = harness();
    const hold = spawnStubborn(h, {});
    await h.event();
    expect(await h.event({ eventType: 'DELETED' })).toEqual([]);
    expect(h.clock.sleepers).toBe(0);
    expect([...h.daemons].map((task) => task.isStopped)).toEqual([true]);
    hold.resolve(undefined);
    await h.clock.settle();
    expect(h.daemons.size).toBe(0);
  });
});

describe('When the object does not fit any more', () => {
  const labels = { wanted: 'yes' };

  it('the daemon is stopped', async () => {
    const h = harness();
    const reasons = spawnCooperative(h, { labels });
    await h.event();
    expect(await h.event({ body: UNWANTED_BODY })).toEqual([]);
    expect(reasons).toEqual([['filters-mismatch']]);
    expect(h.memory.daemons.running.size).toBe(0);
  });

  it('the daemon is stopped if its own callback says so', async () => {
    const h = harness();
    let isWanted = true;
    let isStopped = false;
    h.registry.daemon('kopfexamples', { when: () => isWanted }, async function fn({ stopped }) {
      await sleep(999, stopped);
      isStopped = true;
    });
    await h.event();
    await h.event();
    expect(isStopped).toBe(false);
    isWanted = false;
    await h.event();
    expect(isStopped).toBe(true);
  });

  it('the daemon is started again when the object fits again', async () => {
    const h = harness();
    const reasons = spawnCooperative(h, { labels });
    await h.event();
    await h.event({ body: UNWANTED_BODY });
    await h.event();
    expect(reasons).toHaveLength(1);
    expect(h.memory.daemons.running.size).toBe(1);
    expect([...h.daemons][0]?.isStopped).toBe(false);
  });

  it('other daemons of the object go on', async () => {
    const h = harness();
    spawnCooperative(h, { labels });
    h.registry.daemon('kopfexamples', { id: 'other' }, forEver);
    await h.event();
    await h.event({ body: UNWANTED_BODY });
    expect([...h.memory.daemons.running.keys()]).toEqual(['other']);
    expect(h.memory.daemons.live).toBeDefined();
  });

  it('it is not started again before it has ended; and it is told when that is', async () => {
    const h = harness();
    let running = 0;
    let most = 0;
    let exits = 0;
    h.registry.daemon('kopfexamples', { labels }, async function fn({ stopped }) {
      running += 1;
      most = Math.max(most, running);
      await sleep(999, stopped);
      await h.clock.sleep(5);
      running -= 1;
    });
    const onExit = () => {
      exits += 1;
    };
    await h.event({ onExit });
    expect(await h.event({ body: UNWANTED_BODY, onExit })).toEqual([60]);
    expect(await h.event({ onExit })).toEqual([60]);
    expect(exits).toBe(0);
    await h.clock.advance(5);
    expect(exits).toBe(1);
    expect(running).toBe(0);
    expect(await h.event({ onExit })).toEqual([]);
    expect(running).toBe(1);
    expect(most).toBe(1);
  });

  it('it goes on being stopped even if the object fits again meanwhile', async () => {
    const h = harness();
    const calls: number[] = [];
    const options = { labels, cancellationBackoff: 1, cancellationTimeout: 5 };
    h.registry.daemon('kopfexamples', options, async function fn({ signal }) {
      calls.push(h.clock.now());
      await sleep(999, signal);
    });
    await h.event();
    expect(await h.event({ body: UNWANTED_BODY })).toEqual([1]);
    await h.clock.advance(0.5);
    expect(await h.event()).toEqual([0.5]);
    await h.clock.advance(0.5);
    await h.event();
    expect(h.logger.find(FORCED)).toBeDefined();
    await h.event();
    expect(calls).toEqual([0, 1]);
  });

  it('nothing is waited for then, if all is to be as in Kopf', async () => {
    const h = harness({ settings: { persistence: { compat: 'kopf' } } });
    h.registry.daemon('kopfexamples', { labels }, forEver);
    await h.event();
    expect(await h.event({ body: UNWANTED_BODY })).toEqual([60]);
    expect(await h.event()).toEqual([]);
  });
});

describe('The signal of a daemon', () => {
  it('is silent when the daemon is asked to stop, and aborts when it is forced to', async () => {
    const h = harness();
    let given: AbortSignal | undefined;
    h.registry.daemon(
      'kopfexamples',
      { cancellationBackoff: 1, cancellationTimeout: 5 },
      async function fn({ signal }) {
        given = signal;
        await forEver();
      },
    );
    await h.event();
    await h.event({ body: DELETED_BODY });
    expect(given?.aborted).toBe(false);
    await h.clock.advance(1);
    await h.event({ body: DELETED_BODY });
    expect(given?.aborted).toBe(true);
    expect(given?.reason).toHaveProperty('name', 'AbortError');
    expect(given?.reason).not.toBeInstanceOf(DaemonStop);
  });

  it('is not needed by a daemon that is over: whatever it has left behind knows by the flag', async () => {
    const h = harness();
    let flag: AbortSignal | undefined;
    h.registry.daemon('kopfexamples', function fn({ stopped }) {
      flag = stopped;
    });
    await h.event({ body: BODY });
    expect(flag?.reason).toHaveProperty('reasons', new Set(['done']));
  });
});
