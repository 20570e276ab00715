/** Authorities of our own, and the certificates of servers that they issue. */
import { type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import type { Seconds } from '@kopf-ts/core';
import { certificateNames } from './certificate-names.js';
import { newKeyPair, privateKeyPem } from './keys.js';
import { lifetime } from './lifetimes.js';
import { signCertificate } from './x509.js';

/** All times are in milliseconds since the epoch, as replicas compare them, and each has its own clock. */
export interface Authority {
  /** The fingerprint of the certificate. */
  readonly id: string;
  readonly certificate: string;
  readonly privateKey: KeyObject;
  /** When it was made; the certificate is valid since a while before. */
  readonly from: number;
  readonly until: number;
  /** Since when callers are told to trust it. */
  readonly publishedFrom: number;
  /** Since when it may issue certificates of servers. */
  readonly usedFrom: number;
}

/** When a new authority comes into play. */
export type Debut = Pick<Authority, 'publishedFrom' | 'usedFrom'>;

export async function makeAuthority(options: {
  readonly now: Date;
  readonly validity: Seconds;
  readonly debut: Debut;
}): Promise<Authority> {
  const { now, validity, debut } = options;
  const { publicKey, privateKey } = newKeyPair();
  const certificate = await signCertificate({
    // Each has a name of its own: callers find the right one among several by its name first.
    commonName: `kopf-ts webhooks ${randomBytes(4).toString('hex')}`,
    publicKey,
    issuer: { privateKey },
    ...lifetime(now, validity),
    isAuthority: true,
    usages: ['keyCertSign', 'cRLSign'],
  });
  return { ...factsOf(certificate), certificate, privateKey, from: now.getTime(), ...debut };
}

/** What a certificate says of itself. Throws if it is not a certificate. */
export function factsOf(certificate: string): Pick<Authority, 'id' | 'until'> {
  const { fingerprint256, validTo } = new X509Certificate(certificate);
  return { id: fingerprint256, until: Date.parse(validTo) };
}

/** A certificate of a server, with its key. */
export interface Leaf {
  /** The id of the authority that has issued it. */
  readonly issuer: string;
  readonly certificate: string;
  readonly privateKey: string;
  readonly from: number;
  readonly until: number;
}

export interface LeafOptions {
  readonly hosts: readonly string[];
  readonly validity: Seconds;
  /** Encrypts the key. */
  readonly password?: string | undefined;
}

/** It never outlives its authority. */
export function leafEnd(authority: Authority, now: number, validity: Seconds): number {
  return Math.min(now + validity * 1000, authority.until);
}

/** Each certificate has a key of its own. */
export async function issueLeaf(authority: Authority, options: LeafOptions & { readonly now: Date }): Promise<Leaf> {
  const { now, validity, password } = options;
  const names = certificateNames(options.hosts);
  const { publicKey, privateKey } = newKeyPair();
  const certificate = await signCertificate({
    commonName: names.commonName,
    publicKey,
    issuer: authority,
    notBefore: lifetime(now, validity).notBefore,
    notAfter: new Date(leafEnd(authority, now.getTime(), validity)),
    isAuthority: false,
    usages: ['digitalSignature'],
    extendedUsages: ['serverAuth'],
    names,
  });
  return {
    issuer: authority.id,
    certificate,
    privateKey: privateKeyPem(privateKey, password),
    from: now.getTime(),
    // Certificates know of whole seconds only.
    until: factsOf(certificate).until,
  };
}
