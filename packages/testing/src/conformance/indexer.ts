import assert from 'node:assert/strict';
import {
  type AnyObject,
  type Awaitable,
  createRegistry,
  type HandlerId,
  type Index,
  type Indexer,
  PermanentError,
  type Registry,
  type Resource,
  type Settings,
  settings,
  TemporaryError,
  type WatchEvent,
} from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock } from '../manual-clock.js';
import { recordingLogger } from '../recording-logger.js';
import { type ConformanceCase, declareCases, type TestRunner } from './cases.js';

/**
 * What an indexer is made of: the functions that it runs, and the time by which it runs them.
 *
 * ```ts
 * import { type IndexerParts, manualClock } from 'kopf-ts/testing';
 * const parts: IndexerParts = { registry: kopf.createRegistry(), settings: kopf.settings(), clock: manualClock() };
 * ```
 */
export interface IndexerParts {
  readonly registry: Registry;
  readonly settings: Settings;
  readonly clock: ManualClock;
}

type Create = (parts: IndexerParts) => Awaitable<Indexer>;

/** An indexer with what it is made of, and with ways to use it. */
interface Bench extends IndexerParts {
  readonly indexer: Indexer;
  readonly index: Registry['index'];
  /** Shows the object to the indexer, and gives whatever it has returned. */
  see(object: AnyObject, type?: WatchEvent['type']): Awaitable<void>;
  /** All that is in the index: values by keys as JSON, both in an order of their own. */
  contents(id: HandlerId): Record<string, unknown[]>;
}

