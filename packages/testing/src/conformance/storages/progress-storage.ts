import assert from 'node:assert/strict';
import {
  type Awaitable,
  type Body,
  deepCopy,
  type Essence,
  type HandlerId,
  isMapping,
  type Mapping,
  Patch,
  type ProgressRecord,
  type ProgressStorage,
} from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from '../cases.js';
import { frozen, patched, sampleBody, spoiled } from './sample-objects.js';

/**
 * What a storage may do differently.
 *
 * ```ts
 * import type { ProgressStorageExpectations } from 'kopf-ts/testing';
 * const asKopf: ProgressStorageExpectations = { keepsDigests: false };
 * ```
 */
export interface ProgressStorageExpectations {
  /** Whether the storage keeps the `digest` of records. Those that write only what Kopf would, do not. Default: true. */
  readonly keepsDigests?: boolean;
}

type Create = () => Awaitable<ProgressStorage>;

const attempted: ProgressRecord = {
  started: '2020-01-01T00:00:00.000000+00:00',
  delayed: '2020-01-01T00:01:00.123456+00:00',
  purpose: 'create',
  retries: 1,
  success: false,
  failure: false,
  message: 'Not yet: "é" \\ 漢\n😀',
  subrefs: ['fn/sub1', 'fn/sub2'],
};

const succeeded: ProgressRecord = {
  started: '2020-01-01T00:00:00.000000+00:00',
  stopped: '2020-01-01T00:02:00.000000+00:00',
  delayed: null,
  purpose: 'create',
  retries: 2,
  success: true,
  failure: false,
  message: null,
  subrefs: null,
};

const GARBAGE: readonly unknown[] = [
  '',
  'not json',
  '[]',
  '"text"',
  '42',
  'true',
  '{"retries":"many"}',
  '{"started":1}',
  '{"subrefs":{}}',
];

/**
 * What every progress storage must hold. `create` makes a storage that has nothing in it yet.
 *
 * ```ts
 * import { progressStorageCases } from 'kopf-ts/testing';
 * for (const { name, run } of progressStorageCases(() => kopf.storage.statusProgressStorage())) it(name, run);
 * ```
 */
