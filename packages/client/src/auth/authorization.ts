import type { ConnectionInfo } from '@kopf-ts/core';

/**
 * The value of the `Authorization` header; `undefined` for clients with a certificate, or without any credentials. A
 * token (or a scheme) wins over a username with a password: only one header can be sent.
 *
 * ```ts
 * kopf.client.authorizationOf({ server: 'https://cluster.example.com:6443', token: 'abc' }); // 'Bearer abc'
 * ```
 */
export function authorizationOf(info: ConnectionInfo): string | undefined {
  const { scheme, token, username, password } = info;
  if (scheme && token) return `${scheme} ${token}`;
  if (scheme) return scheme;
  if (token) return `Bearer ${token}`;
  if (hasBasicAuth(info)) return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
  return undefined;
}

/** Whether there are two ways to authorise, of which only one can be used. */
export function isAuthorizedTwice(info: ConnectionInfo): boolean {
  return Boolean(info.token || info.scheme) && hasBasicAuth(info);
}

function hasBasicAuth({ username, password }: ConnectionInfo): boolean {
  return Boolean(username && password);
}

/** The impersonation headers: the server treats the request as that user's. */
export function impersonationHeaders({ impersonate }: ConnectionInfo): Record<string, string | string[]> {
  if (impersonate === undefined) return {};
  const { user, uid, groups = [], extra = {} } = impersonate;
  return {
    'impersonate-user': user,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': [...groups] }),
    ...Object.fromEntries(
      // The names are arbitrary texts, unlike the names of headers.
      Object.entries(extra).map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, [...values]]),
    ),
  };
}

/**
 * Whether these are equivalent to the server, including how it is trusted. Logins make a new object each time, often
 * with the same content; other fields (priority, expiration, namespace) do not matter to the server.
 */
export function credentialsKey(info: ConnectionInfo): string {
  const { server, serverName, insecure, impersonate } = info;
  const certificates = [info.ca, info.cert, info.key].map((pem) =>
    pem === undefined ? '' : Buffer.from(pem).toString('base64'),
  );
  return JSON.stringify([server, serverName, insecure, authorizationOf(info) ?? '', certificates, impersonate ?? null]);
}
