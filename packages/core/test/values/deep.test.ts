import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loggableBody, loggableDiff } from '../../src/execution/logging/object-logger.js';
import { diff } from '../../src/values/diff.js';
import { digestOf, digestOnly } from '../../src/values/digest.js';
import { deepCopy, deepEqual, deepFreeze, isDeeperThan, isMapping, MAX_DEPTH } from '../../src/values/json.js';
import { jsonText } from '../../src/values/json-text.js';
import type { Body } from '../../src/values/objects/body.js';
import { compareEssences } from '../../src/values/objects/comparison.js';
import { buildEssence, type Essence } from '../../src/values/objects/essence.js';
import { bodyViews } from '../../src/values/objects/views.js';
import { jsonPatch } from '../../src/values/patches/json-patch.js';
import { applyMergePatch, mergePatchOf, subtractExisting } from '../../src/values/patches/merge-patch.js';
import { asJsonPatch, Patch } from '../../src/values/patches/patch.js';
import { redacted } from '../../src/values/redaction.js';

const STYLE = { keysOf: Object.keys, textOf: (scalar: unknown) => JSON.stringify(scalar) };
/** Beyond what an API server lets in, and what any recursion takes. */
const DEPTHS = [150, 201, 202, 12_000, 30_000];
const SHAPES = ['mappings', 'lists', 'both'] as const;

/** A value with another one at its very bottom, and with something beside at each level. */
function nested(depth: number, shape: (typeof SHAPES)[number], bottom: unknown): unknown {
  let value = bottom;
  for (let level = 0; level < depth; level++) {
    const isList = shape === 'lists' || (shape === 'both' && level % 2 === 0);
    value = isList ? [level % 7, value] : { a: level % 5, inside: value };
  }
  return value;
}

/** To the bottom, without recursion. */
function bottomOf(value: unknown): unknown {
  let at = value;
  for (;;) {
    if (Array.isArray(at)) at = at[1];
    else if (isMapping(at) && 'inside' in at) at = at.inside;
    else return at;
  }
}

describe.each(DEPTHS)('%d levels', (depth) => {
  describe.each(SHAPES)('of %s', (shape) => {
    const make = (bottom: unknown) => nested(depth, shape, bottom);

    it('are copied, compared and frozen', () => {
      const original = make({ x: 1, __proto__: null });
      const copy = deepCopy(original);
      expect(copy === original).toBe(false);
      expect(bottomOf(copy)).toEqual({ x: 1 });
      expect(deepEqual(original, copy)).toBe(true);
      expect(deepEqual(original, make({ x: 2 }))).toBe(false);
      expect(deepEqual(original, make({ x: 1, y: undefined }))).toBe(true);
      expect(deepEqual(original, make({ x: 1, y: null }))).toBe(false);
      expect(Object.isFrozen(bottomOf(deepFreeze(copy)))).toBe(true);
      expect(Object.isFrozen(bottomOf(original))).toBe(false);
    });

    it('have digests, which differ if the bottoms do', () => {
      const one = { spec: make({ x: 1, y: 2 }) } as Essence;
      expect(digestOf(one)).toMatch(/^[0-9a-f]{64}$/);
      expect(digestOf({ spec: make({ y: 2, x: 1 }) })).toBe(digestOf(one));
      expect(digestOf({ spec: make({ x: 1, y: 3 }) })).not.toBe(digestOf(one));
      expect(compareEssences(digestOnly(digestOf(one)), one).diff).toEqual([]);
      expect(compareEssences(digestOnly(digestOf({})), one).diff).toHaveLength(1);
    });

    it('have texts, which read back', () => {
      const value = make('end');
      expect(deepEqual(JSON.parse(jsonText(value, STYLE)), value)).toBe(true);
    });

    it('have differences', () => {
      const items = diff({ spec: make({ x: 1 }) }, { spec: make({ x: 2 }) });
      expect(items).toHaveLength(1);
      expect(items[0]?.[1][0]).toBe('spec');
      expect(diff({ spec: make({ x: 1 }) }, { spec: make({ x: 1 }) })).toEqual([]);
      if (shape === 'mappings') {
        const [item] = items;
        expect(item?.[1]).toHaveLength(depth + 2);
        expect([item?.[0], item?.[1].at(-1), item?.[2], item?.[3]]).toEqual(['change', 'x', 1, 2]);
      }
    });

    it('are merged, and what is left of patches is found', () => {
      const body = { spec: make({ x: 1 }) };
      const patch = { spec: make({ x: 2, y: 3 }) };
      const left = subtractExisting(patch, body);
      expect(Object.keys(left)).toEqual(['spec']);
      expect(subtractExisting(body, body)).toEqual({});
      const merged = deepCopy(body);
      applyMergePatch(merged, patch);
      expect(bottomOf(merged.spec)).toEqual({ x: 2, y: 3 });
      const back = mergePatchOf(merged, body);
      applyMergePatch(merged, back);
      expect(deepEqual(merged, body)).toBe(true);
    });

    it('do not keep a function from changing something else', () => {
      const body = { metadata: { finalizers: ['a', 'b'] }, spec: make({ x: 1 }) } as Body;
      const patch = new Patch();
      patch.fns.push((it) => {
        it.metadata = { ...it.metadata, finalizers: ['b'] };
      });
      expect(asJsonPatch(patch, body)).toEqual([{ op: 'remove', path: '/metadata/finalizers/0' }]);
      expect(jsonPatch(body, { ...deepCopy(body), spec: make({ x: 2 }) })).toHaveLength(1);
    });

    it('are seen and patched by handlers, and are in essences', () => {
      const body = { spec: make({ x: 1 }), status: {} } as Body;
      expect(bodyViews(body).spec === body.spec).toBe(isMapping(body.spec));
      expect(deepEqual(buildEssence(body), { spec: body.spec })).toBe(true);
      const patch = new Patch();
      patch.merge['copied'] = {};
      patch['direct'] = make({ x: 1 });
      patch.spec = { frozen: body.spec };
      expect(bottomOf(patch.spec['frozen'])).toEqual({ x: 1 });
      // Nobody writes into lists.
      if (shape === 'mappings') expect(Object.isFrozen(bottomOf(patch.spec['frozen']))).toBe(false);
    });

    it('are printed, if need be without their bottoms', () => {
      const body = { spec: make({ x: 'bottom' }) } as Body;
      const secret = { apiVersion: 'v1', kind: 'Secret', data: make({ x: 'bottom' }) } as Body;
      const text = JSON.stringify(loggableBody(body));
      expect(text.includes('bottom')).toBe(depth + 3 < MAX_DEPTH);
      expect(JSON.stringify(loggableBody(secret))).not.toContain('bottom');
      expect(JSON.stringify(redacted(make({ x: 'bottom' })))).not.toContain('bottom');
      const changes = diff({}, body);
      expect(JSON.stringify(loggableDiff(changes, body))).toContain('"spec"');
      expect(JSON.stringify(loggableDiff(changes, secret))).not.toContain('bottom');
    });
  });
});

