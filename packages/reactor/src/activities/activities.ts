/** What an operator does for itself rather than for objects: startup, logins, probes, cleanup. */
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
  /** Filled by the logins. Without a vault, the client has credentials of its own and there are no logins. */
  readonly vault?: Vault | undefined;
  /** The logins to use if no login handlers are declared. */
  readonly fallbackLogins?: readonly FallbackLogin[] | undefined;
  /** The address of the liveness endpoint: `http://[host][:port][/path]`. There is none if absent. */
  readonly liveness?: string | undefined;
  /** Called with the actual address, which matters if port 0 was requested. */
  readonly onListening?: ProbesParts['onListening'];
  /** The server of the endpoint. Default: a socket of its own. */
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
  /** The services on which others rely: the logins. */
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

  // Before the startup and after the end of all services, nothing logs in by itself; but handlers may need a client
  // then.
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
