import { sleep } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { spawn } from '../../src/daemons/daemons.js';
import { BODY, DELETED_BODY, deferred, forEver, type Harness, harness, RESOURCE } from './harness.js';

const GRACEFUL = "Daemon 'fn' has exited gracefully.";
const SIGNALLED = "Daemon 'fn' is signalled to exit gracefully.";
const FORCED = "Daemon 'fn' is signalled to exit by force.";
const ORPHANED = "Daemon 'fn' did not exit in time. Leaving it orphaned.";

/** Starts the killer; `exit()` is when the operator is told to exit, and `isOver` is when the killer is done. */
async function running({ killer, clock }: Harness) {
  const controller = new AbortController();
  let overAt: number | undefined;
  const over = killer.run(controller.signal).then(() => {
    overAt = clock.now();
  });
  await clock.settle();
  return {
    async exit() {
      controller.abort();
      await clock.settle();
    },
    over,
    get overAt() {
      return overAt;
    },
  };
}

function stepsIn(h: Harness): string[] {
  return h.logger.messages().filter((text) => [GRACEFUL, SIGNALLED, FORCED, ORPHANED].includes(text));
}

describe('While the operator is paused', () => {
  it('its daemons are stopped at once, and start again after it is resumed', async () => {
    const h = harness();
    await running(h);
    const reasons: unknown[] = [];
    h.registry.daemon('kopfexamples', async function fn({ stopped }) {
      await sleep(999, stopped);
      reasons.push(stopped.reason);
    });
    await h.event();
    h.paused.turn(true);
    await h.clock.settle();
    expect(reasons).toEqual([expect.objectContaining({ reasons: new Set(['operator-pausing', 'done']) })]);
    expect(h.daemons.size).toBe(0);
    expect(stepsIn(h)).toEqual([GRACEFUL]);
    expect(h.memory.daemons.foreverStopped.size).toBe(0);
    h.paused.turn(false);
    await h.event({ eventType: null });
    expect(h.daemons.size).toBe(1);
    await h.clock.advance(10);
    expect(h.daemons.size).toBe(1);
  });

  it('those spawned too late are stopped in the next round', async () => {
    const h = harness();
    await running(h);
    h.registry.daemon('kopfexamples', async function fn({ stopped }) {
      await sleep(999, stopped);
    });
    h.paused.turn(true);
    await h.clock.advance(0.5);
    // As if it was decided to spawn it before the pause.
    const { memory, parts, apply, daemons, logger } = h;
    const [handler] = h.registry.handlers.spawning;
    const of = { resource: RESOURCE, body: BODY, patch: undefined as never, memo: {}, logger, reset: false };
    if (handler) spawn(handler, { cause: { kind: 'spawning', ...of }, subject: memory, daemons, parts, apply });
    await h.clock.advance(0.4);
    expect(h.daemons.size).toBe(1);
    await h.clock.advance(0.1);
    expect(h.daemons.size).toBe(0);
    expect(h.memory.daemons.foreverStopped.size).toBe(0);
  });

  it('those who run are stopped by events, too, without waiting for the killer', async () => {
    const h = harness();
    h.registry.daemon('kopfexamples', async function fn({ stopped }) {
      await sleep(999, stopped);
    });
    h.registry.daemon('kopfexamples', { id: 'slow' }, forEver);
    await h.event();
    h.paused.turn(true);
    expect(await h.event()).toEqual([60]);
    expect([...h.memory.daemons.running.keys()]).toEqual(['slow']);
  });

  it('those who need time are forced in time, and are told of the pause once', async () => {
    const h = harness();
    await running(h);
    const options = { cancellationBackoff: 2.5, cancellationTimeout: 5 };
    h.registry.daemon('kopfexamples', options, async function fn() {
      await forEver();
    });
    await h.event();
    h.paused.turn(true);
    await h.clock.advance(2.4);
    expect(stepsIn(h)).toEqual([SIGNALLED]);
    await h.clock.advance(0.1);
    expect(stepsIn(h)).toEqual([SIGNALLED, FORCED]);
    await h.clock.advance(100);
    expect(stepsIn(h)).toEqual([SIGNALLED, FORCED, ORPHANED]);
  });

  it('those who are never forced are not waited for, and are told of once', async () => {
    const h = harness();
    await running(h);
    const hold = deferred();
    let calls = 0;
    h.registry.daemon('kopfexamples', async function fn() {
      calls += 1;
      await hold.promise;
      return 'result';
    });
    await h.event();
    h.paused.turn(true);
    await h.clock.advance(10);
    expect(stepsIn(h)).toEqual([ORPHANED]);
    h.paused.turn(false);
    expect(await h.event({ eventType: null })).toEqual([60]);
    expect(calls).toBe(1);
    hold.resolve();
    await h.clock.settle();
    // It was never forced: what it has done is still of use.
    expect(h.sent.map(({ merge }) => merge)).toEqual([{ status: { fn: 'result' } }]);
    await h.event();
    expect(calls).toBe(2);
  });

  it('there are never two of the same daemon, however often it is paused and resumed', async () => {
    const h = harness();
    await running(h);
    let now = 0;
    let most = 0;
    let calls = 0;
    h.registry.daemon('kopfexamples', async function fn({ stopped }) {
      now += 1;
      calls += 1;
      most = Math.max(most, now);
      await sleep(999, stopped);
      await h.clock.sleep((calls % 4) * 0.1);
      now -= 1;
    });
    for (let flip = 0; flip < 100; flip++) {
      h.paused.turn(false);
      await h.event({ eventType: null });
      await h.clock.advance((flip % 5) * 0.05);
      h.paused.turn(true);
      await h.event();
      await h.clock.advance((flip % 7) * 0.05);
    }
    expect(most).toBe(1);
    expect(calls).toBeGreaterThan(30);
    await h.clock.advance(10);
    expect(now).toBe(0);
    h.paused.turn(false);
    await h.event({ eventType: null });
    expect(now).toBe(1);
  });

  it('a pause that is over before anybody has noticed stops nobody', async () => {
    const h = harness();
    await running(h);
    h.registry.daemon('kopfexamples', async function fn({ stopped }) {
      await sleep(999, stopped);
    });
    await h.event();
    h.paused.turn(true);
    h.paused.turn(false);
    await h.clock.advance(5);
    expect(h.daemons.size).toBe(1);
    expect([...h.daemons][0]?.isStopped).toBe(false);
  });
});

