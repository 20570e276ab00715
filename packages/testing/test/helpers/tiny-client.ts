/** A right client of the tiny cluster, without any network; and ways to spoil it. */
import { apiError, type KubeClient, type KubeRequest } from '@kopf-ts/core';
import { onAbort } from '@kopf-ts/core/engine';
import type { TinyAnswer, TinyCluster, TinyWatch } from './tiny-cluster.js';

export interface TinyClient extends KubeClient {
  /** How many streams are open now. */
  readonly streams: number;
}

export function tinyClient(cluster: TinyCluster): TinyClient {
  let streams = 0;
  const handled = (request: KubeRequest): TinyWatch | string => {
    const { method, path, accept, body, contentType = 'application/json' } = request;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = cluster.handle({ method, path, accept, contentType, body: text });
    if (!('status' in answer)) return answer;
    if (answer.status >= 300) throw apiError({ status: answer.status, payload: payloadOf(answer) });
    return answer.text;
  };

  return {
    get streams() {
      return streams;
    },

    async request<T>(request: KubeRequest): Promise<T> {
      request.signal?.throwIfAborted();
      // The network takes its time, too.
      await new Promise((resolve) => setImmediate(resolve));
      request.signal?.throwIfAborted();
      const answer = handled(request);
      return (typeof answer === 'string' ? JSON.parse(answer) : undefined) as T;
    },

    async *stream<T>(request: KubeRequest): AsyncGenerator<T, void, void> {
      const { signal } = request;
      signal?.throwIfAborted();
      const watch = handled(request);
      if (typeof watch === 'string') return;
      streams++;
      let wake = (): void => {};
      let isOver = false;
      const stops = [cluster.onChange(() => wake())];
      if (signal !== undefined) stops.push(onAbort(signal, () => wake()));
      if (watch.timeoutSeconds !== undefined) {
        setImmediate(() => {
          isOver = true;
          wake();
        });
      }
      try {
        for (let { after } = watch; ; ) {
          signal?.throwIfAborted();
          const { text, version } = cluster.lines(watch, after);
          after = version;
          for (const line of text.split('\n')) {
            if (line !== '') yield JSON.parse(line) as T;
            signal?.throwIfAborted();
          }
          if (isOver) return;
          if (text === '') {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        }
      } finally {
        streams--;
        for (const stop of stops) stop();
      }
    },
  };
}

function payloadOf({ text }: TinyAnswer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
