import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eventually } from '../support/operators/operators.js';
import type { RunningProgram } from '../support/operators/programs.js';
import { describeOnRealCluster } from '../support/real-cluster.js';
import { type Framework, LIFETIME, meeting } from './peers.js';

const pairs: [lower: Framework, higher: Framework][] = [
  ['kopf-ts', 'kopf-ts'],
  ['kopf-ts', 'Kopf'],
  ['Kopf', 'kopf-ts'],
];

/** What a busy machine may add to any reaction, in seconds. */
const SLOWNESS = 5;

describeOnRealCluster('peers in one namespace', () => {
  const place = meeting();
  const create = (name: string) => place.things.create(place.namespace, name, { spec: { size: 1 } });
  const isHandledBy = (who: string, name: string, withinSeconds = 30) =>
    eventually(() => expect(place.counter.by(who)).toContain(`create ${name}`), withinSeconds);
  const begin = async (framework: Framework, who: string, priority: number, first: string) => {
    const started = place.start(framework, who, priority);
    await create(first);
    await isHandledBy(who, first);
    return started;
  };
  const beginBoth = async ([low, high]: readonly [Framework, Framework]) => {
    const lower = await begin(low, 'lower', 1, 'first');
    const higher = place.start(high, 'higher', 10);
    await lower.logs(/Pausing operations/);
    // Kopf says it before it does it: what comes in that moment is still its own. Ours gives it the time, so here, too.
    await eventually(() => expect(place.counter.by('higher')).toContain('resume first by higher'), 30);
    await create('second');
    await isHandledBy('higher', 'second');
    return { lower, higher };
  };
  const skipWithoutKopf = (frameworks: readonly Framework[], skip: (why: string) => void) => {
    if (frameworks.includes('Kopf') && place.whyNoKopf !== undefined) skip(place.whyNoKopf);
  };

  it.for(pairs)(
    'the lower one (%s) works only while the higher one (%s) does not',
    { timeout: 120_000 },
    async (pair, { skip }) => {
      skipWithoutKopf(pair, skip);
      const { lower, higher } = await beginBoth(pair);
      expect(lower.log).toMatch(/Pausing operations in favour of .*higher/);
      await create('third');
      await isHandledBy('higher', 'third');

      higher.kill('SIGTERM');
      expect(await higher.ended).toBe(0);
      await create('fourth');
      await isHandledBy('lower', 'fourth');
      await lower.logs(/Resuming operations/);
      expect(place.counter.by('lower')).not.toContain('create third');
      expect(place.counter.repeated).toEqual({});
    },
  );

  it.for(pairs)(
    'nothing is handled twice or lost when %s hands over to %s, and back',
    { timeout: 120_000 },
    async (pair, { skip }) => {
      skipWithoutKopf(pair, skip);
      const [from, to] = pair;
      // Kopf neither waits when it comes nor lets others wait when it leaves: both can be at the same object then.
      // So, nothing comes at these moments; with ours, it does, and takes its time.
      const isInstant = to === 'Kopf';
      const lower = place.start(from, 'lower', 1, isInstant ? 0 : 0.3);
      await create('first');
      await isHandledBy('lower', 'first');
      const flow = flowOf(create);
      await flow.goesOn(1);
      if (isInstant) await flow.hold(1);
      const higher = place.start(to, 'higher', 10, isInstant ? 0 : 0.3);
      await lower.logs(/Pausing operations/);
      flow.goOn();
      const isNew = (what: string): boolean => !what.startsWith('resume');
      await eventually(() => expect(place.counter.by('higher').filter(isNew)).not.toEqual([]));
      await flow.goesOn(1);
      if (isInstant) await flow.hold(1);
      higher.kill('SIGTERM');
      expect(await higher.ended).toBe(0);
      flow.goOn();
      const before = place.counter.by('lower').length;
      await eventually(() => expect(place.counter.by('lower').length).toBeGreaterThan(before));
      await flow.goesOn(1);
      const created = await flow.stop();
      await eventually(() => expect(place.counter.by()).toEqual(expect.arrayContaining([...created])), 30);
      // Should there be more than that, then soon.
      await pause(1000);
      expect(place.counter.repeated).toEqual({});
    },
  );

  it.for(pairs)(
    'a dead peer is replaced after its lifetime (%s after %s)',
    { timeout: 120_000 },
    async (pair, { skip }) => {
      skipWithoutKopf(pair, skip);
      const { higher } = await beginBoth(pair);
      // A sign of life, or several.
      await pause(1500);
      higher.kill('SIGKILL');
      await higher.ended;
      const diedAt = performance.now();
      await create('third');
      await isHandledBy('lower', 'third', LIFETIME + SLOWNESS);
      const seconds = (performance.now() - diedAt) / 1000;
      // It was alive for a second or a little more after its last sign of life; lifetimes are in whole seconds.
      expect(seconds).toBeGreaterThan(LIFETIME - 3);
      expect(place.counter.repeated).toEqual({});
    },
  );

  it.for(pairs)(
    'those of equal priorities both pause and say why (%s, %s)',
    { timeout: 120_000 },
    async (pair, { skip }) => {
      skipWithoutKopf(pair, skip);
      const one = await begin(pair[0], 'one', 5, 'first');
      const two = place.start(pair[1], 'two', 5);
      await saysWhy(one, 'two');
      await saysWhy(two, 'one');
      // Kopf says it before it does it, and not when it has done it.
      await pause(1000);
      await create('second');
      await pause(2000);
      expect(place.counter.by()).toEqual(['create first']);
      two.kill('SIGTERM');
      await two.ended;
      await isHandledBy('one', 'second');
      expect(place.counter.by('two')).toEqual([]);
      expect(place.counter.repeated).toEqual({});
    },
  );
});

const saysWhy = (program: RunningProgram, peer: string) =>
  program.logs(new RegExp(`Possibly conflicting operators with the same priority.*${peer}`));

interface Flow {
  goesOn(seconds: number): Promise<void>;
  /** Nothing comes from now on, and it is waited for a while, so that the last one can be handled. */
  hold(seconds: number): Promise<void>;
  goOn(): void;
  /** What was to be handled, as the counter is told of it. */
  stop(): Promise<readonly string[]>;
}

/** Objects that come all the time. */
function flowOf(create: (name: string) => Promise<unknown>): Flow {
  const created: string[] = [];
  let [isOver, isHeld] = [false, false];
  const running = (async () => {
    while (!isOver) {
      await pause(80);
      if (isHeld) continue;
      const name = `flow-${created.length}`;
      await create(name);
      created.push(`create ${name}`);
    }
  })();
  return {
    goesOn: (seconds) => pause(seconds * 1000),
    async hold(seconds) {
      isHeld = true;
      await pause(seconds * 1000);
    },
    goOn() {
      isHeld = false;
    },
    async stop() {
      isOver = true;
      await running;
      return created;
    },
  };
}
