/** Keys and signatures. All the heavy work is done by OpenSSL, off the main thread. */
import { generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Where keys and signatures are made. */
export interface Workshop {
  newKeyPair(): Promise<KeyPair>;
  /** RSA with SHA-256, as certificates are signed. */
  sign(data: Buffer, key: KeyObject): Promise<Buffer>;
}

export const workshop: Workshop = {
  newKeyPair: () => promisify(generateKeyPair)('rsa', { modulusLength: 2048 }),
  sign: (data, key) =>
    new Promise((resolve, reject) => {
      sign('sha256', data, key, (error, signature) => (error === null ? resolve(signature) : reject(error)));
    }),
};

/** A search for keys that begins before they are needed: on a busy machine, it can take longer than there is time then. */
export interface KeySearch {
  /** Begins, if it is not under way or over already. The signal is aborted when it is over. */
  begin(): AbortSignal;
  /** The keys, once; after that, it is about the next ones. */
  take(): Promise<KeyPair>;
}

export function keySearch({ newKeyPair }: Pick<Workshop, 'newKeyPair'>): KeySearch {
  let current: { readonly keys: Promise<KeyPair>; readonly ended: AbortSignal } | undefined;
  const begun = (): NonNullable<typeof current> => {
    if (current !== undefined) return current;
    const ending = new AbortController();
    const keys = newKeyPair();
    // If it fails, whoever takes the keys will be told.
    const end = (): void => ending.abort();
    keys.then(end, end);
    current = { keys, ended: ending.signal };
    return current;
  };
  return {
    begin: () => begun().ended,
    take() {
      const { keys } = begun();
      current = undefined;
      return keys;
    },
  };
}

/** PKCS#8 in PEM; encrypted if there is a password. */
export function privateKeyPem(key: KeyObject, password?: string): string {
  const encryption = password === undefined ? {} : { cipher: 'aes-256-cbc', passphrase: password };
  return key.export({ type: 'pkcs8', format: 'pem', ...encryption }).toString();
}
