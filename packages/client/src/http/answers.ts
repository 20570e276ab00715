/** Turns responses into values and errors. */
import { type ApiError, apiError, type Clock, type Seconds } from '@kopf-ts/core';
import { KubeConnectionError } from '../errors.js';
import type { WholeAnswer } from './exchange.js';
import { retryAfterOf } from './retry-after.js';

type Head = Pick<WholeAnswer, 'status' | 'headers' | 'abandon'>;

/**
 * Throws if the status is neither a success nor an error: a redirect, for one, means that something between us and the
 * server has responded, and nothing was done there.
 */
export function checkSuccess(answer: Head, origin: string): void {
  const { status, headers } = answer;
  if (status >= 200 && status <= 206) return;
  answer.abandon();
  const target = redirectTarget(headers['location'], origin);
  throw new KubeConnectionError(
    `${origin} answered with HTTP ${status}${target}, which no API server does. Is there a proxy or a login page in between?`,
    { code: 'KOPF_BAD_ANSWER' },
  );
}

/**
 * The body as JSON; `undefined` if it is empty and may be. Anything else counts as a broken connection: responses look
 * like that if they were truncated or made up by an intermediary.
 */
export function jsonOf(
  answer: WholeAnswer,
  origin: string,
  mayBeEmpty: boolean,
  parse: (text: string) => unknown,
): unknown {
  const text = answer.text();
  try {
    return parse(text);
  } catch {
    const isEmpty = text.trim() === '';
    if (isEmpty && mayBeEmpty) return undefined;
    // The engine's own error quotes the text, which may hold secrets.
    const type = String(answer.headers['content-type'] ?? 'no content type');
    const what = isEmpty ? 'nothing, where an object was expected' : `something that is not JSON (${type})`;
    throw new KubeConnectionError(`${origin} answered with HTTP ${answer.status} and ${what}.`, {
      code: isEmpty ? 'KOPF_BAD_ANSWER' : 'KOPF_BAD_JSON',
    });
  }
}

export interface Refusal {
  readonly error: ApiError;
  /** How long the server asks to wait; the error has it, too, but capped. */
  readonly askedPause: Seconds | undefined;
}

/** The error for the response, with the server's own message. */
export function refusalOf(answer: WholeAnswer, clock: Clock, maxRetryAfter: Seconds): Refusal {
  const payload = payloadOf(answer.text());
  const askedPause = retryAfterOf(answer.headers['retry-after'], payload, clock);
  const retryAfter = askedPause === undefined ? {} : { retryAfter: Math.min(askedPause, maxRetryAfter) };
  return { error: apiError({ status: answer.status, payload, ...retryAfter }), askedPause };
}

function payloadOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Only the origin: the rest of such addresses may hold secrets. */
function redirectTarget(location: string | string[] | undefined, origin: string): string {
  const [target] = [location].flat();
  if (target === undefined || !URL.canParse(target, origin)) return '';
  return ` (a redirect to ${new URL(target, origin).origin})`;
}
