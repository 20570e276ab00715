/**
 * Limits concurrent calls, shared fairly between kinds: each call takes a connection, and each new connection takes
 * time on both sides.
 *
 * Waiting kinds are served in turn, however many requests each of them has. And no kind takes everything: it may have
 * up to three times as much as it leaves free. So a kind whose requests hang for long (as with a broken conversion
 * webhook) does not stop the others: alone, it gets 24 of 32; a second one, 6 of the other 8; and so on.
 */
import { onAbort } from '@kopf-ts/core/engine';

export interface FairSemaphore {
  /** Takes a turn if one is available now. */
  tryTake(kind: string): boolean;
  /**
   * Resolves when a turn is available; returns `undefined` if it is available now. Rejects with the signal's reason.
   */
  take(kind: string, signal: AbortSignal): Promise<void> | undefined;
  /** Must be called once for each turn taken, with the same kind. */
  release(kind: string): void;
}

const SHARE_OF_FREE = 3;

export function fairSemaphore(limit: number): FairSemaphore {
  const held = new Map<string, number>();
  // Kinds: least recently served first. Requests of a kind: first come, first served. Both leave when they are empty.
  const waiting = new Map<string, Set<() => void>>();
  let free = limit;

  const heldBy = (kind: string): number => held.get(kind) ?? 0;
  const mayTake = (kind: string): boolean => heldBy(kind) < SHARE_OF_FREE * free;
  const grant = (kind: string): void => {
    free -= 1;
    held.set(kind, heldBy(kind) + 1);
  };
  const leave = (kind: string, go: () => void): void => {
    const queue = waiting.get(kind);
    queue?.delete(go);
    if (queue?.size === 0) waiting.delete(kind);
  };
  const serveNext = (): boolean => {
    for (const [kind, queue] of waiting) {
      const [go] = queue;
      if (go === undefined || !mayTake(kind)) continue;
      leave(kind, go);
      if (waiting.delete(kind)) waiting.set(kind, queue);
      grant(kind);
      go();
      return true;
    }
    return false;
  };

  const tryTake = (kind: string): boolean => {
    if (!mayTake(kind) || waiting.has(kind)) return false;
    grant(kind);
    return true;
  };

  return {
    tryTake,
    take(kind, signal) {
      if (tryTake(kind)) return undefined;
      return new Promise((resolve, reject) => {
        const go = (): void => {
          forget();
          resolve();
        };
        const queue = waiting.get(kind) ?? new Set();
        waiting.set(kind, queue.add(go));
        const forget = onAbort(signal, (reason) => {
          leave(kind, go);
          reject(reason);
        });
      });
    },
    release(kind) {
      free += 1;
      const left = heldBy(kind) - 1;
      if (left > 0) held.set(kind, left);
      else held.delete(kind);
      if (waiting.size > 0) while (serveNext());
    },
  };
}
