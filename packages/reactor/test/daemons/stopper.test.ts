import { DaemonStop } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { daemonStopper } from '../../src/daemons/stopper.js';

describe('The stopper of a daemon', () => {
  it('is not stopped at first', () => {
    const stopper = daemonStopper();
    expect([stopper.stopped.aborted, stopper.reasons.size, stopper.since]).toEqual([false, 0, undefined]);
  });

  it('fires with the first reason, and remembers when; further reasons accumulate', () => {
    const stopper = daemonStopper();
    let fired = 0;
    stopper.stopped.addEventListener('abort', () => fired++);
    stopper.add('resource-deleted', 5);
    const { reason } = stopper.stopped;
    expect(reason).toBeInstanceOf(DaemonStop);
    expect([...reason.reasons]).toEqual(['resource-deleted']);

    stopper.add('daemon-signalled', 6);
    stopper.add('resource-deleted', 7);
    expect([...reason.reasons]).toEqual(['resource-deleted', 'daemon-signalled']);
    expect([fired, stopper.since, stopper.stopped.reason === reason]).toEqual([1, 5, true]);
  });
});
