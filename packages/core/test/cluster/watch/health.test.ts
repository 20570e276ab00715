import { describe, expect, it } from 'vitest';
import { apiError } from '../../../src/errors.js';
import { toggle } from '../../../src/sync/named-toggle.js';
import { kex, kexList } from '../fixtures.js';
import { added, bookmark, type WatchUnderTest, watchUnderTest } from './harness.js';

function reported({ phases }: WatchUnderTest): string[] {
  return phases.map(({ phase, since }) => `${since} ${phase}`);
}

describe('the health of a watch-stream', () => {
  it('is reported when it changes, and only then', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    watched.client.prepareStream(added(kex('a', '101')), added(kex('b', '102'))).end();
    await watched.start();
    await watched.clock.advance(600);
    expect(reported(watched)).toEqual(['0 listing', '0 watching']);
  });

  it('has the time when anything was last received, always up to date', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    const stream = watched.client.prepareStream();
    await watched.start();
    expect(watched.phases.at(-1)?.lastEventAt).toBe(0);
    await watched.clock.advance(10);
    stream.push(bookmark('101'));
    await watched.clock.settle();
    expect(watched.phases.at(-1)?.lastEventAt).toBe(10);
  });

  it('has the time when it was last known to work, which moves on also if there is never anything to tell', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    await watched.start();
    for (let minute = 0; minute < 30; minute++) {
      await watched.clock.advance(60);
      const phase = watched.phases.at(-1);
      expect(watched.clock.now() - (phase?.lastGoodAt ?? Number.NaN)).toBeLessThanOrEqual(70);
      expect(phase?.lastEventAt).toBe(0);
    }
    expect(watched.attempts.length).toBeGreaterThan(20);
  });

  it('is not known to go on working while nobody reads what has come', async () => {
    const watched = watchUnderTest({
      consume: (signal) => (signal.type === 'ADDED' ? new Promise(() => {}) : undefined),
    });
    watched.client.answer(kexList('100', []));
    watched.client.prepareStream(added(kex('a', '101')));
    await watched.start();
    await watched.clock.advance(1800);
    expect(watched.phases.at(-1)?.phase).toBe('watching');
    expect(watched.phases.at(-1)?.lastGoodAt).toBe(0);
  });

  it('is bad from the first failed listing until a successful one', async () => {
    const watched = watchUnderTest();
    const error = apiError({ status: 503 });
    watched.client.answer(error, apiError({ status: 503 }), kexList('100', []));
    await watched.start();
    await watched.clock.advance(1);
    expect(reported(watched)).toEqual(['0 listing', '0 down', '0.3 listing', '0.3 watching']);
    expect(watched.phases[1]?.error).toBe(error);
    expect(watched.phases[3]?.error).toBe(undefined);
  });

  it('is bad from the first failed watching until something comes', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    watched.client.refuseStream(apiError({ status: 503 }));
    const stream = watched.client.prepareStream();
    await watched.start();
    await watched.clock.advance(10);
    expect(reported(watched)).toEqual(['0 listing', '0 watching', '0 down']);
    stream.push(bookmark('101'));
    await watched.clock.settle();
    expect(reported(watched).slice(3)).toEqual(['10 watching']);
  });

  it('is good again if nothing comes, but the connection must have been made', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    watched.client.refuseStream(apiError({ status: 503 }));
    await watched.start();
    await watched.clock.advance(35);
    expect(reported(watched).slice(3)).toEqual([]);
    await watched.clock.advance(0.1);
    expect(reported(watched).slice(3)).toEqual(['35.1 watching']);
    expect(watched.logger.messages('info')).toHaveLength(1);
  });

  it('is not good yet if only listing works, and watching does not', async () => {
    const watched = watchUnderTest();
    watched.client.answerAll(() => kexList('100', []));
    for (let index = 0; index < 20; index++) watched.client.refuseStream(apiError({ status: 500 }));
    await watched.start();
    await watched.clock.advance(60);
    expect(watched.story.filter((signal) => signal === 'LISTED').length).toBeGreaterThan(1);
    expect(reported(watched)).toEqual(['0 listing', '0 watching', '0 down']);
    expect(watched.logger.messages('warn')).toHaveLength(1);
    expect(watched.logger.messages('info')).toEqual([]);
  });

  it('is reported anew if the reason of the failure changes, with the time of the first one', async () => {
    const watched = watchUnderTest();
    watched.client.answer(apiError({ status: 503 }), apiError({ status: 403 }));
    await watched.start();
    await watched.clock.advance(0.2);
    expect(reported(watched)).toEqual(['0 listing', '0 down', '0 down']);
    expect(watched.phases.map(({ error }) => (error as { status?: number } | undefined)?.status)).toEqual([
      undefined,
      503,
      403,
    ]);
  });

  it('is neither good nor bad in a pause', async () => {
    const paused = toggle();
    const watched = watchUnderTest({ paused });
    watched.client.answer(apiError({ status: 503 }), kexList('100', []));
    await watched.start();
    paused.turn(true);
    await watched.clock.advance(10);
    paused.turn(false);
    await watched.clock.settle();
    expect(reported(watched)).toEqual(['0 listing', '0 down', '0 paused', '10 listing', '10 watching']);
    expect(watched.logger.messages('info')).toEqual([]);
  });
});
