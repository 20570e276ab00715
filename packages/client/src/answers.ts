/** Bodies of answers → values and errors. */
import { type ApiError, apiError, type Clock, KopfError, type Seconds } from '@kopf-ts/core';
import type { HttpAnswer } from './exchange.js';
import { retryAfterOf } from './retry-after.js';

/** Beyond that, nothing is told to a person; and an error is no reason to fill the memory. */
const MAX_ERROR_BYTES = 1024 * 1024;

/** Statuses of 300 and above which are not errors have no body of interest; there is nothing but these two kinds. */
export function isError(answer: HttpAnswer): boolean {
  return answer.status >= 400;
}

/** The JSON of the whole body; `undefined` if the body is empty. */
export async function jsonOf(answer: HttpAnswer): Promise<unknown> {
  const text = (await answer.readAll()).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    if (text.trim() === '') return undefined;
    // The engine's own error quotes the text, which may hold secrets.
    const type = String(answer.headers['content-type'] ?? 'no content type');
    throw new KopfError(`The server answered with HTTP ${answer.status} and something that is not JSON (${type}).`, {
      code: 'KOPF_BAD_JSON',
    });
  }
}

export interface Refusal {
  readonly error: ApiError;
  /** How long the server asks to wait; the error has it, too, but within the limit. */
  readonly askedPause: Seconds | undefined;
}

/** The error that the answer means, with the server's own words in it. */
export async function refusalOf(
  answer: HttpAnswer,
  { clock, maxRetryAfter }: { readonly clock: Clock; readonly maxRetryAfter: Seconds },
): Promise<Refusal> {
  const payload = await payloadOf(answer);
  const askedPause = retryAfterOf(answer.headers['retry-after'], payload, clock);
  const retryAfter = askedPause === undefined ? {} : { retryAfter: Math.min(askedPause, maxRetryAfter) };
  return { error: apiError({ status: answer.status, payload, ...retryAfter }), askedPause };
}

async function payloadOf(answer: HttpAnswer): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ERROR_BYTES) {
      answer.abandon();
      break;
    }
  }
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
