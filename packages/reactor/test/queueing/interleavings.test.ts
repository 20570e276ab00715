import {
  type AsyncCommand,
  assert,
  asyncModelRun,
  asyncProperty,
  commands,
  constant,
  constantFrom,
  nat,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CycleResult } from '../../src/cycle/scene.js';
import type { HandledObject } from '../../src/objects/object.js';
import { bench, objectOf, type RunningCycle } from './worker-bench.js';

/**
 * An object in a cluster, the stream of its events on their way, and the worker that is made when an event comes and
 * is forgotten when it is idle. The cluster counts the changes; how versions look like is another question.
 */
function world({ versionOf, eventsLimit = 100_000 }: { versionOf: (change: number) => string; eventsLimit?: number }) {
  let current: HandledObject | undefined;
  const areNumbers = versionOf(1) === '1';
  const settings = { queueing: { eventsLimit, errorDelays: [1, 10] } };
  const at = bench({
    settings,
    keepsEvents: true,
    onIdle: () => {
      current = undefined;
    },
  });
  const changes = new Map<string, number>();
  const stream: { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly change: number }[] = [];
  const state = { change: 0, isDeleted: false, isPaused: false, wasLost: false };
  /** What the handlers have been given. */
  const handled: { readonly change: number; readonly type: string | null }[] = [];
  const eventsPushed: string[] = [];
  const eventsHandled: string[] = [];
  let seen = 0;
  let mayRepeat = true;
  /** The newest answer to our patches: what, when, and whether its event has come after that. */
  let own = { change: 0, since: Number.NaN, isSeen: true };
  /** A patch of the running cycle that the cluster has got, but whose answer is still on its way. */
  let sent: number | undefined;
  let isDeletionDelivered = false;
  let isDone = true;
  /** A failed cycle for events alone is followed by another cycle: of any sort, as it had no state to be repeated with. */
  let areEventsDone = true;
  let countWhenPaused = 0;

  const name = (change: number): string => {
    const version = versionOf(change);
    changes.set(version, change);
    return version;
  };
  const change = (type: 'ADDED' | 'MODIFIED' | 'DELETED'): number => {
    state.change += 1;
    stream.push({ type, change: state.change });
    return state.change;
  };
  const push = (type: 'ADDED' | 'MODIFIED' | 'DELETED' | null, version: string): void => {
    eventsPushed.push(`${type} ${version}`);
    current ??= at.make();
    at.push(type, version, current);
  };

  /** Looks at what was begun since the last time. */
  const check = (): void => {
    expect(at.flags.mostAtOnce).toBeLessThanOrEqual(1);
    const isRunning = at.flags.running > 0;
    if (state.isPaused) expect(at.cycles.length).toBe(countWhenPaused);
    if (state.isPaused && !isRunning) expect([current, at.clock.sleepers]).toEqual([undefined, 0]);
    for (const { work } of at.cycles.slice(seen)) {
      for (const event of work.events) eventsHandled.push(`${event.type} ${event.object.metadata?.resourceVersion}`);
      if (work.isToTouch) expect(work.events).toEqual([]);
      if (work.state === undefined) continue;
      const { type, body } = work.state;
      const number = changes.get(body.metadata?.resourceVersion ?? '') ?? Number.NaN;
      const previous = handled.at(-1);
      if (previous?.type === 'DELETED') expect(type).toBe('DELETED');
      if (type !== 'DELETED') {
        const isOutdated = number < own.change;
        if (isOutdated) expect([areNumbers, own.isSeen]).toEqual([false, false]);
        if (isOutdated)
          expect(at.clock.now()).toBeGreaterThanOrEqual(own.since + at.settings.persistence.consistencyTimeout);
        if (areNumbers) expect(number).toBeGreaterThanOrEqual(previous?.change ?? 0);
        if (!mayRepeat) expect(number).not.toBe(previous?.change);
      }
      handled.push({ change: number, type });
      mayRepeat = false;
    }
    seen = at.cycles.length;
    // Whatever is being waited for, a deletion waits for nothing but the running cycle.
    if (isDeletionDelivered && !isRunning && !state.wasLost) expect(handled.at(-1)?.type).toBe('DELETED');
  };

  const running = (): RunningCycle | undefined => (at.flags.running > 0 ? at.cycles.at(-1) : undefined);

  return {
    at,
    state,
    handled,
    eventsPushed,
    eventsHandled,
    stream,
    check,
    running,
    async edit() {
      if (!state.isDeleted) change(state.change === 0 ? 'ADDED' : 'MODIFIED');
    },
    async remove() {
      if (state.isDeleted || state.change === 0) return;
      state.isDeleted = true;
      change('DELETED');
    },
    async deliver() {
      if (state.isPaused) return;
      const next = stream.shift();
      if (next === undefined) return;
      if (next.type === 'DELETED') isDeletionDelivered = true;
      if (next.change === own.change) own.isSeen = true;
      push(next.type, name(next.change));
      await at.clock.settle();
      check();
    },
    /** The cluster has got the patch of the running cycle: the answer and the event of it race each other. */
    async send() {
      if (running() !== undefined && !state.isDeleted) sent ??= change('MODIFIED');
    },
    async end(kind: Ending) {
      const cycle = running();
      if (cycle === undefined) return;
      if (kind === 'patch' || cycle.work.isToTouch) await this.send();
      let result: CycleResult = cycle.work.state === undefined ? {} : RESULTS[kind];
      if (sent !== undefined) {
        own = { change: sent, since: at.clock.now(), isSeen: false };
        result = { ...result, answer: objectOf(name(sent)) };
      }
      if (cycle.work.state !== undefined) isDone = result.answer === undefined && result.delay === undefined;
      areEventsDone = true;
      sent = undefined;
      if (result.delay !== undefined) mayRepeat = true;
      await cycle.end(result);
    },
    /** The answer to our patch comes later than all that has happened after it. */
    async race() {
      await this.send();
      await this.edit();
      while (stream.length > 0 && !state.isPaused) await this.deliver();
      await this.end('nothing');
    },
    async fail() {
      const cycle = running();
      if (cycle === undefined) return;
      mayRepeat = true;
      if (cycle.work.state === undefined) areEventsDone = false;
      else isDone = false;
      sent = undefined;
      await cycle.fail();
    },
    async pass(seconds: number) {
      await at.clock.advance(seconds);
    },
    /** Connections are closed, and all that is on its way is lost. */
    async pause() {
      if (state.isPaused) return;
      countWhenPaused = at.cycles.length;
      state.isPaused = true;
      at.flags.isPaused = true;
      state.wasLost = true;
      stream.length = 0;
      current?.discard();
      await at.clock.settle();
    },
    async resume() {
      if (!state.isPaused) return;
      check();
      state.isPaused = false;
      at.flags.isPaused = false;
      await this.list();
    },
    async list() {
      if (state.isPaused) return;
      stream.length = 0;
      state.wasLost = true;
      mayRepeat = true;
      if (!state.isDeleted && state.change > 0) push(null, name(state.change));
      await at.clock.settle();
    },
    /** Everything comes to rest: all is delivered, all is handled. */
    async rest() {
      await this.resume();
      for (let turn = 0; turn < 1000; turn++) {
        if (running() !== undefined) await this.end('nothing');
        else if (stream.length > 0) await this.deliver();
        else if (at.clock.sleepers > 0) await this.pass(at.clock.nextWakeup ?? 0);
        else break;
        check();
      }
    },
    isForgotten: () => current === undefined,
    /** The last handling has left nothing to be done later. */
    isDone: () => isDone && areEventsDone,
  };
}

