import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { Awaitable, Insights, KubeClient, Peering, PeeringScope, Seconds } from '@kopf-ts/core';
import { toggle } from '@kopf-ts/core/engine';
import type { ManualClock } from '../manual-clock.js';
import { recordingLogger } from '../recording-logger.js';
import { type ConformanceCase, declareCases, type TestRunner } from './cases.js';

/**
 * A peering in a world where there is nobody else yet, and what can be done to that world.
 *
 * ```ts
 * import { manualClock, type PeeringUnderTest } from 'kopf-ts/testing';
 * const alone: PeeringUnderTest = { peering: kopf.peering.standalone(), clock: manualClock() };
 * ```
 */
export interface PeeringUnderTest {
  readonly peering: Peering;
  readonly clock: ManualClock;
  /** Default: one that fails with every request. */
  readonly client?: KubeClient;
  /** Default: nothing is known of the cluster. */
  readonly insights?: Insights;
  /** The namespaces to join: at least two different ones. Default: two namespaces without any meaning. */
  readonly namespaces?: readonly [string | null, string | null];
  /**
   * Another operator, which is there before us and goes first until it leaves. Absent for peerings that know of no
   * others.
   */
  readonly elder?: () => Awaitable<{ leave(): Awaitable<unknown> }>;
  /** Takes the work over from us while we are at it. Absent if that is impossible. */
  readonly usurp?: () => Awaitable<unknown>;
  /** The peering of another operator, which comes after us and waits until we leave. */
  readonly successor?: Peering;
  /** The cluster answers nobody until the returned function is called. */
  readonly outage?: () => Awaitable<() => Awaitable<unknown>>;
  /** Called after each case. */
  readonly cleanUp?: () => Awaitable<unknown>;
}

/**
 * How quick a peering is.
 *
 * ```ts
 * import type { PeeringExpectations } from 'kopf-ts/testing';
 * const patient: PeeringExpectations = { promptness: 120 };
 * ```
 */
export interface PeeringExpectations {
  /** How long any ruling may take, and leaving, too. Default: 30 seconds. */
  readonly promptness?: Seconds;
}

type Create = () => Awaitable<PeeringUnderTest>;

/**
 * What every peering must hold. The cases about others are there only if the world has others in it.
 *
 * ```ts
 * import { manualClock, peeringCases } from 'kopf-ts/testing';
 * const create = () => ({ peering: kopf.peering.standalone(), clock: manualClock() });
 * for (const { name, run } of peeringCases(create)) it(name, run);
 * ```
 */
export function peeringCases(
  create: Create,
  { promptness = 30 }: PeeringExpectations = {},
): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (world: World) => Promise<void>): void => {
    const runAnew = async (): Promise<void> => {
      const world = new World(await create(), promptness);
      try {
        await run(world);
      } finally {
        await world.cleanUp();
      }
    };
    cases.push({ name, run: runAnew });
  };

  add('lets the operator work if it is alone', async (world) => {
    const operator = world.join();
    await world.untilPrompt();
    operator.assertWorking();
  });

  add('stays until it is aborted', async (world) => {
    const operator = world.join();
    await world.pass(600);
    assert.equal(operator.outcome, undefined, 'it has ended by itself');
    operator.assertWorking();
  });

  add('ends in time and without an error when aborted', async (world) => {
    const operator = world.join();
    await world.untilPrompt();
    await world.leave(operator);
  });

  add('does nothing if already aborted', async (world) => {
    const operator = world.join({ isAborted: true });
    await world.untilPrompt();
    assert.equal(operator.outcome, 'resolved');
    assert.ok(operator.isPaused, 'the operator that is to stop is told to work');
  });

  add('leaves no timers and no listeners behind', async (world) => {
    const { sleepers } = world.clock;
    const operator = world.join();
    await world.untilPrompt();
    await world.leave(operator);
    assert.equal(world.clock.sleepers, sleepers, 'somebody still sleeps');
    assert.equal(getEventListeners(operator.signal, 'abort').length, 0, 'somebody still listens');
  });

  add('with a write guard, forbids writing after it has left', async (world) => {
    const operator = world.join();
    await world.untilPrompt();
    await world.leave(operator);
    assert.ok(operator.mayWrite !== true, 'it may write');
  });

  add('can be joined for several namespaces, and left for one of them', async (world) => {
    const [first, second] = [world.join({ namespace: 0 }), world.join({ namespace: 1 })];
    await world.untilPrompt();
    first.assertWorking();
    second.assertWorking();
    await world.leave(first);
    await world.untilPrompt();
    assert.equal(second.outcome, undefined, 'the other namespace is left, too');
    second.assertWorking();
  });

  add('can be joined again after it was left', async (world) => {
    const operator = world.join();
    await world.untilPrompt();
    await world.leave(operator);
    const again = world.join();
    await world.untilPrompt();
    again.assertWorking();
  });

  add('survives a cluster that is unreachable at first', async (world) => {
    const end = await world.target.outage?.();
    const operator = world.join();
    await world.pass(600);
    assert.equal(operator.outcome, undefined, 'it has given up');
    await end?.();
    await world.untilPrompt();
    operator.assertWorking();
  });

  add('survives a cluster that is unreachable for a while', async (world) => {
    const operator = world.join();
    await world.untilPrompt();
    const end = await world.target.outage?.();
    await world.pass(600);
    assert.equal(operator.outcome, undefined, 'it has given up');
    await end?.();
    await world.untilPrompt();
    operator.assertWorking();
  });

  add('ends in time even if the cluster is unreachable', async (world) => {
    const operator = world.join();
    await world.untilPrompt();
    await world.target.outage?.();
    await world.leave(operator);
  });

  add('never lets the operator work while another one has precedence, not even for a moment', async (world) => {
    if (world.target.elder === undefined) return;
    await world.target.elder();
    await world.untilPrompt();
    const operator = world.join();
    await world.pass(600);
    operator.assertPaused();
    assert.equal(operator.turns, 0, 'it was told to work for a moment');
  });

  add('lets the operator work once the other one is gone', async (world) => {
    if (world.target.elder === undefined) return;
    const elder = await world.target.elder();
    await world.untilPrompt();
    const operator = world.join();
    await world.untilPrompt();
    await elder.leave();
    await world.untilPrompt();
    operator.assertWorking();
  });

  add('pauses the operator when another one takes over', async (world) => {
    if (world.target.usurp === undefined) return;
    const operator = world.join();
    await world.untilPrompt();
    await world.target.usurp();
    await world.untilPrompt();
    operator.assertPaused();
  });

  add('makes way for another one when it leaves', async (world) => {
    if (world.target.successor === undefined) return;
    const operator = world.join();
    await world.untilPrompt();
    const successor = world.join({ peering: world.target.successor });
    await world.untilPrompt();
    await world.leave(operator);
    await world.untilPrompt();
    successor.assertWorking();
  });

  return cases;
}

