import assert from 'node:assert/strict';
import type { Awaitable, Control, ControlledObject, ObjectQuery } from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from '../cases.js';

/**
 * An operator under control, with one handler of creations and updates. It fails for some objects, to be called again
 * after an hour, and succeeds for others.
 *
 * ```ts
 * import type { ControlUnderTest } from 'kopf-ts/testing';
 * type Cluster = Omit<ControlUnderTest, 'control' | 'resource'>;
 * const subject = (operator: kopf.Operator, cluster: Cluster): ControlUnderTest =>
 *   ({ control: operator.control, resource: 'kopfexamples', ...cluster });
 * ```
 */
export interface ControlUnderTest {
  readonly control: Control;
  /** Of the objects. */
  readonly resource: string;
  /** Each of these resolves when nothing goes on any more. The handler fails for the object if told so. */
  create(name: string, options?: { readonly fails?: boolean }): Awaitable<unknown>;
  edit(name: string): Awaitable<unknown>;
  remove(name: string): Awaitable<unknown>;
  /** Resolves when all that can happen has happened. */
  settle(): Awaitable<unknown>;
  /** How often the handler was called for the object so far. */
  calls(name: string): number;
  /** Called after each case. */
  cleanUp?(): Awaitable<unknown>;
}

type Create = () => Awaitable<ControlUnderTest>;

const FAILING = { fails: true };
type Bench = Omit<ControlUnderTest, 'cleanUp'>;

/**
 * What every control must hold.
 *
 * ```ts
 * import { type ControlUnderTest, controlCases } from 'kopf-ts/testing';
 * const declare = (create: () => ControlUnderTest): void => {
 *   for (const { name, run } of controlCases(create)) it(name, run);
 * };
 * ```
 */
