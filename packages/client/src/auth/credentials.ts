/** Credentials for clients without an operator. Operators have a vault, filled by login handlers. */
import {
  type Awaitable,
  type Clock,
  type ConnectionInfo,
  type Credentials,
  type Logger,
  LoginError,
  type Seconds,
} from '@kopf-ts/core';
import { abortable } from '@kopf-ts/core/engine';

/**
 * Fixed credentials. If the server refuses them, they are tried again later: it may have been the server's mistake.
 *
 * ```ts
 * const credentials = kopf.client.staticCredentials({ server: 'http://127.0.0.1:8001' });
 * ```
 */
export function staticCredentials(info: ConnectionInfo): Credentials {
  return { known: () => info, current: async () => info, invalidate: () => {} };
}

/**
 * What reloading needs: the time, and where to report failures.
 *
 * ```ts
 * const options: kopf.client.ReloadingOptions = { clock: kopf.reactor.systemClock, logger };
 * ```
 */
export interface ReloadingOptions {
  readonly clock: Clock;
  /** Receives a warning when new credentials are not available and the current ones remain in use. */
  readonly logger?: Logger;
}

/** The pauses between useless loads. */
const MIN_PAUSE: Seconds = 1;
const MAX_PAUSE: Seconds = 60;
/** The share of the lifetime that is left when new ones are requested, with an upper limit in seconds. */
const REFRESH_PART = 0.1;
const MAX_REFRESH_AHEAD: Seconds = 300;

/** The times are monotonic. */
interface Loaded {
  readonly info: ConnectionInfo;
  readonly refreshAt: Seconds;
  readonly expiresAt: Seconds;
}

/**
 * Credentials from a function: loaded on first use, again ahead of their expiration (while the current ones remain in
 * use), and again when the server refuses them. While loading does not help (it fails, or returns refused credentials),
 * it is paced by pauses that grow from a second to a minute. No refusal is permanent: refused credentials may be used
 * again if the function returns them again.
 *
 * ```ts
 * const credentials = kopf.client.reloadingCredentials(() => kopf.client.loginWithServiceAccount(), { clock, logger });
 * const client = kopf.client.kubeClient({ credentials, clock, logger });
 * ```
 */
export function reloadingCredentials(
  load: () => Awaitable<ConnectionInfo | undefined>,
  { clock, logger }: ReloadingOptions,
): Credentials {
  let loaded: Loaded | undefined;
  let loading: Promise<Loaded> | undefined;
  let isTroubled = false;
  let isRefused = false;
  let pause: Seconds = 0;
  let nextLoadAt: Seconds = Number.NEGATIVE_INFINITY;

  const loadNow = async (): Promise<Loaded> => {
    const isLongQuiet = clock.now() - nextLoadAt > MAX_PAUSE;
    pause = isTroubled ? Math.min(MAX_PAUSE, isLongQuiet ? MIN_PAUSE : Math.max(MIN_PAUSE, pause * 2)) : 0;
    isTroubled = true;
    try {
      const fresh = timed(await load(), clock);
      loaded = fresh;
      isTroubled = false;
      isRefused = false;
      return fresh;
    } finally {
      loading = undefined;
      nextLoadAt = clock.now() + pause;
    }
  };
  // All callers share one load; so no caller's signal aborts it.
  const reload = (): Promise<Loaded> => {
    loading ??= loadNow();
    return loading;
  };
  const mayLoad = (): boolean => loading !== undefined || clock.now() >= nextLoadAt;
  const usable = (): Loaded | undefined =>
    loaded !== undefined && clock.now() < loaded.expiresAt ? loaded : undefined;
  const keepCurrent = (error: unknown): void => {
    logger?.warn('No new credentials are available; continuing with the current ones.', { error });
  };

  return {
    async current(signal) {
      for (;;) {
        signal?.throwIfAborted();
        const current = usable();
        if (current !== undefined && !isRefused) {
          if (clock.now() >= current.refreshAt && mayLoad()) void reload().catch(keepCurrent);
          return current.info;
        }
        if (mayLoad()) {
          try {
            return (await abortable(reload(), signal)).info;
          } catch (error) {
            if (signal?.aborted || usable() === undefined) throw error;
            keepCurrent(error);
          }
        }
        // Refused, but there is nothing better yet; the caller sees that these are the same, and is not in a hurry.
        const same = usable();
        if (same !== undefined) return same.info;
        await clock.sleep(nextLoadAt - clock.now(), signal === undefined ? {} : { signal });
      }
    },

    invalidate(info) {
      // Other requests may have got this refusal earlier; then these are no longer the current ones.
      if (info !== loaded?.info) return;
      isRefused = true;
      isTroubled = true;
    },
  };
}

function timed(info: ConnectionInfo | undefined, clock: Clock): Loaded {
  if (info === undefined) throw new LoginError('The login returned no credentials.');
  const { expiration } = info;
  if (expiration === undefined) {
    return { info, refreshAt: Number.POSITIVE_INFINITY, expiresAt: Number.POSITIVE_INFINITY };
  }
  const lifetime = (expiration.getTime() - clock.utc().getTime()) / 1000;
  if (lifetime <= 0) {
    const when = expiration.toISOString();
    throw new LoginError(`The login returned credentials that expired at ${when}. Is the local clock right?`);
  }
  const expiresAt = clock.now() + lifetime;
  return { info, expiresAt, refreshAt: expiresAt - Math.min(MAX_REFRESH_AHEAD, lifetime * REFRESH_PART) };
}