describe('values that are walked without recursion', () => {
  const bottoms = fc.jsonValue({ maxDepth: 4 });

  it('have the same differences as those walked with it', () => {
    const shallow = ({ a, b }: { a: unknown; b: unknown }) => diff({ at: a }, { at: b });
    const deep = ({ a, b }: { a: unknown; b: unknown }) => {
      const wrap = (bottom: unknown) => nested(300, 'mappings', { at: bottom });
      return diff(wrap(a), wrap(b)).map(([op, path, ...values]) => [op, path.slice(300), ...values]);
    };
    fc.assert(
      fc.property(bottoms, bottoms, (a, b) => {
        expect(deep({ a, b })).toEqual(shallow({ a, b }));
      }),
    );
  });

  it('are the same copies, texts and equals', () => {
    fc.assert(
      fc.property(bottoms, bottoms, fc.constantFrom(...SHAPES), (a, b, shape) => {
        const wrap = (bottom: unknown) => nested(300, shape, { at: bottom });
        expect((bottomOf(deepCopy(wrap(a))) as { at: unknown }).at).toEqual(deepCopy(a));
        expect(JSON.stringify(bottomOf(deepCopy(wrap(a))))).toBe(JSON.stringify({ at: a }));
        expect(jsonText(wrap(a), STYLE)).toBe(JSON.stringify(wrap(a)));
        expect(deepEqual(wrap(a), wrap(b))).toBe(deepEqual(a, b));
      }),
    );
  });

  it('become JSON by themselves there, too', () => {
    const at = new Date('2026-11-17T00:00:00Z');
    expect(bottomOf(deepCopy(nested(500, 'both', at)))).toBe('2026-11-17T00:00:00.000Z');
  });

  it('fail if they have themselves inside, and take neither all the memory nor all the time', () => {
    const cyclic: Record<string, unknown> = { wide: Array.from({ length: 1000 }, (_, i) => i) };
    cyclic['self'] = { list: [cyclic] };
    expect(() => deepCopy(cyclic)).toThrow(RangeError);
    const other: Record<string, unknown> = { wide: cyclic['wide'] };
    other['self'] = { list: [other] };
    expect(() => deepEqual(cyclic, other)).toThrow(RangeError);
    expect(isDeeperThan(cyclic, MAX_DEPTH)).toBe(true);
    // The same in several places is not that.
    const shared = nested(300, 'both', {});
    expect(deepEqual(deepCopy({ a: shared, b: [shared] }), { a: shared, b: [shared] })).toBe(true);
  });
});

describe('the depth of a value', () => {
  it.each([
    [1, 0],
    [null, 0],
    ['text', 0],
    [{}, 1],
    [[], 1],
    [{ a: 1, b: [{}] }, 3],
    [nested(50, 'both', 1), 50],
    [nested(999, 'mappings', {}), 1000],
  ])('%# is counted in levels', (value, depth) => {
    expect(isDeeperThan(value, depth)).toBe(false);
    if (depth > 0) expect(isDeeperThan(value, depth - 1)).toBe(true);
  });
});
