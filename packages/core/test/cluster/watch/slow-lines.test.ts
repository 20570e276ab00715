import { describe, expect, it } from 'vitest';
import { apiError } from '../../../src/errors.js';
import type { WatchingSettings } from '../../../src/settings.js';
import { kex, kexList } from '../fixtures.js';
import { added, bookmark, type WatchUnderTest, watchUnderTest } from './harness.js';

/** A stream that the server has agreed to. */
async function watching(options: Partial<WatchingSettings> = {}) {
  const watched = watchUnderTest({ watching: options });
  watched.client.answer(kexList('100', []), kexList('200', [kex('big', '150')]));
  const stream = watched.client.prepareStream();
  await watched.start();
  return { watched, stream, bytes: (count: number) => stream.request?.onProgress?.({ bytes: count }) };
}

function isRed({ phases }: WatchUnderTest): boolean {
  return phases.at(-1)?.phase === 'down';
}

describe('a line that comes slowly', () => {
  it.each([
    [15, 10, 8],
    [70, 60, 4],
    [70, 1, 120],
  ])(
    'with the inactivity timeout of %d s comes through if there are bytes every %d s',
    async (limit, pause, pieces) => {
      const { watched, stream, bytes } = await watching({ inactivityTimeout: limit });
      bytes(0);
      for (let piece = 0; piece < pieces; piece++) {
        await watched.clock.advance(pause);
        bytes(10);
      }
      stream.push(added(kex('big', '101')));
      await watched.clock.settle();
      expect(watched.story).toEqual(['LISTED', 'ADDED big']);
      expect(watched.attempts).toEqual(['0 list', '0 watch 100']);
      expect(watched.logger.messages('warn')).toEqual([]);
    },
  );

  it('is not waited for if its bytes cease to come', async () => {
    const { watched, bytes } = await watching({ inactivityTimeout: 20 });
    await watched.clock.advance(15);
    bytes(10);
    await watched.clock.advance(19.9);
    expect(watched.attempts).toHaveLength(2);
    await watched.clock.advance(0.1);
    expect(watched.attempts.slice(2)).toEqual(['35 watch 100']);
  });

  it('keeps the stream alive for the probes', async () => {
    const { watched, bytes } = await watching();
    for (let piece = 0; piece < 5; piece++) {
      await watched.clock.advance(50);
      bytes(10);
    }
    expect(watched.phases.at(-1)).toMatchObject({ phase: 'watching', lastGoodAt: 250 });
  });

  it.each([100, 300])(
    'and is not complete in %d s means that the stream is down, and lists anew',
    async (lineTimeout) => {
      const { watched, bytes } = await watching({ lineTimeout });
      bytes(0);
      for (let second = 0; second < lineTimeout; second += 10) {
        bytes(10);
        await watched.clock.advance(10);
      }
      expect(isRed(watched)).toBe(true);
      expect(watched.logger.messages('warn')).toEqual([
        expect.stringContaining(`An event did not arrive completely within ${lineTimeout} seconds`),
      ]);
      await watched.clock.advance(1);
      expect(watched.attempts.slice(2).map((attempt) => attempt.split(' ').slice(1).join(' '))).toEqual([
        'list',
        'watch 200',
      ]);
      expect(watched.story.slice(1)).toEqual(['null big', 'LISTED']);
    },
  );

  it('is counted from its own first byte, and not from the line before it', async () => {
    const { watched, stream, bytes } = await watching({ lineTimeout: 100 });
    for (let index = 1; index <= 30; index++) {
      bytes(10);
      await watched.clock.advance(30);
      stream.push(bookmark(`${100 + index}`));
      await watched.clock.advance(30);
    }
    expect(watched.attempts).toEqual(['0 list', '0 watch 100']);
    expect(watched.logger.messages('warn')).toEqual([]);
  });
});

describe('a stream that was down', () => {
  it.each([
    ['a refused connection', () => new TypeError('connection refused')],
    ['HTTP 503', () => apiError({ status: 503 })],
  ])(
    'because of %s works again as soon as the server has agreed, be there anything to tell or not',
    async (_, error) => {
      const watched = watchUnderTest();
      watched.client.answer(kexList('100', []));
      watched.client.refuseStream(error());
      const stream = watched.client.prepareStream();
      await watched.start();
      await watched.clock.advance(3);
      expect(isRed(watched)).toBe(true);
      stream.request?.onProgress?.({ bytes: 0 });
      await watched.clock.advance(1);
      expect(isRed(watched)).toBe(false);
      expect(watched.logger.messages('info')).toEqual([expect.stringContaining('works again')]);
    },
  );

  it('is still down if the server agrees, and ends it at once', async () => {
    const watched = watchUnderTest();
    watched.client.answerAll(() => kexList('100', []));
    for (let index = 0; index < 100; index++) {
      const stream = watched.client.prepareStream();
      Object.defineProperty(stream, 'request', {
        set(request: { onProgress?: (progress: { bytes: number }) => void }) {
          request.onProgress?.({ bytes: 0 });
          stream.end();
        },
      });
    }
    await watched.start();
    await watched.clock.advance(60);
    expect(isRed(watched)).toBe(true);
    expect(watched.logger.messages('warn')).toHaveLength(1);
    expect(watched.logger.messages('info')).toEqual([]);
  });
});
