/** Keys on the curve P-256: every TLS library knows them, and they are made faster than a thread is woken up. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export function newKeyPair(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** PKCS#8 in PEM; encrypted if there is a password. */
export function privateKeyPem(key: KeyObject, password?: string): string {
  const encryption = password === undefined ? {} : { cipher: 'aes-256-cbc', passphrase: password };
  return key.export({ type: 'pkcs8', format: 'pem', ...encryption }).toString();
}
