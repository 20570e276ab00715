/** A client without sockets: the same requests and the same answers within the process. */
import {
  apiError,
  type KubeClient,
  type KubeConnection,
  type KubeConnectRequest,
  type KubeRequest,
} from '@kopf-ts/core';
import { abortable } from '@kopf-ts/core/engine';
import type { UserInfo } from '../contracts/objects.js';
import type { RequestBody, RequestHead } from '../contracts/request.js';
import type { Gateway, GatewayAnswer } from './gateway.js';

/** Sends every request as the given user, and as the given program. */
export function inProcessClient(gateway: () => Gateway, user: UserInfo, program: string): KubeClient {
  const send = async (request: KubeRequest, signal: AbortSignal): Promise<GatewayAnswer> => {
    signal.throwIfAborted();
    const visitor = { identify: () => user, readBody: () => bodyOf(request) };
    const answering = gateway().handle(headOf(request, signal, program), visitor);
    // The caller may leave before the answer comes.
    const answer = await withText(await abortable(answering, signal));
    if (answer.status >= 200 && answer.status < 300) return answer;
    const retryAfter = Number(answer.headers['retry-after']);
    throw apiError({
      status: answer.status,
      payload: payloadOf(answer),
      ...(Number.isFinite(retryAfter) && answer.headers['retry-after'] !== undefined ? { retryAfter } : {}),
    });
  };

  return {
    async request<T>(request: KubeRequest): Promise<T> {
      const answer = await send(request, request.signal ?? new AbortController().signal);
      return payloadOf(answer) as T;
    },
    async *text(request: KubeRequest): AsyncGenerator<string> {
      const leaving = new AbortController();
      const signal = request.signal === undefined ? leaving.signal : AbortSignal.any([request.signal, leaving.signal]);
      try {
        const { outlet, body } = await send(request, signal);
        if (outlet === undefined) {
          yield* linesOf(body);
          return;
        }
        signal.addEventListener('abort', () => outlet.close(), { once: true });
        for (;;) {
          const text = await outlet.next();
          request.signal?.throwIfAborted();
          if (text === undefined) return;
          yield* linesOf(text);
        }
      } finally {
        leaving.abort();
      }
    },
    async connect(request: KubeConnectRequest): Promise<KubeConnection> {
      const { connectInProcess } = await import('../commands/in-process-connection.js');
      return await connectInProcess(request, async (path, signal) => {
        const visitor = { identify: () => user, readBody: () => undefined };
        const answer = await gateway().handle(headOf({ method: 'GET', path }, signal, program), visitor);
        if (answer.command !== undefined) return answer.command;
        throw apiError({ status: answer.status, payload: payloadOf(answer) });
      });
    },
    async *stream<T>(request: KubeRequest): AsyncGenerator<T> {
      const leaving = new AbortController();
      const signal = request.signal === undefined ? leaving.signal : AbortSignal.any([request.signal, leaving.signal]);
      try {
        const { outlet, body } = await send(request, signal);
        if (outlet === undefined) {
          if (body !== '') yield JSON.parse(body) as T;
          return;
        }
        const stop = (): void => outlet.close();
        signal.addEventListener('abort', stop, { once: true });
        for (;;) {
          const text = await outlet.next();
          request.signal?.throwIfAborted();
          if (text === undefined) return;
          for (const line of text.split('\n')) {
            if (line === '') continue;
            yield JSON.parse(line) as T;
            request.signal?.throwIfAborted();
          }
        }
      } finally {
        leaving.abort();
      }
    },
  };
}

/** Texts end with the end of a line, mostly. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** What comes from behind a proxy is read to its end. */
async function withText(answer: GatewayAnswer): Promise<GatewayAnswer> {
  if (answer.content === undefined) return answer;
  const chunks: Buffer[] = [];
  for await (const chunk of answer.content) chunks.push(chunk as Buffer);
  return { ...answer, body: Buffer.concat(chunks).toString('utf8') };
}

function headOf(request: KubeRequest, signal: AbortSignal, program: string): RequestHead {
  const contentType = request.contentType ?? (request.body === undefined ? undefined : 'application/json');
  return {
    method: request.method,
    url: request.path,
    headers: {
      'user-agent': program,
      ...(request.accept === undefined ? {} : { accept: request.accept }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    signal,
  };
}

function bodyOf({ body }: KubeRequest): RequestBody {
  if (body === undefined) return undefined;
  return typeof body === 'object' && body !== null ? body : JSON.stringify(body);
}

function payloadOf({ headers, body }: GatewayAnswer): unknown {
  if (body === '') return undefined;
  const type = headers['content-type'];
  return typeof type === 'string' && type.startsWith('application/json') ? JSON.parse(body) : body;
}