/**
 * Declares the cases of a peering as tests.
 *
 * ```ts
 * import { manualClock, testPeering } from 'kopf-ts/testing';
 * testPeering(() => ({ peering: kopf.peering.standalone(), clock: manualClock() }), { describe, it });
 * ```
 */
export function testPeering(create: Create, runner?: TestRunner, expectations?: PeeringExpectations): void {
  declareCases('peering', peeringCases(create, expectations), runner);
}

class World {
  readonly target: PeeringUnderTest;
  readonly clock: ManualClock;
  readonly #promptness: Seconds;
  readonly #joined: Joined[] = [];

  constructor(target: PeeringUnderTest, promptness: Seconds) {
    this.target = target;
    this.clock = target.clock;
    this.#promptness = promptness;
  }

  join(options: { namespace?: 0 | 1; peering?: Peering; isAborted?: true } = {}): Joined {
    const { namespace = 0, peering = this.target.peering, isAborted } = options;
    const joined = new Joined(this.target, peering, (this.target.namespaces ?? ['ns1', 'ns2'])[namespace], isAborted);
    this.#joined.push(joined);
    return joined;
  }

  pass(seconds: Seconds): Promise<void> {
    return this.clock.advance(seconds);
  }

  /** By then, all that has happened is known and decided upon. */
  untilPrompt(): Promise<void> {
    return this.pass(this.#promptness);
  }

  async leave(operator: Joined): Promise<void> {
    operator.abort();
    await this.untilPrompt();
    assert.notEqual(operator.outcome, undefined, `it has not ended within ${this.#promptness} seconds`);
    assert.equal(operator.outcome, 'resolved', 'it has ended with an error');
  }

  async cleanUp(): Promise<void> {
    for (const operator of this.#joined) operator.abort();
    await this.untilPrompt();
    await this.target.cleanUp?.();
  }
}

/** An operator that has joined. */
class Joined {
  readonly #aborting = new AbortController();
  readonly #paused = toggle(true);
  #writeGuard: (() => boolean) | undefined;
  outcome: 'resolved' | 'rejected' | undefined;
  /** How many times it was turned from working to pausing or back. */
  turns = 0;

  constructor(target: PeeringUnderTest, peering: Peering, namespace: string | null, isAborted: true | undefined) {
    const paused = this.#paused;
    if (isAborted) this.abort();
    const scope: PeeringScope = {
      namespace,
      insights: target.insights ?? NOTHING_KNOWN,
      client: target.client ?? NO_CLIENT,
      clock: target.clock,
      logger: recordingLogger(),
      paused: {
        get isOn() {
          return paused.isOn;
        },
        turn: (on) => {
          if (on !== paused.isOn) this.turns += 1;
          paused.turn(on);
        },
        whenOn: (signal) => paused.whenOn(signal),
        whenOff: (signal) => paused.whenOff(signal),
      },
      guardWrites: (mayWrite) => {
        this.#writeGuard = mayWrite;
      },
      signal: this.signal,
    };
    void this.#stay(peering, scope);
  }

  async #stay(peering: Peering, scope: PeeringScope): Promise<void> {
    try {
      await peering.join(scope);
      this.outcome = 'resolved';
    } catch {
      this.outcome = 'rejected';
    }
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  get isPaused(): boolean {
    return this.#paused.isOn;
  }

  /** `undefined` if there is no write guard. */
  get mayWrite(): boolean | undefined {
    return this.#writeGuard?.();
  }

  abort(): void {
    this.#aborting.abort(new Error('The operator stops.'));
  }

  assertWorking(): void {
    assert.ok(!this.isPaused, 'the operator is paused, and should work');
    assert.ok(this.mayWrite !== false, 'the operator works, but may not write');
  }

  assertPaused(): void {
    assert.ok(this.isPaused, 'the operator works, and should be paused');
    assert.ok(this.mayWrite !== true, 'the operator is paused, but may write');
  }
}

const NO_CLIENT: KubeClient = {
  request: () => Promise.reject(new Error('There is no cluster.')),
  // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
  async *stream() {
    throw new Error('There is no cluster.');
  },
};

const NOTHING_KNOWN: Insights = {
  watched: new Set(),
  indexed: new Set(),
  webhook: new Set(),
  namespaces: new Set(),
  find: () => undefined,
  whenReady: () => Promise.resolve(),
  async *revisions() {
    yield;
  },
};
