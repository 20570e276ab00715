/** Identities of one cluster: who comes in with which token or certificate. */
import { hash, randomBytes } from 'node:crypto';
import { ANONYMOUS, completed, MASTERS, withAuthenticated } from '../authorization/users.js';
import type { Credentials, Security, SecurityOptions, TokenReview } from '../contracts/authentication.js';
import type { UserInfo } from '../contracts/objects.js';
import { type Authority, createAuthority, type KeyAndCertificate, type Subject } from './certificates.js';
import { KubeconfigFolder, renderKubeconfig } from './kubeconfig.js';
import { ISSUER } from './service-account-tokens.js';

/**
 * Tokens and certificates of a cluster: what its server checks, and what tests add to it.
 *
 * ```ts
 * import { type ClusterSecurity, localCluster } from 'kopf-ts/testing';
 * await using cluster = await localCluster();
 * const security: ClusterSecurity = cluster.security;
 * const token = security.addUser({ username: 'alice' });
 * security.revoke(token);
 * ```
 */
export interface ClusterSecurity extends Security {
  /** The administrator's token. */
  readonly token: string;
  /** Lets one more user in, with a token that is random unless given. Returns the token. */
  addUser(
    user: { readonly username: string; readonly groups?: readonly string[]; readonly uid?: string },
    token?: string,
  ): string;
  /** From now on, requests with this token get 401. */
  revoke(token: string): void;
  /** A certificate for a client, signed by our authority: its name is the user, its organizations are the groups. */
  issueClientCertificate(subject: Subject): Promise<KeyAndCertificate>;
}

/** The name of those who sign the certificates of clusters. */
export const AUTHORITY = 'kopf-ts';

export const ADMINISTRATOR: UserInfo = {
  username: 'kubernetes-admin',
  groups: withAuthenticated([MASTERS]),
};

/** Prepares the identities; and the certificates too, if the server is to speak HTTPS. */
export async function createSecurity(options: SecurityOptions): Promise<ClusterSecurity> {
  const token = options.token ?? newToken();
  const users = new Map<string, UserInfo>([[fingerprint(token), ADMINISTRATOR]]);
  const files = new KubeconfigFolder();
  let authority: Authority | undefined;
  const getAuthority = (): Authority => {
    authority ??= createAuthority(AUTHORITY, options.authority);
    return authority;
  };
  const tls = options.tls ? issueForServer(getAuthority(), options.hosts) : undefined;
  const kubeconfig = (url: string, userToken = token): string =>
    renderKubeconfig({ server: url, ca: tls?.ca, token: userToken });
  // By digests, since looking a secret up in a map takes time that depends on the secret.
  const reviewToken = (candidate: string, wanted: readonly string[]): TokenReview => {
    const audiences = wanted.length === 0 ? [ISSUER] : wanted;
    const known = users.get(fingerprint(candidate));
    // Who is known by name is known to the API server, and to nobody else.
    if (known !== undefined && audiences.includes(ISSUER)) return { user: known, audiences: [ISSUER] };
    const review = options.serviceAccounts?.review(candidate, audiences);
    if (review?.user !== undefined) return review;
    const why = 'invalid bearer token';
    return { error: review?.error === undefined ? why : `[${why}, ${review.error}]` };
  };
  const userOfToken = (candidate: string): UserInfo | undefined => reviewToken(candidate, []).user;
  const authenticateUser = (credentials: Credentials): UserInfo | undefined => authenticate(credentials, userOfToken);
  return {
    token,
    tls,
    userOfToken,
    reviewToken,
    authenticate: authenticateUser,
    identify: (credentials) => authenticateUser(credentials) ?? (hasNone(credentials) ? ANONYMOUS : undefined),
    addUser(user, userToken = newToken()) {
      users.set(fingerprint(userToken), completed(user));
      return userToken;
    },
    revoke(revoked) {
      users.delete(fingerprint(revoked));
    },
    issueClientCertificate: async (subject) => getAuthority().issueClient(subject),
    kubeconfig,
    kubeconfigFile: (url, userToken = token) => files.file(`${url} ${userToken}`, () => kubeconfig(url, userToken)),
    dispose: () => files.remove(),
  };
}

function issueForServer(
  authority: Authority,
  hosts: readonly string[],
): { readonly cert: string; readonly key: string; readonly ca: string } {
  const { cert, key } = authority.issueServer({ commonName: 'kube-apiserver' }, hosts);
  return { cert, key, ca: authority.cert };
}

/** As in the real server, a certificate comes first; a wrong token is not saved by anything. */
function authenticate(
  { authorization, certificate }: Credentials,
  userOfToken: (token: string) => UserInfo | undefined,
): UserInfo | undefined {
  if (certificate !== undefined && certificate.commonName !== '') {
    const groups = withAuthenticated([...new Set(certificate.organizations)]);
    return { username: certificate.commonName, groups };
  }
  const token = bearerToken(authorization);
  return token === undefined ? undefined : userOfToken(token);
}

/** As in the real server, the second word counts, whatever follows it; two spaces make it an empty one. */
const bearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer ([^ ]+)(?: |$)/i.exec(authorization?.trim() ?? '')?.[1];

/** Headers of other schemes are no credentials here. */
function hasNone({ authorization, certificate }: Credentials): boolean {
  return (certificate === undefined || certificate.commonName === '') && bearerToken(authorization) === undefined;
}

export const newToken = (): string => randomBytes(24).toString('base64url');
const fingerprint = (token: string): string => hash('sha256', token, 'base64');
