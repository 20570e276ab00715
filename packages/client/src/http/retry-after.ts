/** Parses the server's request to wait. */
import type { Clock, Seconds } from '@kopf-ts/core';

/** The three date formats of HTTP. The engine parses far more than these, such as "in 5 minutes" as a date in 2001. */
const HTTP_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s/i;

/** From the header, in seconds or as a date; otherwise from the details of the `Status`. Fractions are cut. */
export function retryAfterOf(
  header: string | string[] | undefined,
  payload: unknown,
  clock: Pick<Clock, 'utc'>,
): Seconds | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text) {
    if (/^\d+(?:\.\d*)?$/.test(text)) return Math.trunc(Number(text));
    const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(date)) return Math.max(0, Math.ceil((date - clock.utc().getTime()) / 1000));
  }
  const seconds = (payload as { details?: { retryAfterSeconds?: unknown } | null } | undefined)?.details
    ?.retryAfterSeconds;
  return typeof seconds === 'number' && seconds > 0 ? Math.trunc(seconds) : undefined;
}
