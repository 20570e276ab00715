/** One certificate that vouches for itself: for development, and for servers of one's own. */
import type { Seconds } from '@kopf-ts/core';
import { certificateNames } from './making/certificate-names.js';
import { newKeyPair, privateKeyPem } from './making/keys.js';
import { DEFAULT_AUTHORITY_VALIDITY, lifetime } from './making/lifetimes.js';
import { signCertificate } from './making/x509.js';

/**
 * For how long a certificate lives, and how its key is kept.
 *
 * ```ts
 * const options: kopf.webhooks.BuildCertificateOptions = { validity: 24 * 60 * 60, password: 'secret' };
 * ```
 */
export interface BuildCertificateOptions {
  /** Encrypts the private key. Default: not encrypted. */
  readonly password?: string;
  /** For how long it is valid. Default: a year. */
  readonly validity?: Seconds;
  /** Since when. Default: now. */
  readonly now?: Date;
}

/**
 * A certificate with its key.
 *
 * ```ts
 * import { createServer } from 'node:https';
 * const built: kopf.webhooks.BuiltCertificate = await kopf.webhooks.buildCertificate(['localhost']);
 * createServer({ cert: built.certificate, key: built.privateKey });
 * ```
 */
export interface BuiltCertificate {
  /** In PEM. It is its own authority: clients that trust it trust the server. */
  readonly certificate: string;
  /** In PEM (PKCS#8). */
  readonly privateKey: string;
}

/**
 * Makes a self-signed certificate, and its key, for a server that is reached by any of these hostnames and addresses.
 * Addresses such as `0.0.0.0` are ignored, as nobody can connect to them.
 *
 * ```ts
 * const { certificate, privateKey } = await kopf.webhooks.buildCertificate(['operator.example.com', '127.0.0.1']);
 * ```
 */
export async function buildCertificate(
  hosts: readonly string[],
  options: BuildCertificateOptions = {},
): Promise<BuiltCertificate> {
  const names = certificateNames(hosts);
  const { notBefore, notAfter } = lifetime(options.now ?? new Date(), options.validity ?? DEFAULT_AUTHORITY_VALIDITY);
  const { publicKey, privateKey } = newKeyPair();
  const certificate = await signCertificate({
    commonName: names.commonName,
    publicKey,
    issuer: { privateKey },
    notBefore,
    notAfter,
    isAuthority: true,
    usages: ['digitalSignature', 'keyCertSign', 'cRLSign'],
    extendedUsages: ['serverAuth', 'clientAuth'],
    names,
  });
  return { certificate, privateKey: privateKeyPem(privateKey, options.password) };
}
