import { LoginError } from '@kopf-ts/core';

const PEM_HEADER = '-----BEGIN ';
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * A certificate or a key as PEM, from PEM or its base64 (as in kubeconfigs), as a text or as bytes. The title is for
 * error messages.
 */
export function pemOf(value: string | Uint8Array, title: string): string {
  const text = (typeof value === 'string' ? value : Buffer.from(value).toString('utf8')).trim();
  // Tools put remarks before the header; OpenSSL skips them, and so do we.
  if (text.includes(PEM_HEADER)) return text;
  const packed = text.replace(/\s+/g, '');
  const decoded = BASE64.test(packed) ? Buffer.from(packed, 'base64').toString('utf8') : '';
  if (decoded.includes(PEM_HEADER)) return decoded;
  throw new LoginError(
    `The ${title} is neither PEM ("${PEM_HEADER}…") nor base64 of PEM. If it is the path of a file, pass the file's content.`,
    { code: 'KOPF_BAD_PEM' },
  );
}
