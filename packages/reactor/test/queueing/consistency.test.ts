import { describe, expect, it } from 'vitest';
import { bench, objectOf, stateIn, versionsIn } from './worker-bench.js';

describe('After our own patch, until its result is seen', () => {
  it('its answer is gone on with at once, without waiting for its event', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ answer: objectOf(3) });
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 3']);
    expect(at.clock.now()).toBe(0);
  });

  it('what comes later is neither older nor the same: that is nothing new', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ answer: objectOf(3) });
    await at.cycle.end();
    for (const version of [2, 3]) at.push('MODIFIED', version, at.make());
    expect(at.cycles).toHaveLength(2);
    at.push('MODIFIED', 4, at.make());
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 3', 'MODIFIED 4']);
  });

  it('older events and its own one are still for the handlers of events, and for them only', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 1);
    await at.cycle.end({ answer: objectOf(3) });
    await at.cycle.end();
    for (const version of [2, 3]) {
      at.push('MODIFIED', version);
      expect([stateIn(at.cycle.work), versionsIn(at.cycle.work)]).toEqual([undefined, [String(version)]]);
      await at.cycle.end();
    }
    expect(at.cycles).toHaveLength(4);
  });

  it('what came while patching wins if it is newer', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('MODIFIED', 4);
    await at.cycle.end({ answer: objectOf(3) });
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 4']);
  });

  it('what came while patching loses if it is older', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('MODIFIED', 2);
    await at.cycle.end({ answer: objectOf(3) });
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 3']);
  });

  it('an event that comes before the answer is not handled twice', async () => {
    const at = bench();
    at.push('ADDED', 1);
    at.push('MODIFIED', 3);
    await at.cycle.end({ answer: objectOf(3) });
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 3']);
    expect(at.flags.idle).toBe(1);
  });

  it('a listing from before it is nothing new', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ answer: objectOf(3) });
    await at.cycle.end();
    at.push(null, 2);
    expect(at.cycles).toHaveLength(2);
  });

  it('the pause for the delayed is not what was waited for before it, but what the answer needs', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ answer: objectOf(3), delay: 5 });
    expect(at.clock.sleepers).toBe(0);
    await at.cycle.end({ delay: 7 });
    await at.clock.advance(6.9);
    expect(at.cycles).toHaveLength(2);
    await at.clock.advance(0.1);
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED 3', 'MODIFIED 3']);
  });

  it('no timers are left, though the event of it never came', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ answer: objectOf(3) });
    await at.cycle.end();
    expect([at.clock.sleepers, at.flags.idle]).toEqual([0, 1]);
  });
});

