import { expect, it } from 'vitest';
import { compilePattern, patternCheck } from '../../src/crd/schemas/schema-patterns.js';

it.each([
  ['^\\pL+$', 'Grüße', 'a1'],
  ['^\\p{Greek}+$', 'αβγ', 'abc'],
  ['(?i)^ab$', 'AB', 'abc'],
  ['^a\\z', 'a', 'a\n'],
  ['^[[:alpha:]_]+$', 'a_b', 'a-b'],
  ['^\\Qa.b\\E$', 'a.b', 'axb'],
  ['^(?P<name>x)$', 'x', 'y'],
  ['^(?s:.)$', '\n', 'ab'],
  ['^\\x{1F600}$', '😀', '🙂'],
  ['^.$', '😀', '😀😀'],
  ['b', 'abc', 'ac'],
])('patterns are those of Go: %s matches %j, and not %j', (pattern, matching, other) => {
  expect(patternCheck(pattern)(matching)).toBeUndefined();
  expect(patternCheck(pattern)(other)).toBe(pattern);
});

it.each([
  ['[a', 'missing closing ]: `[a`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['a{2,1}', 'invalid repeat count: `{2,1}`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['a**', 'invalid nested repetition operator: `**`'],
])('what is none is told in the words of Go: %s', (pattern, problem) => {
  expect(compilePattern(pattern)).toEqual({ problem });
});

it('no pattern makes the server search for long', () => {
  const before = performance.now();
  expect(patternCheck('^(a+)+$')(`${'a'.repeat(100_000)}!`)).toBe('^(a+)+$');
  // The expressions of JavaScript would need more than the age of the universe.
  expect(performance.now() - before).toBeLessThan(4000);
});
