import { describe, expect, it, vi } from 'vitest';
import { makeChannel } from '../../src/watching/channel.js';
import { makeOutlet } from '../../src/watching/outlet.js';

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

  it('is cut off when what waits for it is too large, however few lines it is', () => {
    const channel = makeChannel(() => {});
    const large = { text: 'x'.repeat(1024 * 1024) } as never;
    channel.pushInitial(large);
    times(16, () => channel.push(large));
    expect([channel.isClosed, channel.size]).toEqual([false, 17]);
    channel.push(large);
    expect([channel.isClosed, channel.size]).toEqual([true, 0]);
  });

  it('gets a single line whatever its size', async () => {
    const channel = makeChannel(() => {});
    channel.push({ text: 'x'.repeat(20 * 1024 * 1024) } as never);
    expect(channel.isClosed).toBe(false);
    await channel[Symbol.asyncIterator]().next();
    times(16, () => channel.push({ text: 'x'.repeat(1024 * 1024) } as never));
    expect(channel.isClosed).toBe(false);
  });

  it('makes the lines wait where they are counted', async () => {
    const channel = makeChannel(() => {});
    const outlet = makeOutlet(channel, () => undefined);
    times(12, () => channel.push({ text: 'x'.repeat(200_000) } as never));
    await vi.waitFor(() => expect(channel.size).toBe(6));
    expect((await outlet.next())?.length).toBe(1_200_000);
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
