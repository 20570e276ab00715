import { describe, expect, it } from 'vitest';
import { destructuredNames, neverReturns } from '../../src/intents/registration/source-texts.js';

/** As written: the tools of tests would write it otherwise. */
const fn = (text: string): never => new Function(`return (${text})`)() as never;
const method = (text: string): never => (new Function(`return ({ ${text} })`)() as { m: never }).m;

describe('a function that never returns', () => {
  it.each([
    '() => {}',
    'x => { x.size > 5 }',
    '({ spec }) => { spec.size > 5 }',
    '(a = () => 5, { b } = {}) => { a(b) }',
    'function f(x) { x.size > 5 }',
    'function () { /* return 5 */ }',
    'async () => { await 5 }',
  ])('is told by its text: %s', (text) => {
    expect(neverReturns(fn(text))).toBe(true);
  });

  it.each([
    '() => 5',
    '() => ({ a: 1 })',
    'x => x.some(() => { })',
    'x => (y => { })',
    '({ spec }) => { return spec.size > 5 }',
    'function f(x) { throw new Error(x) }',
    '(() => {}).bind(null)',
    'Boolean',
    'class A { constructor() {} }',
  ])('is not mistaken for another one: %s', (text) => {
    expect(neverReturns(fn(text))).toBe(false);
  });

  it('may be a method', () => {
    expect(neverReturns(method('m(x) { x.size > 5 }'))).toBe(true);
    expect(neverReturns(method('m(x) { return x }'))).toBe(false);
  });
});

describe('the names that a function takes', () => {
  it.each([
    ['({ spec, name }) => 5', ['spec', 'name']],
    ['async function make({ spec: { size }, meta: m, ...rest }) {}', ['spec', 'meta']],
    ['({ size = 5, color: c = "red", spec: { a = 1 }, "quoted": q }) => 5', ['spec']],
    ['function ({\n  // the size\n  specs,\n}) {}', ['specs']],
    ['(kwargs) => kwargs.spec', []],
    ['kwargs => 5', []],
    ['() => ({ spec: 5 })', []],
    ['(({ spec }) => 5).bind(null)', []],
  ])('%s → %j', (text, names) => {
    expect(destructuredNames(fn(text))).toEqual(names);
  });
});
