import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { connectionLimiter } from '../../../src/cluster/watch/connection-limiter.js';
import { apiError } from '../../../src/errors.js';
import { kex, kexList } from '../fixtures.js';
import { added, bookmark, errorEvent, modified, watchUnderTest } from './harness.js';

const NAME = 'kopfexamples.v1.kopf.dev cluster-wide';

describe('a connection that ends', () => {
  it.each<[string, (stream: { end(): void; fail(error: unknown): void }) => void]>([
    ['in good order', (stream) => stream.end()],
    ['by a cut', (stream) => stream.fail(new TypeError('terminated'))],
    ['by a timeout', (stream) => stream.fail(new DOMException('timeout', 'TimeoutError'))],
    ['by half of a line', (stream) => stream.fail(new SyntaxError('Unexpected end of JSON input'))],
  ])('%s is reopened at once from the last version, and nothing is said of it', async (_title, finish) => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    finish(watched.client.prepareStream(added(kex('a', '101'))));
    watched.client.prepareStream(modified(kex('a', '102')));
    await watched.start();
    expect(watched.story).toEqual(['LISTED', 'ADDED a', 'MODIFIED a']);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '0 watch 101']);
    expect(watched.logger.messages('warn')).toEqual([]);
    expect(watched.logger.messages('info')).toEqual([]);
  });

  it('in good order after a while is reopened at once even if it brought nothing', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    const stream = watched.client.prepareStream();
    await watched.start();
    await watched.clock.advance(60);
    stream.end();
    await watched.clock.settle();
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '60 watch 100']);
  });

  it('at once and with nothing, each time, is not reopened more often than once a second', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    for (let index = 0; index < 1000; index++) watched.client.prepareStream().end();
    await watched.start();
    expect(watched.attempts).toEqual(['0 list', '0 watch 100']);
    await watched.clock.advance(1);
    expect(watched.attempts.slice(2)).toEqual(['0.1 watch 100', '0.3 watch 100', '0.7 watch 100']);
    await watched.clock.advance(99);
    expect(watched.attempts.length).toBeLessThanOrEqual(104);
    expect(watched.attempts.length).toBeGreaterThanOrEqual(95);
    expect(watched.logger.messages('warn')).toEqual([
      `The watch-stream for ${NAME} is down: The server keeps closing it right after it opens.`,
    ]);
  });

  it('at once and with nothing is not taken for a long one if it had to wait for its turn', async () => {
    const watched = watchUnderTest({ watching: { reconnectBackoff: 0 } });
    watched.client.answer(kexList('100', []));
    for (let index = 0; index < 100; index++) watched.client.prepareStream().end();
    await watched.start();
    await watched.clock.advance(30);
    expect(watched.logger.messages('warn')).toHaveLength(1);
    expect(watched.logger.messages('info')).toEqual([]);
    expect(watched.phases.at(-1)?.phase).toBe('down');
  });

  it('by a timeout of the handshake is a failure, however long it took', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    const stream = watched.client.prepareStream();
    await watched.start();
    await watched.clock.advance(30);
    stream.fail(new DOMException('timeout', 'TimeoutError'));
    await watched.clock.settle();
    expect(watched.logger.messages('warn')).toEqual([`The watch-stream for ${NAME} is down: timeout`]);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100']);
    await watched.clock.advance(0.1);
    expect(watched.attempts.slice(2)).toEqual(['30.1 watch 100']);
  });

  it('after each event is not reopened more often than once a second in the long run', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    for (let version = 101; version < 1000; version++) watched.client.prepareStream(bookmark(`${version}`)).end();
    await watched.start();
    expect(watched.attempts).toHaveLength(10);
    await watched.clock.advance(100);
    expect(watched.attempts).toHaveLength(110);
  });
});

