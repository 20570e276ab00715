import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  type Awaitable,
  type Body,
  type DiffBaseStorage,
  deepCopy,
  digestOf,
  type Essence,
  getOwn,
  isDigestOnly,
  type Mapping,
  Patch,
} from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from '../cases.js';
import { frozen, patched, sampleBody, spoiled } from './sample-objects.js';

/**
 * What a storage may do differently.
 *
 * ```ts
 * import type { DiffBaseStorageExpectations } from 'kopf-ts/testing';
 * const asKopf: DiffBaseStorageExpectations = { secrets: 'plain', anySize: false };
 * ```
 */
export interface DiffBaseStorageExpectations {
  /** How the values of Secrets are kept: `'plain'` for storages that keep them as Kopf does. Default: `'digests'`. */
  readonly secrets?: 'digests' | 'plain';
  /** Whether states of any size are kept, at least as digests, within the limits of Kubernetes. Default: true. */
  readonly anySize?: boolean;
}

type Create = () => Awaitable<DiffBaseStorage>;

/** Kubernetes refuses objects with more than that in annotations. */
const MAX_ANNOTATIONS = 256 * 1024;

const GARBAGE: readonly unknown[] = ['', 'not json', '[]', '"text"', '42', 'true', '{"spec":'];

/**
 * What every diff-base storage must hold. `create` makes a storage that has nothing in it yet.
 *
 * ```ts
 * import { diffBaseStorageCases } from 'kopf-ts/testing';
 * for (const { name, run } of diffBaseStorageCases(() => kopf.storage.statusDiffBaseStorage())) it(name, run);
 * ```
 */
