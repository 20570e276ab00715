/** Asking the admin endpoint of an operator, over whatever leads to it. */
import { request as httpRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { KopfError } from '@kopf-ts/core';
import { plainText } from '../why/plain-text.js';
import type { AdminAnswer } from './admin.js';

/**
 * The way to an admin endpoint.
 *
 * ```ts
 * const way: kopf.insight.WayToAdmin = { url: 'http://127.0.0.1:8083', token: 'secret' };
 * ```
 */
export interface WayToAdmin {
  readonly url: string;
  readonly token?: string | undefined;
  /** Opens a connection to it, if it is not reached directly; a new one for each request. */
  readonly connect?: (() => Promise<Duplex>) | undefined;
}

/**
 * Something to be done to an object by the operator.
 *
 * ```ts
 * const action: kopf.insight.AdminAction = { action: 'retry', resource: 'kopfexamples', namespace: 'default', name: 'one' };
 * ```
 */
export interface AdminAction {
  readonly action: 'pause' | 'resume' | 'retry';
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  /** How long the pause is. */
  readonly seconds?: number | undefined;
  /** For the record. */
  readonly by?: string | undefined;
}

/**
 * Asks an operator what it knows of an object.
 *
 * ```ts
 * const object = { resource: 'kopfexamples.kopf.dev', namespace: 'default', name: 'one' };
 * const answer = await kopf.insight.askWhy({ url: 'http://127.0.0.1:8083' }, object);
 * console.log(kopf.insight.explain({ object, ...answer }).findings[0]?.text);
 * ```
 */
export async function askWhy(
  way: WayToAdmin,
  object: { readonly resource: string; readonly namespace?: string | undefined; readonly name: string },
): Promise<AdminAnswer> {
  const { resource, namespace, name } = object;
  const query = new URLSearchParams({ resource, name, ...(namespace === undefined ? {} : { namespace }) });
  const answer = (await ask(way, `/api/why?${query}`)) as Partial<AdminAnswer> | null;
  if (typeof answer?.operator?.now === 'number') return answer as AdminAnswer;
  throw adminError(`What answers at ${way.url} is not the admin endpoint of an operator.`);
}

/**
 * Asks an operator to do something to an object. Resolves with whether there was anything to do.
 *
 * ```ts
 * const way = { url: 'http://127.0.0.1:8083' };
 * await kopf.insight.askAction(way, { action: 'retry', resource: 'kopfexamples', namespace: 'default', name: 'one' });
 * ```
 */
export async function askAction(way: WayToAdmin, action: AdminAction): Promise<{ readonly isChanged: boolean }> {
  const { isChanged = true } = (await ask(way, '/api/actions', action)) as { isChanged?: boolean };
  return { isChanged };
}

const PATIENCE_MS = 10_000;
/** The journal of one object is never as large as that. */
const MAX_ANSWER = 10_000_000;

async function ask({ url, token, connect }: WayToAdmin, path: string, content?: unknown): Promise<unknown> {
  const stream = await connect?.();
  const body = content === undefined ? undefined : JSON.stringify(content);
  const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = httpRequest(new URL(path, url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
      timeout: PATIENCE_MS,
      ...(stream === undefined ? { agent: false } : { createConnection: () => stream }),
    });
    sent.once('timeout', () => sent.destroy(new Error(`no answer for ${PATIENCE_MS / 1000} seconds`)));
    sent.once('error', reject);
    sent.once('response', (response) => {
      const pieces: Buffer[] = [];
      let size = 0;
      response.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size > MAX_ANSWER) response.destroy(new Error('the answer is too large'));
        else pieces.push(piece);
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() }));
    });
    sent.end(body);
  }).catch((thrown: unknown) => {
    // If the way to it was closed, then it is told there, why.
    const error = stream?.errored ?? (thrown as Error);
    throw adminError(`No response from the operator at ${url}: ${plainText(error.message)}`, error);
  });
  const answer = parsed(text);
  if (status < 300 && answer !== undefined) return answer;
  const said = (answer as { readonly error?: unknown } | undefined)?.error;
  throw adminError(
    `The operator at ${url} refuses (${status}): ${typeof said === 'string' ? plainText(said) : 'no reason given'}.`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function adminError(message: string, cause?: unknown): KopfError {
  return new KopfError(message, { code: 'KOPF_ADMIN', ...(cause === undefined ? {} : { cause }) });
}
