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
  /** The folder of the token, the namespace and the CA. Default: where Kubernetes mounts them. */
  readonly dir?: string;
  /** The environment variables. Default: those of the process. */
  readonly env?: Environment;
  /** Whether to use the proxies of the environment; if unset, the client's settings decide. */
  readonly trustEnv?: boolean;
  /** Schedules rereading of the token. Default: the system clock. */
  readonly clock?: Pick<Clock, 'utc'>;
}

const USUAL_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';
const USUAL_SERVER = 'https://kubernetes.default.svc';
/** Higher than that of kubeconfigs: in a pod, its own account takes precedence. */
const PRIORITY = 20;

/**
 * The connection of a pod by its service account; `undefined` if there is no token, as outside of a cluster. Kubernetes
 * rotates the token in its file: `expiration` is when to log in again.
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

/** Uses the address from the environment of the pod: not every pod can resolve the names of the cluster. */
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