describe('If versions are not numbers', () => {
  it('what comes after our patch is in doubt until our own event comes', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    at.push('MODIFIED', 'b');
    await at.clock.advance(4);
    expect([at.cycles.length, at.flags.idle]).toEqual([2, 1]);
    at.push('MODIFIED', 'c');
    await at.clock.advance(100);
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c']);
    expect([at.clock.sleepers, at.flags.idle]).toEqual([0, 2]);
  });

  it('what comes after our own event is handled at once', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    at.push('MODIFIED', 'c');
    at.push('MODIFIED', 'd');
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c', 'MODIFIED d']);
  });

  it('the newest of the doubtful is handled if our own event does not come in time', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    for (const version of ['x', 'y']) at.push('MODIFIED', version);
    await at.clock.advance(4.9);
    expect(at.cycles).toHaveLength(2);
    await at.clock.advance(0.1);
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c', 'MODIFIED y']);
    await at.cycle.end();
    at.push('MODIFIED', 'z');
    expect(at.states().at(-1)).toBe('MODIFIED z');
  });

  it('the doubts outlive the worker: it is forgotten between the answer and the events', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    expect(at.flags.idle).toBe(1);
    at.push('MODIFIED', 'b', at.make());
    expect(at.cycles).toHaveLength(2);
    await at.clock.advance(5);
    expect(at.states().at(-1)).toBe('MODIFIED b');
  });

  it('what came while patching is handled after the answer, and only if our own event does not come', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    at.push('MODIFIED', 'b');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c']);
    await at.clock.advance(5);
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c', 'MODIFIED b']);
  });

  it('what came while patching is our own event: it is handled once, and there is no more doubt', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    at.push('MODIFIED', 'c');
    await at.cycle.end({ answer: objectOf('c') });
    at.push('MODIFIED', 'd');
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c', 'MODIFIED d']);
  });

  it('what is in doubt turns out to be our next own event', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('b') });
    at.push('MODIFIED', 'c');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    await at.clock.advance(100);
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED b', 'MODIFIED c']);
    expect(at.flags.idle).toBe(1);
  });

  it('long delays of handlers do not put off what is in doubt; and the delay is not lost in doubts', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end({ delay: 60 });
    at.push('MODIFIED', 'x');
    await at.clock.advance(5);
    expect(at.states().at(-1)).toBe('MODIFIED x');

    await at.cycle.end({ answer: objectOf('e') });
    await at.cycle.end({ delay: 60 });
    at.push('MODIFIED', 'd');
    at.push('MODIFIED', 'e');
    await at.clock.advance(59);
    const before = at.cycles.length;
    await at.clock.advance(1);
    expect(at.states().slice(before)).toEqual(['MODIFIED e']);
  });

  it('every patch of ours prolongs the doubts of what came before it', async () => {
    const at = bench({ keepsEvents: true });
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    await at.clock.advance(1);
    at.push('MODIFIED', 'b');
    await at.clock.advance(3);
    // The handlers of events have patched it, too.
    await at.cycle.end({ answer: objectOf('d') });
    await at.cycle.end();
    const before = at.cycles.length;
    await at.clock.advance(4.9);
    expect(at.cycles).toHaveLength(before);
    at.push('MODIFIED', 'd');
    await at.cycle.end();
    await at.clock.advance(10);
    expect(at.states().slice(before)).toEqual([undefined]);
  });

  it('errors of the handlers of events do not end the doubts of the others', async () => {
    const at = bench({ keepsEvents: true, settings: { queueing: { errorDelays: [1] } } });
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    const later = at.make();
    at.push('MODIFIED', 'b', later);
    await at.cycle.fail();
    await at.clock.advance(4.9);
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c', undefined]);
    await at.clock.advance(0.1);
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c', undefined, 'MODIFIED b']);
  });

  it('what was believed too early is not handled, if our own event still comes before its turn', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    at.push('MODIFIED', 'b');
    await at.clock.advance(5);
    at.push('MODIFIED', 'c');
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c']);
    expect(at.flags.idle).toBe(1);
  });

  it('doubts that end while the answer waits for its turn, do not lose either of the two', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    at.push('MODIFIED', 'b');
    await at.cycle.end({ answer: objectOf('c') });
    await at.clock.advance(5);
    await at.cycle.end();
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED c', 'MODIFIED b']);
    await at.cycle.end();
    at.push('MODIFIED', 'c');
    expect(at.states().at(-1)).toBe('MODIFIED c');
  });

  it('nothing is doubted without the timeout, and nothing is lost', async () => {
    const at = bench({ settings: { persistence: { consistencyTimeout: 0 } } });
    at.push('ADDED', 'a');
    at.push('MODIFIED', 'b');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    at.push('MODIFIED', 'c');
    await at.cycle.end();
    at.push('MODIFIED', 'd');
    expect(at.states()).toEqual(['ADDED a', 'MODIFIED b', 'MODIFIED c', 'MODIFIED d']);
  });

  it('an answer without a version is gone on with, and whatever comes is believed', async () => {
    const at = bench();
    at.push('ADDED', 1);
    await at.cycle.end({ answer: objectOf(undefined) });
    await at.cycle.end();
    at.push('MODIFIED', 2);
    expect(at.states()).toEqual(['ADDED 1', 'MODIFIED undefined', 'MODIFIED 2']);
  });

  it('a deletion ends all doubts', async () => {
    const at = bench();
    at.push('ADDED', 'a');
    await at.cycle.end({ answer: objectOf('c') });
    await at.cycle.end();
    at.push('MODIFIED', 'b');
    at.push('DELETED', 'z');
    expect(at.states().at(-1)).toBe('DELETED z');
    await at.cycle.end();
    await at.clock.advance(10);
    expect([at.cycles.length, at.clock.sleepers]).toEqual([3, 0]);
  });
});
