import { describe, expect, it } from 'vitest';
import { toggle } from '../../../src/sync/named-toggle.js';
import { toggleSet } from '../../../src/sync/toggle-set.js';
import { kex, kexList } from '../fixtures.js';
import { added, watchUnderTest } from './harness.js';

const PAUSING = 'Pausing the watch-stream for kopfexamples.v1.kopf.dev cluster-wide.';
const RESUMING = 'Resuming the watch-stream for kopfexamples.v1.kopf.dev cluster-wide.';

describe('pausing a watch-stream', () => {
  it('is not spoken of if there is no pause', async () => {
    const watched = watchUnderTest({ paused: toggle(false) });
    watched.client.answer(kexList('100', []));
    await watched.start();
    expect(watched.story).toEqual(['LISTED']);
    expect(watched.logger.lines).toEqual([]);
  });

  it('keeps it from beginning', async () => {
    const paused = toggle(true);
    const watched = watchUnderTest({ paused });
    watched.client.answer(kexList('100', []));
    await watched.start();
    await watched.clock.advance(1.23);
    expect(watched.attempts).toEqual([]);
    expect(watched.logger.messages('debug')).toEqual([PAUSING]);
    paused.turn(false);
    await watched.clock.settle();
    expect(watched.story).toEqual(['LISTED']);
    expect(watched.attempts).toEqual(['1.23 list', '1.23 watch 100']);
    expect(watched.logger.messages()).toEqual([PAUSING, RESUMING]);
  });

  it.each([true, false])(
    'closes the connection, and lists anew afterwards (obedient client: %s)',
    async (obeysSignals) => {
      const paused = toggle();
      const watched = watchUnderTest({ paused, obeysSignals });
      watched.client.answer(kexList('100', []), kexList('200', [kex('a', '101')]));
      const stream = watched.client.prepareStream(added(kex('a', '101')));
      await watched.start();
      paused.turn(true);
      await watched.clock.advance(1000);
      expect(stream.request?.signal?.aborted).toBe(true);
      expect(watched.attempts).toHaveLength(2);
      stream.push(added(kex('b', '102')));
      paused.turn(false);
      await watched.clock.settle();
      expect(watched.story).toEqual(['LISTED', 'ADDED a', 'null a', 'LISTED']);
      expect(watched.attempts.slice(2)).toEqual(['1000 list', '1000 watch 200']);
      expect(watched.logger.messages()).toEqual([PAUSING, RESUMING]);
    },
  );

  it('works in the listing', async () => {
    const paused = toggle();
    const watched = watchUnderTest({ paused });
    await watched.start();
    expect(watched.attempts).toEqual(['0 list']);
    paused.turn(true);
    await watched.clock.settle();
    expect(watched.client.requests[0]?.signal?.aborted).toBe(true);
    expect(watched.logger.messages()).toEqual([PAUSING]);
  });

  it('stops a listing that is being read', async () => {
    const paused = toggle();
    const watched = watchUnderTest({ paused, consume: () => paused.turn(true) });
    watched.client.answer(kexList('100', [kex('a', '1'), kex('b', '2')]));
    await watched.start();
    expect(watched.story).toEqual(['null a']);
  });

  it('stops a watching that is being read', async () => {
    const paused = toggle();
    const watched = watchUnderTest({ paused, consume: ({ type }) => paused.turn(type === 'ADDED') });
    watched.client.answer(kexList('100', []));
    watched.client.prepareStream(added(kex('a', '101')), added(kex('b', '102')));
    await watched.start();
    expect(watched.story).toEqual(['LISTED', 'ADDED a']);
    expect(watched.attempts).toHaveLength(2);
  });

  it('works in the waiting for the next attempt', async () => {
    const paused = toggle();
    const watched = watchUnderTest({ paused, watching: { reconnectBackoff: 10 } });
    watched.client.answer(new TypeError('connection refused'), kexList('100', []));
    await watched.start();
    await watched.clock.advance(5);
    paused.turn(true);
    await watched.clock.advance(100);
    expect(watched.attempts).toEqual(['0 list']);
    paused.turn(false);
    await watched.clock.settle();
    expect(watched.attempts).toEqual(['0 list', '105 list', '105 watch 100']);
  });

  it('can be by any of several reasons', async () => {
    const paused = toggleSet('any');
    const [one, two] = [paused.make(true), paused.make(true)];
    const watched = watchUnderTest({ paused });
    watched.client.answer(kexList('100', []));
    await watched.start();
    one.turn(false);
    await watched.clock.settle();
    expect(watched.attempts).toEqual([]);
    paused.drop(two);
    await watched.clock.settle();
    expect(watched.attempts).toHaveLength(2);
  });

  it('does not outlive the stream', async () => {
    const watched = watchUnderTest({ paused: toggle(true) });
    await watched.start();
    await watched.abort();
    expect(watched).toMatchObject({ isOver: true, error: undefined });
  });
});
