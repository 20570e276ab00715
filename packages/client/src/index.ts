/**
 * The default `KubeClient`: one request, one answer or one stream of lines, with logins, TLS, timeouts and
 * retries behind it.
 * It leaves URLs, listing, patching and watching to `@kopf-ts/core`, and when to ask for what to
 * `@kopf-ts/reactor`.
 */

// The client.
export { type HttpKubeClient, type KubeClientOptions, kubeClient } from './kube-client.js';
export { KubeConnectionError, KubeTimeoutError } from './errors.js';
// Credentials for a client without an operator.
export { type ReloadingOptions, reloadingCredentials, staticCredentials } from './auth/credentials.js';
// Logins.
export {
  type KubeconfigLoginOptions,
  type LoginOptions,
  login,
  loginWithKubeconfig,
  loginWithServiceAccount,
  type ServiceAccountLoginOptions,
} from './auth/logins.js';
// The parts of a connection, for HTTP clients of your own.
export { authorizationOf } from './auth/authorization.js';
export { type TlsOptions, tlsOptions } from './connections/dispatchers.js';