export function diffBaseStorageCases(
  create: Create,
  { secrets = 'digests', anySize = true }: DiffBaseStorageExpectations = {},
): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (storage: DiffBaseStorage) => Promise<void> | void): void => {
    cases.push({ name, run: async () => run(await create()) });
  };

  add('includes the user-defined fields in the essence', (storage) => {
    const { spec, metadata } = sampleBody();
    const essence = storage.build({ body: sampleBody('one', { status: { phase: 'ready' }, data: { a: 'b' } }) });
    const { labels, annotations } = metadata ?? {};
    assert.deepEqual(essence, { spec, data: { a: 'b' }, metadata: { labels, annotations } });
  });

  add('does not mistake changes of the system for changes by users', (storage) => {
    const { metadata } = sampleBody();
    const system = {
      resourceVersion: '456',
      generation: 2,
      managedFields: [],
      deletionTimestamp: '2020-01-02T00:00:00Z',
    };
    const later = sampleBody('one', { metadata: { ...metadata, ...system }, status: { phase: 'ready' } });
    assert.deepEqual(storage.build({ body: later }), storage.build({ body: sampleBody() }));
  });

  add('includes the extra fields', (storage) => {
    const body = sampleBody('one', { status: { phase: 'ready', other: 1 } });
    const essence = storage.build({
      body,
      extraFields: new Set([
        ['status', 'phase'],
        ['status', 'absent'],
      ]),
    });
    assert.deepEqual(essence.status, { phase: 'ready' });
  });

  add('builds essences as copies', (storage) => {
    const body = deepCopy(sampleBody('one', { status: { nested: { a: 1 } } })) as Body;
    const original = deepCopy(body);
    const essence = storage.build({ body, extraFields: [['status', 'nested']] });
    assert.deepEqual(body, original, 'building changes nothing');
    for (const stanza of ['spec', 'status', 'metadata']) spoilDeepest(essence[stanza]);
    assert.deepEqual(body, original, 'changing the essence changes nothing');
  });

  add('knows nothing of an object that was never handled', async (storage) => {
    assert.equal(await storage.fetch({ body: sampleBody() }), undefined);
    assert.equal(await storage.fetch({ body: {} }), undefined);
  });

  add('returns the essence as it was stored', async (storage) => {
    const body = sampleBody('one', {
      spec: { text: '"é" \\ 漢\n😀\u007f', list: [1, 0.5, true, null, {}, []], map: { deep: {} } },
    });
    const essence = storage.build({ body });
    const after = await stored(storage, essence, body);
    assert.deepEqual(await storage.fetch({ body: after }), essence);
  });

  add('returns an empty essence as an essence', async (storage) => {
    const after = await stored(storage, {}, sampleBody());
    assert.deepEqual(await storage.fetch({ body: after }), {});
  });

  add('does not mistake its own traces for changes by users', async (storage) => {
    const body = sampleBody();
    const before = storage.build({ body });
    const after = await stored(storage, before, body);
    assert.deepEqual(storage.build({ body: after }), before);
    const fields = [['status'], ['metadata', 'annotations']];
    assert.deepEqual(
      storage.build({ body: after, extraFields: fields }),
      storage.build({ body: await stored(storage, { spec: 'other' }, after), extraFields: fields }),
      'even if handlers look at where the traces are',
    );
  });

  add('replaces the previous essence', async (storage) => {
    const before = await stored(storage, { spec: { a: 1, b: 2 }, data: {} }, sampleBody());
    const after = await stored(storage, { spec: { b: 3 } }, before);
    assert.deepEqual(await storage.fetch({ body: after }), { spec: { b: 3 } });
  });

  add('keeps objects apart', async (storage) => {
    const one = await stored(storage, { spec: 1 }, sampleBody('one'));
    const two = sampleBody('two');
    assert.equal(await storage.fetch({ body: two }), undefined);
    const both = await stored(storage, { spec: 2 }, two);
    assert.deepEqual(await storage.fetch({ body: one }), { spec: 1 });
    assert.deepEqual(await storage.fetch({ body: both }), { spec: 2 });
  });

  add('keeps the parts of the patch written by others', async (storage) => {
    const patch = new Patch({
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      status: { fn: { done: true } },
    });
    await storage.store({ essence: { spec: 1 }, body: sampleBody(), patch });
    const { metadata, status } = patched({}, patch);
    assert.equal(metadata?.labels?.a, 'b');
    assert.equal(metadata?.annotations?.c, 'd');
    assert.deepEqual(status.fn, { done: true });
  });

  add('never modifies the body or the essence', async (storage) => {
    const body = deepCopy(await stored(storage, { spec: 1 }, sampleBody())) as Body;
    const essence: Essence = { spec: { a: null, b: [{}] }, metadata: { annotations: { a: 'b' } } };
    const original = deepCopy({ body, essence });
    await storage.fetch({ body });
    await storage.store({ essence, body, patch: new Patch() });
    assert.deepEqual({ body, essence }, original);
  });

  add('keeps keys named like members of prototypes, without touching any prototype', async (storage) => {
    const spec: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}');
    const body = sampleBody('one', { spec });
    const essence = storage.build({ body });
    const after = await stored(storage, essence, body);
    const fetched = await storage.fetch({ body: after });
    assert.deepEqual(getOwn(getOwn(fetched ?? {}, 'spec') as object, '__proto__'), { polluted: true });
    assert.deepEqual(fetched, essence);
    assert.equal(({} as Mapping).polluted, undefined);
  });

  add('reports a malformed state instead of failing, and treats it as absent', async (storage) => {
    const body = sampleBody();
    const essence: Essence = { spec: 1 };
    const patch = new Patch();
    await storage.store({ essence, body, patch });
    for (const garbage of GARBAGE) {
      const spoiledBody = patched(body, new Patch(spoiled(patch.merge, garbage)));
      const problems: string[] = [];
      const malformed = (problem: string) => void problems.push(problem);
      const fetched = await storage.fetch({ body: spoiledBody, malformed });
      // The report of problems is optional.
      await storage.fetch({ body: spoiledBody });
      if (fetched !== undefined) assert.deepEqual(fetched, essence, `out of ${String(garbage)}`);
      else assert.notEqual(problems.length, 0, `no report of ${String(garbage)}`);
    }
  });

  if (anySize) {
    add('keeps essences of any size, at least as digests, within the limits of annotations', async (storage) => {
      const note = 'x'.repeat(1000);
      for (const size of [100_000, 260_000, 900_000]) {
        const dull = { size, text: 'dull '.repeat(size / 5) };
        const random = { size, text: randomBytes(size / 2).toString('hex') };
        for (const spec of [dull, random]) {
          const body = sampleBody('one', { spec, metadata: { ...sampleBody().metadata, annotations: { note } } });
          const essence = storage.build({ body });
          const after = await stored(storage, essence, body);
          const fetched = (await storage.fetch({ body: after })) ?? assert.fail(`nothing is kept of ${size}`);
          assert.ok(annotationsSize(after) <= MAX_ANNOTATIONS, `too much for the cluster: ${annotationsSize(after)}`);
          assert.equal(digestOf(fetched), digestOf(essence));
          assert.notEqual(digestOf(fetched), digestOf({ ...essence, spec: 'other' }));
        }
      }
    });

    add('returns to the whole essence as soon as it fits', async (storage) => {
      const huge = sampleBody('one', { spec: { text: randomBytes(300_000).toString('hex') } });
      const before = await stored(storage, storage.build({ body: huge }), huge);
      const after = await stored(storage, { spec: 'small' }, before);
      const fetched = (await storage.fetch({ body: after })) ?? assert.fail('nothing is kept');
      assert.equal(isDigestOnly(fetched), false);
      assert.deepEqual(fetched, { spec: 'small' });
    });
  }

  if (secrets === 'digests') {
    const secret = (data: Mapping, name = 'one') =>
      sampleBody(name, { apiVersion: 'v1', kind: 'Secret', data, type: 'Opaque' });

    add('keeps the values of Secrets to itself', async (storage) => {
      const body = secret({ password: 'aHVudGVyMg==' });
      const essence = storage.build({ body, extraFields: [['data']] });
      const after = await stored(storage, essence, body);
      const before = deepCopy(body) as Mapping;
      assert.equal(JSON.stringify(essence).includes('aHVudGVyMg'), false, 'in the essence');
      assert.equal(JSON.stringify({ ...after, data: before.data }).split('aHVudGVyMg').length, 2, 'in the patch');
      assert.deepEqual(await storage.fetch({ body: after }), essence);
    });

    add('still notices changes in Secrets', (storage) => {
      const essence = storage.build({ body: secret({ password: 'aHVudGVyMg==' }) });
      assert.deepEqual(storage.build({ body: secret({ password: 'aHVudGVyMg==' }) }), essence);
      assert.notDeepEqual(storage.build({ body: secret({ password: 'aHVudGVyMw==' }) }), essence);
      assert.notDeepEqual(storage.build({ body: secret({ passwd: 'aHVudGVyMg==' }) }), essence);
    });

    add('does not show which Secrets have the same values', (storage) => {
      const { data } = storage.build({ body: secret({ one: 'aHVudGVyMg==', two: 'aHVudGVyMg==' }) });
      const values = Object.values(data as Mapping);
      assert.notEqual(values[0], values[1]);
      const another = storage.build({ body: secret({ one: 'aHVudGVyMg==', two: 'aHVudGVyMg==' }, 'two') });
      assert.notDeepEqual(another.data, data);
    });
  }

  return cases;
}

/**
 * Declares the cases above as tests: the first line of the tests of any diff-base storage.
 *
 * ```ts
 * import { testDiffBaseStorage } from 'kopf-ts/testing';
 * testDiffBaseStorage(() => kopf.storage.statusDiffBaseStorage({ name: 'example' }), { describe, it });
 * ```
 */
export function testDiffBaseStorage(
  create: Create,
  runner?: TestRunner,
  expectations?: DiffBaseStorageExpectations,
): void {
  declareCases('a diff-base storage', diffBaseStorageCases(create, expectations), runner);
}

async function stored(storage: DiffBaseStorage, essence: Essence, body: Body): Promise<Body> {
  const patch = new Patch();
  await storage.store({ essence: frozen(deepCopy(essence)), body, patch });
  return patched(body, patch);
}

function annotationsSize({ metadata }: Body): number {
  const annotations = Object.entries(metadata?.annotations ?? {});
  return annotations.reduce((total, [key, value]) => total + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
}

/** Changes something at the very bottom, where shallow copies are still the original. */
function spoilDeepest(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) spoilDeepest((value as Mapping)[key]);
  (value as Mapping).spoiled = true;
}
