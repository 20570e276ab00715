/** From an HTTP request to the review and back. Whatever comes in, it is answered; and is never allowed by accident. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import {
  AmbiguousResourceError,
  type Logger,
  type ReviewFn,
  type ReviewHints,
  UnknownResourceError,
  WebhookError,
} from '@kopf-ts/core';
import { describeError, stackOf } from '@kopf-ts/core/engine';
import { quoted } from '../../quoting.js';
import type { BodyAccount, BodyBudget } from './body-budget.js';
import { parseDuration } from './go-durations.js';
import { ClientGone, headersOf, Refusal, reasonPhrase, type ToldOfRefusals } from './http-refusals.js';
import { parseReview, readBody } from './request-bodies.js';

export interface RequestParts {
  readonly review: ReviewFn;
  readonly logger: Logger;
  /** Where requests are accepted, without slashes at the end. */
  readonly path: string;
  readonly bodyLimit: number;
  readonly budget: BodyBudget;
  /** Whether callers are asked for certificates. */
  readonly hasPeers: boolean;
  /** Told of requests that are not even reviewed. */
  readonly refused?: ToldOfRefusals | undefined;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
/** How the API server writes it: in whole seconds, and with nothing else around. */
const USUAL_TIMEOUT = /^\?timeout=(\d{1,3})s$/;
const EMPTY: Readonly<Record<string, never>> = Object.freeze({});

/** Answers every request; never throws. */
export function requestListener(parts: RequestParts): (request: IncomingMessage, response: ServerResponse) => void {
  const { review, bodyLimit, budget, hasPeers } = parts;
  const root = `${decodeURIComponent(parts.path)}/`;
  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    { body, webhook, account }: { body: Buffer; webhook: string | undefined; account: BodyAccount },
  ): Promise<void> => {
    try {
      const answered = await review(parseReview(body, account), hintsOf(request, webhook, hasPeers));
      send(response, 200, JSON_TYPE, JSON.stringify(answered));
    } catch (thrown) {
      refuse(request, response, thrown, parts);
    } finally {
      account.close();
    }
  };
  return (request, response) => {
    const account = budget.open();
    const fail = (thrown: unknown): void => {
      account.close();
      refuse(request, response, thrown, parts);
    };
    try {
      const webhook = handlerOf(request, root);
      if (request.method !== 'POST') throw new Refusal(405, 'Only POST is supported.', { allow: 'POST' });
      refuseOtherContent(request);
      const done = (body: Buffer): void => void answer(request, response, { body, webhook, account });
      readBody(request, bodyLimit, account, { done, fail });
    } catch (thrown) {
      fail(thrown);
    }
  };
}

/** The id of the handler from the path; nothing for the root itself. */
function handlerOf({ url = '' }: IncomingMessage, root: string): string | undefined {
  const end = url.indexOf('?');
  let path = end < 0 ? url : url.slice(0, end);
  if (path.includes('%')) {
    try {
      path = decodeURIComponent(path);
    } catch {
      throw new Refusal(400, 'The path is not encoded properly.');
    }
  }
  if (!path.startsWith(root)) throw new Refusal(404, 'There is nothing at this path.');
  return path.length === root.length ? undefined : path.slice(root.length);
}

/** Without a type, JSON is presumed: there is nothing else to be sent here. */
function refuseOtherContent({ headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (type !== undefined && type !== 'application/json' && !/^\s*application\/json\s*(?:;|$)/i.test(type)) {
    throw new Refusal(415, 'Admission reviews must be sent as application/json.');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Refusal(415, 'Compressed requests are not supported.');
  }
}

function hintsOf(request: IncomingMessage, webhook: string | undefined, hasPeers: boolean): ReviewHints {
  const hints: { -readonly [Key in keyof ReviewHints]: ReviewHints[Key] } = {
    headers: headersOf(request),
    sslPeer: hasPeers ? peerOf(request.socket as TLSSocket) : EMPTY,
  };
  // Put, not spread: the engine makes a new hidden class for each object with something after what is spread.
  if (webhook !== undefined) hints.webhook = webhook;
  const timeout = timeoutOf(request.url ?? '');
  if (timeout !== undefined) hints.timeout = timeout;
  return hints;
}

function peerOf(socket: TLSSocket): Readonly<Record<string, unknown>> {
  return { ...socket.getPeerCertificate() };
}

function timeoutOf(url: string): number | undefined {
  const start = url.indexOf('?');
  if (start < 0) return undefined;
  const query = url.slice(start);
  // Nearly all of them are the same few.
  const usual = USUAL_TIMEOUT.exec(query);
  if (usual !== null) return Number(usual[1]) || undefined;
  const text = new URLSearchParams(query).get('timeout');
  return text === null ? undefined : parseDuration(text);
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
  { logger, refused }: Pick<RequestParts, 'logger' | 'refused'>,
): void {
  const from = request.socket.remoteAddress;
  const what = `${quoted(request.method)} ${quoted(request.url)} from ${from ?? 'nowhere'}`;
  if (thrown instanceof ClientGone) {
    logger.debug(`An admission request was cut off: ${what}.`);
    return;
  }
  const refusal = refusalOf(thrown);
  if (refusal.status === 500) {
    const text = `An admission request has failed: ${what}: ${quoted(describeError(thrown))}.`;
    logger.error(text, stackOf(thrown));
  } else {
    logger.warn(`An admission request is refused with ${refusal.status}: ${what}: ${quoted(refusal.message)}.`);
  }
  // All others come from the review, which tells of them itself.
  if (thrown instanceof Refusal) refused?.({ code: refusal.status, why: refusal.message, from });
  if (response.destroyed || response.headersSent) return;
  // The rest of this request is not read.
  if (!request.complete) response.setHeader('connection', 'close');
  for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
  if (refusal.isOfReview) response.statusMessage = reasonPhrase(refusal.message);
  send(response, refusal.status, TEXT_TYPE, `${refusal.status}: ${refusal.message}`);
}

/** What the caller is told. Of unexpected errors, only that there was one. */
function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  const message = describeError(thrown);
  if (thrown instanceof AmbiguousResourceError) return new Refusal(409, message, {}, true);
  if (thrown instanceof UnknownResourceError) return new Refusal(404, message, {}, true);
  if (thrown instanceof WebhookError) return new Refusal(400, message, {}, true);
  return new Refusal(500, 'Internal Server Error');
}
