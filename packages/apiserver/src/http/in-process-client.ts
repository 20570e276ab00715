/** A client without sockets: the same requests and the same answers within the process. */
import { apiError, type KubeClient, type KubeRequest } from '@kopf-ts/core';
import { abortable } from '@kopf-ts/core/engine';
import type { UserInfo } from '../contracts/objects.js';
import type { ApiRequest } from '../contracts/request.js';
import type { Gateway, GatewayAnswer } from './gateway.js';

/** Sends every request as the given user. */
export function inProcessClient(gateway: () => Gateway, user: UserInfo): KubeClient {
  const send = async (request: KubeRequest, signal: AbortSignal): Promise<GatewayAnswer> => {
    signal.throwIfAborted();
    const answering = gateway().handle(apiRequest(request, signal), () => user);
    // The caller may leave before the answer comes.
    const answer = await abortable(answering, signal);
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

function apiRequest(request: KubeRequest, signal: AbortSignal): Omit<ApiRequest, 'user'> {
  const { body } = request;
  const hasBody = body !== undefined;
  const contentType = request.contentType ?? (hasBody ? 'application/json' : undefined);
  return {
    method: request.method,
    url: request.path,
    headers: {
      ...(request.accept === undefined ? {} : { accept: request.accept }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    body: hasBody ? (typeof body === 'object' && body !== null ? body : JSON.stringify(body)) : undefined,
    signal,
  };
}

function payloadOf({ headers, body }: GatewayAnswer): unknown {
  if (body === '') return undefined;
  const type = headers['content-type'];
  return typeof type === 'string' && type.startsWith('application/json') ? JSON.parse(body) : body;
}
