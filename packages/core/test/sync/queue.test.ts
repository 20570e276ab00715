import { describe, expect, it } from 'vitest';
import { queue } from '../../src/sync/queue.js';

describe('a queue', () => {
  it('gives the items in the order of their coming', async () => {
    const items = queue<string>();
    items.push('a');
    items.push('b');
    expect(items.size).toBe(2);
    expect([await items.shift(), await items.shift()]).toEqual(['a', 'b']);
    expect(items.size).toBe(0);
  });

  it('makes those wait who come before the items, and serves them in their order', async () => {
    const items = queue<string>();
    const waiting = [items.shift(), items.shift()];
    items.push('a');
    items.push('b');
    items.push('c');
    expect(await Promise.all(waiting)).toEqual(['a', 'b']);
    expect(items.size).toBe(1);
  });

  it('does not lose an item to those who have stopped waiting', async () => {
    const items = queue<string>();
    const controller = new AbortController();
    const impatient = items.shift(controller.signal);
    const patient = items.shift();
    controller.abort(new Error('stop'));
    items.push('a');
    await expect(impatient).rejects.toThrow('stop');
    await expect(patient).resolves.toBe('a');
    items.push('b');
    await expect(items.shift(controller.signal)).rejects.toThrow('stop');
    expect(items.size).toBe(1);
  });

  it('gives an item that came before the abort', async () => {
    const items = queue<string>();
    const controller = new AbortController();
    const waiting = items.shift(controller.signal);
    items.push('a');
    controller.abort(new Error('stop'));
    await expect(waiting).resolves.toBe('a');
  });

  it('gives the rest after its end, and then nothing', async () => {
    const items = queue<string>();
    items.push('a');
    items.end();
    expect(items.isEnded).toBe(true);
    expect(items.push('b')).toBe(false);
    expect([await items.shift(), await items.shift()]).toEqual(['a', undefined]);
  });

  it('releases those who wait when it ends', async () => {
    const items = queue<string>();
    const waiting = [items.shift(), items.shift()];
    items.end();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  });

  it('keeps the order in long runs', async () => {
    const items = queue<number>();
    let taken = 0;
    for (let round = 0; round < 30; round++) {
      for (let index = 0; index < 200; index++) items.push(round * 200 + index);
      for (let index = 0; index < 150; index++) expect(await items.shift()).toBe(taken++);
    }
    expect(items.size).toBe(30 * 50);
    while (items.size > 0) expect(await items.shift()).toBe(taken++);
    expect(taken).toBe(30 * 200);
  });
});
