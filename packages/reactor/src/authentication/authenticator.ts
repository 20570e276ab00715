/** Keeps the vault filled: logs in when credentials are missing, refused, or about to expire. */
import { ActivityError, type HandlerId, LoginError, type Seconds, type Service } from '@kopf-ts/core';
import { childController, describeError, NO_FACTS, sleepAmong, terseLogger, toError } from '@kopf-ts/core/engine';
import { runActivity } from '../activities/run-activity.js';
import type { OperatorParts } from '../parts.js';
import type { Trouble } from '../probing/health.js';
import { type FallbackLogin, fallbackHandlers, loginsOf, noLogins, warningsOnly } from './logins.js';
import type { Logins, Vault, Want } from './vault.js';

export interface AuthenticatorParts extends OperatorParts {
  readonly memo: unknown;
  readonly vault: Vault;
  /** Used if the registry has no login handlers. */
  readonly fallbackLogins?: readonly FallbackLogin[] | undefined;
}

export interface Authenticator {
  readonly service: Service;
  /** What is wrong with the credentials. Tracked only while the service runs: nothing needs credentials before that. */
  readonly trouble: Trouble | undefined;
  /**
   * Runs work that may need the cluster while the service is not running, logging in only if needed. Fails if the login
   * fails.
   */
  during<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface Found {
  readonly found: Logins;
  readonly whyNone: () => LoginError;
}

/** The pauses between useless logins, and before using credentials that were just refused; the last one repeats. */
const PAUSES: readonly Seconds[] = [1, 2, 5, 10, 30];
/** Credentials that have worked for that long count as good, whatever happens to them afterwards. */
const GOOD_AFTER: Seconds = 60;

export function authenticator(parts: AuthenticatorParts): Authenticator {
  const { vault, clock, logger, random = Math.random, facts = NO_FACTS } = parts;
  /**
   * The number of consecutive useless logins: those without credentials, or with credentials that were refused soon.
   */
  let fruitless = 0;
  let populatedAt = Number.NEGATIVE_INFINITY;
  let isRefusalCounted = true;
  let hasPaused = false;
  let servesSince: Seconds | undefined;

  const serve = async (signal: AbortSignal, options?: { readonly isLazy: boolean }): Promise<never> => {
    for (;;) {
      const want = await vault.whenWanted(signal, options);
      if (want === 'refused' && !isRefusalCounted) {
        fruitless = clock.now() - populatedAt < GOOD_AFTER ? fruitless + 1 : 0;
        isRefusalCounted = true;
      }
      try {
        await logIn(want, signal);
      } catch (error) {
        if (!signal.aborted && error instanceof Error) vault.close(error);
        throw error;
      }
    }
  };

  const logIn = async (want: Want, signal: AbortSignal): Promise<void> => {
    const isInitial = want === 'initial';
    const title = isInitial ? 'Initial authentication' : 'Re-authentication';
    // Some tokens are re-read every minute; log that only if something is waiting for them.
    const level = want === 'ahead' ? 'debug' : 'info';
    logger[level](`${title} has been initiated.`);
    const { found, whyNone } = await toldLogins(want, signal);
    if (found.size === 0) {
      logger.warn(`${title} has failed: no credentials were retrieved from the login handlers.`);
      if (isInitial) throw whyNone();
      fruitless += 1;
      await pause(signal);
      hasPaused = true;
      return;
    }
    logger[level](`${title} has finished.`);
    await use(found, want, signal);
  };

  const use = async (found: Logins, want: Want, signal: AbortSignal): Promise<void> => {
    const acceptable = vault.acceptable(found);
    const areRefused = acceptable.size === 0;
    if (want !== 'refused' && !areRefused) fruitless = 0;
    if (areRefused) fruitless = Math.max(fruitless, 1);
    if (areRefused) {
      const text =
        'The server refused the credentials, and the login handlers returned the same ones. Trying them again.';
      logger[fruitless === 1 ? 'warn' : 'debug'](text);
    }
    if (areRefused || !hasPaused) await pause(signal);
    vault.populate(areRefused ? found : acceptable);
    populatedAt = clock.now();
    isRefusalCounted = false;
    hasPaused = false;
  };

  const pause = async (signal: AbortSignal): Promise<void> => {
    const seconds = fruitless === 0 ? 0 : (PAUSES[fruitless - 1] ?? Math.max(...PAUSES));
    await sleepAmong(clock, seconds * (1 - random() / 4), { signal });
  };

  const toldLogins = async (want: Want, signal: AbortSignal): Promise<Found> => {
    const since = clock.now();
    const tell = (error: Error | undefined): void => {
      if (!facts.wants['login.ended']) return;
      const outcome = error === undefined ? 'succeeded' : 'failed';
      facts.tell({ kind: 'login.ended', outcome, error, duration: clock.now() - since });
    };
    try {
      const logins = await runLogins(want, signal);
      tell(logins.found.size > 0 ? undefined : logins.whyNone());
      return logins;
    } catch (error) {
      if (!signal.aborted) tell(toError(error));
      throw error;
    }
  };

  /** Throws if trying again makes no sense. */
  const runLogins = async (want: Want, signal: AbortSignal): Promise<Found> => {
    const errors = new Map<HandlerId, Error>();
    const told = want === 'ahead' ? terseLogger(logger) : logger;
    const handlers = fallbackHandlers(parts, parts.fallbackLogins ?? [], {
      logger: told,
      onError: (id, error) => errors.set(id, error),
    });
    const options = { activity: 'login', memo: parts.memo, signal, handlers } as const;
    let results: Record<HandlerId, unknown>;
    try {
      results = await runActivity(parts, { ...options, logger: handlers === undefined ? told : warningsOnly(told) });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new LoginError(`The login to the cluster has failed for good: ${describeError(rootOf(error))}`, {
        cause: error,
      });
    }
    const logins = loginsOf(results);
    const areFallbacks = handlers !== undefined;
    return {
      found: vault.unexpired(logins),
      whyNone: () => noLogins({ areFallbacks, hasExpired: logins.size > 0, errors }),
    };
  };

  return {
    get trouble() {
      const { trouble } = vault;
      return trouble && { ...trouble, since: Math.max(trouble.since, servesSince ?? clock.now()) };
    },
    service: {
      name: 'credentials retriever',
      async run(signal) {
        servesSince ??= clock.now();
        try {
          await serve(signal);
        } catch (error) {
          if (!signal.aborted) throw error;
        }
      },
    },
    async during(signal, run) {
      // Aborted when the work ends, not with the outer signal: the work may have something left to finish.
      const serving = new AbortController();
      const running = childController(signal);
      try {
        return await Promise.race([run(running.signal), serve(serving.signal, { isLazy: true })]);
      } catch (error) {
        running.abort(error);
        throw error;
      } finally {
        running.dispose();
        serving.abort();
      }
    },
  };
}

/** The handler's own error tells more than the fact that a handler failed. */
function rootOf(error: unknown): unknown {
  return error instanceof ActivityError ? (error.cause ?? error) : error;
}
