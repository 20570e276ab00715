import { objectLogger } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { about, posterUnderTest } from './running-poster.js';

describe('a flood of logs about one object', () => {
  it('of a thousand lines per second makes a few events only, and all lines are counted', async () => {
    const poster = posterUnderTest({ overrides: { posting: { loggers: true } } });
    await poster.start();
    const logger = objectLogger({ logger: poster.logger.child({}), body: about('a'), posting: poster });
    for (let tick = 0; tick < 600; tick++) {
      for (let line = 0; line < 100; line++) logger.info(`Line ${tick * 100 + line}.`);
      await poster.clock.advance(0.1);
    }
    expect(poster.posted.length).toBeLessThanOrEqual(25 + 60 / 5 + 1);
    await poster.stop();
    expect(poster.times).toBe(60_000);
    expect(poster.logger.messages('warn').length).toBeLessThanOrEqual(60 / 10 + 2);
  });

  it('of the same line over and over again makes an event per ten seconds, and no summaries', async () => {
    const poster = posterUnderTest({ overrides: { posting: { loggers: true } } });
    await poster.start();
    const logger = objectLogger({ logger: poster.logger.child({}), body: about('a'), posting: poster });
    for (let tick = 0; tick < 600; tick++) {
      for (let line = 0; line < 100; line++) logger.info('The same.');
      await poster.clock.advance(0.1);
    }
    expect(poster.posted.length).toBeLessThanOrEqual(7);
    await poster.stop();
    expect(poster.times).toBe(60_000);
    expect(poster.logger.messages('warn')).toEqual([]);
  });
});

describe('too many events about one object', () => {
  const flood = async (count: number) => {
    const poster = posterUnderTest();
    await poster.start();
    for (let number = 1; number <= count; number++) poster.post({ message: `Text ${number}.` });
    await poster.clock.settle();
    return poster;
  };

  it('are posted one by one up to a limit', async () => {
    const poster = await flood(25);
    await poster.clock.advance(60);
    expect(poster.posted).toHaveLength(25);
    expect(poster.logger.messages('warn')).toEqual([]);
  });

  it('are summed up beyond the limit, as soon as one more may be posted; a warning says so', async () => {
    const poster = await flood(100);
    expect(poster.posted).toHaveLength(25);
    await poster.clock.advance(4.9);
    expect(poster.posted).toHaveLength(25);
    await poster.clock.advance(0.1);
    expect(poster.posted.slice(25)).toMatchObject([
      {
        type: 'Normal',
        reason: 'Reason',
        message: '75 events were too many to be posted one by one. The last of them: Text 100.',
        count: 75,
      },
    ]);
    expect(poster.logger.messages('warn')).toEqual([
      'Too many events about the same objects: 75 events are posted as summaries.',
    ]);
  });

  it('are a warning together, if they are of different types', async () => {
    const poster = await flood(25);
    poster.post({ message: 'Good.' });
    poster.post({ message: 'Bad.', type: 'Error', reason: 'Failed' });
    await poster.clock.advance(5);
    expect(poster.posted.slice(25)).toMatchObject([{ type: 'Warning', reason: 'Failed', count: 2 }]);
  });

  it('are told as they are, if it is only one beyond the limit', async () => {
    const poster = await flood(26);
    await poster.clock.advance(5);
    expect(poster.posted.slice(25)).toMatchObject([{ message: 'Text 26.' }]);
    expect(poster.posted[25]).not.toHaveProperty('count');
    expect(poster.logger.messages('warn')).toEqual([]);
  });

  it('do not hold up the events about other objects', async () => {
    const poster = await flood(100);
    poster.post({ about: about('b') });
    await poster.clock.settle();
    expect(poster.posted.at(-1)).toMatchObject({ involvedObject: { name: 'b' } });
  });

  it('are again posted one by one after a silence', async () => {
    const poster = await flood(100);
    await poster.clock.advance(200);
    const before = poster.posted.length;
    for (let number = 1; number <= 25; number++) poster.post({ message: `New ${number}.` });
    await poster.clock.settle();
    expect(poster.posted.slice(before).map(({ message }) => message)).toEqual(
      Array.from({ length: 25 }, (_, index) => `New ${index + 1}.`),
    );
  });
});

describe('too many events in total', () => {
  it('are posted with a limited speed, and none is lost', async () => {
    const poster = posterUnderTest();
    await poster.start();
    for (let number = 0; number < 1000; number++) poster.post({ about: about(`object-${number}`) });
    await poster.clock.settle();
    expect(poster.posted).toHaveLength(200);
    await poster.clock.advance(1);
    expect(poster.posted).toHaveLength(250);
    await poster.clock.advance(15);
    expect(poster.posted).toHaveLength(1000);
    expect(poster.logger.messages('warn')).toEqual([]);
  });

  it('are dropped beyond what the memory is given for, the oldest first; a single warning says how many', async () => {
    const poster = posterUnderTest({ limits: { waiting: 100 } });
    for (let number = 0; number < 150; number++) poster.post({ about: about(`object-${number}`) });
    expect(poster.logger.messages('warn')).toEqual(['Too many events at once: 1 event is dropped, the oldest first.']);
    await poster.start();
    await poster.clock.advance(10);
    expect(poster.posted.map(({ involvedObject }) => involvedObject['name'])).toEqual(
      Array.from({ length: 100 }, (_, index) => `object-${index + 50}`),
    );
    expect(poster.logger.messages('warn').slice(1)).toEqual([
      'Too many events at once: 49 events are dropped, the oldest first.',
    ]);
  });

  it('are posted by a few requests at once', async () => {
    const poster = posterUnderTest();
    poster.answer = 'never';
    await poster.start();
    for (let number = 0; number < 100; number++) poster.post({ about: about(`object-${number}`) });
    await poster.clock.advance(60);
    expect(poster.unanswered).toBe(4);
  });
});
