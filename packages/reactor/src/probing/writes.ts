/** The health of writes to the cluster by kind, because permissions and webhooks are by kind, too. */
import type { Clock, Seconds, Settings } from '@kopf-ts/core';
import { describeError } from '@kopf-ts/core/engine';
import type { Trouble } from './health.js';

export interface WatchedWrites {
  /** A write failed and must be repeated. Not for conflicts of versions or deleted objects. */
  failed(write: { readonly of: string; readonly error: unknown }): void;
  /** The server accepted a write: earlier problems are over. */
  succeeded(write: { readonly of: string }): void;
  /** The kinds whose writes have kept failing for too long, and why they do. */
  troubles(): readonly (Trouble & { readonly of: string })[];
}

/** If nobody has tried for so long, then there is nothing to write any more. Longer than the pauses after errors. */
const FORGOTTEN_AFTER: Seconds = 900;

interface Failing {
  readonly since: Seconds;
  lastAt: Seconds;
  why: string;
}

export function watchedWrites({
  clock,
  settings,
}: {
  readonly clock: Clock;
  readonly settings: Settings;
}): WatchedWrites {
  const failing = new Map<string, Failing>();
  return {
    failed({ of, error }) {
      const now = clock.now();
      const known = failing.get(of);
      const why = describeError(error);
      if (known === undefined || now - known.lastAt > FORGOTTEN_AFTER)
        failing.set(of, { since: now, lastAt: now, why });
      else Object.assign(known, { lastAt: now, why });
    },
    succeeded({ of }) {
      failing.delete(of);
    },
    troubles() {
      const now = clock.now();
      const { failingWritesTimeout } = settings.networking;
      return [...failing]
        .filter(([, { since, lastAt }]) => now - since >= failingWritesTimeout && now - lastAt <= FORGOTTEN_AFTER)
        .map(([of, { since, why }]) => ({ of, since, why }));
    },
  };
}
