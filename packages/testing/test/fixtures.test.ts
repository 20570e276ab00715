import { describe, expect, it, test } from 'vitest';
import { fixtureOf, hooked } from '../src/index.js';

class Thing implements AsyncDisposable {
  isAlive = true;
  async [Symbol.asyncDispose](): Promise<void> {
    this.isAlive = false;
  }
}

describe('fixtures for vitest', () => {
  const things: Thing[] = [];
  const extended = test.extend<{ thing: Thing }>({
    thing: fixtureOf(() => {
      things.push(new Thing());
      return things.at(-1) as Thing;
    }),
  });

  extended('live in the test that asks for them', ({ thing }) => {
    expect(things).toEqual([thing]);
    expect(thing.isAlive).toBe(true);
  });

  extended('are disposed of after the test, and made anew for the next one', ({ thing }) => {
    expect(things).toHaveLength(2);
    expect(things[1]).toBe(thing);
    expect(things.map(({ isAlive }) => isAlive)).toEqual([false, true]);
  });

  extended('are not made for tests that do not ask for them', () => {
    expect(things.map(({ isAlive }) => isAlive)).toEqual([false, false]);
  });
});

describe('things between hooks', () => {
  function hooks() {
    const runs: (() => Promise<void>)[] = [];
    const add = (run: () => Promise<void>): void => void runs.push(run);
    return { hooks: { before: add, after: add }, before: () => runs[0]?.(), after: () => runs[1]?.() };
  }

  it('live from one to the other, and again', async () => {
    const { hooks: given, before, after } = hooks();
    const thing = hooked(given, async () => new Thing());
    await before();
    const first = thing.current;
    expect(first.isAlive).toBe(true);
    await after();
    expect(first.isAlive).toBe(false);
    await before();
    expect(thing.current).not.toBe(first);
  });

  it('say so when they are asked for too early or too late', async () => {
    const { hooks: given, before, after } = hooks();
    const thing = hooked(given, () => new Thing());
    expect(() => thing.current).toThrow('only between the hooks');
    await before();
    await after();
    expect(() => thing.current).toThrow('only between the hooks');
  });

  it('need not be there to be disposed of', async () => {
    const { hooks: given, before, after } = hooks();
    hooked(given, () => Promise.reject(new Error('no')) as Promise<Thing>);
    await expect(before()).rejects.toThrow('no');
    await expect(after()).resolves.toBeUndefined();
  });
});
