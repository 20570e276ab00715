/** Logins: turn a service account or a kubeconfig into a connection. */
import { type Clock, type ConnectionInfo, type Impersonation, LoginError, type Seconds } from '@kopf-ts/core';
import type { Environment } from '../connections/proxies.js';
import { rereadingTime } from './jwt.js';
import {
  contentOf,
  contextOf,
  type Entry,
  fieldsOf,
  kubeconfigFiles,
  pathIn,
  readKubeconfig,
  readListed,
  textOf,
} from './kubeconfig.js';
import { isPluginUser, type LoginClock, loginByPlugin, PLUGIN_TIMEOUT, type PluginOptions } from './login-plugins.js';
import { loginWithServiceAccount, type ServiceAccountLoginOptions } from './service-account.js';

/**
 * Which kubeconfig is read, and how.
 *
 * ```ts
 * const options: kopf.client.KubeconfigLoginOptions = { path: '/etc/operator/kubeconfig', context: 'production' };
 * ```
 */
export interface KubeconfigLoginOptions {
  /** One file or several. Default: those of `$KUBECONFIG`, or `~/.kube/config`. */
  readonly path?: string | readonly string[];
  /** Default: the current context. */
  readonly context?: string;
  /** The environment variables. Default: those of the process. */
  readonly env?: Environment;
  /** Whether to use the proxies of the environment; if unset, the client's settings decide. */
  readonly trustEnv?: boolean;
  /** Schedules rereading of rotated tokens, and limits plugins. Default: the system clock. */
  readonly clock?: LoginClock;
  /** How long a plugin or a provider may take to log in; then it is killed, and the login fails. Default: 60. */
  readonly pluginTimeout?: Seconds;
}

/**
 * How to log in either by a service account or by a kubeconfig.
 *
 * ```ts
 * const options: kopf.client.LoginOptions = { context: 'production', trustEnv: true };
 * ```
 */
export interface LoginOptions extends KubeconfigLoginOptions, Omit<ServiceAccountLoginOptions, 'clock'> {}

const PRIORITY = 10;

/**
 * The connection from a kubeconfig, with everything that kubectl supports there; `undefined` if there is no kubeconfig.
 * If the token or the certificate is temporary, `expiration` is when to log in again.
 *
 * ```ts
 * kopf.on.login(() => kopf.client.loginWithKubeconfig({ path: '/etc/operator/kubeconfig' }));
 * ```
 */
export async function loginWithKubeconfig(options: KubeconfigLoginOptions = {}): Promise<ConnectionInfo | undefined> {
  const { env = process.env, clock = { utc: () => new Date() }, pluginTimeout = PLUGIN_TIMEOUT } = options;
  const files = await kubeconfigFiles(options.path, env);
  if (files === undefined) return undefined;
  const { cluster, user, namespace } = contextOf(await readKubeconfig(files), options.context);
  const server = textOf(cluster.fields['server']);
  if (server === undefined)
    throw new LoginError(`The cluster "${cluster.name}" has no "server" in ${files.join(', ')}.`);
  const ca = await contentOf(cluster, 'certificate-authority');
  if (ca !== undefined && cluster.fields['insecure-skip-tls-verify'] === true) {
    throw new LoginError(
      `The cluster "${cluster.name}" in ${files.join(', ')} has both a certificate authority and insecure-skip-tls-verify. ` +
        'Keep only one of them: for safety, remove insecure-skip-tls-verify; otherwise, remove the certificate authority.',
      { code: 'KOPF_INSECURE_WITH_CA' },
    );
  }
  const serverName = textOf(cluster.fields['tls-server-name']);
  const proxyUrl = textOf(cluster.fields['proxy-url']);
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(cluster.fields['insecure-skip-tls-verify'] === true ? { insecure: true } : {}),
    ...(serverName === undefined ? {} : { serverName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(namespace === undefined ? {} : { defaultNamespace: namespace }),
    ...(options.trustEnv === undefined ? {} : { trustEnv: options.trustEnv }),
    priority: PRIORITY,
    ...(user === undefined ? {} : await identityOf(user, cluster, { env, clock, timeout: pluginTimeout })),
  };
}

/**
 * The service account in a cluster, otherwise a kubeconfig.
 *
 * ```ts
 * kopf.on.login(() => kopf.client.login({ context: 'production' }));
 * ```
 */
export async function login(options: LoginOptions = {}): Promise<ConnectionInfo> {
  const info = (await loginWithServiceAccount(options)) ?? (await loginWithKubeconfig(options));
  if (info !== undefined) return info;
  throw new LoginError(
    'There is nothing to log in with: neither a mounted service account nor a kubeconfig. ' +
      'In a pod, check "automountServiceAccountToken"; elsewhere, set KUBECONFIG or create ~/.kube/config.',
  );
}

export { loginWithServiceAccount, type ServiceAccountLoginOptions };

async function identityOf(user: Entry, cluster: Entry, options: PluginOptions) {
  const { fields } = user;
  const cert = await contentOf(user, 'client-certificate');
  const key = await contentOf(user, 'client-key');
  const username = textOf(fields['username']);
  const password = textOf(fields['password']);
  const impersonate = impersonationOf(fields);
  return {
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(impersonate === undefined ? {} : { impersonate }),
    ...(isPluginUser(user) ? await loginByPlugin(user, cluster, options) : await tokenOf(user, options.clock)),
  };
}

/** The token file wins over the token: it is newer. An unknown provider has at least left a token. */
async function tokenOf(user: Entry, clock: Pick<Clock, 'utc'>): Promise<Pick<ConnectionInfo, 'token' | 'expiration'>> {
  const file = textOf(user.fields['tokenFile']);
  if (file !== undefined) {
    const token = (await readListed(pathIn(user, file), `"tokenFile" of "${user.name}"`)).toString('utf8').trim();
    if (token !== '') return { token, expiration: rereadingTime(token, clock) };
  }
  const token =
    textOf(user.fields['token']) ??
    textOf(fieldsOf(fieldsOf(user.fields['auth-provider'])?.['config'])?.['access-token']);
  return token === undefined ? {} : { token };
}

function impersonationOf(fields: Entry['fields']): Impersonation | undefined {
  const user = textOf(fields['as']);
  const uid = textOf(fields['as-uid']);
  const groups = listOf(fields['as-groups']);
  const extra = Object.entries(fieldsOf(fields['as-user-extra']) ?? {}).map(([key, values]) => [key, listOf(values)]);
  if (user === undefined) {
    const isPartial = uid !== undefined || groups.length > 0 || extra.length > 0;
    if (isPartial)
      throw new LoginError('The kubeconfig sets a uid, groups or extras to impersonate ("as-…") but no user ("as").');
    return undefined;
  }
  return {
    user,
    ...(uid === undefined ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
