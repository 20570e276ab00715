import type { ConnectionInfo } from '@kopf-ts/core';

/** These are not part of the identity: a token that is read again is still the same token. */
const APART = new Set(['priority', 'expiration', 'defaultNamespace']);

/**
 * Whether these are the same credentials for the same server. Each login makes a new object, often with equal contents.
 */
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

/** Other values, such as ready-made dispatchers, are compared by identity. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (Array.isArray(value)) return true;
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
