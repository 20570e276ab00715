import { describe, expect, it } from 'vitest';
import { apiError } from '../../../src/errors.js';
import { KEX, kex, kexList } from '../fixtures.js';
import { added, bookmark, deleted, errorEvent, watchUnderTest } from './harness.js';

describe('the facts of a stream', () => {
  it('tell of every object, listed or changed', async () => {
    const watched = watchUnderTest({ target: { namespace: 'ns' }, wants: ['stream.event'] });
    watched.client.answer(kexList('100', [kex('a', '1')]));
    watched.client.prepareStream(added(kex('b', '101')), deleted(kex('a', '102')));
    await watched.start();
    const stream = { resource: KEX, namespace: 'ns' };
    const object = (name: string) => ({
      resource: KEX,
      kind: 'KopfExample',
      namespace: 'ns',
      name,
      uid: `uid-${name}`,
    });
    const origin = { operator: 'me', at: 0, kind: 'stream.event' };
    expect(watched.told).toEqual([
      { ...origin, stream, type: null, object: object('a'), version: '1' },
      { ...origin, stream, type: 'ADDED', object: object('b'), version: '101' },
      { ...origin, stream, type: 'DELETED', object: object('a'), version: '102' },
    ]);
    expect(watched.told.every(Object.isFrozen)).toBe(true);
  });

  it('tell of objects that have vanished', async () => {
    const watched = watchUnderTest({ wants: ['stream.event'] });
    watched.client.answer(kexList('100', [kex('a', '1')]), kexList('200', []));
    watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.told.at(-1)).toMatchObject({ type: 'DELETED', object: { name: 'a' }, version: '1' });
  });

  it('tell of listings: how many objects, how long, and whether for the first time', async () => {
    const watched = watchUnderTest({ wants: ['stream.listed'] });
    watched.client.answer(kexList('100', [kex('a', '1'), kex('b', '2')]), kexList('200', [kex('a', '1')]));
    watched.client.prepareStream(errorEvent(410));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.told).toMatchObject([
      { kind: 'stream.listed', count: 2, isFirst: true, duration: 0 },
      { kind: 'stream.listed', count: 1, isFirst: false, duration: 0 },
    ]);
  });

  it('tell of a listing that comes as a stream', async () => {
    const watched = watchUnderTest({ capabilities: {}, wants: ['stream.opened', 'stream.listed', 'stream.bookmark'] });
    const end = { resourceVersion: '100', annotations: { 'k8s.io/initial-events-end': 'true' } };
    watched.client.prepareStream(added(kex('a', '1')), { type: 'BOOKMARK', object: { metadata: end } });
    await watched.start();
    expect(watched.told).toMatchObject([
      { kind: 'stream.opened', version: undefined },
      { kind: 'stream.bookmark', version: '100' },
      { kind: 'stream.listed', count: 1, isFirst: true },
    ]);
  });

  it('tell of connections, with the version they go on from', async () => {
    const watched = watchUnderTest({ wants: ['stream.opened', 'stream.bookmark'] });
    watched.client.answer(kexList('100', []));
    watched.client.prepareStream(bookmark('101')).end();
    watched.client.prepareStream(bookmark('102'));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.told).toMatchObject([
      { kind: 'stream.opened', version: '100' },
      { kind: 'stream.bookmark', version: '101' },
      { kind: 'stream.opened', version: '101' },
      { kind: 'stream.bookmark', version: '102' },
    ]);
  });

  it('tell of failures, with how many there were in a row and how long it waits', async () => {
    const watched = watchUnderTest({ wants: ['stream.failed'] });
    const error = apiError({ status: 503 });
    watched.client.answer(error, apiError({ status: 503 }), kexList('100', []));
    await watched.start();
    await watched.clock.advance(1);
    expect(watched.told).toMatchObject([
      { kind: 'stream.failed', failures: 1, delay: 0.1, at: 0 },
      { kind: 'stream.failed', failures: 2, delay: 0.2, at: 0.1 },
    ]);
    expect(watched.told[0]).toHaveProperty('error', error);
  });

  it('tell of silences', async () => {
    const watched = watchUnderTest({ watching: { inactivityTimeout: 70 }, wants: ['stream.lagging'] });
    watched.client.answer(kexList('100', []));
    await watched.start();
    await watched.clock.advance(70);
    expect(watched.told).toMatchObject([{ kind: 'stream.lagging', silence: 70, at: 70 }]);
  });

  it('are all about the same stream, and of none but the wanted kinds', async () => {
    const wants = ['stream.event', 'stream.listed', 'stream.opened'] as const;
    const watched = watchUnderTest({ wants });
    watched.client.answer(kexList('100', [kex('a', '1')]));
    watched.client.prepareStream(added(kex('b', '101')), bookmark('102'));
    await watched.start();
    const streams = watched.told.map((fact) => 'stream' in fact && fact.stream);
    expect(new Set([...streams, ...watched.phases.map(({ stream }) => stream)]).size).toBe(1);
    expect(watched.told.map(({ kind }) => kind)).toEqual([
      'stream.event',
      'stream.listed',
      'stream.opened',
      'stream.event',
    ]);
  });
});

describe('the troubles of a stream', () => {
  it('are told to its owner once per reason, and when they are over', async () => {
    const troubles: unknown[] = [];
    const watched = watchUnderTest({ onTrouble: (error) => troubles.push((error as { status?: number })?.status) });
    watched.client.answer(
      apiError({ status: 503 }),
      apiError({ status: 503 }),
      apiError({ status: 403 }),
      kexList('100', []),
    );
    await watched.start();
    await watched.clock.advance(5);
    expect(troubles).toEqual([503, 403, undefined]);
  });
});
