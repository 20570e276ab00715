import type { Clock } from '@kopf-ts/core';

/** How often to look at a token whose end is not known. */
const REREADING_PERIOD = 60;

interface Claims {
  readonly exp?: unknown;
  readonly 'kubernetes.io'?: { readonly warnafter?: unknown } | null;
}

/**
 * When to read the token's file again: by the end that the token itself tells, if it is a JWT, or in a minute.
 *
 * Tokens of pods may be valid for a year for the sake of old clients, and have a hint inside by when a decent
 * client takes the next one. A token that has ended already may be valid by the server's clock: it is tried all
 * the same, and read again in a minute.
 */
export function rereadingTime(token: string, clock: Pick<Clock, 'utc'>): Date {
  const now = clock.utc().getTime();
  const claims = claimsOf(token);
  const hints = [claims?.['kubernetes.io']?.warnafter, claims?.exp];
  const upcoming = hints.filter((seconds) => typeof seconds === 'number').map((seconds) => seconds * 1000);
  return new Date(upcoming.find((time) => time > now) ?? now + REREADING_PERIOD * 1000);
}

/** The end that the token itself tells; `undefined` if it is not a JWT, has no end, or has ended. */
export function endOfToken(token: string, clock: Pick<Clock, 'utc'>): Date | undefined {
  const exp = claimsOf(token)?.exp;
  const isAhead = typeof exp === 'number' && exp * 1000 > clock.utc().getTime();
  return isAhead ? new Date(exp * 1000) : undefined;
}

function claimsOf(token: string): Claims | undefined {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Claims) : undefined;
  } catch {
    return undefined;
  }
}
