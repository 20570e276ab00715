import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keptResult, resultOf } from '../../src/execution/steps/step-results.js';

describe('The result of a step', () => {
  it('comes back as it was, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        // Minus zero is the only number that JSON does not know.
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(resultOf(keptResult(plain))).toEqual({ value: plain });
      }),
    );
  });

  it('can be nothing', () => {
    expect(resultOf(keptResult(undefined))).toEqual({ value: undefined });
    expect(resultOf(keptResult(null))).toEqual({ value: null });
  });

  it('is counted in bytes, and takes 8 KB at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12_000 }), fc.constantFrom('x', 'é', '漢', '😀', '"'), (count, char) => {
        const text = char.repeat(count);
        const size = Buffer.byteLength(JSON.stringify(text));
        if (size <= 8192) expect(resultOf(keptResult(text))).toEqual({ value: text });
        else expect(() => keptResult(text)).toThrow(`it takes ${size} bytes as JSON, and there is room for 8192`);
      }),
    );
  });

  it('has no place for what would come back as something else', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = { again: circular };
    const refused: [unknown, string][] = [
      [circular, 'result.self.again refers to itself'],
      [{ at: new Date(0) }, 'result.at is a Date, which is not JSON'],
      [{ list: [1, new Set()] }, 'result.list[1] is a Set, which is not JSON'],
      [{ size: 1n }, 'result.size is a bigint, which is not JSON'],
      [Symbol('a'), 'result is a symbol, which is not JSON'],
      [[Number.POSITIVE_INFINITY], 'result[0] is Infinity, which is not JSON'],
      [{ toJSON: () => 1 }, 'result is a Object, which is not JSON'],
      [{ forgotten: Promise.resolve(1) }, 'result.forgotten is a Promise, which is not JSON'],
      [new Error('Lost.'), 'result is a Error, which is not JSON'],
      [new Uint8Array(2), 'result is a Uint8Array, which is not JSON'],
      [new String('a'), 'result is a String, which is not JSON'],
      [[undefined], 'result[0] is undefined, which is not JSON'],
      [new Array(1), 'result[0] is undefined, which is not JSON'],
    ];
    for (const [value, message] of refused) expect(() => keptResult(value)).toThrow(message);
  });

  it('may leave things out, and may have the same thing twice', () => {
    const shared = { a: 1 };
    expect(resultOf(keptResult({ absent: undefined, one: shared, two: shared }))).toEqual({
      value: { one: { a: 1 }, two: { a: 1 } },
    });
  });

  it('is nobody knows what, if somebody has spoiled it', () => {
    expect(resultOf('{"half":')).toBeUndefined();
  });
});
