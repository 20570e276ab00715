import { describe, expect, it } from 'vitest';
import { apiError } from '../../../src/errors.js';
import { toggle } from '../../../src/sync/named-toggle.js';
import { kex, kexList } from '../fixtures.js';
import { added, deleted, errorEvent, modified, type WatchUnderTestOptions, watchUnderTest } from './harness.js';

/** A stream that has lost its connection for too long, and has to list anew. */
async function relisting(before: object[], items: object[], options: WatchUnderTestOptions = {}) {
  const watched = watchUnderTest(options);
  watched.client.answer(kexList('100', [kex('a', '1'), kex('b', '2')]), kexList('200', items));
  watched.client.prepareStream(...before, errorEvent(410));
  await watched.start();
  const seenBefore = watched.signals.length;
  await watched.clock.advance(1);
  return { watched, story: watched.story.slice(seenBefore), signals: watched.signals.slice(seenBefore) };
}

describe('objects that vanish while disconnected, reported as deleted', () => {
  it('are reported as deleted, before the listing is complete', async () => {
    const { story } = await relisting([], [kex('a', '1')]);
    expect(story).toEqual(['null a', 'DELETED b vanished', 'LISTED']);
  });

  it('are reported once', async () => {
    const watched = watchUnderTest();
    watched.client.answer(kexList('100', [kex('a', '1')]), kexList('200', []), kexList('300', []));
    watched.client.prepareStream(errorEvent(410));
    watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(10);
    expect(watched.story).toEqual(['null a', 'LISTED', 'DELETED a vanished', 'LISTED', 'LISTED']);
  });

  it('are those seen in events as well, but not those seen to be deleted', async () => {
    const before = [added(kex('c', '101')), modified(kex('a', '102')), deleted(kex('b', '103'))];
    const { story } = await relisting(before, []);
    expect(story).toEqual(['DELETED a vanished', 'DELETED c vanished', 'LISTED']);
  });

  it('are told from those with the same names in other namespaces', async () => {
    const elsewhere = kex('a', '150', { metadata: { namespace: 'other', uid: 'uid-other' } });
    const { signals } = await relisting([], [elsewhere, kex('b', '2')]);
    expect(signals).toMatchObject([
      { type: null, object: { metadata: { namespace: 'other' } } },
      { type: null, object: { metadata: { name: 'b' } } },
      { type: 'DELETED', object: { metadata: { name: 'a', namespace: 'ns' } }, vanished: true },
      { type: 'LISTED' },
    ]);
  });

  it('are reported before those that have taken their names', async () => {
    const namesake = kex('a', '150', { metadata: { uid: 'uid-new' } });
    const { signals } = await relisting([], [namesake, kex('b', '2')]);
    expect(signals).toMatchObject([
      { type: 'DELETED', object: { metadata: { name: 'a', uid: 'uid-a' } }, vanished: true },
      { type: null, object: { metadata: { name: 'a', uid: 'uid-new' } } },
      { type: null, object: { metadata: { name: 'b' } } },
      { type: 'LISTED' },
    ]);
  });

  it('are not those of a listing that has failed in the middle', async () => {
    const watched = watchUnderTest({ pageSize: 1 });
    watched.client.answer(
      kexList('100', [kex('a', '1'), kex('b', '2')]),
      kexList('200', [kex('b', '2')], 'more'),
      new TypeError('cut'),
      kexList('300', [kex('a', '1'), kex('b', '2')]),
    );
    watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(10);
    expect(watched.story).toEqual(['null a', 'null b', 'LISTED', 'null b', 'null a', 'null b', 'LISTED']);
  });

  it('are not missed if the listing had to begin again', async () => {
    const watched = watchUnderTest({ pageSize: 1 });
    watched.client.answer(
      kexList('100', [kex('a', '1')], 'more'),
      apiError({ status: 410 }),
      kexList('200', [kex('b', '2')]),
    );
    await watched.start();
    expect(watched.story).toEqual(['null a', 'null b', 'DELETED a vanished', 'LISTED']);
  });

  it('are noticed after a pause, too', async () => {
    const paused = toggle();
    const watched = watchUnderTest({ paused });
    watched.client.answer(kexList('100', [kex('a', '1')]), kexList('200', []));
    await watched.start();
    paused.turn(true);
    await watched.clock.settle();
    paused.turn(false);
    await watched.clock.settle();
    expect(watched.story).toEqual(['null a', 'LISTED', 'DELETED a vanished', 'LISTED']);
  });
});

describe('what is remembered of the objects', () => {
  const full = kex('a', '101', {
    spec: { x: 1 },
    metadata: {
      labels: { l: 'v' },
      annotations: { mine: 'yes', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      managedFields: [{}],
      finalizers: ['fin'],
    },
  });

  it('is who they are, by default', async () => {
    const { signals } = await relisting([modified(full)], [kex('b', '2')]);
    expect(signals[1]).toEqual({
      type: 'DELETED',
      vanished: true,
      object: {
        apiVersion: 'kopf.dev/v1',
        kind: 'KopfExample',
        metadata: { name: 'a', namespace: 'ns', uid: 'uid-a', resourceVersion: '101', labels: { l: 'v' } },
      },
    });
  });
});
