/** Authorities as they are kept in a Secret. Other versions of us read and write the same Secret. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isMapping, KopfError, parseTimestamp } from '@kopf-ts/core';
import { describeError } from '@kopf-ts/core/engine';
import { type Authority, factsOf } from '../making/authority.js';
import { privateKeyPem } from '../making/keys.js';

/** Everything that replicas need to know. */
const RECORDS_KEY = 'authorities.json';

/** The certificates only: for people, and for tools that put them into configurations. We never read it. */
const BUNDLE_KEY = 'ca.crt';

export type SecretData = Readonly<Record<string, string>>;

export interface Secret {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly type?: string;
  /** Base64. */
  readonly data?: SecretData | null;
}

/** Whether it is ours, or nobody's yet. If not, it is not for us to change. */
export function isForAuthorities(secret: Secret): boolean {
  const keys = Object.keys(secret.data ?? {});
  return keys.length === 0 || keys.includes(RECORDS_KEY);
}

/** Those in the Secret; none if it is empty. Throws if they cannot be understood. */
export function readAuthorities(data: SecretData | null | undefined): Authority[] {
  const encoded = data?.[RECORDS_KEY];
  if (encoded === undefined) return [];
  try {
    const records: unknown = parsed(Buffer.from(encoded, 'base64').toString());
    if (!Array.isArray(records)) throw new TypeError('it is not a list');
    return records.map(readAuthority);
  } catch (error) {
    throw new KopfError(`"${RECORDS_KEY}" is damaged: ${describeError(error)}`, {
      code: 'KOPF_AUTHORITIES_DAMAGED',
      cause: error,
    });
  }
}

/** The errors of JSON repeat a part of the text; and there are private keys in it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError('it is not JSON');
  }
}

function readAuthority(record: unknown): Authority {
  if (!isMapping(record)) throw new TypeError('an authority is not a mapping');
  const { certificate, privateKey } = record;
  if (typeof certificate !== 'string' || typeof privateKey !== 'string')
    throw new TypeError('an authority has no certificate or no private key');
  const key = createPrivateKey(privateKey);
  const parsed = new X509Certificate(certificate);
  if (!parsed.ca || !parsed.checkPrivateKey(key))
    throw new TypeError('a certificate is not of an authority, or its private key is another one');
  return {
    ...factsOf(certificate),
    certificate,
    privateKey: key,
    from: timeOf(record.from),
    publishedFrom: timeOf(record.publishedFrom),
    usedFrom: timeOf(record.usedFrom),
  };
}

function timeOf(value: unknown): number {
  const time = typeof value === 'string' ? parseTimestamp(value)?.getTime() : undefined;
  if (time === undefined || Number.isNaN(time)) throw new TypeError(`${JSON.stringify(value)} is not a time`);
  return time;
}

/** What to put into the Secret. */
export function writeAuthorities(authorities: readonly Authority[]): SecretData {
  const records = authorities.map(({ certificate, privateKey, from, publishedFrom, usedFrom }) => ({
    certificate,
    privateKey: privateKeyPem(privateKey),
    from: new Date(from).toISOString(),
    publishedFrom: new Date(publishedFrom).toISOString(),
    usedFrom: new Date(usedFrom).toISOString(),
  }));
  const bundle = authorities.map(({ certificate }) => certificate).join('');
  return { [RECORDS_KEY]: base64(JSON.stringify(records)), [BUNDLE_KEY]: base64(bundle) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
