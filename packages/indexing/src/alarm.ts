import type { Clock, Seconds } from '@kopf-ts/core';

/** Tells when the time of a key has come; there is one sleep at most, however many keys there are. */
export interface Alarm {
  /** Replaces what was set for the key before. */
  set(key: string, when: Seconds): void;
  drop(key: string): void;
  /** Drops all, and takes no more. */
  close(): void;
}

export function alarm(clock: Clock, ring: (key: string) => void): Alarm {
  const planned = new Map<string, Seconds>();
  let isClosed = false;
  let sleep: { readonly until: Seconds; readonly interruption: AbortController } | undefined;

  const interrupt = (): void => {
    const { interruption } = sleep ?? {};
    sleep = undefined;
    interruption?.abort();
  };
  const sleepUntil = async (until: Seconds): Promise<void> => {
    if (sleep !== undefined && sleep.until <= until) return;
    interrupt();
    const own = { until, interruption: new AbortController() };
    sleep = own;
    await clock.sleep(until - clock.now(), { wakeup: own.interruption.signal });
    if (sleep !== own) return;
    sleep = undefined;
    ringDue();
  };
  const ringDue = (): void => {
    const now = clock.now();
    const due = [...planned].filter(([, when]) => when <= now);
    for (const [key] of due) planned.delete(key);
    for (const [key] of due) ring(key);
    let earliest = Number.POSITIVE_INFINITY;
    for (const when of planned.values()) earliest = Math.min(earliest, when);
    if (planned.size > 0) void sleepUntil(earliest);
  };

  return {
    set(key, when) {
      if (isClosed) return;
      planned.set(key, when);
      void sleepUntil(when);
    },
    drop(key) {
      // Nobody sleeps for nothing: a sleep keeps the process alive.
      if (planned.delete(key) && planned.size === 0) interrupt();
    },
    close() {
      isClosed = true;
      planned.clear();
      interrupt();
    },
  };
}