export function progressStorageCases(
  create: Create,
  { keepsDigests = true }: ProgressStorageExpectations = {},
): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (storage: ProgressStorage) => Promise<void>): void => {
    cases.push({ name, run: async () => run(await create()) });
  };

  add('knows nothing of a handler that was never stored', async (storage) => {
    assert.equal(await storage.fetch({ key: 'fn', body: sampleBody() }), undefined);
    assert.equal(await storage.fetch({ key: 'fn', body: {} }), undefined);
  });

  add('returns a record as it was stored', async (storage) => {
    const body = await stored(storage, 'fn', attempted);
    assert.deepEqual(await storage.fetch({ key: 'fn', body }), attempted);
  });

  add('returns no nulls', async (storage) => {
    const body = await stored(storage, 'fn', succeeded);
    assert.deepEqual(await storage.fetch({ key: 'fn', body }), withoutNulls(succeeded));
  });

  add('replaces the previous record as a whole', async (storage) => {
    const before = await stored(storage, 'fn', attempted);
    const after = await stored(storage, 'fn', succeeded, before);
    assert.deepEqual(await storage.fetch({ key: 'fn', body: after }), withoutNulls(succeeded));
  });

  if (keepsDigests) {
    add('keeps the digest of the handled state, and forgets it with the record', async (storage) => {
      const before = await stored(storage, 'fn', { ...succeeded, digest: 'abc' });
      assert.equal((await storage.fetch({ key: 'fn', body: before }))?.digest, 'abc');
      const after = await stored(storage, 'fn', succeeded, before);
      assert.equal((await storage.fetch({ key: 'fn', body: after }))?.digest, undefined);
    });
  }

  add('keeps handlers apart even if their ids are long with a common prefix', async (storage) => {
    const ids = ['fn', 'fn/spec.field', 'fn2', ...['a', 'b', 'c'].map((end) => `${'long'.repeat(50)}${end}`)];
    let body = sampleBody();
    for (const [index, key] of ids.entries()) body = await stored(storage, key, { retries: index }, body);
    for (const [index, key] of ids.entries()) {
      assert.deepEqual(await storage.fetch({ key, body }), { retries: index }, `of handler ${key}`);
    }
  });

  add('keeps objects apart', async (storage) => {
    const one = await stored(storage, 'fn', { retries: 1 }, sampleBody('one'));
    const two = sampleBody('two');
    assert.equal(await storage.fetch({ key: 'fn', body: two }), undefined);
    const both = await stored(storage, 'fn', { retries: 2 }, two);
    assert.deepEqual(await storage.fetch({ key: 'fn', body: one }), { retries: 1 });
    assert.deepEqual(await storage.fetch({ key: 'fn', body: both }), { retries: 2 });
  });

  add('is not confused by handlers named like members of prototypes', async (storage) => {
    const ids = ['constructor', 'toString', '__proto__'];
    for (const key of ids) assert.equal(await storage.fetch({ key, body: sampleBody() }), undefined, key);
    let body = sampleBody();
    for (const [index, key] of ids.entries()) body = await stored(storage, key, { retries: index }, body);
    for (const [index, key] of ids.entries())
      assert.deepEqual(await storage.fetch({ key, body }), { retries: index }, key);
    assert.equal(({} as Mapping).retries, undefined);
  });

  add('purges a record from the object', async (storage) => {
    const before = await stored(storage, 'fn', attempted, await stored(storage, 'other', { retries: 5 }));
    const after = await change(before, (patch) => storage.purge({ key: 'fn', body: before, patch }));
    assert.equal(await storage.fetch({ key: 'fn', body: after }), undefined);
    assert.deepEqual(await storage.fetch({ key: 'other', body: after }), { retries: 5 });
  });

  add('leaves nothing of a purged record behind', async (storage) => {
    const before = sampleBody();
    const marked = await stored(storage, 'other', { retries: 5 }, before);
    const during = await stored(storage, 'fn', attempted, marked);
    const after = await change(during, (patch) => storage.purge({ key: 'fn', body: during, patch }));
    assert.deepEqual(after, marked);
  });

  add('withdraws a record from a patch that was not sent yet', async (storage) => {
    const body = await stored(storage, 'other', { retries: 5 });
    const patch = new Patch();
    await storage.store({ key: 'fn', record: attempted, body, patch });
    await storage.purge({ key: 'fn', body, patch });
    assert.deepEqual(patch.merge, {});
    assert.equal(await storage.fetch({ key: 'fn', body }), undefined);
  });

  add('has nothing to purge for records that were never stored', async (storage) => {
    const patch = new Patch();
    await storage.purge({ key: 'fn', body: sampleBody(), patch });
    assert.deepEqual(patch.merge, {});
  });

  add('touches the object so that it changes', async (storage) => {
    const body = sampleBody();
    const once = await change(body, (patch) => storage.touch({ value: 'hello', body, patch }));
    assert.notDeepEqual(once, body);
    const twice = await change(once, (patch) => storage.touch({ value: 'again', body: once, patch }));
    assert.notDeepEqual(twice, once);
  });

  add('undoes a touch', async (storage) => {
    const body = sampleBody();
    const touched = await change(body, (patch) => storage.touch({ value: 'hello', body, patch }));
    const undone = await change(touched, (patch) => storage.touch({ value: null, body: touched, patch }));
    assert.notDeepEqual(undone, touched);
    const patch = new Patch();
    await storage.touch({ value: null, body: undone, patch });
    assert.deepEqual(patch.merge, {}, 'there is nothing to undo any more');
  });

  add('has nothing to undo without a touch', async (storage) => {
    const patch = new Patch();
    await storage.touch({ value: null, body: sampleBody(), patch });
    assert.deepEqual(patch.merge, {});
  });

  add('does not mistake touches for progress', async (storage) => {
    const before = await stored(storage, 'fn', attempted);
    const after = await change(before, (patch) => storage.touch({ value: 'hello', body: before, patch }));
    assert.deepEqual(await storage.fetch({ key: 'fn', body: after }), attempted);
  });

  add('keeps the parts of the patch written by others', async (storage) => {
    const others = { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, status: { fn: { done: true } } };
    const body = await stored(storage, 'old', attempted);
    const patch = new Patch(others);
    await storage.store({ key: 'fn', record: attempted, body, patch });
    await storage.touch({ value: 'hello', body, patch });
    await storage.purge({ key: 'fn', body, patch });
    await storage.purge({ key: 'old', body, patch });
    const { metadata, status } = patched({}, patch);
    assert.equal(metadata?.labels?.a, 'b');
    assert.equal(metadata?.annotations?.c, 'd');
    assert.deepEqual(status.fn, { done: true });
  });

  add('never modifies the body or the record', async (storage) => {
    // Not frozen, so that an attempt to change something does not fail, but is seen.
    const body = deepCopy(await stored(storage, 'old', attempted)) as Body;
    const record = deepCopy(succeeded);
    const original = deepCopy({ body, record });
    const patch = new Patch();
    await storage.fetch({ key: 'old', body });
    await storage.store({ key: 'fn', record, body, patch });
    await storage.touch({ value: 'hello', body, patch });
    await storage.purge({ key: 'old', body, patch });
    assert.deepEqual({ body, record }, original);
  });

  add('reports a malformed record instead of failing, and treats it as absent', async (storage) => {
    const body = sampleBody();
    const patch = new Patch();
    await storage.store({ key: 'fn', record: attempted, body, patch });
    for (const garbage of GARBAGE) {
      const spoiledBody = patched(body, new Patch(spoiled(patch.merge, garbage)));
      const problems: string[] = [];
      const malformed = (problem: string) => void problems.push(problem);
      const record = await storage.fetch({ key: 'fn', body: spoiledBody, malformed });
      // The report of problems is optional.
      await storage.fetch({ key: 'fn', body: spoiledBody });
      if (record !== undefined) assert.deepEqual(record, attempted, `out of ${String(garbage)}`);
      else assert.notEqual(problems.length, 0, `no report of ${String(garbage)}`);
    }
  });

  add('purges malformed records, too', async (storage) => {
    const body = sampleBody();
    const patch = new Patch();
    await storage.store({ key: 'fn', record: attempted, body, patch });
    const before = patched(body, new Patch(spoiled(patch.merge, 'not json')));
    const after = await change(before, (purging) => storage.purge({ key: 'fn', body: before, patch: purging }));
    const problems: string[] = [];
    const malformed = (problem: string) => void problems.push(problem);
    assert.equal(await storage.fetch({ key: 'fn', body: after, malformed }), undefined);
    assert.deepEqual(problems, []);
  });

  add('clears its records from essences', async (storage) => {
    const before = sampleBody();
    const after = await stored(storage, 'fn', attempted, before);
    assert.deepEqual(storage.clear(wholeEssence(after)), storage.clear(wholeEssence(before)));
  });

  add('recognises its own records and touches in a body', async (storage) => {
    const before = sampleBody('one', { status: { phase: 'ready' } });
    const recorded = await stored(storage, 'fn', attempted, before);
    const after = await change(recorded, (patch) => storage.touch({ value: 'now', body: recorded, patch }));
    const unmarked = storage.clearOwn?.bind(storage);
    if (unmarked !== undefined) assert.deepEqual(unmarked(wholeEssence(after)), unmarked(wholeEssence(before)));
  });

  add('keeps user-defined fields in essences', async (storage) => {
    const essence = wholeEssence(sampleBody('one', { status: { phase: 'ready' } }));
    assert.deepEqual(storage.clear(essence), essence);
  });

  add('clears copies of essences, not the essences themselves', async (storage) => {
    const body = await stored(storage, 'fn', attempted, sampleBody('one', { status: { phase: 'ready' } }));
    const essence = wholeEssence(body);
    const original = deepCopy(essence);
    const cleared = storage.clear(essence);
    // The same one is fine where there is nothing to clear.
    if (cleared !== essence) spoil(cleared);
    assert.deepEqual(essence, original);
    storage.clear(frozen(essence));
  });

  return cases;
}

