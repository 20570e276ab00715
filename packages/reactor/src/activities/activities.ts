/** Everything that an operator does for itself, and not for objects: it starts, logs in, tells how it is, and ends. */
import type { AddressInfo } from 'node:net';
import type { Service } from '@kopf-ts/core';
import { authenticator } from '../authentication/authenticator.js';
import type { FallbackLogin } from '../authentication/logins.js';
import type { Vault } from '../authentication/vault.js';
import type { OperatorParts } from '../parts.js';
import type { Health } from '../probing/health.js';
import { healthReporter } from '../probing/probes.js';
import { runActivity } from './run-activity.js';

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
  readonly onListening?: ((address: AddressInfo) => void) | undefined;
}

export interface Activities {
  startup(signal: AbortSignal): Promise<void>;
  cleanup(signal: AbortSignal): Promise<void>;
  /** Those on which others rely: the logins. */
  readonly services: readonly Service[];
  readonly probes: readonly Service[];
}

/** Throws if the liveness endpoint can never be served. */
export function activities(parts: ActivitiesParts): Activities {
  const { vault, liveness, health, memo } = parts;
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
    probes: liveness === undefined ? [] : [healthReporter({ ...parts, liveness })],
  };
}
