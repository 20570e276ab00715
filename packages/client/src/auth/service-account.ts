import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { type Clock, type ConnectionInfo, LoginError } from '@kopf-ts/core';
import type { Environment } from '../connections/proxies.js';
import { rereadingTime } from './jwt.js';

/**
 * Where a pod has its service account.
 *
 * ```ts
 * const options: kopf.client.ServiceAccountLoginOptions = { dir: '/var/run/secrets/other-account' };
 * ```
 */
export interface ServiceAccountLoginOptions {
  /** Where the token, the namespace and the CA are mounted. Default: where Kubernetes mounts them. */
  readonly dir?: string;
  /** Default: that of the process. */
  readonly env?: Environment;
  /** Whether the proxies of the environment are used; unset leaves it to the client's settings. */
  readonly trustEnv?: boolean;
  /** For the time of the next reading. Default: the system's. */
  readonly clock?: Pick<Clock, 'utc'>;
}

const USUAL_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';
const USUAL_SERVER = 'https://kubernetes.default.svc';
/** Above that of kubeconfigs: in a pod, the pod's own account is meant. */
const PRIORITY = 20;

/**
 * The connection of a pod by its service account; `undefined` if there is no token, as outside of a cluster.
 * Tokens are replaced in their file from time to time: `expiration` tells when to log in again.
 *
 * ```ts
 * kopf.on.login(() => kopf.client.loginWithServiceAccount());
 * ```
 */
export async function loginWithServiceAccount(
  options: ServiceAccountLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  const { dir = USUAL_DIR, env = process.env, clock = { utc: () => new Date() } } = options;
  const token = (await readIfThere(join(dir, 'token')))?.trim();
  if (!token) return undefined;
  const namespace = (await readIfThere(join(dir, 'namespace')))?.trim();
  const ca = await readIfThere(join(dir, 'ca.crt'));
  return {
    server: serverOf(env),
    token,
    ...(ca?.trim() ? { ca } : {}),
    ...(namespace ? { defaultNamespace: namespace } : {}),
    ...(options.trustEnv === undefined ? {} : { trustEnv: options.trustEnv }),
    priority: PRIORITY,
    expiration: rereadingTime(token, clock),
  };
}

/** By the address that every pod is told: not every pod can resolve the names of the cluster. */
function serverOf(env: Environment): string {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT_HTTPS'] || env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) return USUAL_SERVER;
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new LoginError(`The service account's file ${path} cannot be read: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}
