import type { Clock } from '@kopf-ts/core';

/** How often to reread a token without a known expiration. */
const REREADING_PERIOD = 60;

interface Claims {
  readonly exp?: unknown;
  readonly 'kubernetes.io'?: { readonly warnafter?: unknown } | null;
}

/**
 * When to reread the token's file: by the expiration in the token, if it is a JWT, or in a minute.
 *
 * Tokens of pods may be valid for a year for the sake of old clients, and carry a hint when a well-behaved client
 * should take the next one. A token that has expired by our clock may be valid by the server's: it is tried all the
 * same, and reread in a minute.
 */
export function rereadingTime(token: string, clock: Pick<Clock, 'utc'>): Date {
  const now = clock.utc().getTime();
  const claims = claimsOf(token);
  const hints = [claims?.['kubernetes.io']?.warnafter, claims?.exp];
  const upcoming = hints.filter((seconds) => typeof seconds === 'number').map((seconds) => seconds * 1000);
  return new Date(upcoming.find((time) => time > now) ?? now + REREADING_PERIOD * 1000);
}

/** The expiration in the token; `undefined` if it is not a JWT, has none, or has expired. */
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