describe('an inactive connection', () => {
  const watching = { inactivityTimeout: 15 };
  const message = `Watch-stream for ${NAME} is inactive, reconnecting.`;

  it('is reopened, even if it did not bring the headers yet', async () => {
    const watched = watchUnderTest({ watching });
    watched.client.answer(kexList('100', []));
    const stream = watched.client.prepareStream();
    await watched.start();
    await watched.clock.advance(14.9);
    expect(watched.attempts).toHaveLength(2);
    await watched.clock.advance(0.1);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '15 watch 100']);
    expect(stream.request?.signal?.aborted).toBe(true);
    expect(watched.logger.messages()).toEqual([message]);
  });

  it('is reopened even if the client does not obey', async () => {
    const watched = watchUnderTest({ watching, obeysSignals: false });
    watched.client.answer(kexList('100', []));
    await watched.start();
    await watched.clock.advance(15);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '15 watch 100']);
  });

  it.each([
    ['an event', () => added(kex('a', '101'))],
    ['a bookmark', () => bookmark('101')],
  ])('is counted from the last %s, and is reopened from its version', async (_title, line) => {
    const watched = watchUnderTest({ watching });
    watched.client.answer(kexList('100', []));
    const stream = watched.client.prepareStream();
    await watched.start();
    await watched.clock.advance(10);
    stream.push(line());
    await watched.clock.advance(14.9);
    expect(watched.attempts).toHaveLength(2);
    await watched.clock.advance(0.1);
    expect(watched.attempts.slice(2)).toEqual(['25 watch 101']);
  });

  it('is not one where something comes all the time', async () => {
    const watched = watchUnderTest({ watching });
    watched.client.answer(kexList('100', []));
    const stream = watched.client.prepareStream();
    await watched.start();
    for (let version = 101; version < 120; version++) {
      await watched.clock.advance(10);
      stream.push(bookmark(`${version}`));
    }
    await watched.clock.settle();
    expect(watched.attempts).toEqual(['0 list', '0 watch 100']);
    expect(watched.logger.lines).toEqual([]);
  });
});

describe('an expired version', () => {
  it.each([
    ['as an event with the code', errorEvent(410)],
    ['as an event with the reason "Expired"', errorEvent(500, { reason: 'Expired' })],
    ['as an event with the reason "Gone"', errorEvent(500, { reason: 'Gone' })],
    ['as an HTTP error', apiError({ status: 410 })],
  ])('%s means listing anew, and nothing more comes from the old stream', async (_title, problem) => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', [kex('a', '1')]), kexList('200', [kex('a', '1')]));
    if (problem instanceof Error) watched.client.refuseStream(problem);
    else watched.client.prepareStream(problem, added(kex('b', '101')));
    watched.client.prepareStream(added(kex('c', '201')));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.story).toEqual(['null a', 'LISTED', 'null a', 'LISTED', 'ADDED c']);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '0.1 list', '0.1 watch 200']);
    expect(watched.logger.messages()).toEqual([`Restarting the watch-stream for ${NAME}.`]);
  });

  it('of every new list does not turn into a storm of lists', async () => {
    const watched = watchUnderTest();
    watched.client.answerAll(() => kexList('100', []));
    for (let index = 0; index < 1000; index++) watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(600);
    expect(watched.attempts.length).toBeLessThan(150);
    expect(watched.logger.messages('warn')).toEqual([`The watch-stream for ${NAME} is down: error 410`]);
  });
});

describe('a refusal to watch', () => {
  it.each([
    ['HTTP 400', apiError({ status: 400 })],
    ['HTTP 403', apiError({ status: 403 })],
    ['HTTP 404', apiError({ status: 404 })],
    ['HTTP 500', apiError({ status: 500 })],
    ['HTTP 555', apiError({ status: 555 })],
    ['HTTP 666', apiError({ status: 666 })],
    ['an event of error 500', errorEvent(500)],
    ['an event of error 666', errorEvent(666)],
    ['an event of an unknown error', { type: 'ERROR', object: 'what?' }],
  ])('by %s is never fatal: it is tried again from the same version', async (_title, problem) => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    if (problem instanceof Error) watched.client.refuseStream(problem);
    else watched.client.prepareStream(problem);
    watched.client.prepareStream(added(kex('a', '101')));
    await watched.start();
    expect(watched.logger.messages('warn')).toEqual([
      expect.stringContaining(`The watch-stream for ${NAME} is down: `),
    ]);
    await watched.clock.advance(1);
    expect(watched.story).toEqual(['LISTED', 'ADDED a']);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '0.1 watch 100']);
    expect(watched.logger.messages('info')).toEqual([
      `The watch-stream for ${NAME} works again, after 0.1 seconds of downtime.`,
    ]);
  });

  it('delivers what came before it', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    watched.client.prepareStream(added(kex('a', '101')), errorEvent(666), added(kex('b', '102')));
    await watched.start();
    await watched.clock.advance(0.1);
    expect(watched.story).toEqual(['LISTED', 'ADDED a']);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '0.1 watch 101']);
  });

  it('that goes on leads to a new listing: it can be because of the version', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []), kexList('200', []));
    for (let index = 0; index < 3; index++) watched.client.refuseStream(apiError({ status: 500 }));
    await watched.start();
    await watched.clock.advance(10);
    expect(watched.attempts).toEqual([
      '0 list',
      '0 watch 100',
      '0.1 watch 100',
      '0.3 watch 100',
      '0.7 list',
      '0.7 watch 200',
    ]);
  });

  it('is tried less and less often, but for ever, and is told of once', async () => {
    const watched = watchUnderTest();
    watched.client.answerAll(() => kexList('100', []));
    for (let index = 0; index < 40; index++) watched.client.refuseStream(apiError({ status: 403, payload: 'no way' }));
    watched.client.prepareStream(added(kex('a', '101')));
    await watched.start();
    await watched.clock.advance(3600);
    expect(watched.story.at(-1)).toBe('ADDED a');
    expect(watched.logger.messages('warn')).toEqual([`The watch-stream for ${NAME} is down: no way`]);
    expect(watched.logger.messages('info')).toEqual([expect.stringMatching(/works again, after \d+/)]);
    const times = watched.attempts.slice(0, 40).map((attempt) => Number.parseFloat(attempt));
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.max(...pauses)).toBeCloseTo(10);
  });

  it('with "too many requests" is tried when the server asks to', async () => {
    const watched = watchUnderTest({ random: () => 0 });
    watched.client.answer(kexList('100', []));
    watched.client.refuseStream(apiError({ status: 429, retryAfter: 7 }));
    watched.client.prepareStream(errorEvent(429, { details: { retryAfterSeconds: 5 } }));
    await watched.start();
    await watched.clock.advance(20);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '7 watch 100', '12 watch 100']);
  });
});

