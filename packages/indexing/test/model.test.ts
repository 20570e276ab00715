import { PermanentError } from '@kopf-ts/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contents, harness, pod } from './harness.js';

interface Step {
  readonly name: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | null;
  /** What the function is to return for this state of the object. */
  readonly keys: readonly string[] | 'nothing' | 'value' | 'error' | 'permanent' | 'unfit';
  readonly isAsync: boolean;
}

const keys = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', '__proto__', ''), { maxLength: 4 });
const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom('one', 'two', 'three', 'four'),
  type: fc.constantFrom('ADDED', 'MODIFIED', 'MODIFIED', 'DELETED', null),
  keys: fc.oneof({ weight: 4, arbitrary: keys }, fc.constantFrom('nothing', 'value', 'error', 'permanent', 'unfit')),
  isAsync: fc.boolean(),
});

/** The same by brute force: from all that was ever seen, as if the index were made anew each time. */
function fromScratch(steps: readonly Step[]): ReturnType<typeof contents> {
  const objects = new Map<string, { values: Map<string, string>; isExcluded: boolean }>();
  for (const [version, { name, type, keys }] of steps.entries()) {
    if (type === 'DELETED') {
      objects.delete(name);
      continue;
    }
    const object = objects.get(name) ?? { values: new Map(), isExcluded: false };
    objects.set(name, object);
    if (keys === 'permanent') object.isExcluded = true;
    if (object.isExcluded || keys === 'unfit') object.values = new Map();
    else if (keys === 'value') object.values = new Map([['null', `${name}-${version}`]]);
    else if (Array.isArray(keys)) {
      object.values = new Map((keys as string[]).map((key) => [JSON.stringify(key), `${name}-${version}`]));
    }
  }
  const index: [string, string[]][] = [];
  for (const { values } of objects.values()) {
    for (const [key, value] of values) {
      const found = index.find(([known]) => known === key);
      if (found === undefined) index.push([key, [value]]);
      else found[1].push(value);
    }
  }
  for (const [, values] of index) values.sort();
  return Object.fromEntries(index.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** By the contents of the object alone. */
function evaluate(spec: Record<string, unknown>, name: string): unknown {
  const keys = spec['keys'] as Step['keys'];
  const value = `${name}-${spec['version']}`;
  if (keys === 'nothing') return undefined;
  if (keys === 'value') return value;
  if (keys === 'error') throw new Error('oops');
  if (keys === 'permanent') throw new PermanentError('never');
  return Object.fromEntries((keys as string[]).map((key) => [key, value]));
}

it('whatever happens, the index is as if it were made anew of all that exists', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const { registry, indexer, see } = harness();
    const when = ({ spec }: { spec: Record<string, unknown> }): boolean => spec['keys'] !== 'unfit';
    registry.index('pods', { id: 'fn', when }, ({ spec, name }) => {
      return spec['isAsync'] ? Promise.resolve().then(() => evaluate(spec, name)) : evaluate(spec, name);
    });
    for (const [version, { name, type, keys, isAsync }] of steps.entries()) {
      await see(pod(name, { spec: { keys, version, isAsync } }), type);
      expect(contents(indexer.indices.get('fn'))).toEqual(fromScratch(steps.slice(0, version + 1)));
    }
  });
  await fc.assert(property, { numRuns: 200 });
});

it('also if nobody waits for asynchronous functions: in the end, all is the same', async () => {
  // What is superseded before it is indexed is not indexed at all; so only those are here that depend on nothing else.
  const independent = step.filter(({ keys }) => Array.isArray(keys) || keys === 'value' || keys === 'unfit');
  const property = fc.asyncProperty(fc.array(independent, { maxLength: 40 }), async (steps) => {
    const { registry, indexer, see } = harness();
    const when = ({ spec }: { spec: Record<string, unknown> }): boolean => spec['keys'] !== 'unfit';
    registry.index('pods', { id: 'fn', when }, ({ spec, name }) => {
      return spec['isAsync'] ? Promise.resolve().then(() => evaluate(spec, name)) : evaluate(spec, name);
    });
    await Promise.all(
      steps.map(async ({ name, type, keys, isAsync }, version) => {
        await see(pod(name, { spec: { keys, version, isAsync } }), type);
      }),
    );
    expect(contents(indexer.indices.get('fn'))).toEqual(fromScratch(steps));
  });
  await fc.assert(property, { numRuns: 200 });
});
