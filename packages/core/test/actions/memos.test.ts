import { describe, expect, it } from 'vitest';
import { COPY, copyMemo, createMemo } from '../../src/execution/handler-api/memo.js';

describe('The default memo', () => {
  it('is empty, whatever is asked of it', () => {
    const memo = createMemo();
    expect(Object.keys(memo)).toEqual([]);
    for (const key of ['constructor', '__proto__', 'absent']) expect(memo[key]).toBeUndefined();
    memo['key'] = 'value';
    expect(memo).toHaveProperty('key', 'value');
  });

  it('is what an object gets if the operator has none', () => {
    const copy = copyMemo(undefined) as unknown as object;
    expect([copy, Object.getPrototypeOf(copy)]).toEqual([createMemo(), null]);
  });
});

describe('A copy of a memo', () => {
  it('is the object’s own, while what is referred to is shared', () => {
    const shared = { cache: true };
    const memo = Object.assign(createMemo(), { shared, counter: 1 });
    const copy = copyMemo(memo);
    copy['counter'] = 2;
    copy['own'] = 3;
    expect(copy.shared).toBe(shared);
    expect(memo).toEqual(Object.assign(createMemo(), { shared, counter: 1 }));
  });

  it('is made by the class, if it knows how', () => {
    class Mine {
      readonly depth: number;
      constructor(depth: number) {
        this.depth = depth;
      }
      [COPY](): Mine {
        return new Mine(this.depth + 1);
      }
    }
    expect(copyMemo(new Mine(1))).toEqual(new Mine(2));
  });

  it('can be the same memo for all, if the class wants so', () => {
    const memo = {
      [COPY]() {
        return this;
      },
    };
    expect(copyMemo(memo)).toBe(memo);
    expect(COPY).toBe(Symbol.for('kopf-ts.copy'));
  });

  it('stays of its class, with its methods and getters', () => {
    class Counter {
      count = 0;
      list: string[] = [];
      get double() {
        return this.count * 2;
      }
      add() {
        this.count++;
      }
    }
    const memo = new Counter();
    const copy = copyMemo(memo);
    copy.add();
    expect(copy).toBeInstanceOf(Counter);
    expect([copy.count, copy.double, memo.count, copy.list === memo.list]).toEqual([1, 2, 0, true]);
  });

  it('can be changed, even if the original is frozen', () => {
    const memo: { a: number; b?: number } = Object.freeze({ a: 1 });
    const copy = copyMemo(memo);
    copy.a = 2;
    copy.b = 3;
    expect([copy, memo]).toEqual([{ a: 2, b: 3 }, { a: 1 }]);
  });

  it.each([
    ['an array', [1, { x: 1 }]],
    ['a Map', new Map([['k', { x: 1 }]])],
    ['a Set', new Set([{ x: 1 }])],
    ['with symbols', { [Symbol.for('s')]: 1 }],
  ])('of %s has the same items, and is another one', (_what, memo) => {
    const copy = copyMemo<unknown>(memo);
    expect(copy).toEqual(memo);
    expect(copy).not.toBe(memo);
    expect((copy as object).constructor).toBe(memo.constructor);
  });

  it('of a collection’s subclass stays of it', () => {
    class Registry extends Map<string, number> {
      total() {
        return [...this.values()].reduce((sum, value) => sum + value, 0);
      }
    }
    const copy = copyMemo(new Registry([['a', 1]]));
    copy.set('b', 2);
    expect(copy.total()).toBe(3);
  });

  it.each([[null], [5], ['text']])('of a mere value is that value: %s', (memo) => {
    expect(copyMemo<unknown>(memo)).toBe(memo);
  });

  it('never reaches a prototype', () => {
    const copy = copyMemo(JSON.parse('{"__proto__": {"polluted": true}}'));
    expect(Object.keys(copy)).toEqual(['__proto__']);
    expect(copy.polluted).toBeUndefined();
  });
});
