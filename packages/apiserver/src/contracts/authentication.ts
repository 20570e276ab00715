/** Authentication: who may come in, and with what. */
import type { UserInfo } from './objects.js';

export interface Credentials {
  /** Of the `Authorization` header, as it came. */
  readonly authorization: string | undefined;
  /** Subject of a client certificate that was signed by our authority, if one was shown. */
  readonly certificate: { readonly commonName: string; readonly organizations: readonly string[] } | undefined;
}

/** Whose token it is, and for which of the wanted audiences; or what is wrong with it. */
export interface TokenReview {
  readonly user?: UserInfo;
  readonly audiences?: readonly string[];
  readonly error?: string;
}

export interface Authenticator {
  /** The user with these credentials; `undefined` if there are none, or wrong ones. */
  authenticate(credentials: Credentials): UserInfo | undefined;
  /** The same, but a user without any credentials is the anonymous one; `undefined` means 401. */
  identify(credentials: Credentials): UserInfo | undefined;
  userOfToken(token: string): UserInfo | undefined;
  /** For TokenReviews. Without audiences, the API server itself is meant. */
  reviewToken(token: string, audiences: readonly string[]): TokenReview;
}

export interface Named {
  readonly name: string;
  readonly uid: string;
}

/** Kinds to whose objects a token can be bound: it ends with them. */
export type BoundKind = 'pod' | 'secret' | 'node';

interface TokenOrder {
  readonly namespace: string;
  readonly account: Named;
  readonly audiences: readonly string[];
  readonly seconds: number;
  readonly bound?: { readonly kind: BoundKind } & Named;
}

export interface ServiceAccountTokens {
  issue(order: TokenOrder): { readonly token: string; readonly expires: Date };
  /** `undefined` if it is no token of ours at all. */
  review(token: string, audiences: readonly string[]): TokenReview | undefined;
  /** The key for others who check tokens, in the format of `/openid/v1/jwks`. */
  publicKeys(): object;
  readonly algorithm: string;
}

/** By what a cluster is known to others; all keys in PEM. */
export interface Identity {
  /** The administrator's. */
  readonly token: string;
  /** Who signs certificates. */
  readonly authority: { readonly key: string; readonly cert: string };
  /** By which tokens of service accounts are signed. */
  readonly accountsKey: string;
}

/** Everything about identities and certificates of one cluster. */
export interface Security extends Authenticator {
  /** Present if the server speaks HTTPS; all in PEM. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string } | undefined;
  /** A kubeconfig for the administrator, or for the user with that token, as YAML. */
  kubeconfig(url: string, token?: string): string;
  /** The same in a file of ours, 0600; the path. The same file for the same URL and token. */
  kubeconfigFile(url: string, token?: string): Promise<string>;
  /** Removes the files. */
  dispose(): Promise<void>;
}

export interface SecurityOptions {
  /** Speak HTTPS, with a self-signed authority. */
  readonly tls: boolean;
  /** The administrator's token; random unless given. */
  readonly token?: string;
  /** The authority of an earlier life; a new one unless given. */
  readonly authority?: Identity['authority'];
  /** The tokens of service accounts, too, let their owners in. */
  readonly serviceAccounts?: ServiceAccountTokens;
  /** Names and addresses to be put into the server's certificate. */
  readonly hosts: readonly string[];
}
