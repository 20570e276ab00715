/** What is called for a login, and what comes out of it. */
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
  /** Where it is told which of them have given anything; to be called with {@link warningsOnly} of it. */
  readonly logger: Logger;
  readonly onError: (id: HandlerId, error: Error) => void;
}

/**
 * The handlers to call instead of those in the registry, if there are none. Their errors are logged and collected.
 * A handler that returns nothing has succeeded; but where nobody has declared it, and there was nothing to log in with,
 * saying so would only mislead: which of them have succeeded is therefore told by themselves.
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
    // One of several ways, and nobody has asked for this one: the others may work.
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
        // These would not be ignored.
        const isAddressed = error instanceof TemporaryError || error instanceof PermanentError;
        throw isAddressed ? new LoginError(describeError(error), { cause: error }) : error;
      }
    },
  }));
}

/** The same logger for warnings and errors, and nothing else. */
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

/** The results of the handlers as credentials. Throws if any is something else; never says what it is: it is secret. */
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

/** What to say if there was never anything to log in with. */
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
