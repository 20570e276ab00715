import { describe, expect, it } from 'vitest';
import { RegistrationError } from '../../src/errors.js';
import { type HandlerIdSource, handlerIdOf, looksMinified, quoteId } from '../../src/values/ids.js';

function fn() {}
class Volumes {
  back() {}
}
const fallback = 'create.kopfexamples';
const nameless = (() => () => {})();
const misnamed = Object.defineProperty(() => {}, 'name', { value: 5 });
const byDefault = Object.defineProperty(() => {}, 'name', { value: 'default' });

describe("a handler's id", () => {
  it.each<[string, Partial<HandlerIdSource>]>([
    ['fn', {}],
    ['fn', { fn: fn.bind(null) }],
    ['fn', { fn: fn.bind(null).bind(null) }],
    ['given', { id: 'given' }],
    ['given', { id: 'given', ofClass: 'Volumes' }],
    ['Volumes.back', { fn: new Volumes().back, ofClass: 'Volumes' }],
    ['Special.back', { fn: new Volumes().back, ofClass: 'Special' }],
    ['back', { fn: new Volumes().back, ofClass: '' }],
    ['create.kopfexamples', { fn: nameless }],
    ['create.kopfexamples', { fn: nameless.bind(null) }],
    ['create.kopfexamples', { fn: nameless, ofClass: 'Volumes' }],
    ['create.kopfexamples', { fn: misnamed }],
    ['create.kopfexamples', { fn: byDefault }],
    ['create.kopfexamples', { fn: new Function() as () => void }],
    ['fn/spec.field', { field: ['spec', 'field'] }],
    ['given/field.subfield', { id: 'given', field: ['field', 'subfield'] }],
    ['create.kopfexamples/spec', { fn: nameless, field: ['spec'] }],
    ['fn', { field: [] }],
    ['fn', { field: ['spec', 'field'], suffixField: false }],
    ['parent/fn', { prefix: 'parent' }],
    ['parent/given', { prefix: 'parent', id: 'given' }],
    ['parent/spec.field/sub/fn', { prefix: 'parent/spec.field/sub' }],
    ['parent/fn', { prefix: 'parent', field: ['spec', 'field'] }],
    ['parent/fn/spec.field', { prefix: 'parent', field: ['spec', 'field'], suffixField: true }],
  ])('is %s: %#', (id, source) => {
    expect(handlerIdOf({ fn, fallback, ...source })).toBe(id);
  });

  it('is not made for what cannot be called, nor of nothing', () => {
    const broken = { fn: {}, fallback } as unknown as HandlerIdSource;
    expect(() => handlerIdOf(broken)).toThrow(RegistrationError);
    expect(() => handlerIdOf({ fn, fallback, id: '' })).toThrow(/must not be empty/);
  });

  it.each([
    ['p', true],
    ['$', true],
    ['é', true],
    ['fn', false],
    ['', false],
  ])('is suspected to be minified if the name is of one letter: %j', (name, verdict) => {
    expect(looksMinified(name)).toBe(verdict);
  });

  it.each([
    ['fn', "'fn'"],
    ["it's", `"it's"`],
    ['say "hi"', `'say "hi"'`],
    [`it's "hi"`, `'it\\'s "hi"'`],
    ['a\\b', "'a\\\\b'"],
    ['a\nb\tc\r', "'a\\nb\\tc\\r'"],
    ['é\u0000\u007f\u200b\u00a0', "'é\\x00\\x7f\\u200b\\xa0'"],
    ['\u{e0001}😀 ', "'\\U000e0001😀 '"],
  ])('is quoted in logs on one line: %j', (id, quoted) => {
    expect(quoteId(id)).toBe(quoted);
  });
});
