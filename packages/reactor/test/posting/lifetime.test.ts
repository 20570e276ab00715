import { event, exception, info, settings, warn } from '@kopf-ts/core';
import { objectLogger, runInContext } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { about, posterUnderTest } from './running-poster.js';

describe('events before the poster runs', () => {
  it('wait for it', async () => {
    const poster = posterUnderTest();
    poster.post({ message: 'One.' });
    poster.post({ message: 'Two.' });
    await poster.clock.advance(100);
    expect(poster.posted).toEqual([]);
    await poster.start();
    expect(poster.posted).toMatchObject([
      { message: 'One.', firstTimestamp: '2020-01-01T00:00:00.000000+00:00' },
      { message: 'Two.' },
    ]);
  });
});

describe('events when the operator stops', () => {
  it('are posted at once, those that were being collected included', async () => {
    const poster = posterUnderTest();
    await poster.start();
    poster.post({});
    await poster.clock.settle();
    for (let number = 1; number <= 3; number++) poster.post({});
    for (let number = 1; number <= 50; number++) poster.post({ about: about('b'), message: `Text ${number}.` });
    await poster.stop();
    expect(poster.isEnded).toBe(true);
    expect(poster.times).toBe(54);
    expect(poster.clock.now()).toBe(0);
    expect(poster.clock.sleepers).toBe(0);
    expect(poster.logger.messages('warn')).toEqual([
      'Too many events about the same objects: 25 events are posted as summaries.',
    ]);
  });

  it.each([true, false])(
    'are waited for only shortly; the lost ones are counted (aborting works: %s)',
    async (obeysSignals) => {
      const poster = posterUnderTest({ obeysSignals });
      await poster.start();
      poster.answer = 'never';
      for (let number = 1; number <= 10; number++) poster.post({ message: `Text ${number}.` });
      await poster.clock.settle();
      poster.post({ message: 'Text 10.' });
      await poster.stop();
      await poster.clock.advance(1.9);
      expect(poster.isEnded).toBe(false);
      await poster.clock.advance(0.1);
      expect(poster.isEnded).toBe(true);
      expect(poster.logger.messages('warn')).toEqual([
        '11 events are lost: the operator has stopped before posting them.',
      ]);
      expect(poster.clock.sleepers).toBe(0);
    },
  );

  it('are not tried again if they fail', async () => {
    const poster = posterUnderTest();
    await poster.start();
    poster.answer = new TypeError('cut');
    poster.post({});
    await poster.stop();
    expect(poster.isEnded).toBe(true);
    expect(poster.posted).toHaveLength(1);
  });

  it('are lost if they come too late, with one warning for all of them', async () => {
    const poster = posterUnderTest();
    await poster.start();
    await poster.stop();
    expect(poster.isEnded).toBe(true);
    poster.post({});
    poster.post({});
    await poster.clock.settle();
    expect(poster.posted).toEqual([]);
    expect(poster.logger.messages('warn')).toEqual(['Events are not posted anymore: the operator has stopped.']);
  });

  it('that never came do not delay the end', async () => {
    const poster = posterUnderTest();
    await poster.start();
    expect(poster.clock.sleepers).toBe(0);
    await poster.stop();
    expect(poster.isEnded).toBe(true);
    expect(poster.logger.messages('warn')).toEqual([]);
  });
});

describe('lines of loggers of objects', () => {
  const logAll = async (posting: Parameters<typeof settings>[0], isLocal = false) => {
    const poster = posterUnderTest({ overrides: posting ?? {} });
    await poster.start();
    const options = { logger: poster.logger.child({}), body: about('a') };
    const logger = objectLogger(isLocal ? options : { ...options, posting: poster });
    logger.debug('debug');
    logger.info('info');
    logger.warn('warn');
    logger.error('error');
    await poster.clock.settle();
    return poster.posted.map(({ type, reason, message }) => [type, reason, message].join(' '));
  };

  it('are posted with the types by their levels', async () => {
    expect(await logAll({ posting: { loggers: true, level: 'debug' } })).toEqual([
      'Debug Logging debug',
      'Normal Logging info',
      'Warning Logging warn',
      'Error Logging error',
    ]);
  });

  it('are posted from the lowest level on', async () => {
    expect(await logAll({ posting: { loggers: true, level: 'warn' } })).toEqual([
      'Warning Logging warn',
      'Error Logging error',
    ]);
  });

  it.each([
    ['by default', {}],
    ['if it is switched off', { loggers: false }],
    ['if all posting is disabled', { loggers: true, enabled: false }],
  ])('are not posted %s', async (_title, posting) => {
    expect(await logAll({ posting })).toEqual([]);
  });

  it('are not posted by those that only log', async () => {
    expect(await logAll({ posting: { loggers: true, level: 'debug' } }, true)).toEqual([]);
  });
});

describe('events posted explicitly in a handler', () => {
  it('are posted whatever is said of loggers', async () => {
    const poster = posterUnderTest({ overrides: { posting: { loggers: false } } });
    await poster.start();
    runInContext(poster, () => {
      event(about('a'), { type: 'Special', reason: 'R', message: 'event' });
      info(about('a'), { reason: 'R', message: 'info' });
      warn([about('a'), about('b')], { reason: 'R', message: 'warn' });
      exception(about('a'), { error: new RangeError('exception') });
    });
    await poster.clock.settle();
    expect(poster.posted.map(({ type, reason, message }) => [type, reason, message].join(' '))).toEqual([
      'Special R event',
      'Normal R info',
      'Warning R warn',
      'Warning R warn',
      'Error RangeError exception',
    ]);
  });

  it('are impossible where there is nobody to post them', () => {
    expect(() => runInContext({ settings: settings() }, () => info(about('a'), { reason: 'R' }))).toThrow(
      'works only in handlers of a running operator',
    );
  });
});