const examples: Resource = makeResource({
  ...{ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', singular: 'kopfexample', kind: 'KopfExample' },
});

/**
 * What every indexer must hold.
 *
 * ```ts
 * import { indexerCases } from 'kopf-ts/testing';
 * for (const { name, run } of indexerCases((parts) => kopf.indexing.memoryIndexer(parts))) it(name, run);
 * ```
 */
export function indexerCases(create: Create): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (bench: Bench) => Promise<void>): void => {
    cases.push({ name, run: async () => run(await makeBench(create)) });
  };

  add('has an empty index for each function from the start', async ({ index, indexer }) => {
    const ref = index('kopfexamples', { id: 'fn' }, () => 1);
    assert.equal(indexer.indices.get('fn')?.size, 0);
    assert.equal(indexer.indices.get(ref), indexer.indices.get('fn'), 'the same by token and by id');
    assert.deepEqual(
      [...indexer.indices].map(([id]) => id),
      ['fn'],
    );
    assert.equal(indexer.indices.get('unknown'), undefined);
  });

  add('stores the values of a mapping under its keys', async ({ index, see, contents }) => {
    index('kopfexamples', { id: 'fn' }, ({ name }) => ({ a: name, b: null, [name]: { nested: name } }));
    await see(example('one'));
    assert.deepEqual(contents('fn'), { '"a"': ['one'], '"b"': [null], '"one"': [{ nested: 'one' }] });
  });

  add('stores anything but mappings under null', async ({ index, see, contents }) => {
    index('kopfexamples', { id: 'text' }, ({ name }) => name);
    index('kopfexamples', { id: 'zero' }, () => 0);
    index('kopfexamples', { id: 'list' }, ({ name }) => [name]);
    await see(example('one'));
    assert.deepEqual(contents('text'), { null: ['one'] });
    assert.deepEqual(contents('zero'), { null: [0] });
    assert.deepEqual(contents('list'), { null: [['one']] });
  });

  add('accepts any keys of a Map, and finds them by structure', async ({ index, indexer, see }) => {
    const ref = index('kopfexamples', { id: 'fn' }, ({ namespace, name }) => {
      return new Map<unknown, string>([
        [[namespace, name], 'list'],
        [{ a: 1, b: 2 }, 'object'],
        [1, 'number'],
      ]);
    });
    await see(example('one'));
    const found = indexer.indices.get<unknown, string>(ref);
    const values = [['ns', 'one'], { b: 2, a: 1 }, 1].map((key) => [...(found.get(key) ?? [])]);
    assert.deepEqual(values, [['list'], ['object'], ['number']]);
    const strangers = [['one', 'ns'], ['ns', 'one', 1], 'ns,one', '["ns","one"]', { a: 1 }, '1', null];
    assert.deepEqual(
      strangers.filter((key) => found.has(key)),
      [],
    );
    await see(example('two'));
    assert.equal(found.get(1)?.size, 2);
  });

  add('replaces the previous values of the object', async ({ index, see, contents }) => {
    index('kopfexamples', { id: 'value' }, ({ spec }) => spec['value'] as number);
    index('kopfexamples', { id: 'keys' }, ({ spec }) => spec['mapping'] as Record<string, number>);
    await see(example('one', { value: 1, mapping: { a: 1, b: 1 } }));
    await see(example('one', { value: 2, mapping: { b: 2, c: 2 } }));
    assert.deepEqual(contents('value'), { null: [2] });
    assert.deepEqual(contents('keys'), { '"b"': [2], '"c"': [2] });
    await see(example('one', { value: 3, mapping: {} }));
    assert.deepEqual(contents('keys'), {});
  });

  for (const nothing of [undefined, null]) {
    add(`keeps what the object has if the function returns ${nothing}`, async ({ index, see, contents }) => {
      index('kopfexamples', { id: 'fn' }, ({ spec }) => (spec['value'] as number | undefined) ?? nothing);
      await see(example('one', { value: 1 }));
      await see(example('one', {}));
      await see(example('two', {}));
      assert.deepEqual(contents('fn'), { null: [1] });
    });
  }

  add('keeps values of several objects under one key, even equal ones', async ({ index, indexer, see }) => {
    const ref = index('kopfexamples', { id: 'fn' }, () => ({ key: { same: true } }));
    for (const name of ['one', 'two', 'three']) await see(example(name));
    await see(example('two'));
    const store = indexer.indices.get(ref).get('key');
    assert.equal(store?.size, 3);
    assert.deepEqual([...store], [{ same: true }, { same: true }, { same: true }]);
    assert.equal(store.has({ same: true }), true, 'values are compared by equality');
    assert.equal(store.has({ same: false }), false);
  });

  add('forgets a key together with its last value', async ({ index, indexer, see, contents }) => {
    const ref = index('kopfexamples', { id: 'fn' }, ({ name }) => ({ common: name, [name]: name }));
    await see(example('one'));
    await see(example('two'));
    await see(example('one'), 'DELETED');
    assert.deepEqual(contents('fn'), { '"common"': ['two'], '"two"': ['two'] });
    await see(example('two'), 'DELETED');
    const found = indexer.indices.get(ref);
    assert.deepEqual(
      [found.size, found.has('common'), found.get('common'), [...found.keys()]],
      [0, false, undefined, []],
    );
  });

  add('forgets a deleted object in all indices, but not one that is still being deleted', async (bench) => {
    const { index, see, contents } = bench;
    index('kopfexamples', { id: 'a' }, ({ name }) => name);
    index('kopfexamples', { id: 'b' }, ({ name }) => ({ [name]: 1 }));
    const deleting = example('one');
    deleting.metadata = { ...deleting.metadata, deletionTimestamp: '2020-01-01T00:00:00Z' };
    await see(example('one'), null);
    await see(deleting);
    assert.deepEqual([contents('a'), contents('b')], [{ null: ['one'] }, { '"one"': [1] }]);
    await see(deleting, 'DELETED');
    assert.deepEqual([contents('a'), contents('b')], [{}, {}]);
  });

  add('keeps objects apart, even without uids', async ({ index, see, contents }) => {
    index('kopfexamples', { id: 'fn' }, ({ name, namespace }) => `${namespace}/${name}`);
    const nameless = (name: string, namespace: string): AnyObject => ({
      ...example(name),
      metadata: { name, namespace },
    });
    await see(nameless('one', 'ns1'));
    await see(nameless('one', 'ns2'));
    await see(nameless('two', 'ns1'));
    await see(nameless('one', 'ns1'), 'DELETED');
    assert.deepEqual(contents('fn'), { null: ['ns1/two', 'ns2/one'] });
  });

  add('removes objects that no longer match the filters', async ({ index, see, contents }) => {
    index('kopfexamples', { id: 'fn', when: ({ spec }) => spec['fits'] as boolean }, ({ name }) => name);
    await see(example('never', { fits: false }));
    await see(example('one', { fits: true }));
    assert.deepEqual(contents('fn'), { null: ['one'] });
    await see(example('one', { fits: false }));
    assert.deepEqual(contents('fn'), {});
  });

  add('keeps the values of the object if the function fails', async ({ index, see, contents }) => {
    index('kopfexamples', { id: 'fn' }, ({ spec }) => {
      if (spec['fails']) throw new Error('oops');
      return spec['value'] as number;
    });
    await see(example('one', { value: 1 }));
    await see(example('one', { value: 2, fails: true }));
    assert.deepEqual(contents('fn'), { null: [1] });
    await see(example('one', { value: 3 }));
    assert.deepEqual(contents('fn'), { null: [3] });
  });

  add('excludes an object after a permanent error, until it is deleted', async ({ index, see, contents }) => {
    let calls = 0;
    index('kopfexamples', { id: 'fn' }, ({ spec }) => {
      calls++;
      if (spec['fails']) throw new PermanentError('never');
      return spec['value'] as number;
    });
    await see(example('one', { value: 1 }));
    await see(example('one', { fails: true }));
    assert.deepEqual(contents('fn'), {});
    await see(example('one', { value: 2 }));
    assert.deepEqual([contents('fn'), calls], [{}, 2]);
    await see(example('one'), 'DELETED');
    await see(example('one', { value: 3 }), 'ADDED');
    assert.deepEqual([contents('fn'), calls], [{ null: [3] }, 3]);
  });

  add('excludes an object after a temporary error, until the delay is over', async (bench) => {
    const { index, see, contents, clock } = bench;
    const retries: number[] = [];
    index('kopfexamples', { id: 'fn' }, ({ spec, retry }) => {
      retries.push(retry);
      if (retry === 0 && spec['fails']) throw new TemporaryError('later', { delay: 10 });
      return spec['value'] as number;
    });
    await see(example('one', { value: 1 }));
    await see(example('one', { value: 2, fails: true }));
    assert.deepEqual(contents('fn'), {});
    await clock.advance(9);
    await see(example('one', { value: 3, fails: true }));
    assert.deepEqual([contents('fn'), retries], [{}, [0, 0]]);
    await clock.advance(1);
    assert.deepEqual(retries, [0, 0, 1], 'it is tried again without any event');
    assert.deepEqual(contents('fn'), { null: [3] });
  });

  add('finishes synchronously unless the function returns a promise', async ({ index, see, contents }) => {
    index('kopfexamples', { id: 'fn' }, ({ spec, name }) => (spec['isSlow'] ? Promise.resolve(name) : name));
    for (const [name, isSlow] of [
      ['one', false],
      ['two', true],
    ] as const) {
      const pending = see(example(name, { isSlow }));
      if (pending !== undefined) await pending;
      assert.ok(contents('fn')['null']?.includes(name), `${name} is not there yet`);
    }
  });

  add('holds up only the objects with slow functions', async ({ index, see, contents }) => {
    const slow = gate<string>();
    index('kopfexamples', { id: 'fn' }, ({ spec, name }) => (spec['isSlow'] ? slow.opened : name));
    const pending = see(example('slow', { isSlow: true }));
    const isDone = await Promise.race([Promise.resolve(see(example('quick'))).then(() => true), nextTurns(false)]);
    assert.equal(isDone, true, 'the other object waits for the slow one');
    assert.deepEqual(contents('fn'), { null: ['quick'] });
    slow.open('slow');
    await pending;
    assert.deepEqual(contents('fn'), { null: ['quick', 'slow'] });
  });

  add('ends with the newest state of an object, however slow older ones are', async (bench) => {
    const { index, see, contents } = bench;
    const gates = [gate<void>(), gate<void>()];
    index('kopfexamples', { id: 'fn' }, async ({ spec }) => {
      await gates[spec['value'] as number]?.opened;
      return spec['value'] as number;
    });
    const pending = [0, 1].map(async (value) => see(example('one', { value })));
    gates[1]?.open();
    await nextTurns(undefined);
    gates[0]?.open();
    await Promise.all(pending);
    assert.deepEqual(contents('fn'), { null: [1] });
  });

  add('ignores results of functions after the object is deleted', async ({ index, see, contents }) => {
    const slow = gate<string>();
    index('kopfexamples', { id: 'fn' }, () => slow.opened);
    const pending = [null, 'DELETED' as const].map(async (type) => see(example('one'), type));
    slow.open('too late');
    await Promise.all(pending);
    await nextTurns(undefined);
    assert.deepEqual(contents('fn'), {});
  });

  add('changes all indices of an object atomically', async ({ index, see, contents }) => {
    const slow = gate<number>();
    index('kopfexamples', { id: 'quick' }, ({ spec }) => spec['value'] as number);
    index('kopfexamples', { id: 'slow' }, ({ spec }) => (spec['value'] === 2 ? slow.opened : 1));
    await see(example('one', { value: 1 }));
    const pending = see(example('one', { value: 2 }));
    await nextTurns(undefined);
    assert.deepEqual([contents('quick'), contents('slow')], [{ null: [1] }, { null: [1] }]);
    slow.open(2);
    await pending;
    assert.deepEqual([contents('quick'), contents('slow')], [{ null: [2] }, { null: [2] }]);
  });

  return cases;
}

