/** Authentication: who may come in, and with what. */
import type { UserInfo } from './objects.js';

export interface Credentials {
  /** Of the `Authorization` header, as it came. */
  readonly authorization: string | undefined;
  /** Subject of a client certificate that was signed by our authority, if one was shown. */
  readonly certificate: { readonly commonName: string; readonly organizations: readonly string[] } | undefined;
}

export interface Authenticator {
  /** `undefined` means 401. */
  authenticate(credentials: Credentials): UserInfo | undefined;
  /** For TokenReviews. */
  userOfToken(token: string): UserInfo | undefined;
}

/** Everything about identities and certificates of one cluster. */
export interface Security extends Authenticator {
  /** Present if the server speaks HTTPS; all in PEM. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string } | undefined;
  /** A kubeconfig for the administrator, as YAML. */
  kubeconfig(url: string): string;
  /** The same in a file of ours, 0600; the path. The same file for the same URL. */
  kubeconfigFile(url: string): Promise<string>;
  /** Removes the files. */
  dispose(): Promise<void>;
}

export interface SecurityOptions {
  /** Speak HTTPS, with a self-signed authority. */
  readonly tls: boolean;
  /** The administrator's token; random unless given. */
  readonly token?: string;
  /** Names and addresses to be put into the server's certificate. */
  readonly hosts: readonly string[];
}
