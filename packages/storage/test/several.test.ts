import { type DiffBaseStorage, Patch, type ProgressStorage } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { multiDiffBaseStorage, multiProgressStorage } from '../src/index.js';

const METHODS = ['store', 'purge', 'touch', 'flush'] as const;
type Method = (typeof METHODS)[number];

/** What a stranger's storage may come back with, though nothing is expected of it. */
const ANSWERS: readonly [string, () => unknown][] = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['true', () => true],
  ['a record', () => ({ retries: 1 })],
  ['a promise of nothing', () => Promise.resolve()],
  ['a promise of something', () => Promise.resolve({ id: 42 })],
  // biome-ignore lint/suspicious/noThenProperty: libraries have promises of their own
  ['a thenable of its own', () => ({ then: (resolve: (answer: number) => void) => resolve(7) })],
];

const FAILURES: readonly [string, () => unknown][] = [
  [
    'throws',
    () => {
      throw new Error('no room');
    },
  ],
  ['rejects', () => Promise.reject(new Error('no room'))],
];

/** A storage that is only good for seeing that it was called, and answers everything alike. */
function storageOf(name: string, calls: string[], answer: () => unknown = () => undefined): ProgressStorage {
  const method = (what: Method) => () => {
    calls.push(`${name}.${what}`);
    return answer() as undefined;
  };
  const writing = { store: method('store'), purge: method('purge'), touch: method('touch'), flush: method('flush') };
  return { ...writing, fetch: () => undefined, clear: (essence) => essence };
}

async function call(storage: ProgressStorage, method: Method): Promise<unknown> {
  const at = { key: 'fn', record: {}, value: 'x', body: {}, patch: new Patch() };
  return method === 'flush' ? await storage.flush?.() : await storage[method](at);
}

describe.each(METHODS)('%s() of several storages', (method) => {
  it.each(ANSWERS)('goes to all of them, also if one answers with %s', async (_what, answer) => {
    const calls: string[] = [];
    const names = ['a', 'b', 'c'];
    await call(multiProgressStorage(names.map((name) => storageOf(name, calls, answer))), method);
    expect(calls).toEqual(names.map((name) => `${name}.${method}`));
  });

  it.each(FAILURES)('goes to the others if one %s, and then fails with the same error', async (_what, fail) => {
    const calls: string[] = [];
    const storage = multiProgressStorage([storageOf('a', calls), storageOf('b', calls, fail), storageOf('c', calls)]);
    await expect(call(storage, method)).rejects.toThrow(/^no room$/);
    expect(calls).toEqual([`a.${method}`, `b.${method}`, `c.${method}`]);
  });

  it('fails with the errors of all that have failed', async () => {
    const calls: string[] = [];
    const failing = FAILURES.map(([name, fail]) => storageOf(name, calls, fail));
    const failure = await call(multiProgressStorage([...failing, storageOf('c', calls)]), method).catch((e) => e);
    expect(failure).toBeInstanceOf(AggregateError);
    expect((failure as AggregateError).errors).toHaveLength(failing.length);
    expect((failure as AggregateError).message).toBe('2 of 3 storages failed.');
    expect(calls).toHaveLength(3);
  });
});

describe('the last handled state in several storages', () => {
  const diffbaseOf = (name: string, calls: string[], answer: () => unknown): DiffBaseStorage => ({
    build: () => ({}),
    fetch: () => undefined,
    store: () => {
      calls.push(name);
      return answer() as undefined;
    },
  });
  const at = { essence: { spec: {} }, body: {}, patch: new Patch() };

  it.each(ANSWERS)('goes to all of them, also if one answers with %s', async (_what, answer) => {
    const calls: string[] = [];
    await multiDiffBaseStorage(['a', 'b', 'c'].map((name) => diffbaseOf(name, calls, answer))).store(at);
    expect(calls).toEqual(['a', 'b', 'c']);
  });

  it.each(FAILURES)('goes to the others if one %s, and then fails with the same error', async (_what, fail) => {
    const calls: string[] = [];
    const fine = () => undefined;
    const all = [diffbaseOf('a', calls, fail), diffbaseOf('b', calls, fine), diffbaseOf('c', calls, fine)];
    await expect((async () => multiDiffBaseStorage(all).store(at))()).rejects.toThrow(/^no room$/);
    expect(calls).toEqual(['a', 'b', 'c']);
  });
});
