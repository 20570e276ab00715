import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compactJson } from '../src/compact-json.js';

describe('compact JSON', () => {
  it.each<[string, unknown, string]>([
    ['has no spaces', { a: [1, { b: 2 }], c: {} }, '{"a":[1,{"b":2}],"c":{}}'],
    ['keeps the order of keys', { z: 1, a: 2, m: 3 }, '{"z":1,"a":2,"m":3}'],
    ['leaves out what is undefined', { a: undefined, b: null }, '{"b":null}'],
    ['is in ASCII', 'é漢\u2028\u0080\u007f', '"\\u00e9\\u6f22\\u2028\\u0080\\u007f"'],
    ['writes characters of other planes as pairs', '😀', '"\\ud83d\\ude00"'],
    ['survives halves of such pairs', '\ud800', '"\\ud800"'],
    ['has short escapes where they exist', '\b\f\n\r\t"\\', '"\\b\\f\\n\\r\\t\\"\\\\"'],
    ['has long escapes for other control characters', '\u0000\u001f', '"\\u0000\\u001f"'],
    ['does not escape slashes', '/', '"/"'],
    ['escapes keys as well', { 'é"': 1 }, '{"\\u00e9\\"":1}'],
    ['writes keys named as the prototype', JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
    ['writes integers as integers', [0, -0, 1, -1, 2 ** 53, 1e20], '[0,0,1,-1,9007199254740992,100000000000000000000]'],
    [
      'writes fractions as Python does',
      [0.5, 1e-4, 1e-5, -1.5e-7, 1e-10, 1e21, 123456.789],
      '[0.5,0.0001,1e-05,-1.5e-07,1e-10,1e+21,123456.789]',
    ],
    ['knows no numbers that JSON does not', [Number.NaN, Number.POSITIVE_INFINITY], '[null,null]'],
  ])('%s', (_, value, text) => {
    expect(compactJson(value)).toBe(text);
  });

  it('reads back as the same value, and has only printable characters of ASCII, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = compactJson(value);
        expect(text).toMatch(/^[\x20-\x7e]*$/);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
