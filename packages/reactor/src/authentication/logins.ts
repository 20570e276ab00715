/** Calls the login handlers and validates their results. */
import {
  type ConnectionInfo,
  type HandlerId,
  type Logger,
  LoginError,
  PermanentError,
  type Settings,
  TemporaryError,
} from '@kopf-ts/core';
import { type ActivityHandler, describeError, isEnabled, quoteId, toError } from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';
import type { Logins } from './vault.js';

/**
 * A way to log in where there are no login handlers: by what a person or a pod usually has.
 *
 * ```ts
 * const byKubeconfig: kopf.reactor.FallbackLogin = {
 *   id: 'login_with_kubeconfig',
 *   login: () => kopf.client.loginWithKubeconfig(),
 * };
 * ```
 */
export interface FallbackLogin {
  readonly id: HandlerId;
  readonly login: (options: FallbackLoginOptions) => Promise<ConnectionInfo | undefined>;
}

/**
 * What a login may use.
 *
 * ```ts
 * const login = ({ logger }: kopf.reactor.FallbackLoginOptions) => {
 *   logger.debug('Looking for a kubeconfig.');
 *   return kopf.client.loginWithKubeconfig();
 * };
 * ```
 */
export interface FallbackLoginOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export interface FallbackHandlersOptions {
  /** Receives which handlers returned credentials; pass it through {@link warningsOnly} when calling them. */
  readonly logger: Logger;
  readonly onError: (id: HandlerId, error: Error) => void;
}

/**
 * The handlers to call when the registry has none. Their errors are logged and collected. These handlers log their own
 * success: "succeeded" would mislead when a handler that nobody declared found nothing to log in with.
 */
export function fallbackHandlers(
  { registry }: OperatorParts,
  fallbacks: readonly FallbackLogin[],
  { logger: parent, onError }: FallbackHandlersOptions,
): readonly ActivityHandler[] | undefined {
  const isDeclared = [...registry.handlers.activities].some(({ activity }) => activity === 'login');
  if (isDeclared) return undefined;
  return fallbacks.map(({ id, login }) => ({
    kind: 'activity',
    activity: 'login',
    id,
    param: undefined,
    // This is one of several built-in ways that nobody asked for: the others may work.
    errors: 'ignored',
    fn: async ({ settings, signal }: FallbackLoginOptions) => {
      const logger = parent.child({ activity: 'login' });
      try {
        const found = await login({ settings, logger, signal });
        if (found === undefined) logger.debug(`Activity ${quoteId(id)} has found nothing to log in with.`);
        else logger.info(`Activity ${quoteId(id)} succeeded.`);
        return found;
      } catch (thrown) {
        if (signal.aborted) throw thrown;
        const error = toError(thrown);
        onError(id, error);
        // Temporary and permanent errors would not be ignored.
        const isAddressed = error instanceof TemporaryError || error instanceof PermanentError;
        throw isAddressed ? new LoginError(describeError(error), { cause: error }) : error;
      }
    },
  }));
}

/** The same logger, limited to warnings and errors. */
export function warningsOnly(logger: Logger): Logger {
  return {
    debug() {},
    info() {},
    warn: (message, fields) => logger.warn(message, fields),
    error: (message, fields) => logger.error(message, fields),
    isEnabled: (level) => (level === 'warn' || level === 'error') && isEnabled(logger, level),
    child: (fields) => warningsOnly(logger.child(fields)),
  };
}

/**
 * Converts the results of the handlers to credentials. Throws if a result is anything else, without quoting it: it is
 * secret.
 */
export function loginsOf(results: Readonly<Record<HandlerId, unknown>>): Logins {
  const logins = new Map<HandlerId, ConnectionInfo>();
  for (const [id, result] of Object.entries(results)) {
    const problem = whyNotConnection(result);
    if (problem !== undefined) {
      throw new LoginError(
        `The login handler ${quoteId(id)} has returned ${problem}. It must return how to connect, with at least ` +
          'a server: { server, token, … }; or nothing.',
      );
    }
    logins.set(id, result as ConnectionInfo);
  }
  return logins;
}

function whyNotConnection(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null) return `a ${typeof result}`;
  if (Array.isArray(result)) return 'an array';
  const { server, expiration, priority } = result as Partial<Record<keyof ConnectionInfo, unknown>>;
  if (typeof server !== 'string' || server === '') return 'an object without a server';
  const isDate = expiration instanceof Date && !Number.isNaN(expiration.getTime());
  if (expiration !== undefined && !isDate) return 'an expiration that is not a valid Date';
  const isNumber = typeof priority === 'number' && !Number.isNaN(priority);
  if (priority !== undefined && !isNumber) return 'a priority that is not a number';
  return undefined;
}

/** The message for the case that there was never anything to log in with. */
export function noLogins(facts: {
  readonly areFallbacks: boolean;
  readonly hasExpired: boolean;
  readonly errors: ReadonlyMap<HandlerId, Error>;
}): LoginError {
  const [[, cause] = []] = facts.errors;
  return new LoginError(whyNoLogins(facts), { cause });
}

function whyNoLogins({ areFallbacks, hasExpired, errors }: Parameters<typeof noLogins>[0]): string {
  if (hasExpired) return 'All credentials that the login handlers have given are expired already. Is the clock right?';
  if (!areFallbacks) return 'There are no credentials for the cluster: none of the login handlers has returned any.';
  const failed = [...errors].map(([id, error]) => ` ${quoteId(id)} has failed: ${asSentence(describeError(error))}`);
  return (
    `There is nothing to log in to the cluster with.${failed.join('')} ` +
    'In a pod, check its service account and "automountServiceAccountToken"; elsewhere, set KUBECONFIG or create ' +
    '~/.kube/config; or declare a login handler with on.login().'
  );
}

function asSentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
