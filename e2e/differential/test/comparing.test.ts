import { describe, expect, it } from 'vitest';
import { Comparison, type KnownDifference } from '../harness/comparison.js';
import { differencesOf } from '../harness/difference.js';
import { mapTexts } from '../harness/paths.js';

const place = { area: 'area', sequence: 'sequence' };
const exchanges = (answer: unknown) => [{ step: 'GET /', answer }];
const compare = (comparison: Comparison, real: unknown, embedded: unknown) =>
  comparison.compare(place, ['real', exchanges(real)], ['embedded', exchanges(embedded)]);
const forgiving = (id: string, pattern: RegExp): KnownDifference => ({
  id,
  reason: '',
  appliesTo: () => true,
  forgive: (answer) => mapTexts(answer, (text) => text.replace(pattern, '')),
});

describe('differences', () => {
  it.each<[string, unknown, unknown, string[]]>([
    ['of values', { a: { b: 1 } }, { a: { b: 2 } }, ['a.b']],
    ['of types', { a: 1 }, { a: '1' }, ['a']],
    ['of absent keys', { a: null }, {}, ['a']],
    ['of lengths', { a: [1, 2] }, { a: [1] }, ['a[1]']],
    ['of nothing', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['of keys of prototypes', JSON.parse('{"__proto__":1}'), {}, ['__proto__']],
  ])('%s are found at their paths', (_, left, right, paths) => {
    expect(differencesOf(left, right).map(({ path }) => path)).toEqual(paths);
  });
});

describe('a comparison', () => {
  it('tells where two answers differ', () => {
    const report = compare(new Comparison([]), { body: { kind: 'A' } }, { body: { kind: 'B' } });
    expect(report).toMatch(/GET \/.*body\.kind.*real +"A".*embedded +"B"/s);
  });

  it('tells of answers that one side did not get', () => {
    const comparison = new Comparison([]);
    expect(comparison.compare(place, ['real', exchanges('x')], ['embedded', []])).toContain('(nothing)');
  });

  it('forgives what is known, and knows that it was seen', () => {
    const comparison = new Comparison([forgiving('spaces', / /g), forgiving('dots', /\./g)]);
    expect(compare(comparison, 'a b', 'ab')).toBe('');
    expect(comparison.stale()).toEqual(['dots']);
  });

  it('sees differences that are behind each other', () => {
    const comparison = new Comparison([forgiving('spaces', / /g), forgiving('dots', /\./g)]);
    expect(compare(comparison, 'a b.', 'ab')).toBe('');
    expect(comparison.stale()).toEqual([]);
  });

  it('forgives nothing else', () => {
    const comparison = new Comparison([forgiving('spaces', / /g)]);
    expect(compare(comparison, ['a b', 'c'], ['ab', 'd'])).toContain('[1]');
  });
});
