/** A limited number of calls at once: each takes a connection, and each new connection takes time on both sides. */
import { onAbort } from '@kopf-ts/core/engine';

export interface Turns {
  /** Resolves when it is one's turn; at once, if there is room. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void> | undefined;
  /** To be called once by each who has taken a turn. */
  release(): void;
}

export function turns(limit: number): Turns {
  // A set keeps the order of coming, and those who give up leave at once.
  const waiting = new Set<() => void>();
  let taken = 0;
  return {
    take(signal) {
      if (taken < limit) {
        taken += 1;
        return undefined;
      }
      return new Promise((resolve, reject) => {
        const go = (): void => {
          forget();
          resolve();
        };
        waiting.add(go);
        const forget = onAbort(signal, (reason) => {
          waiting.delete(go);
          reject(reason);
        });
      });
    },
    release() {
      const [next] = waiting;
      if (next === undefined) {
        taken -= 1;
        return;
      }
      // The turn goes over to the next one.
      waiting.delete(next);
      next();
    },
  };
}
