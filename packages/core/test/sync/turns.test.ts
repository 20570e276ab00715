import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { Turns } from '../../src/sync/turns.js';

function queue() {
  const [clock, turns, begun] = [manualClock(), new Turns(), [] as string[]];
  const ends = new Map<string, () => void>();
  const take = (name: string, options: { isUrgent?: boolean } = {}): void => {
    const taking = turns.take({ clock, patience: 2, ...options });
    const begin = (end: () => void): void => {
      begun.push(name);
      ends.set(name, end);
    };
    if (taking instanceof Promise) void taking.then(begin);
    else begin(taking as () => void);
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await clock.settle();
  };
  return { clock, begun, take, end };
}

describe('turns', () => {
  it('begin at once if nobody has one, and then in the order of asking; the urgent ones first', async () => {
    const { begun, take, end, clock } = queue();
    for (const name of ['a', 'b', 'c']) take(name);
    take('urgent', { isUrgent: true });
    expect(begun).toEqual(['a']);
    for (const name of ['a', 'urgent', 'b']) await end(name);
    expect(begun).toEqual(['a', 'urgent', 'b', 'c']);
    // Ending twice gives no turn to anybody.
    take('d');
    await end('b');
    expect(begun).toHaveLength(4);
    await end('c');
    await end('d');
    take('e');
    expect(begun.slice(4)).toEqual(['d', 'e']);
    expect(clock.sleepers).toBe(0);
  });

  it('are not waited for longer than somebody is patient, and are not lost by that', async () => {
    const { begun, take, end, clock } = queue();
    take('a');
    take('b');
    await clock.advance(1);
    take('c');
    await clock.advance(1);
    expect(begun).toEqual(['a', 'b']);
    // It had no turn, so it ends none.
    await end('b');
    expect(begun).toEqual(['a', 'b']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c']);
  });
});