export function controlCases(create: Create): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (bench: Bench) => Promise<void>): void => {
    const runAnew = async (): Promise<void> => {
      const target = await create();
      try {
        await run(target);
      } finally {
        await target.cleanUp?.();
      }
    };
    cases.push({ name, run: runAnew });
  };

  add('knows no objects at first', async ({ control }) => {
    assert.deepEqual(control.objects(), []);
    assert.equal(control.isPaused, false);
    assert.equal(control.retry({ name: 'one' }), 0);
    assert.equal(control.pause({ name: 'one' }), 0);
    assert.equal(control.resume({ name: 'one' }), 0);
  });

  add('lists the objects with their states', async ({ control, create: make }) => {
    await make('one', FAILING);
    const [one, ...others] = control.objects();
    assert.deepEqual(others, []);
    assert.equal(one?.object.name, 'one');
    assert.equal(one?.phase, 'waiting');
    assert.equal(one?.isPaused, false);
    assert.equal(typeof one?.until, 'number', 'it is not known until when it waits');
    assert.equal(typeof one?.version, 'string', 'it is not known which version was handled');
    assert.deepEqual([one?.calls, one?.daemons], [[], []]);
  });

  add('finds objects by their references', async ({ control, create: make, resource }) => {
    for (const name of ['one', 'two', 'three']) await make(name);
    const [uid, namespace] = [named(control, 'two')?.object.uid, named(control, 'two')?.object.namespace];
    assert.deepEqual(names(control, { name: 'two' }), ['two']);
    assert.deepEqual(names(control, { uid }), ['two']);
    assert.deepEqual(names(control, { resource }), ['one', 'three', 'two']);
    assert.deepEqual(names(control, { resource, namespace, name: 'one' }), ['one']);
    assert.deepEqual(names(control, { resource, namespace: 'elsewhere' }), []);
    assert.deepEqual(names(control, { name: 'one', uid }), []);
    assert.deepEqual(names(control, { resource: 'unheardofs' }), []);
  });

  add('calls waiting handlers at once, and no others', async ({ control, create: make, settle, calls }) => {
    await make('one', FAILING);
    await make('two', FAILING);
    assert.equal(control.retry({ name: 'one' }), 1);
    await settle();
    assert.deepEqual([calls('one'), calls('two')], [2, 1]);
    assert.equal(named(control, 'one')?.phase, 'waiting');
  });

  add('retries as often as requested', async ({ control, create: make, settle, calls, resource }) => {
    await make('one', FAILING);
    for (let round = 1; round <= 3; round++) {
      assert.equal(control.retry({ resource }), 1);
      await settle();
      assert.equal(calls('one'), round + 1);
    }
  });

  add(
    'calls no handlers for a paused object until it is resumed',
    async ({ control, create: make, edit, settle, calls }) => {
      await make('one');
      await make('two');
      assert.equal(control.pause({ name: 'one' }), 1);
      assert.equal(named(control, 'one')?.isPaused, true);
      assert.equal(named(control, 'two')?.isPaused, false);
      for (const name of ['one', 'two', 'one']) await edit(name);
      assert.deepEqual(
        [calls('one'), calls('two')],
        [1, 2],
        'a handler was called for a paused object, or not for others',
      );
      assert.equal(control.resume({ name: 'one' }), 1);
      await settle();
      assert.equal(named(control, 'one')?.isPaused, false);
      assert.equal(calls('one'), 2, 'what has happened meanwhile is lost, or is handled more than once');
    },
  );

  add('retries a paused object only after it is resumed', async ({ control, create: make, settle, calls }) => {
    await make('one', FAILING);
    control.pause({ name: 'one' });
    control.retry({ name: 'one' });
    await settle();
    assert.equal(calls('one'), 1);
    control.resume({ name: 'one' });
    await settle();
    assert.equal(calls('one'), 2);
  });

  add('counts only what it changes', async ({ control, create: make, resource }) => {
    await make('one', FAILING);
    await make('two', FAILING);
    assert.equal(control.resume({ name: 'one' }), 0);
    assert.equal(control.pause({ name: 'one' }), 1);
    assert.equal(control.pause({ name: 'one' }), 0);
    assert.equal(control.pause({ resource }), 1);
    assert.equal(control.resume({ resource }), 2);
    assert.equal(control.resume({ resource }), 0);
  });

  add('pauses the whole operator', async ({ control, create: make, edit, settle, calls }) => {
    await make('one');
    control.pause();
    assert.equal(control.isPaused, true);
    assert.equal(control.pause(), 0, 'it was paused already');
    await settle();
    await edit('one');
    await make('two');
    assert.deepEqual([calls('one'), calls('two')], [1, 0], 'a handler was called, though all is paused');
    control.resume();
    assert.equal(control.isPaused, false);
    assert.equal(control.resume(), 0, 'it was resumed already');
    await settle();
    assert.deepEqual([calls('one'), calls('two')], [2, 1], 'what has happened meanwhile is lost');
  });

  add('forgets deleted objects, even paused ones', async ({ control, create: make, remove, settle }) => {
    await make('one');
    await make('two');
    await remove('two');
    assert.deepEqual(names(control), ['one']);
    control.pause({ name: 'one' });
    await remove('one');
    control.resume({ name: 'one' });
    await settle();
    assert.deepEqual(names(control), []);
  });

  add('refuses empty or invalid queries', async ({ control, create: make, calls, settle }) => {
    await make('one', FAILING);
    const bad = [{}, { name: undefined }, { nmae: 'one' }, { name: '' }, { name: 5 }, 'one', null];
    for (const query of bad as unknown as ObjectQuery[]) {
      for (const verb of ['retry', 'pause', 'resume'] as const) {
        assert.throws(() => control[verb](query), Error, `${verb}() takes ${JSON.stringify(query)} for a query`);
      }
    }
    await settle();
    assert.equal(calls('one'), 1);
    assert.equal(named(control, 'one')?.isPaused, false);
  });

  return cases;
}

/**
 * Declares the cases above as tests.
 *
 * ```ts
 * import { type ControlUnderTest, testControl } from 'kopf-ts/testing';
 * const declare = (create: () => ControlUnderTest): void => testControl(create, { describe, it });
 * ```
 */
export function testControl(create: Create, runner?: TestRunner): void {
  declareCases('Control', controlCases(create), runner);
}

function named(control: Control, name: string): ControlledObject | undefined {
  return control.objects().find(({ object }) => object.name === name);
}

function names(control: Control, query?: ObjectQuery): readonly (string | undefined)[] {
  return control
    .objects(query)
    .map(({ object }) => object.name)
    .sort();
}
