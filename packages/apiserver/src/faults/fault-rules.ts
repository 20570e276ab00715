/** The words for faults, the same for the embedded server and for the proxy in front of a real one. */
import type { Seconds } from '@kopf-ts/core';
import type { ApiAnswer, ApiRequest } from '../contracts/request.js';

/**
 * Which requests are meant. What is not specified matches everything.
 *
 * ```ts
 * import type { FaultMatch } from 'kopf-ts/testing';
 * const watchesOfPods: FaultMatch = { path: '/api/v1/pods', watch: true };
 * ```
 */
export interface FaultMatch {
  /** `GET`, or several: `['POST', 'PATCH']`. */
  readonly method?: string | readonly string[];
  /** The path without the query: equal to the string, or matching the expression. */
  readonly path?: string | RegExp;
  /** Only watches, or only what is no watch. */
  readonly watch?: boolean;
  /** Anything else. */
  readonly where?: (request: FaultyRequest) => boolean;
}

/** What is known of a request before it is authenticated. */
export type FaultyRequest = Pick<ApiRequest, 'method' | 'url' | 'headers'>;

/**
 * An answer in place of the server's own.
 *
 * ```ts
 * import type { FaultAnswer } from 'kopf-ts/testing';
 * const overloaded: FaultAnswer = { status: 429, retryAfter: 1 };
 * ```
 */
export interface FaultAnswer {
  readonly status: number;
  /** Seconds for the `Retry-After` header. */
  readonly retryAfter?: Seconds;
  readonly reason?: string;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** As it is, in place of a `Status`: also for garbage. */
  readonly body?: string;
}

/**
 * What happens to the lines of a watch.
 *
 * ```ts
 * import type { StreamFaults } from 'kopf-ts/testing';
 * const breaks: StreamFaults = { resetAfter: 3 };
 * ```
 */
export interface StreamFaults {
  /** No line comes any more, but the connection stays open. */
  readonly freeze?: boolean;
  readonly dropBookmarks?: boolean;
  readonly delayBookmarks?: Seconds;
  /** Put in front of the first line. */
  readonly garbage?: string;
  /** After so many lines, the stream is ended properly. */
  readonly endAfter?: number;
  /** After so many lines, the connection is broken. */
  readonly resetAfter?: number;
}

/**
 * One fault: for whom, what, and how many times.
 *
 * ```ts
 * import type { FaultRule } from 'kopf-ts/testing';
 * const slowWrites: FaultRule = { match: { method: ['POST', 'PATCH'] }, latency: 5, times: 10 };
 * ```
 */
export interface FaultRule {
  readonly match?: FaultMatch;
  /** Wait so long first; then go on with the rest of the rule, or let the request through. */
  readonly latency?: Seconds;
  readonly answer?: FaultAnswer;
  /** Break the connection without an answer. */
  readonly reset?: boolean;
  readonly stream?: StreamFaults;
  /** For so many requests; for all of them, unless specified. */
  readonly times?: number;
  /** Let so many requests through first. */
  readonly after?: number;
}

const REASONS: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'Unauthorized'],
  403: ['Forbidden', 'forbidden'],
  404: ['NotFound', 'the server could not find the requested resource'],
  409: ['Conflict', 'the server reported a conflict'],
  410: ['Expired', 'The resourceVersion for the provided watch is too old.'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'too many requests, please try again later'],
  500: ['InternalError', 'an error on the server has prevented the request from succeeding'],
  502: ['InternalError', 'bad gateway'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'the server was unable to return a response in the time allotted'],
};

/** The answer as the server would send it. */
export function renderAnswer({ status, retryAfter, reason, message, headers, body }: FaultAnswer): ApiAnswer {
  const [usualReason, usualMessage] = REASONS[status] ?? ['', 'an injected fault'];
  const content = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: message ?? usualMessage,
    ...((reason ?? usualReason) === '' ? {} : { reason: reason ?? usualReason }),
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
    code: status,
  };
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...headers,
    },
    body: body ?? `${JSON.stringify(content)}\n`,
  };
}

/** Is the request one of those? */
export function isMatching(request: FaultyRequest, match: FaultMatch = {}): boolean {
  const [path = '', query = ''] = request.url.split('?', 2);
  if (match.method !== undefined && ![match.method].flat().includes(request.method)) return false;
  if (match.watch !== undefined && match.watch !== isWatch(query)) return false;
  if (typeof match.path === 'string' && match.path !== path) return false;
  if (match.path instanceof RegExp && path.search(match.path) < 0) return false;
  return match.where?.(request) ?? true;
}

/** Does the query ask for a watch? */
export function isWatch(query: string): boolean {
  const watch = new URLSearchParams(query).get('watch');
  return watch !== null && watch !== '0' && watch.toLowerCase() !== 'false';
}
