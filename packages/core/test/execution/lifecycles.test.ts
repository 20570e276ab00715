import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TemporaryError } from '../../src/errors.js';
import { getDefaultLifecycle, setDefaultLifecycle } from '../../src/execution/defaults.js';
import { executeAll } from '../../src/execution/execute.js';
import { allAtOnce, asap, type LifeCycle, oneByOne, randomized, shuffled } from '../../src/execution/lifecycles.js';
import { State } from '../../src/execution/progress/state.js';
import { settings } from '../../src/settings.js';
import { changeHandler, changingCause, watchingCause } from './helpers.js';

const clock = manualClock();
const [a, b, c] = ['a', 'b', 'c'].map((id) => changeHandler({ id })) as [never, never, never];
const handlers = [a, b, c] as ReturnType<typeof changeHandler>[];
const fresh = State.fromScratch(clock).withHandlers(handlers);
const tried = (state: State, id: string) =>
  state.withOutcomes(new Map([[id, { final: false, error: new Error(), delay: undefined, subrefs: [] }]]));

describe.each([
  ['allAtOnce', allAtOnce],
  ['oneByOne', oneByOne],
  ['randomized', randomized],
  ['shuffled', shuffled],
  ['asap', asap],
])('The lifecycle "%s"', (_name, lifecycle) => {
  it('picks nothing of nothing', () => {
    expect(lifecycle([], { state: fresh })).toEqual([]);
  });

  it('picks only of what it is given, and changes nothing of it', () => {
    const given = Object.freeze([...handlers]);
    const picked = lifecycle(given, { state: fresh });
    expect(picked.length).toBeGreaterThan(0);
    expect(given).toEqual(expect.arrayContaining([...picked]));
  });
});

describe('Lifecycles', () => {
  it('allAtOnce picks all in their order', () => {
    expect(allAtOnce(handlers, { state: fresh })).toEqual([a, b, c]);
  });

  it('oneByOne picks the first one', () => {
    expect(oneByOne(handlers, { state: fresh })).toEqual([a]);
  });

  it.each([
    [0, a],
    [0.34, b],
    [0.99, c],
  ])('randomized picks one: at the random %d, it is $id', (random, picked) => {
    expect(randomized(handlers, { state: fresh, random: () => random })).toEqual([picked]);
  });

  it('shuffled picks all in a random order', () => {
    const ranks = [0.5, 0.9, 0.1];
    expect(shuffled(handlers, { state: fresh, random: () => ranks.shift() ?? 0 })).toEqual([c, a, b]);
  });

  it('asap picks the least tried one, and the first of equals', () => {
    expect(asap(handlers, { state: fresh })).toEqual([a]);
    expect(asap(handlers, { state: tried(fresh, 'a') })).toEqual([b]);
    expect(asap(handlers, { state: tried(tried(tried(fresh, 'a'), 'b'), 'c') })).toEqual([a]);
  });
});

describe('The default lifecycle', () => {
  afterEach(() => setDefaultLifecycle(undefined));

  it('is asap', () => {
    expect(getDefaultLifecycle()).toBe(asap);
  });

  it('can be set, and reset; with a warning each time', () => {
    const logger = recordingLogger();
    setDefaultLifecycle(oneByOne, { logger });
    expect(getDefaultLifecycle()).toBe(oneByOne);
    setDefaultLifecycle(shuffled, { logger });
    expect(getDefaultLifecycle()).toBe(shuffled);
    setDefaultLifecycle(undefined, { logger });
    expect(getDefaultLifecycle()).toBe(asap);
    expect(logger.messages('warn')).toEqual([
      'The default lifecycle is set: it is oneByOne now.',
      'The default lifecycle is changed: it is shuffled now.',
      'The default lifecycle is reset: it is asap now.',
    ]);
  });

  it('is common to all copies of the package', () => {
    setDefaultLifecycle(oneByOne);
    const shared = (globalThis as Record<symbol, unknown>)[Symbol.for('kopf-ts.defaults')];
    expect(shared).toHaveProperty('lifecycle', oneByOne);
  });
});

