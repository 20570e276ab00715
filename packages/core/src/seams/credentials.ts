import type { Awaitable } from './awaitable.js';

/**
 * How to reach a cluster and as whom. Compared by value.
 *
 * ```ts
 * const connection: kopf.ConnectionInfo = {
 *   server: 'https://cluster.example.com:6443',
 *   token: process.env.CLUSTER_TOKEN ?? '',
 *   defaultNamespace: 'default',
 * };
 * ```
 */
export interface ConnectionInfo {
  readonly server: string;
  readonly token?: string;
  readonly scheme?: string;
  readonly username?: string;
  readonly password?: string;
  readonly ca?: string | Uint8Array;
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  readonly insecure?: boolean;
  /** The name to expect in the server's certificate, if it differs from the host in `server`. */
  readonly serverName?: string;
  readonly defaultNamespace?: string;
  /** The user to impersonate, if the credentials permit that. */
  readonly impersonate?: Impersonation;
  readonly proxyUrl?: string;
  readonly trustEnv?: boolean;
  /** A ready-made dispatcher instead of all the above (like Kopf's custom sessions). */
  readonly dispatcher?: unknown;
  readonly priority?: number;
  readonly expiration?: Date;
}

/**
 * A user to impersonate.
 *
 * ```ts
 * const impersonate: kopf.Impersonation = { user: 'system:serviceaccount:default:robot', groups: ['robots'] };
 * const connection: kopf.ConnectionInfo = { server: 'https://cluster.example.com:6443', token: '…', impersonate };
 * ```
 */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Provides a client with credentials, and takes back refused ones.
 *
 * ```ts
 * const fixed: kopf.Credentials = {
 *   current: async () => ({ server: 'http://127.0.0.1:8001' }),
 *   invalidate: (_info, cause) => {
 *     throw cause; // there are no others to try
 *   },
 * };
 * ```
 */
export interface Credentials {
  current(signal?: AbortSignal): Promise<ConnectionInfo>;
  /**
   * Returns what `current` would return at once; `undefined` if it would wait or fail. Optional: it is cheaper, and is
   * called for each request.
   */
  known?(): ConnectionInfo | undefined;
  invalidate(info: ConnectionInfo, cause: Error): Awaitable<void>;
}