/**
 * Declares the cases above as tests.
 *
 * ```ts
 * import { testIndexer } from 'kopf-ts/testing';
 * testIndexer((parts) => kopf.indexing.memoryIndexer(parts), { describe, it });
 * ```
 */
export function testIndexer(create: Create, runner?: TestRunner): void {
  declareCases('an indexer', indexerCases(create), runner);
}

async function makeBench(create: Create): Promise<Bench> {
  const parts = { registry: createRegistry(), settings: settings(), clock: manualClock() };
  const indexer = await create(parts);
  const logger = recordingLogger();
  return {
    ...parts,
    indexer,
    index: parts.registry.index,
    see: (object, type = 'MODIFIED') =>
      indexer.accept({ event: { type, object }, resource: examples, memo: undefined, logger }),
    contents: (id) => contentsOf(indexer.indices.get(id)),
  };
}

function contentsOf(index: Index | undefined): Record<string, unknown[]> {
  const contents: Record<string, unknown[]> = {};
  for (const [key, store] of index ?? []) contents[JSON.stringify(key)] = [...store].sort();
  return contents;
}

function example(name: string, spec: object = {}): AnyObject {
  const metadata = { name, namespace: 'ns', uid: `uid-of-${name}` };
  return { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata, spec };
}

function gate<T>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Enough for everything to happen that does not wait for the outside. */
async function nextTurns<T>(value: T): Promise<T> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  return value;
}