describe('a connection that cannot be made', () => {
  it('is tried again from the same version, however long it takes', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    for (let index = 0; index < 30; index++) watched.client.refuseStream(new TypeError('connection refused'));
    watched.client.prepareStream(added(kex('a', '101')));
    await watched.start();
    await watched.clock.advance(900);
    expect(watched.story).toEqual(['LISTED', 'ADDED a']);
    expect(watched.attempts.filter((attempt) => attempt.endsWith('list'))).toHaveLength(1);
    expect(watched.logger.messages('warn')).toEqual([`The watch-stream for ${NAME} is down: connection refused`]);
    expect(watched.logger.find('is down')?.fields).not.toHaveProperty('error');
    expect(watched.logger.find({ text: 'has failed at', level: 'debug' })?.fields).toMatchObject({
      error: new TypeError('connection refused'),
    });
  });

  it('is not waited for without pauses even if there is no backoff', async () => {
    const watched = watchUnderTest({ watching: { reconnectBackoff: 0 } });
    watched.client.answer(kexList('100', []));
    for (let index = 0; index < 1000; index++) watched.client.refuseStream(new TypeError('connection refused'));
    await watched.start();
    await watched.clock.advance(100);
    expect(watched.attempts).toHaveLength(110);
  });
});

describe('a failed listing', () => {
  it.each([
    ['a broken connection', new TypeError('connection refused')],
    ['a timeout', new DOMException('timeout', 'TimeoutError')],
    ['a broken JSON', new SyntaxError('Unexpected token')],
    ['HTTP 403', apiError({ status: 403 })],
    ['HTTP 410', apiError({ status: 410 })],
    ['HTTP 429', apiError({ status: 429 })],
    ['HTTP 503', apiError({ status: 503 })],
  ])('by %s is repeated, and is not taken for a listing', async (_title, error) => {
    const watched = watchUnderTest();
    watched.client.answer(error, kexList('100', [kex('a', '1')]));
    await watched.start();
    expect(watched.story).toEqual([]);
    await watched.clock.advance(0.1);
    expect(watched.story).toEqual(['null a', 'LISTED']);
    expect(watched.attempts).toEqual(['0 list', '0.1 list', '0.1 watch 100']);
  });

  it('is told of once, with its reasons, and once more when it is over', async () => {
    const watched = watchUnderTest();
    watched.client.answer(
      apiError({ status: 503, payload: 'closed' }),
      apiError({ status: 503, payload: 'still closed' }),
      apiError({ status: 403, payload: 'no way' }),
      kexList('100', []),
    );
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.logger.messages('warn')).toEqual([
      `The watch-stream for ${NAME} is down: closed`,
      `The watch-stream for ${NAME} is down: no way`,
    ]);
    expect(watched.logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields.since)).toEqual([
      '2020-01-01T00:00:00.000Z',
      '2020-01-01T00:00:00.000Z',
    ]);
    expect(watched.logger.messages('info')).toEqual([
      `The watch-stream for ${NAME} works again, after 0.7 seconds of downtime.`,
    ]);
  });
});

describe('a common limit of attempts', () => {
  it('is obeyed by all streams together', async () => {
    const clock = manualClock();
    const limiter = connectionLimiter(clock, { perSecond: 2, burst: 1 });
    const streams = [1, 2, 3].map(() => watchUnderTest({ clock, limiter }));
    for (const stream of streams) stream.client.answer(kexList('100', []));
    for (const stream of streams) await stream.start();
    const count = () => streams.reduce((sum, stream) => sum + stream.client.requests.length, 0);
    expect(count()).toBe(1);
    await clock.advance(1);
    expect(count()).toBe(3);
    await clock.advance(10);
    expect(count()).toBe(6);
  });
});
