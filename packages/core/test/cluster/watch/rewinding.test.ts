import { describe, expect, it } from 'vitest';
import { apiError } from '../../../src/errors.js';
import { toggle } from '../../../src/sync/named-toggle.js';
import { kex, kexList } from '../fixtures.js';
import { added, bookmark, errorEvent, modified, watchUnderTest } from './harness.js';

const MESSAGE = expect.stringContaining('restored to an earlier state');

function listEnd(resourceVersion: string): object {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return { type: 'BOOKMARK', object: { metadata: { resourceVersion, annotations } } };
}

describe('a cluster that was restored to an earlier state', () => {
  it.each([
    ['900', '899'],
    ['1000', '999'],
    ['12345678901234567890', '12345678901234567889'],
  ])('is noticed by a list: after %s, there is %s', async (before, after) => {
    const watched = watchUnderTest();
    watched.client.answer(
      kexList(before, [kex('a', '1'), kex('late', before)]),
      kexList(after, [kex('a', '1'), kex('older', '2')]),
    );
    watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.story.slice(3)).toEqual(['REWOUND', 'null a', 'null older', 'DELETED late vanished', 'LISTED']);
    expect(watched.attempts.at(-1)).toMatch(new RegExp(`watch ${after}$`));
    expect(watched.logger.messages('warn')).toEqual([MESSAGE]);
  });

  it('is noticed after a pause, too', async () => {
    const paused = toggle();
    const watched = watchUnderTest({ paused });
    watched.client.answer(kexList('100', []), kexList('50', []));
    watched.client.prepareStream(added(kex('a', '101')));
    await watched.start();
    paused.turn(true);
    await watched.clock.settle();
    paused.turn(false);
    await watched.clock.settle();
    expect(watched.story.slice(2)).toEqual(['REWOUND', 'DELETED a vanished', 'LISTED']);
  });

  it('is noticed by a bookmark', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []), kexList('60', [kex('a', '55')]));
    watched.client.prepareStream(added(kex('a', '140')), bookmark('60'));
    await watched.start();
    expect(watched.story).toEqual(['LISTED', 'ADDED a', 'REWOUND', 'null a', 'LISTED']);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '0 list', '0 watch 60']);
  });

  it('is noticed by the end of a streamed list, which is repeated', async () => {
    const watched = watchUnderTest({ capabilities: {} });
    watched.client.prepareStream(added(kex('a', '1')), listEnd('100'), modified(kex('a', '150')), errorEvent(410));
    watched.client.prepareStream(added(kex('a', '1')), listEnd('80'));
    watched.client.prepareStream(added(kex('a', '1')), listEnd('81'));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.story.slice(3)).toEqual(['null a', 'REWOUND', 'null a', 'LISTED']);
    expect(watched.logger.messages('warn')).toEqual([MESSAGE]);
  });

  it('is told of once, and is looked for from its new versions on', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('500', []), kexList('100', []), kexList('101', []), kexList('99', []));
    for (let index = 0; index < 3; index++) watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(10);
    expect(watched.story).toEqual(['LISTED', 'REWOUND', 'LISTED', 'LISTED', 'REWOUND', 'LISTED']);
  });

  it.each([
    ['a refused connection', () => new TypeError('connection refused')],
    ['a server in trouble', () => apiError({ status: 503 })],
  ])('is noticed after %s, though its stream is silent', async (_title, error) => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', [kex('a', '70')]), kexList('50', [kex('a', '40')]));
    watched.client.prepareStream(bookmark('120')).fail(new TypeError('cut'));
    watched.client.refuseStream(error());
    const silent = watched.client.prepareStream();
    watched.currentVersion = '50';
    await watched.start();
    await watched.clock.advance(0.1);
    silent.request?.onProgress?.({ bytes: 0 });
    await watched.clock.advance(1);
    expect(watched.checks).toEqual([1.1]);
    expect(watched.story.slice(2)).toEqual(['REWOUND', 'null a', 'LISTED']);
  });

  it('is noticed if a stream is silent for too long', async () => {
    const watched = watchUnderTest({ watching: { inactivityTimeout: 20 } });
    watched.client.answer(kexList('100', []), kexList('30', []));
    watched.currentVersion = '30';
    await watched.start();
    await watched.clock.advance(45);
    expect(watched.story).toEqual(['LISTED', 'REWOUND', 'LISTED']);
  });
});

describe('a cluster that was not restored', () => {
  it('is asked for its version once after a trouble, and its stream goes on', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    watched.client.refuseStream(new TypeError('connection refused'));
    const stream = watched.client.prepareStream();
    watched.currentVersion = '100';
    await watched.start();
    await watched.clock.advance(40);
    expect(watched.checks).toHaveLength(1);
    stream.push(added(kex('a', '101')));
    await watched.clock.settle();
    expect(watched.story).toEqual(['LISTED', 'ADDED a']);
    expect(watched.attempts).toEqual(['0 list', '0 watch 100', '0.1 watch 100']);
  });

  it.each(['101', '250'])('is not taken for one because of events up to %s while it is asked', async (version) => {
    const watched = watchUnderTest({ watching: { inactivityTimeout: 20 } });
    let tell = (_version: string): void => {};
    watched.client.answer(kexList('100', []), kexList('300', []));
    watched.client.prepareStream();
    const stream = watched.client.prepareStream();
    watched.currentVersion = new Promise((resolve) => {
      tell = resolve;
    });
    await watched.start();
    await watched.clock.advance(21);
    expect(watched.checks).toEqual([20]);
    stream.push(added(kex('a', version)));
    await watched.clock.settle();
    tell('100');
    await watched.clock.settle();
    expect(watched.story).toEqual(['LISTED', 'ADDED a']);
    expect(watched.logger.messages('warn')).toEqual([]);
  });

  it('is not asked for it if it goes on with newer versions', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', []));
    watched.client.refuseStream(new TypeError('connection refused'));
    watched.client.prepareStream(added(kex('a', '101')));
    await watched.start();
    await watched.clock.advance(60);
    expect(watched.checks).toEqual([]);
  });

  it('is asked again if it does not tell', async () => {
    const watched = watchUnderTest({ watching: { inactivityTimeout: 20 } });
    watched.client.answer(kexList('100', []), kexList('30', []));
    watched.currentVersion = apiError({ status: 500 });
    await watched.start();
    await watched.clock.advance(100);
    expect(watched.checks.length).toBeGreaterThan(2);
    expect(watched.story).toEqual(['LISTED']);
    watched.currentVersion = '30';
    await watched.clock.advance(40);
    expect(watched.story).toEqual(['LISTED', 'REWOUND', 'LISTED']);
  });

  it.each([
    ['abc', 'abb'],
    ['100', 'abc'],
    ['100', '100'],
  ])('or of which it cannot be told, with %s and then %s, only lists', async (before, after) => {
    const watched = watchUnderTest();
    watched.client.answer(kexList(before, []), kexList(after, []));
    watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.story).toEqual(['LISTED', 'LISTED']);
  });

  it('may list objects in any order of their versions', async () => {
    const watched = watchUnderTest({ capabilities: {} });
    watched.client.prepareStream(added(kex('a', '90')), added(kex('b', '10')), listEnd('100'), added(kex('c', '101')));
    await watched.start();
    expect(watched.story).toEqual(['null a', 'null b', 'LISTED', 'ADDED c']);
  });
});
