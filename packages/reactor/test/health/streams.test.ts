import { settings as makeSettings, type SettingsOverrides } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it, vi } from 'vitest';
import { health } from '../../src/probing/health.js';
import { observedStream } from '../support/observed-stream.js';

function underTest(overrides: SettingsOverrides = {}) {
  const clock = manualClock();
  const subject = health({ clock, settings: makeSettings(overrides) });
  const follow = (plural: string) => observedStream(subject, clock, plural);
  const answers = vi.fn(async () => true);
  const isAlive = async () => (await subject.liveness({ answers })).isAlive;
  return { clock, health: subject, follow, answers, isAlive };
}

describe('Readiness', () => {
  it('is there if there is nothing to wait for', () => {
    expect(underTest().health.readiness().isReady).toBe(true);
  });

  it('is not there while a stream is starting', () => {
    const { health, follow } = underTest();
    follow('pods');
    expect(health.readiness()).toMatchObject({ isReady: false, report: { streams: [{ state: 'starting' }] } });
  });

  it('is not there until the first listing is over', () => {
    const { health, follow } = underTest();
    const stream = follow('pods');
    stream.enter('listing');
    expect(health.readiness().isReady).toBe(false);
    stream.enter('watching');
    expect(health.readiness().isReady).toBe(true);
  });

  it('remains while a stream lists anew', () => {
    const { health, follow } = underTest();
    const stream = follow('pods');
    stream.enter('watching');
    stream.enter('listing');
    expect(health.readiness().isReady).toBe(true);
  });

  it('is lost at once when any stream is down, with what is known of it', async () => {
    const { health, clock, follow } = underTest();
    follow('configmaps').enter('watching', { lastEventAt: 0 });
    const stream = follow('pods');
    stream.enter('watching');
    await clock.advance(5);
    stream.enter('down', { error: new Error('HTTP 503'), lastEventAt: 2 });
    await clock.advance(10);
    expect(health.readiness()).toEqual({
      isReady: false,
      report: {
        ready: false,
        conditions: [],
        streams: [
          { name: 'configmaps.v1 cluster-wide', state: 'watching', secondsInState: 15, secondsSinceLastEvent: 15 },
          {
            name: 'pods.v1 cluster-wide',
            state: 'down',
            secondsInState: 10,
            secondsSinceLastEvent: 13,
            error: 'HTTP 503',
          },
        ],
      },
    });
  });

  it('is there while a stream is paused, and the pause is shown', () => {
    const { health, follow } = underTest();
    follow('pods').enter('paused');
    expect(health.readiness()).toMatchObject({ isReady: true, report: { streams: [{ state: 'paused' }] } });
  });

  it('forgets the streams that are dropped, and only these', () => {
    const { health, follow } = underTest();
    const one = follow('pods');
    const another = follow('pods');
    another.enter('watching');
    one.enter('ended');
    expect(health.streams().map(({ name, phase }) => [name, phase])).toEqual([['pods.v1 cluster-wide', 'watching']]);
    expect(health.readiness().isReady).toBe(true);
  });

  it('waits for each of the conditions, and tells why', async () => {
    const { health, clock } = underTest();
    const discovered = health.demand('resources discovered');
    const indexed = health.demand('indices populated');
    expect(health.readiness().isReady).toBe(false);
    discovered.turn(true);
    await clock.advance(7);
    indexed.turn(false, '3 kinds are left');
    expect(health.readiness()).toMatchObject({
      isReady: false,
      report: {
        conditions: [
          { name: 'resources discovered', met: true },
          { name: 'indices populated', met: false, why: '3 kinds are left', secondsInState: 7 },
        ],
      },
    });
    indexed.turn(true);
    expect(health.readiness().isReady).toBe(true);
    indexed.turn(false);
    expect(health.readiness().isReady).toBe(false);
    indexed.drop();
    expect(health.readiness().isReady).toBe(true);
  });
});