describe('When the operator exits', () => {
  it('well-behaved daemons exit at once, and no patches are sent', async () => {
    const h = harness();
    const killer = await running(h);
    h.registry.daemon('kopfexamples', async function fn({ stopped }) {
      await sleep(999, stopped);
    });
    h.registry.timer('kopfexamples', { interval: 10 }, function timer() {});
    await h.event();
    await killer.exit();
    expect(killer.overAt).toBe(0);
    expect(stepsIn(h)).toEqual([GRACEFUL]);
    expect(h.sent).toEqual([]);
    expect(h.daemons.size).toBe(0);
    expect(h.clock.sleepers).toBe(0);
  });

  it('there is nothing to wait for if nobody runs', async () => {
    const h = harness();
    const killer = await running(h);
    await killer.exit();
    expect(killer.overAt).toBe(0);
  });

  it('daemons may still send their last patches', async () => {
    const answered = deferred();
    const h = harness({
      answer: async () => {
        await answered.promise;
        return {};
      },
    });
    const killer = await running(h);
    h.registry.daemon('kopfexamples', async function fn({ stopped }) {
      await sleep(999, stopped);
      return 'bye';
    });
    await h.event();
    await killer.exit();
    expect(killer.overAt).toBeUndefined();
    await h.clock.advance(1);
    answered.resolve();
    await h.clock.settle();
    expect(killer.overAt).toBe(1);
    expect(h.sent.map(({ merge }) => merge)).toEqual([{ status: { fn: 'bye' } }]);
  });

  it('those who are never forced are told of, then have a grace, and are forced after all', async () => {
    const h = harness();
    const killer = await running(h);
    let forcedAt: number | undefined;
    h.registry.daemon('kopfexamples', async function fn({ signal }) {
      await sleep(999, signal).catch(() => {
        forcedAt = h.clock.now();
      });
    });
    await h.event();
    await killer.exit();
    expect(stepsIn(h)).toEqual([ORPHANED]);
    await h.clock.advance(4.9);
    expect(killer.overAt).toBeUndefined();
    await h.clock.advance(0.1);
    expect(forcedAt).toBe(5);
    expect(killer.overAt).toBe(5);
    expect(h.daemons.size).toBe(0);
  });

  it('each has its own time to exit', async () => {
    const h = harness();
    const killer = await running(h);
    const ended: [string, number][] = [];
    const add = (id: string, cancellationBackoff: number, cancellationTimeout: number, takes: number) => {
      const options = { id, cancellationBackoff, cancellationTimeout };
      h.registry.daemon('kopfexamples', options, async ({ signal }) => {
        await sleep(999, signal).catch(() => {});
        await h.clock.sleep(takes);
        ended.push([id, h.clock.now()]);
      });
    };
    add('quick', 1, 5, 0);
    add('slow', 2, 5, 3);
    add('stubborn', 3, 4, 100);
    await h.event();
    await killer.exit();
    await h.clock.advance(20);
    expect(ended).toEqual([
      ['quick', 1],
      ['slow', 5],
    ]);
    expect(killer.overAt).toBe(7);
    expect(h.logger.messages('warn').filter((text) => text.includes('Leaving it orphaned.'))).toEqual([
      "Daemon 'stubborn' did not exit in time. Leaving it orphaned.",
    ]);
  });

  it('a daemon being stopped because of its object has only the rest of its time', async () => {
    const h = harness();
    const killer = await running(h);
    h.registry.daemon(
      'kopfexamples',
      { cancellationBackoff: 10, cancellationTimeout: 5 },
      async function fn({ signal }) {
        await sleep(999, signal);
      },
    );
    await h.event();
    await h.event({ body: DELETED_BODY });
    await h.clock.advance(8);
    await killer.exit();
    await h.clock.advance(20);
    expect(killer.overAt).toBe(10);
    expect(stepsIn(h)).toEqual([SIGNALLED, FORCED]);
  });

  it.each<{ what: string; ultimateExitingTimeout: number | undefined; overAt: number }>([
    { what: 'not longer than there is time', ultimateExitingTimeout: 25, overAt: 20 },
    { what: 'half of it if there is little', ultimateExitingTimeout: 4, overAt: 2 },
    { what: 'for as long as it takes, if there are no limits', ultimateExitingTimeout: undefined, overAt: 100 },
  ])('daemons are waited for $what', async ({ ultimateExitingTimeout, overAt }) => {
    const h = harness({ settings: { process: { ultimateExitingTimeout } } });
    const killer = await running(h);
    h.registry.daemon(
      'kopfexamples',
      { cancellationBackoff: 100, cancellationTimeout: 5 },
      async function fn({ signal }) {
        await sleep(999, signal);
      },
    );
    await h.event();
    await killer.exit();
    await h.clock.advance(200);
    expect(killer.overAt).toBe(overAt);
    expect(stepsIn(h)).toEqual([SIGNALLED, FORCED]);
    expect(h.clock.sleepers).toBe(0);
  });

  it('those who ignore everything are left alone, and nothing waits for them', async () => {
    const h = harness();
    const killer = await running(h);
    h.registry.daemon('kopfexamples', { cancellationTimeout: 3 }, async function fn() {
      await forEver();
    });
    await h.event();
    await killer.exit();
    await h.clock.advance(3);
    expect(killer.overAt).toBe(3);
    expect(stepsIn(h)).toEqual([FORCED, ORPHANED]);
    expect(h.clock.sleepers).toBe(0);
  });

  it('those of vanished objects are stopped, too', async () => {
    const h = harness();
    const killer = await running(h);
    const reasons: unknown[] = [];
    h.registry.daemon(
      'kopfexamples',
      { cancellationBackoff: 10, cancellationTimeout: 5 },
      async function fn({ stopped, signal }) {
        await sleep(999, signal).catch(() => {});
        reasons.push([...(stopped.reason as { reasons: Set<string> }).reasons]);
      },
    );
    await h.event();
    await h.event({ eventType: 'DELETED' });
    h.memories.forget(BODY);
    await h.clock.advance(1);
    await killer.exit();
    await h.clock.advance(9);
    expect(reasons).toEqual([['resource-deleted', 'daemon-signalled', 'operator-exiting', 'daemon-cancelled']]);
    expect(killer.overAt).toBe(10);
    expect(h.clock.sleepers).toBe(0);
  });

  it('those being stopped for a pause get to know of the exit', async () => {
    const h = harness();
    const killer = await running(h);
    let reasons: ReadonlySet<string> | undefined;
    h.registry.daemon(
      'kopfexamples',
      { cancellationBackoff: 4, cancellationTimeout: 5 },
      async function fn({ stopped, signal }) {
        await sleep(999, stopped);
        ({ reasons } = stopped.reason as { reasons: Set<string> });
        await sleep(999, signal);
      },
    );
    await h.event();
    h.paused.turn(true);
    await h.clock.advance(3);
    await killer.exit();
    expect(reasons).toContain('operator-exiting');
    await h.clock.advance(10);
    expect(killer.overAt).toBe(4);
  });

  it('a thousand of daemons stop all together', async () => {
    const h = harness();
    const killer = await running(h);
    let ended = 0;
    h.registry.daemon(
      'kopfexamples',
      { cancellationBackoff: 1, cancellationTimeout: 5 },
      async function fn({ signal }) {
        await sleep(999, signal).catch(() => {});
        await h.clock.sleep(2);
        ended += 1;
      },
    );
    for (let number = 0; number < 1000; number++) {
      const body = { ...BODY, metadata: { ...BODY.metadata, uid: `uid${number}`, name: `name${number}` } };
      await h.begin({ body, memory: h.memoryOf(body) });
    }
    await h.clock.settle();
    expect(h.daemons.size).toBe(1000);
    await killer.exit();
    await h.clock.advance(10);
    expect(killer.overAt).toBe(3);
    expect(ended).toBe(1000);
    expect(h.daemons.size).toBe(0);
  });
});
