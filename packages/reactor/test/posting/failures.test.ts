import { apiError, LoginError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { about, posterUnderTest } from './running-poster.js';

describe('an event that cannot be posted', () => {
  it.each([
    ['a refusal of the API', apiError({ status: 403, payload: 'no way' }), 'no way'],
    ['an error of the API', apiError({ status: 500, payload: 'no idea' }), 'no idea'],
    ['a broken connection', new TypeError('cut'), 'cut'],
    ['a timeout', new DOMException('too slow', 'TimeoutError'), 'too slow'],
    ['no credentials', new LoginError('who are you?'), 'who are you?'],
  ])('because of %s is only warned of, and the poster goes on', async (_title, error, text) => {
    const poster = posterUnderTest();
    await poster.start();
    poster.answer = error;
    poster.post({});
    await poster.clock.settle();
    expect(poster.logger.messages('warn')).toEqual([`Failed to post an event: ${text}`]);
    expect(poster.logger.find('Failed to post')?.fields).toMatchObject({ error, object: { name: 'a' } });
    expect(poster.isEnded).toBe(false);
    poster.answer = 'well';
    poster.post({ about: about('b') });
    await poster.clock.settle();
    expect(poster.posted.at(-1)).toMatchObject({ involvedObject: { name: 'b' } });
  });

  it('because there is no client yet is only warned of', async () => {
    const poster = posterUnderTest({
      client: () => {
        throw new Error('not yet');
      },
    });
    await poster.start();
    poster.post({});
    await poster.clock.settle();
    expect(poster.logger.messages('warn')).toEqual(['Failed to post an event: not yet']);
    expect(poster.isEnded).toBe(false);
  });

  it('is not tried again if the cluster has refused it', async () => {
    const poster = posterUnderTest();
    await poster.start();
    poster.answer = apiError({ status: 403, payload: 'no way' });
    poster.post({});
    await poster.clock.advance(600);
    expect(poster.posted).toHaveLength(1);
  });

  it.each([
    ['the cluster is in trouble', apiError({ status: 503 })],
    ['the cluster is busy', apiError({ status: 429 })],
    ['the connection is broken', new TypeError('cut')],
  ])('is tried again later together with its repeats if %s', async (_title, error) => {
    const poster = posterUnderTest();
    await poster.start();
    poster.answer = error;
    poster.post({});
    await poster.clock.advance(1);
    poster.answer = 'well';
    poster.post({});
    await poster.clock.advance(8.9);
    expect(poster.posted).toHaveLength(1);
    await poster.clock.advance(0.1);
    expect(poster.posted).toHaveLength(2);
    expect(poster.posted[1]).toMatchObject({
      count: 2,
      firstTimestamp: '2020-01-01T00:00:00.000000+00:00',
      lastTimestamp: '2020-01-01T00:00:01.000000+00:00',
    });
    await poster.clock.advance(600);
    expect(poster.posted).toHaveLength(2);
  });

  it('is given up after some attempts, with a warning of each', async () => {
    const poster = posterUnderTest();
    await poster.start();
    poster.answer = new TypeError('cut');
    poster.post({});
    await poster.clock.advance(600);
    expect(poster.posted).toHaveLength(5);
    expect(poster.logger.messages('warn')).toEqual(Array(5).fill('Failed to post an event: cut'));
  });

  it('is not given up because of failures that are long over', async () => {
    const poster = posterUnderTest();
    await poster.start();
    for (let round = 0; round < 10; round++) {
      poster.answer = new TypeError('cut');
      poster.post({});
      await poster.clock.advance(1);
      poster.answer = 'well';
      await poster.clock.advance(30);
    }
    expect(poster.posted).toHaveLength(20);
  });

  it('as a summary is still a summary when it is tried again', async () => {
    const poster = posterUnderTest();
    await poster.start();
    for (let number = 1; number <= 30; number++) poster.post({ message: `Text ${number}.` });
    await poster.clock.settle();
    poster.answer = new TypeError('cut');
    await poster.clock.advance(5);
    poster.answer = 'well';
    await poster.clock.advance(5);
    expect(poster.posted.slice(25)).toMatchObject([
      { count: 5, message: expect.stringContaining('5 events were too many') },
      { count: 5, message: expect.stringContaining('The last of them: Text 30.') },
    ]);
  });
});
