import type { ConnectionInfo } from '@kopf-ts/core';

/** How good they are and for how long is not what they are: a token that is read again is still the same token. */
const APART = new Set(['priority', 'expiration', 'defaultNamespace']);

/** Whether these are the same credentials for the same server. Logins make a new object each time, often of the same. */
export function sameCredentials(one: ConnectionInfo, another: ConnectionInfo): boolean {
  const keys = new Set([...Object.keys(one), ...Object.keys(another)] as (keyof ConnectionInfo)[]);
  return [...keys].every((key) => APART.has(key) || sameValue(one[key], another[key]));
}

function sameValue(one: unknown, another: unknown): boolean {
  if (Object.is(one, another)) return true;
  if (one instanceof Uint8Array && another instanceof Uint8Array) return Buffer.compare(one, another) === 0;
  if (!isPlain(one) || !isPlain(another)) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(another)]);
  return [...keys].every((key) => sameValue(one[key], another[key]));
}

/** Anything else, such as a ready dispatcher, is the same only if it is the very same. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (Array.isArray(value)) return true;
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
