import { describe, expect, it } from 'vitest';
import { compareSeed, minimal, type Pair } from '../generated/campaign.js';
import { generatedSequence, sequencesOf, type World } from '../generated/generator.js';
import { mutated } from '../generated/mutations.js';
import { printed } from '../generated/printing.js';
import { Random } from '../generated/random.js';
import { shrunk } from '../generated/shrinking.js';
import { builtinKinds } from '../generated/worlds/builtin-world.js';
import { customKinds } from '../generated/worlds/custom-world.js';
import { otherKinds } from '../generated/worlds/other-kinds.js';
import { differencesOf } from '../harness/difference.js';
import { get, mergePatch, post, put, type RequestStep, type Sequence } from '../harness/sequence.js';

const worlds: readonly World[] = [
  { name: 'custom', kinds: customKinds },
  { name: 'builtin', kinds: builtinKinds },
  { name: 'other', kinds: otherKinds },
];
const firstOf = (world: World, seed: string, count: number): Sequence[] => {
  const sequences = sequencesOf(world, seed);
  return Array.from({ length: count }, () => sequences.next().value);
};

describe.each(worlds)('sequences of $name kinds', (world) => {
  it('are the same for the same seed, and others for another one', () => {
    expect(firstOf(world, 'one', 5)).toEqual(firstOf(world, 'one', 5));
    expect(firstOf(world, 'one', 5)).not.toEqual(firstOf(world, 'two', 5));
  });

  it('have requests of all kinds', () => {
    const steps = firstOf(world, 'all', 150).flatMap((sequence) => sequence.steps as readonly RequestStep[]);
    const patches = ['json', 'merge', 'strategic-merge', 'apply'];
    const seen = new Set(
      steps.map(({ method, headers }) => `${method} ${method === 'PATCH' ? headers['content-type'] : ''}`),
    );
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) expect(seen).toContain(`${method} `);
    for (const patch of patches)
      expect([...seen].some((one) => one.startsWith(`PATCH application/${patch}-patch`))).toBe(true);
    for (const query of [
      'dryRun=All',
      'fieldValidation=Strict',
      'labelSelector',
      'fieldSelector',
      'limit',
      'force=true',
    ]) {
      expect(steps.some(({ path }) => path.includes(query))).toBe(true);
    }
    expect(steps.some(({ path }) => path.endsWith('/status'))).toBe(true);
    expect(steps.some(({ path }) => path.includes('/scale'))).toBe(true);
  });
});

describe('a mutation', () => {
  it('changes one place of a body and leaves the original alone', () => {
    const body = { kind: 'A', metadata: { name: 'a' }, spec: { list: [{ x: 1 }, { y: 'b' }], flag: true } };
    const original = structuredClone(body);
    const random = new Random('mutations');
    const results = Array.from({ length: 200 }, () => mutated(random, body));
    expect(body).toEqual(original);
    expect(new Set(results.map((one) => JSON.stringify(one))).size).toBeGreaterThan(60);
    expect(results.some((one) => typeof one === 'string')).toBe(true);
  });
});

/** A server that keeps objects, and a second one that has a mistake: it forgets `spec.b` of objects with `spec.a`. */
function fakePair(): Pair & { readonly asked: number } {
  let asked = 0;
  const answersOf = (steps: readonly RequestStep[], isWrong: boolean): unknown[] => {
    const objects = new Map<string, Record<string, unknown>>();
    return steps.map(({ method, path, body }) => {
      const [place = ''] = path.split('?');
      const { metadata, spec } = (body ?? {}) as { metadata?: { name?: string }; spec?: Record<string, unknown> };
      const key = method === 'POST' ? `${place}/${metadata?.name}` : place;
      if (method === 'GET' || method === 'DELETE') return objects.get(key) ?? 404;
      if (method === 'PATCH' && !objects.has(key)) return 404;
      const stored: Record<string, unknown> = { ...objects.get(key), ...spec };
      objects.set(key, stored);
      if (isWrong && stored['a'] !== undefined) delete stored['b'];
      return { ...stored };
    });
  };
  return {
    get asked() {
      return asked;
    },
    async compare({ steps }) {
      asked += 1;
      const requests = steps as readonly RequestStep[];
      const right = answersOf(requests, true);
      return answersOf(requests, false).map((answer, index) => differencesOf(answer, right[index]));
    },
  };
}

const planted = [
  post('/things', { metadata: { name: 'x' }, spec: { q: 1 } }),
  post('/things', { metadata: { name: 'y', labels: { z: '1' } }, spec: { a: 1, c: { d: [1, 2] } } }),
  get('/things/y', { headers: { accept: 'x' } }),
  put('/things/x', { spec: { q: 2 } }),
  mergePatch('/things/y?dryRun=&fieldManager=m', { spec: { b: 'text', e: [1, { f: 2 }] }, metadata: { labels: {} } }),
  get('/things/x'),
];

describe('a shrunk sequence', () => {
  it('has only what the difference needs', async () => {
    const pair = fakePair();
    const shows = async (steps: readonly RequestStep[]) =>
      (await pair.compare({ name: '', steps })).at(-1)?.length !== 0;
    expect(await shrunk(planted.slice(0, 5), { shows, tries: 500 })).toEqual([
      post('/things', { metadata: { name: 'y' }, spec: { a: 1 } }),
      mergePatch('/things/y', { spec: { b: 'text' } }),
    ]);
  });

  it('is found within the tries that are allowed', async () => {
    const pair = fakePair();
    const shows = async (steps: readonly RequestStep[]) =>
      (await pair.compare({ name: '', steps })).at(-1)?.length !== 0;
    await shrunk(planted.slice(0, 5), { shows, tries: 7 });
    expect(pair.asked).toBe(7);
  });

  it('is printed as one writes sequences', async () => {
    const steps = [
      post('/things', { metadata: { name: "y's" } }, { save: { v: 'metadata.uid', w: 'x' } }),
      get('/things/<v>'),
    ];
    expect(printed('found', steps)).toBe(
      [
        "sequence('found', [",
        "  post('/things', { metadata: { name: 'y\\'s' } }, { save: { v: 'metadata.uid' } }),",
        "  get('/things/<v>'),",
        ']),',
      ].join('\n'),
    );
  });
});

describe('a campaign', () => {
  const pairOnce: Pair = {
    // The answers to scales differ.
    async compare({ steps }) {
      return (steps as readonly RequestStep[]).map(({ path }) =>
        path.includes('/scale') ? [{ path: 'body', left: 1, right: 2 }] : [],
      );
    },
  };
  const world = worlds[0] as World;

  it('compares as many answers as asked for, and counts each sequence up to its first inequality', async () => {
    const { compared, inequalities } = await compareSeed({ pair: pairOnce, world, seed: 's', requests: 2000 });
    expect(compared).toBeGreaterThanOrEqual(2000);
    expect(inequalities.length).toBeGreaterThan(20);
    for (const { steps } of inequalities) {
      expect(steps.filter(({ path }) => path.includes('/scale'))).toEqual([steps.at(-1)]);
    }
  });

  it('makes inequalities as small as they can be', async () => {
    const { inequalities } = await compareSeed({ pair: pairOnce, world, seed: 's', requests: 200 });
    const [first] = inequalities;
    if (first === undefined) throw new Error('There are none.');
    expect((await minimal(pairOnce, first)).steps).toHaveLength(1);
  });

  it('can be repeated with one sequence alone', () => {
    expect(generatedSequence(world, 's-3')).toEqual(firstOf(world, 's', 3)[2]);
  });
});
