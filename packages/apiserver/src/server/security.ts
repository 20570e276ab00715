/** Identities of one cluster: who comes in with which token or certificate. */
import { hash, randomBytes } from 'node:crypto';
import type { Credentials, Security, SecurityOptions } from '../contracts/authentication.js';
import type { UserInfo } from '../contracts/objects.js';
import { type Authority, createAuthority, type KeyAndCertificate, type Subject } from './certificates.js';
import { KubeconfigFolder, renderKubeconfig } from './kubeconfig.js';

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

const ADMINISTRATOR: UserInfo = {
  username: 'kubernetes-admin',
  groups: ['system:masters', 'system:authenticated'],
};

/** Prepares the identities; and the certificates too, if the server is to speak HTTPS. */
export async function createSecurity(options: SecurityOptions): Promise<ClusterSecurity> {
  const token = options.token ?? newToken();
  const users = new Map<string, UserInfo>([[fingerprint(token), ADMINISTRATOR]]);
  const files = new KubeconfigFolder();
  let authority: Promise<Authority> | undefined;
  const getAuthority = (): Promise<Authority> => {
    authority ??= createAuthority('kopf-ts');
    return authority;
  };
  const tls = options.tls ? await issueForServer(await getAuthority(), options.hosts) : undefined;
  const kubeconfig = (url: string): string => renderKubeconfig({ server: url, ca: tls?.ca, token });
  // By digests, since looking a secret up in a map takes time that depends on the secret.
  const userOfToken = (candidate: string): UserInfo | undefined => users.get(fingerprint(candidate));
  return {
    token,
    tls,
    userOfToken,
    authenticate: (credentials) => authenticate(credentials, userOfToken),
    addUser({ username, groups = [], uid }, userToken = newToken()) {
      const all = [...new Set([...groups, 'system:authenticated'])];
      users.set(fingerprint(userToken), { username, groups: all, ...(uid === undefined ? {} : { uid }) });
      return userToken;
    },
    revoke(revoked) {
      users.delete(fingerprint(revoked));
    },
    issueClientCertificate: async (subject) => (await getAuthority()).issueClient(subject),
    kubeconfig,
    kubeconfigFile: (url) => files.file(url, () => kubeconfig(url)),
    dispose: () => files.remove(),
  };
}

async function issueForServer(
  authority: Authority,
  hosts: readonly string[],
): Promise<{ readonly cert: string; readonly key: string; readonly ca: string }> {
  const { cert, key } = await authority.issueServer({ commonName: 'kube-apiserver' }, hosts);
  return { cert, key, ca: authority.cert };
}

/** As in the real server, a certificate comes first; a wrong token is not saved by anything. */
function authenticate(
  { authorization, certificate }: Credentials,
  userOfToken: (token: string) => UserInfo | undefined,
): UserInfo | undefined {
  if (certificate !== undefined && certificate.commonName !== '') {
    const groups = [...new Set([...certificate.organizations, 'system:authenticated'])];
    return { username: certificate.commonName, groups };
  }
  const match = /^Bearer +(\S+) *$/i.exec(authorization ?? '');
  return match?.[1] === undefined ? undefined : userOfToken(match[1]);
}

const newToken = (): string => randomBytes(24).toString('base64url');
const fingerprint = (token: string): string => hash('sha256', token, 'base64');
