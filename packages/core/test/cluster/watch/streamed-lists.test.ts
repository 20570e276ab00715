import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import type { ServerCapabilities } from '../../../src/cluster/watch/signals.js';
import { apiError } from '../../../src/errors.js';
import { kex, kexList } from '../fixtures.js';
import { added, bookmark, deleted, errorEvent, modified, watchUnderTest } from './harness.js';

const END = {
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '100', annotations: { 'k8s.io/initial-events-end': 'true' } } },
};

describe('a streamed list', () => {
  it('is asked for until it is known that the server cannot do so', async () => {
    const capabilities: ServerCapabilities = {};
    const watched = watchUnderTest({ capabilities });
    watched.client.prepareStream(
      added(kex('a', '1')),
      added(kex('b', '2')),
      END,
      added(kex('c', '101')),
      deleted(kex('a', '102')),
    );
    await watched.start();
    expect(watched.client.log).toEqual([
      'GET /apis/kopf.dev/v1/kopfexamples?watch=true&allowWatchBookmarks=true&sendInitialEvents=true' +
        '&resourceVersionMatch=NotOlderThan&resourceVersion=&timeoutSeconds=600',
    ]);
    expect(watched.story).toEqual(['null a', 'null b', 'LISTED', 'ADDED c', 'DELETED a']);
    expect(capabilities.streamingLists).toBe(true);
  });

  it('is complete with its own mark only, not with any other bookmark', async () => {
    const watched = watchUnderTest({ capabilities: {} });
    const stream = watched.client.prepareStream(added(kex('a', '1')), bookmark('50'));
    await watched.start();
    expect(watched.story).toEqual(['null a']);
    stream.push(END, bookmark('150'));
    stream.end();
    await watched.clock.settle();
    expect(watched.story).toEqual(['null a', 'LISTED']);
    expect(watched.attempts).toEqual(['0 streamed list', '0 watch 150']);
  });

  it('reports those vanished while disconnected', async () => {
    const watched = watchUnderTest({ capabilities: {} });
    watched.client.prepareStream(added(kex('a', '1')), added(kex('b', '2')), END, errorEvent(410));
    watched.client.prepareStream(added(kex('b', '2')), END, modified(kex('b', '201')));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.story.slice(3)).toEqual(['null b', 'DELETED a vanished', 'LISTED', 'MODIFIED b']);
    expect(watched.attempts).toEqual(['0 streamed list', '0.1 streamed list']);
  });

  it('is begun anew if it is cut', async () => {
    const watched = watchUnderTest({ capabilities: {} });
    watched.client.prepareStream(added(kex('a', '1'))).fail(new TypeError('cut'));
    watched.client.prepareStream(added(kex('a', '1')), END);
    await watched.start();
    expect(watched.logger.messages('warn')).toEqual([expect.stringContaining('is down: cut')]);
    await watched.clock.advance(1);
    expect(watched.story).toEqual(['null a', 'null a', 'LISTED']);
    expect(watched.attempts).toEqual(['0 streamed list', '0.1 streamed list']);
  });

  it.each([
    ['invalid', apiError({ status: 422 })],
    ['bad', apiError({ status: 400 })],
  ])('is given up for all streams if the request is %s', async (_title, error) => {
    const capabilities: ServerCapabilities = {};
    const watched = watchUnderTest({ capabilities });
    watched.client.refuseStream(error);
    watched.client.answer(kexList('100', [kex('a', '1')]));
    await watched.start();
    expect(watched.attempts).toEqual(['0 streamed list', '0 list', '0 watch 100']);
    expect(watched.story).toEqual(['null a', 'LISTED']);
    expect(capabilities.streamingLists).toBe(false);
    expect(watched.logger.messages('warn')).toEqual([]);
  });

  it('is given up if there is only silence instead of it', async () => {
    const capabilities: ServerCapabilities = {};
    const watched = watchUnderTest({ capabilities });
    const stream = watched.client.prepareStream();
    watched.client.answer(kexList('100', []));
    await watched.start();
    await watched.clock.advance(10);
    expect(watched.attempts).toEqual(['0 streamed list', '10 list', '10 watch 100']);
    expect(stream.request?.signal?.aborted).toBe(true);
    expect(capabilities.streamingLists).toBe(false);
  });

  it.each([0, 1, 4, 9.5])('is given up in time by all streams, also by those begun %d s later', async (delay) => {
    const capabilities: ServerCapabilities = {};
    const clock = manualClock();
    const streams = [1, 2, 3].map(() => watchUnderTest({ capabilities, clock }));
    for (const { client } of streams) client.answer(kexList('100', [kex('a', '1')]));
    await streams[0]?.start();
    await clock.advance(delay);
    await streams[1]?.start();
    await streams[2]?.start();
    await clock.advance(10);
    for (const stream of streams) expect(stream.story).toEqual(['null a', 'LISTED']);
  });

  it('is given up by a busy stream, too, when the others have found out that there are none', async () => {
    const capabilities: ServerCapabilities = {};
    const watched = watchUnderTest({ capabilities });
    const stream = watched.client.prepareStream(added(kex('a', '1')));
    watched.client.answer(kexList('100', [kex('a', '1')]));
    await watched.start();
    capabilities.streamingLists = false;
    for (let second = 1; second <= 10; second++) {
      stream.push(modified(kex('a', `${second + 1}`)));
      await watched.clock.advance(1);
    }
    expect(watched.story.slice(-2)).toEqual(['null a', 'LISTED']);
  });

  it('is given up for this stream if it has no end, since it can be nothing but changes', async () => {
    const capabilities: ServerCapabilities = {};
    const watched = watchUnderTest({ capabilities });
    const stream = watched.client.prepareStream(added(kex('a', '1')));
    watched.client.answer(kexList('100', [kex('a', '1')]));
    await watched.start();
    for (let second = 1; second <= 60; second++) {
      stream.push(modified(kex('a', `${second + 1}`)));
      await watched.clock.advance(1);
    }
    expect(watched.story.slice(-2)).toEqual(['null a', 'LISTED']);
    expect(capabilities.streamingLists).toBe(undefined);
  });

  it('may take any time if the server is known to stream lists', async () => {
    const watched = watchUnderTest({ capabilities: { streamingLists: true } });
    const stream = watched.client.prepareStream();
    await watched.start();
    for (let index = 0; index < 20; index++) {
      await watched.clock.advance(15);
      stream.push(added(kex(`x${index}`, `${index + 1}`)));
    }
    stream.push(END);
    await watched.clock.settle();
    expect(watched.story).toHaveLength(21);
    expect(watched.attempts).toEqual(['0 streamed list']);
  });

  it('is given up if it ends without being complete', async () => {
    const capabilities: ServerCapabilities = {};
    const watched = watchUnderTest({ capabilities });
    watched.client.prepareStream(added(kex('a', '1'))).end();
    watched.client.answer(kexList('100', [kex('a', '1')]));
    await watched.start();
    expect(watched.attempts).toEqual(['0 streamed list', '0 list', '0 watch 100']);
    expect(watched.story).toEqual(['null a', 'null a', 'LISTED']);
    expect(capabilities.streamingLists).toBe(false);
  });

  it('is given up for this stream only if the others can do so, or if it is not permitted', async () => {
    const capabilities: ServerCapabilities = { streamingLists: true };
    const one = watchUnderTest({ capabilities });
    one.client.prepareStream().end();
    one.client.answer(kexList('100', []));
    await one.start();
    expect(one.attempts).toEqual(['0 streamed list', '0 list', '0 watch 100']);
    expect(capabilities.streamingLists).toBe(true);

    const unknown: ServerCapabilities = {};
    const two = watchUnderTest({ capabilities: unknown });
    two.client.refuseStream(apiError({ status: 403 }));
    two.client.answer(kexList('100', []));
    await two.start();
    expect(two.attempts).toEqual(['0 streamed list', '0 list', '0 watch 100']);
    expect(unknown.streamingLists).toBe(undefined);
  });

  it.each([
    ['HTTP 503', apiError({ status: 503 })],
    ['a broken connection', new TypeError('connection refused')],
  ])('is not given up because of %s', async (_title, error) => {
    const capabilities: ServerCapabilities = {};
    const watched = watchUnderTest({ capabilities });
    watched.client.refuseStream(error);
    watched.client.prepareStream(END);
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.attempts).toEqual(['0 streamed list', '0.1 streamed list']);
    expect(watched.story).toEqual(['LISTED']);
    expect(capabilities.streamingLists).toBe(true);
  });
});
