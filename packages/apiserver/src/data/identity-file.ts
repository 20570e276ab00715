/** Keys of a cluster that outlive it: its authority, its administrator's token, the key of its service accounts. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { isMapping, KopfError } from '@kopf-ts/core';
import type { Identity } from '../contracts/authentication.js';
import { createAuthority } from '../server/certificates.js';
import { AUTHORITY, newToken } from '../server/security.js';
import { newSigningKey } from '../server/service-account-tokens.js';

/** What is in the file; or else something new, which is in the file then. */
export async function loadIdentity(path: string): Promise<Identity> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const identity = newIdentity();
    await save(path, identity);
    return identity;
  }
  const identity = parsed(text);
  if (identity === undefined) throw damaged(path);
  return identity;
}

function newIdentity(): Identity {
  const authority = createAuthority(AUTHORITY);
  return {
    token: newToken(),
    authority: { key: authority.exportKey(), cert: authority.cert },
    accountsKey: newSigningKey(),
  };
}

/** All of it or nothing. */
async function save(path: string, identity: Identity): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(identity, undefined, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

function parsed(text: string): Identity | undefined {
  try {
    const { token, authority, accountsKey } = JSON.parse(text) as Partial<Identity>;
    const isWhole =
      typeof token === 'string' &&
      typeof accountsKey === 'string' &&
      isMapping(authority) &&
      [authority.key, authority.cert].every((part) => typeof part === 'string');
    if (!isWhole) return undefined;
    for (const key of [authority.key, accountsKey]) createPrivateKey(key);
    new X509Certificate(authority.cert);
    return { token, authority, accountsKey };
  } catch {
    return undefined;
  }
}

function damaged(path: string): KopfError {
  return new KopfError(
    `The keys in ${path} cannot be read. Bring the file back from a copy; or remove it: the objects stay, and all ` +
      'tokens and kubeconfigs from before are void.',
    { code: 'KOPF_DATA_DAMAGED' },
  );
}
