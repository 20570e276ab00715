import { describe, expect, it } from 'vitest';
import { makeChannel } from '../../src/watching/channel.js';

const line = { text: '{}\n' } as never;
const times = (count: number, fn: () => void): void => {
  for (let number = 0; number < count; number++) fn();
};

describe('a watcher that does not read', () => {
  it('is cut off when it is far behind, and gets nothing more', async () => {
    const channel = makeChannel(() => {});
    times(20_000, () => channel.push(line));
    expect(channel.isClosed).toBe(false);
    channel.push(line);
    expect([channel.isClosed, channel.size]).toEqual([true, 0]);
  });

  it('is not late because of what was there when it came, however much that was', () => {
    const channel = makeChannel(() => {});
    times(30_000, () => channel.pushInitial(line));
    times(20_000, () => channel.push(line));
    expect([channel.isClosed, channel.size]).toEqual([false, 50_000]);
    channel.push(line);
    expect(channel.isClosed).toBe(true);
  });
});