const RESULTS = {
  nothing: {},
  patch: {},
  delay: { delay: 3 },
  'touch later': { delay: 2, byTouching: true },
  'at once': { delay: 0 },
} satisfies Record<string, CycleResult>;

type Ending = keyof typeof RESULTS;

type World = ReturnType<typeof world>;

function act(title: string, run: (world: World) => Promise<void>): AsyncCommand<object, World> {
  return {
    check: () => true,
    async run(_model, real) {
      await run(real);
      real.check();
    },
    toString: () => title,
  };
}

const someCommands = commands(
  [
    constant(act('edit', (world) => world.edit())),
    constant(act('deliver', (world) => world.deliver())),
    constant(act('deliver', (world) => world.deliver())),
    constantFrom(...(Object.keys(RESULTS) as Ending[])).map((kind) => act(`end: ${kind}`, (world) => world.end(kind))),
    constant(act('send', (world) => world.send())),
    constant(act('race', (world) => world.race())),
    constant(act('patch', (world) => world.end('patch'))),
    constant(act('fail', (world) => world.fail())),
    nat(6).map((seconds) => act(`pass ${seconds}`, (world) => world.pass(seconds))),
    constant(act('list', (world) => world.list())),
    constant(act('pause', (world) => world.pause())),
    constant(act('resume', (world) => world.resume())),
    constant(act('remove', (world) => world.remove())),
  ],
  { maxCommands: 60, size: 'max' },
);

describe.each([
  ['numbers', (change: number) => String(change)],
  ['anything but numbers', (change: number) => `v${(change * 7919) % 10_007}`],
])('With versions that are %s, whatever happens in whatever order', (_name, versionOf) => {
  it('one cycle runs at a time, never for what is outdated, and the newest state is the last one handled', async () => {
    await assert(
      asyncProperty(someCommands, async (all) => {
        const real = world({ versionOf });
        await asyncModelRun(() => ({ model: {}, real }), all);
        await real.rest();
        const { state, at, handled } = real;
        // It is at rest: nothing sleeps, nothing waits, and it is forgotten.
        expect([at.clock.sleepers, at.scheduler.size, at.flags.running]).toEqual([0, 0, 0]);
        expect(real.isForgotten()).toBe(true);
        if (!state.isDeleted && state.change > 0) expect(handled.at(-1)?.change).toBe(state.change);
        if (!state.isDeleted || !state.wasLost) expect(real.isDone()).toBe(true);
        if (state.isDeleted && !state.wasLost) expect(handled.at(-1)?.type).toBe('DELETED');
      }),
      { numRuns: 150 },
    );
  });

  it('the handlers of events get every event in order, once, unless it is lost in a pause', async () => {
    await assert(
      asyncProperty(someCommands, async (all) => {
        const real = world({ versionOf });
        await asyncModelRun(() => ({ model: {}, real: { ...real, pause: async () => {} } }), all);
        await real.rest();
        expect(real.eventsHandled).toEqual(real.eventsPushed);
      }),
      { numRuns: 100 },
    );
  });

  it('with a limit, they miss the oldest ones, but neither the order nor the last one', async () => {
    await assert(
      asyncProperty(someCommands, async (all) => {
        const real = world({ versionOf, eventsLimit: 2 });
        await asyncModelRun(() => ({ model: {}, real: { ...real, pause: async () => {} } }), all);
        await real.rest();
        expect(real.eventsHandled.at(-1)).toBe(real.eventsPushed.at(-1));
        let from = 0;
        for (const event of real.eventsHandled) {
          const found = real.eventsPushed.indexOf(event, from);
          expect(found).toBeGreaterThanOrEqual(from);
          from = found + 1;
        }
      }),
      { numRuns: 50 },
    );
  });
});
