import { describe, expect, it } from 'vitest';
import { fairSemaphore } from '../../../src/http/fair-semaphore.js';
import { inTime, type SentRequest, scripted } from '../../helpers/scripted.js';

const requestOf = (plural: string) =>
  ({ method: 'PATCH', path: `/apis/example.com/v1/${plural}/x`, body: {} }) as const;
const countOf = (sent: readonly SentRequest[], text: string): number =>
  sent.filter(({ url }) => url.includes(text)).length;

describe('turns', () => {
  const never = new AbortController().signal;

  /** Takes so many turns of that kind; tells how many it has got by now. */
  function taker(semaphore: ReturnType<typeof fairSemaphore>, kind: string, count: number) {
    const order: string[] = [];
    let got = 0;
    for (let number = 0; number < count; number++) {
      const turn = semaphore.take(kind, never);
      if (turn === undefined) got++;
      else
        void turn.then(() => {
          got++;
          order.push(kind);
        });
    }
    return {
      get got() {
        return got;
      },
    };
  }

  it.each([
    [32, [24, 6, 2, 0]],
    [8, [6, 2, 0]],
    [4, [3, 1, 0]],
    [1, [1, 0]],
  ])('of %i are not all taken by one kind, nor by two', (limit, expected) => {
    const semaphore = fairSemaphore(limit);
    expect(expected.map((_, number) => taker(semaphore, `kind${number}`, 100).got)).toEqual(expected);
  });

  it.each([5, 17, 32])('of %i are given to waiting kinds in rotation, whatever came first', async (limit) => {
    const semaphore = fairSemaphore(limit);
    const holders = Array.from({ length: limit }, (_, number) => `holder${number}`);
    for (const holder of holders) expect(semaphore.take(holder, never)).toBeUndefined();
    const served: string[] = [];
    for (const kind of ['a', 'a', 'a', 'a', 'b', 'b', 'c'])
      void semaphore.take(kind, never)?.then(() => served.push(kind));
    for (const holder of holders.slice(0, 5)) {
      semaphore.release(holder);
      await Promise.resolve();
    }
    expect(served).toEqual(['a', 'b', 'c', 'a', 'b']);
  });

  it('are all free again in the end, also after those who gave up', async () => {
    const semaphore = fairSemaphore(4);
    const control = new AbortController();
    for (const kind of ['a', 'b', 'c', 'd']) expect(semaphore.take(kind, never)).toBeUndefined();
    const waiting = ['a', 'e'].map((kind) => semaphore.take(kind, control.signal));
    control.abort(new Error('enough'));
    for (const one of waiting) await expect(one).rejects.toThrow('enough');
    for (const kind of ['a', 'b', 'c', 'd']) semaphore.release(kind);
    for (const kind of ['w', 'x', 'y', 'z']) expect(semaphore.take(kind, never)).toBeUndefined();
  });
});

describe('requests of a kind that hangs', () => {
  const answers = ({ url }: SentRequest) => (url.includes('slow') ? ('hang' as const) : { body: { ok: true } });

  it.each([100, 400])('%i of them do not delay those of other kinds', async (count) => {
    const { client, clock, sent } = scripted([answers], { requestTimeout: 30, errorBackoffs: [] });
    const slow = Promise.allSettled(Array.from({ length: count }, () => client.request(requestOf('slowthings'))));
    await clock.settle();
    expect(countOf(sent, 'slow')).toBeLessThan(32);
    const others = Array.from({ length: 20 }, (_, number) => client.request(requestOf(`things${number % 3}`)));
    await expect(Promise.all(others)).resolves.toHaveLength(20);
    expect(clock.now()).toBe(0);
    await inTime(clock, slow);
    expect(countOf(sent, 'slow')).toBe(count);
  });

  it('do not delay urgent ones at all, even if all connections hang', async () => {
    const { client, clock, sent } = scripted([answers], { requestTimeout: 30, errorBackoffs: [] });
    const kinds = Array.from({ length: 64 }, (_, number) => `slow${number}`);
    const slow = Promise.allSettled(kinds.map((kind) => client.request(requestOf(kind))));
    await clock.settle();
    expect(sent).toHaveLength(32);
    const ordinary = client.request(requestOf('leases'));
    await client.request({ ...requestOf('leases'), urgent: true });
    expect(sent).toHaveLength(33);
    expect(clock.now()).toBe(0);
    await inTime(clock, Promise.all([slow, ordinary]));
  });
});
