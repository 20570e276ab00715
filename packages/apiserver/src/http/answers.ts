/** Answers that are the same wherever they are given. */

import type { ApiAnswer } from '../contracts/request.js';
import { jsonAnswer } from '../routing/backend.js';
import { badRequest, internalError, StatusError } from './status-errors.js';

/** An error as an answer. What is no refusal is a mistake of ours, and says so. */
export function refusal(error: unknown): ApiAnswer {
  const known = error instanceof StatusError ? error : mishap(error as Error);
  const { code = 500 } = known.status;
  const answer = jsonAnswer(code, JSON.stringify(known.status));
  return { ...answer, headers: { ...answer.headers, ...known.headers } };
}

function mishap(error: Error): StatusError {
  // Objects are walked by recursion, for which there is less room here than in the real server.
  const isTooDeep = error instanceof RangeError && error.message.includes('call stack');
  return isTooDeep ? badRequest('json: exceeded max depth') : internalError(error.message);
}

export function pageNotFound(): ApiAnswer {
  return {
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: '404 page not found\n',
  };
}

/** Of an address that cannot be read at all: it does not even get to what says how long answers may be kept. */
export function badAddress(): ApiAnswer {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': '' };
  return { status: 400, headers, body: '400 Bad Request' };
}
