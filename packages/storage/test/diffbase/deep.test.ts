import { type Body, type DiffBaseStorage, digestOf, isDigestOnly, MAX_DEPTH, Patch } from '@kopf-ts/core';
import { applyMergePatch, compareEssences } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import {
  annotationsDiffBaseStorage,
  annotationsProgressStorage,
  multiDiffBaseStorage,
  statusDiffBaseStorage,
  statusProgressStorage,
} from '../../src/index.js';

const KEY = 'kopf.zalando.org/last-handled-configuration';

/** Texts that a tenant may put where ours are expected. */
const DEEP_TEXTS: readonly [string, string][] = [
  ['a bit too deep', `${'{"a":'.repeat(MAX_DEPTH + 1)}1${'}'.repeat(MAX_DEPTH + 1)}`],
  ['mappings', `${'{"spec":'.repeat(30_000)}{}${'}'.repeat(30_000)}`],
  ['lists', `{"spec":${'['.repeat(60_000)}${']'.repeat(60_000)}}`],
];

function reporting() {
  const problems: string[] = [];
  return { problems, malformed: (problem: string) => void problems.push(problem) };
}

function deep(levels: number, bottom: unknown): unknown {
  let value = bottom;
  for (let level = 0; level < levels; level++) value = level % 3 === 0 ? [value] : { a: value };
  return value;
}

describe.each(DEEP_TEXTS)('a trace that is nested too deep (%s)', (_what, text) => {
  it.each<[string, (text: string) => Body]>([
    ['an annotation', (text) => ({ metadata: { annotations: { [KEY]: text } } })],
    ['the annotation of a digest', (text) => ({ metadata: { annotations: { [`${KEY}-digest`]: text } } })],
    ['both', (text) => ({ metadata: { annotations: { [KEY]: text, [`${KEY}-digest`]: text } } })],
  ])('counts as no last handled state in %s, and is told of', async (_where, bodyOf) => {
    const { problems, malformed } = reporting();
    expect(await annotationsDiffBaseStorage().fetch({ body: bodyOf(text), malformed })).toBeUndefined();
    for (const problem of problems) expect(problem).toMatch(/: it is nested more than 1000 levels deep\.$/);
    expect(problems.length).toBeGreaterThan(0);
  });

  it('counts as no last handled state in the status, and as no progress record', async () => {
    const { problems, malformed } = reporting();
    const status = { kopf: { 'last-handled-configuration': text } };
    expect(await statusDiffBaseStorage().fetch({ body: { status }, malformed })).toBeUndefined();
    const annotations = { 'kopf.zalando.org/fn': text };
    const record = annotationsProgressStorage().fetch({ key: 'fn', body: { metadata: { annotations } }, malformed });
    expect(await record).toBeUndefined();
    expect(problems).toHaveLength(2);
  });

  it('is not taken for ours, and is cleared as the others', () => {
    const storage = annotationsProgressStorage();
    const essence = { metadata: { annotations: { 'kopf.zalando.org/fn': text, x: 'y' } } };
    expect(storage.clear(essence)).toEqual({ metadata: { annotations: { x: 'y' } } });
    expect(storage.clearOwn?.(essence)).toEqual(essence);
  });
});

it('a progress record in the status is looked into no deeper than it should be', async () => {
  const progress = { fn: { started: deep(20_000, 1) }, other: { retries: 1, unknown: deep(20_000, 1) } };
  const { problems, malformed } = reporting();
  const body = { status: { kopf: { progress } } };
  expect(await statusProgressStorage().fetch({ key: 'fn', body, malformed })).toBeUndefined();
  expect(await statusProgressStorage().fetch({ key: 'other', body, malformed })).toEqual({ retries: 1 });
  expect(problems).toHaveLength(1);
  expect(statusProgressStorage().clear(body)).toEqual({});
});

describe.each<[string, () => DiffBaseStorage]>([
  ['annotations', () => annotationsDiffBaseStorage()],
  ['annotations as Kopf has them', () => annotationsDiffBaseStorage({ compat: 'kopf' })],
  ['the status', () => statusDiffBaseStorage()],
  ['both', () => multiDiffBaseStorage([annotationsDiffBaseStorage(), statusDiffBaseStorage()])],
])('a state that is nested too deep, in %s', (_where, make) => {
  const bodyOf = (levels: number, bottom: unknown): Body => ({ metadata: { uid: 'u' }, spec: deep(levels, bottom) });

  async function stored(storage: DiffBaseStorage, body: Body): Promise<Body> {
    const patch = new Patch();
    await storage.store({ essence: storage.build({ body }), body, patch });
    const after = { ...body, metadata: { ...body.metadata } };
    applyMergePatch(after, patch.merge);
    return after;
  }

  it.each([1000, 1500, 9_999, 30_000])('is kept as its digest: %d levels', async (levels) => {
    const storage = make();
    const body = await stored(storage, bodyOf(levels, 'v1'));
    const { problems, malformed } = reporting();
    const fetched = await storage.fetch({ body, malformed });
    expect(problems).toEqual([]);
    expect(fetched && isDigestOnly(fetched)).toBe(true);
    const same = storage.build({ body });
    expect(fetched && digestOf(fetched)).toBe(digestOf(same));
    expect(compareEssences(fetched, same).diff).toEqual([]);
    const changed = { ...body, ...bodyOf(levels, 'v2'), metadata: body.metadata } as Body;
    expect(compareEssences(fetched, storage.build({ body: changed })).diff).toHaveLength(1);
  });

  it('is kept as a whole again when it is not so deep any more, and the other way round', async () => {
    const storage = make();
    const first = await stored(storage, bodyOf(MAX_DEPTH - 1, 'v1'));
    const firstFetched = await storage.fetch({ body: first });
    expect(firstFetched && isDigestOnly(firstFetched)).toBe(false);
    const second = await stored(storage, { ...first, spec: deep(MAX_DEPTH, 'v1') });
    const secondFetched = await storage.fetch({ body: second });
    expect(secondFetched && isDigestOnly(secondFetched)).toBe(true);
    const third = await stored(storage, { ...second, spec: { x: 1 } });
    expect(await storage.fetch({ body: third })).toEqual({ spec: { x: 1 } });
    expect(JSON.stringify(third)).not.toContain('digest');
  });
});

it('data of a Secret are concealed, however deep they are', () => {
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { uid: 'u' }, data: deep(20_000, 'hunter2') } as Body;
  const essence = annotationsDiffBaseStorage().build({ body });
  expect(digestOf(essence)).toMatch(/^[0-9a-f]{64}$/);
  let at: unknown = essence['data'];
  while (typeof at === 'object' && at !== null) at = Object.values(at)[0];
  expect(at).toMatch(/^sha256:/);
});