describe('Liveness', () => {
  it('is there while streams start, and while conditions are not met', async () => {
    const { health, isAlive, clock, follow } = underTest();
    follow('pods');
    health.demand('started');
    await clock.advance(10_000);
    expect(await isAlive()).toBe(true);
  });

  it('is lost only if a stream is down for longer than the settings permit', async () => {
    const { health, isAlive, clock, answers, follow } = underTest({ watching: { unhealthyAfter: 100 } });
    const stream = follow('pods');
    stream.enter('down', { error: new Error('HTTP 503') });
    await clock.advance(100);
    expect(await isAlive()).toBe(true);
    await clock.advance(1);
    expect(await isAlive()).toBe(false);
    expect((await health.liveness({ answers })).report).toMatchObject({
      alive: false,
      reasons: ['the stream for pods.v1 cluster-wide is down: HTTP 503'],
    });
    stream.enter('watching');
    expect(await isAlive()).toBe(true);
    expect(answers).not.toHaveBeenCalled();
  });

  it('obeys the settings as they are at the moment', async () => {
    const clock = manualClock();
    const settings = makeSettings();
    const subject = health({ clock, settings });
    observedStream(subject, clock, 'pods').enter('down', { lastEventAt: 0, error: new Error('boo') });
    await clock.advance(20);
    settings.watching.unhealthyAfter = 10;
    expect((await subject.liveness({ answers: async () => true })).isAlive).toBe(false);
  });

  it('is lost if a stream crashes again and again, though it comes back for a moment each time', async () => {
    const { health, isAlive, clock, follow } = underTest();
    const stream = follow('pods');
    for (let restart = 0; restart < 10; restart++) {
      stream.enter('listing');
      stream.enter('watching');
      await clock.advance(5);
      stream.enter('crashed', { error: new Error('crashed') });
      await clock.advance(30);
      stream.enter('listing');
    }
    expect(health.streams()).toMatchObject([{ phase: 'down', since: 5, error: 'crashed' }]);
    expect(await isAlive()).toBe(false);
  });

  it('forgets the crashes of a stream that works steadily after them', async () => {
    const { health, isAlive, clock, follow } = underTest();
    const stream = follow('pods');
    stream.enter('crashed', { error: new Error('crashed') });
    expect(health.readiness().isReady).toBe(false);
    await clock.advance(250);
    stream.enter('watching');
    await clock.advance(60);
    stream.enter('listing');
    expect(health.streams()).toMatchObject([{ phase: 'listing', error: undefined }]);
    stream.enter('crashed', { error: new Error('crashed once more') });
    expect(health.streams()).toMatchObject([{ phase: 'down', since: 310, error: 'crashed once more' }]);
    expect(await isAlive()).toBe(true);
  });

  it('counts a crash of a stream that is down from when it went down', async () => {
    const { health, clock, follow } = underTest();
    const stream = follow('pods');
    stream.enter('down', { error: new Error('HTTP 503') });
    await clock.advance(20);
    stream.enter('crashed', { error: new Error('crashed') });
    expect(health.streams()).toMatchObject([{ phase: 'down', since: 0 }]);
  });

  describe('with a stream that is silent for longer than it could be', () => {
    it.each([
      ['is lost if the server answers', true, false],
      ['is there if the server does not answer either', false, true],
    ])('%s', async (_, doesAnswer, expected) => {
      const { isAlive, clock, answers, follow } = underTest();
      answers.mockResolvedValue(doesAnswer);
      follow('pods').enter('watching', { lastEventAt: 0 });
      await clock.advance(275);
      expect(await isAlive()).toBe(true);
      expect(answers).not.toHaveBeenCalled();
      await clock.advance(1);
      expect(await isAlive()).toBe(expected);
      expect(answers).toHaveBeenCalledTimes(1);
    });

    it('gives more time to a listing, since a page of it may take as long as any request', async () => {
      const { isAlive, clock, follow } = underTest();
      follow('pods').enter('listing');
      await clock.advance(365);
      expect(await isAlive()).toBe(true);
      await clock.advance(1);
      expect(await isAlive()).toBe(false);
    });

    it.each(['paused', 'down'] as const)('does not ask the server about those that are %s', async (name) => {
      const { isAlive, clock, answers, follow } = underTest();
      follow('pods').enter(name);
      await clock.advance(290);
      expect(await isAlive()).toBe(true);
      expect(answers).not.toHaveBeenCalled();
    });

    it('is there if the stream is known to work, though there is nothing to receive', async () => {
      const { isAlive, clock, follow } = underTest();
      const stream = follow('pods');
      stream.enter('watching', { lastEventAt: 0, lastGoodAt: 0 });
      await clock.advance(1000);
      expect(await isAlive()).toBe(false);
      stream.enter('watching', { since: 0, lastEventAt: 0, lastGoodAt: 900 });
      expect(await isAlive()).toBe(true);
    });
  });

  describe('with a condition that tells of itself', () => {
    it('is lost if its trouble lasts; readiness is lost at once', async () => {
      const { health, isAlive, clock } = underTest();
      let trouble: { why: string; since: number } | undefined;
      const drop = health.inquire('credentials', () => trouble);
      expect(health.readiness().isReady).toBe(true);
      trouble = { why: 'refused', since: clock.now() };
      expect(health.readiness().isReady).toBe(false);
      await clock.advance(300);
      expect(await isAlive()).toBe(true);
      await clock.advance(1);
      expect(await isAlive()).toBe(false);
      drop();
      expect(await isAlive()).toBe(true);
    });
  });
});