describe('Executing several handlers', () => {
  const calls: string[] = [];
  const logging = (id: string, fields: object = {}) =>
    changeHandler({ id, fn: () => Promise.resolve().then(() => void calls.push(id)), ...fields });
  const common = { clock, settings: settings() };
  afterEach(() => void calls.splice(0));

  it('calls them one after another, in the order picked', async () => {
    const all = ['x', 'y', 'z'].map((id) => logging(id));
    const lifecycle: LifeCycle = (offered) => [...offered].reverse();
    const state = State.fromScratch(clock).withHandlers(all);
    const outcomes = await executeAll({ ...common, handlers: all, cause: changingCause(), state, lifecycle });
    expect(calls).toEqual(['z', 'y', 'x']);
    expect([...outcomes.keys()]).toEqual(['z', 'y', 'x']);
  });

  it('offers to the lifecycle only those that are due', async () => {
    const all = ['done', 'delayed', 'due'].map((id) => logging(id));
    const state = State.fromScratch(clock)
      .withHandlers(all)
      .withOutcomes(
        new Map([
          ['done', { final: true, result: undefined, subrefs: [] }],
          ['delayed', { final: false, error: new TemporaryError('x'), delay: 1, subrefs: [] }],
        ]),
      );
    await executeAll({ ...common, handlers: all, cause: changingCause(), state, lifecycle: allAtOnce });
    expect(calls).toEqual(['due']);
  });

  it('gives to the lifecycle the kwargs of the cause, the state, and the randomness', async () => {
    const lifecycle = vi.fn(() => []);
    const [state, random] = [State.fromScratch(clock), () => 0.5];
    const cause = changingCause({ reason: 'update' });
    await executeAll({ ...common, handlers: [], cause, state, random, lifecycle: lifecycle as unknown as LifeCycle });
    expect(lifecycle).toHaveBeenCalledWith(
      [],
      expect.objectContaining({ reason: 'update', name: 'name1', state, random }),
    );
  });

  it('uses the default lifecycle for changes, and calls all at once for everything else', async () => {
    const all = ['x', 'y'].map((id) => logging(id));
    const state = State.fromScratch(clock).withHandlers(all);
    await executeAll({ ...common, handlers: all, cause: changingCause(), state });
    expect(calls.splice(0)).toEqual(['x']);
    await executeAll({ ...common, handlers: all, cause: watchingCause(), state });
    expect(calls).toEqual(['x', 'y']);
  });

  it('refuses a lifecycle that picks what it was not offered', () => {
    const lifecycle = (() => [logging('stranger')]) as unknown as LifeCycle;
    const state = State.fromScratch(clock);
    const executed = () => executeAll({ ...common, handlers: [], cause: changingCause(), state, lifecycle });
    expect(executed).toThrow("the handler 'stranger', which was not among its choices");
  });

  it('keeps the outcomes of those called before the rest is not needed any more', async () => {
    const controller = new AbortController();
    const all = [changeHandler({ id: 'x', fn: () => controller.abort() }), logging('y')];
    const state = State.fromScratch(clock).withHandlers(all);
    const { signal } = controller;
    const outcomes = await executeAll({ ...common, handlers: all, cause: watchingCause(), state, signal });
    expect([...outcomes.keys()]).toEqual(['x']);
    expect(calls).toEqual([]);
  });
});

describe('Handlers whose progress is not stored', () => {
  /** As activities, daemons and timers are run: round by round, with the delays slept. */
  async function runUntilDone(fn: () => void, options: object) {
    const moving = manualClock();
    const handler = changeHandler({ fn, ...options });
    let state = State.fromScratch(moving).withHandlers([handler]);
    while (!state.done) {
      const common = { clock: moving, settings: settings(), cause: changingCause() };
      state = state.withOutcomes(await executeAll({ ...common, handlers: [handler], state }));
      if (!state.done) await moving.advance(state.delay ?? 0);
    }
    return moving.now();
  }

  it.each([
    { delay: 0, limits: { retries: 3 }, calls: 3, seconds: 0 },
    { delay: 123, limits: { retries: 3 }, calls: 3, seconds: 246 },
    { delay: 1.23, limits: { retries: 3 }, calls: 3, seconds: 2.46 },
    { delay: 1.23, limits: { timeout: 4 }, calls: 4, seconds: 3.69 },
    { delay: 3.45, limits: { retries: 3 }, calls: 3, seconds: 6.9 },
  ])(
    'are retried within their limits: with $limits and the delay $delay',
    async ({ delay, limits, calls, seconds }) => {
      const fn = vi.fn(() => {
        throw new TemporaryError('not yet', { delay });
      });
      expect(await runUntilDone(fn, limits)).toBeCloseTo(seconds, 6);
      expect(fn).toHaveBeenCalledTimes(calls);
    },
  );

  it('are retried after the backoff for arbitrary errors', async () => {
    const fn = vi.fn().mockRejectedValueOnce(new Error('boo'));
    expect(await runUntilDone(fn, { backoff: 1.23 })).toBeCloseTo(1.23, 6);
    expect(fn).toHaveBeenCalledTimes(2);
  });
});