/**
 * Declares the cases above as tests: the first line of the tests of any progress storage.
 *
 * ```ts
 * import { testProgressStorage } from 'kopf-ts/testing';
 * testProgressStorage(() => kopf.storage.statusProgressStorage({ name: 'example' }), { describe, it });
 * ```
 */
export function testProgressStorage(
  create: Create,
  runner?: TestRunner,
  expectations?: ProgressStorageExpectations,
): void {
  declareCases('a progress storage', progressStorageCases(create, expectations), runner);
}

async function stored(
  storage: ProgressStorage,
  key: HandlerId,
  record: ProgressRecord,
  body: Body = sampleBody(),
): Promise<Body> {
  return change(body, async (patch) => {
    await storage.store({ key, record: frozen(deepCopy(record)), body, patch });
    await storage.flush?.();
  });
}

async function change(body: Body, fill: (patch: Patch) => Awaitable<void>): Promise<Body> {
  const patch = new Patch();
  await fill(patch);
  return patched(body, patch);
}

function withoutNulls(record: ProgressRecord): ProgressRecord {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}

/** All that can ever get into an essence, traces of operators included. */
function wholeEssence({ spec, metadata, status }: Body): Essence {
  const { labels, annotations } = metadata ?? {};
  return deepCopy({ spec, metadata: { labels, annotations }, status }) as Essence;
}

/** Changes everything in it, however deep. */
function spoil(target: Mapping): void {
  for (const key of Object.keys(target)) {
    const value = target[key];
    if (isMapping(value)) spoil(value);
    if (Array.isArray(value)) value.push('spoiled');
    target[`${key}-spoiled`] = true;
  }
}
