/** What runs under supervision: begun, told to end, and waited for, but never for longer than there is time. */
import type { Awaitable, Clock, Logger, Seconds } from '@kopf-ts/core';
import { isCancellation, toError } from '@kopf-ts/core/engine';

/** What has become of a task. A task that was told to end, and has ended in order, is finished or cancelled. */
export type Ending =
  | { readonly how: 'finished' }
  | { readonly how: 'cancelled' }
  | { readonly how: 'failed'; readonly error: unknown };

export interface Task {
  readonly name: string;
  /** Absent while it runs. */
  readonly ending: Ending | undefined;
  /** Never rejects. */
  readonly ended: Promise<Ending>;
}

/**
 * Begins the task at once; whatever it does, also throwing something before its first promise, is its ending.
 * `onEnd` is called before anybody else can see that it has ended.
 */
export function begin(
  name: string,
  run: (signal: AbortSignal) => Awaitable<void>,
  signal: AbortSignal,
  onEnd?: (ending: Ending) => void,
): Task {
  let ending: Ending | undefined;
  const attempt = async (): Promise<Ending> => {
    try {
      await run(signal);
      ending = { how: 'finished' };
    } catch (thrown) {
      ending = isCancellation(thrown, signal) ? { how: 'cancelled' } : { how: 'failed', error: toError(thrown) };
    }
    onEnd?.(ending);
    return ending;
  };
  const ended = attempt();
  return {
    name,
    get ending() {
      return ending;
    },
    ended,
  };
}

/** How often the awaited tasks are named. */
const REPORT_EVERY: Seconds = 10;

/** Waits until all have ended, or until the deadline by the monotonic clock. Returns the names of those still running. */
export async function outwait(
  tasks: readonly Task[],
  { deadline, clock, logger }: { readonly deadline: Seconds; readonly clock: Clock; readonly logger: Logger },
): Promise<readonly string[]> {
  const stillRunning = (): readonly string[] => tasks.filter((task) => !task.ending).map((task) => task.name);
  if (stillRunning().length === 0) return [];
  const waking = new AbortController();
  void Promise.all(tasks.map((task) => task.ended)).then(() => waking.abort());
  for (;;) {
    const timeLeft = deadline - clock.now();
    if (timeLeft <= 0) {
      // Tasks need a moment to obey; it would be a pity to blame them for it.
      await clock.sleep(0);
      return stillRunning();
    }
    await clock.sleep(Math.min(timeLeft, REPORT_EVERY), { wakeup: waking.signal });
    const names = stillRunning();
    if (names.length === 0) return [];
    if (clock.now() < deadline) logger.info(`Still waiting for the end of: ${names.join(', ')}.`);
  }
}
