import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { Backlog } from '../../src/objects/backlog.js';
import { eventOf } from './worker-bench.js';

function waiting(limit: number) {
  const logger = recordingLogger();
  const limits = { eventsLimit: limit };
  const all = new Backlog(limits, logger);
  const push = (...versions: number[]) => {
    for (const version of versions) all.push(eventOf('MODIFIED', version));
  };
  return { all, push, limits, logger, take: () => all.take().map(({ object }) => object.metadata?.resourceVersion) };
}

describe('Events that wait for their handlers', () => {
  it('are taken all at once, in order', () => {
    const { push, take, all } = waiting(3);
    push(1, 2, 3);
    expect(all.size).toBe(3);
    expect(take()).toEqual(['1', '2', '3']);
    expect([all.size, take()]).toEqual([0, []]);
  });

  it('beyond the limit, lose the oldest ones, and it is told how many', () => {
    const { push, take, logger } = waiting(2);
    push(1, 2, 3, 4);
    expect(logger.messages()).toEqual([]);
    expect(take()).toEqual(['3', '4']);
    expect(logger.messages('warn')).toEqual([
      '2 events of the object were dropped: its event handlers are slower than its changes. ' +
        'See settings.queueing.eventsLimit.',
    ]);
  });

  it('are not reported again once that was told', () => {
    const { push, take, logger } = waiting(2);
    push(1, 2, 3);
    take();
    push(4, 5);
    expect(take()).toEqual(['4', '5']);
    expect(logger.messages('warn')).toHaveLength(1);
  });

  it('obey the limit as it is now', () => {
    const { push, take, limits } = waiting(5);
    push(1, 2, 3, 4);
    limits.eventsLimit = 2;
    push(5);
    expect(take()).toEqual(['4', '5']);
  });

  it.each([0, -1])('keep the last of them even with the limit of %d: a deletion is never dropped', (limit) => {
    const { push, all, take } = waiting(limit);
    push(1, 2);
    all.push(eventOf('DELETED', 3));
    expect(take()).toEqual(['3']);
  });
});
