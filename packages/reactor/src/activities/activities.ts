/** Everything that an operator does for itself, and not for objects: it starts, logs in, tells how it is, and ends. */
import type { HttpEndpoint, Service } from '@kopf-ts/core';
import { authenticator } from '../authentication/authenticator.js';
import type { FallbackLogin } from '../authentication/logins.js';
import type { Vault } from '../authentication/vault.js';
import type { OperatorParts } from '../parts.js';
import type { Health } from '../probing/health.js';
import { healthReporter, type ProbesParts } from '../probing/probes.js';
import { httpEndpoint } from '../serving/http-endpoint.js';
import { runActivity } from './run-activity.js';

/**
 * What the activities need of an operator.
 *
 * ```ts
 * const withProbes = (parts: kopf.reactor.ActivitiesParts): kopf.reactor.ActivitiesParts => ({
 *   ...parts,
 *   liveness: 'http://0.0.0.0:8080/healthz',
 * });
 * ```
 */
export interface ActivitiesParts extends OperatorParts {
  readonly memo: unknown;
  readonly health: Health;
  /** To be kept filled by logins. Without it, the client has credentials of its own, and there are no logins. */
  readonly vault?: Vault | undefined;
  /** How to log in if there are no login handlers. */
  readonly fallbackLogins?: readonly FallbackLogin[] | undefined;
  /** Where to tell how the operator is: `http://[host][:port][/path]`; nowhere, if absent. */
  readonly liveness?: string | undefined;
  /** Told where that really is: of interest if the port is 0, and any free one is taken. */
  readonly onListening?: ProbesParts['onListening'];
  /** By what it is served. Default: a socket of its own. */
  readonly httpEndpoint?: HttpEndpoint | undefined;
}

/**
 * What an operator does for itself, besides handling objects.
 *
 * ```ts
 * const cleanUp = ({ cleanup }: kopf.reactor.Activities): Promise<void> => cleanup(AbortSignal.timeout(5000));
 * ```
 */
export interface Activities {
  startup(signal: AbortSignal): Promise<void>;
  cleanup(signal: AbortSignal): Promise<void>;
  /** Those on which others rely: the logins. */
  readonly services: readonly Service[];
  readonly probes: readonly Service[];
}

/**
 * Startup, cleanup, logins and probes of an operator. Throws if the liveness endpoint can never be served.
 *
 * ```ts
 * async function start(parts: kopf.reactor.ActivitiesParts): Promise<void> {
 *   const { startup, services } = kopf.reactor.activities(parts);
 *   await startup(signal);
 *   logger.info(`Services: ${services.map(({ name }) => name).join(', ')}`);
 * }
 * ```
 */
export function activities(parts: ActivitiesParts): Activities {
  const { vault, liveness, health, memo, httpEndpoint: served = httpEndpoint(parts) } = parts;
  const logins = vault && authenticator({ ...parts, vault });
  if (logins !== undefined) health.inquire('credentials', () => logins.trouble);

  // Before the startup and after the end of all services, nobody logs in; but handlers may have a need for it.
  const run = async (activity: 'startup' | 'cleanup', signal: AbortSignal): Promise<void> => {
    const call = (callSignal: AbortSignal) => runActivity(parts, { activity, memo, signal: callSignal });
    await (logins === undefined ? call(signal) : logins.during(signal, call));
  };
  return {
    startup: (signal) => run('startup', signal),
    cleanup: (signal) => run('cleanup', signal),
    services: logins === undefined ? [] : [logins.service],
    probes: liveness === undefined ? [] : [healthReporter({ ...parts, liveness, httpEndpoint: served })],
  };
}
