import { setTimeout as timer } from 'node:timers/promises';
import { type HttpKubeClient, kubeClient, staticCredentials } from '@kopf-ts/client';
import type { Clock, ConnectionInfo, KubeClient } from '@kopf-ts/core';
import { recordingLogger } from '@kopf-ts/testing';
import type { ControlPlaneAccess } from '../controlplane/index.js';

/** The time as it is: a real server does not wait for a manual clock. */
export const realClock: Clock = {
  now: () => performance.now() / 1000,
  utc: () => new Date(),
  async sleep(delay, { wakeup, signal } = {}) {
    signal?.throwIfAborted();
    const started = performance.now();
    const slept = new AbortController();
    const wake = () => slept.abort();
    wakeup?.addEventListener('abort', wake);
    signal?.addEventListener('abort', wake);
    try {
      if (wakeup?.aborted) wake();
      await timer(Math.max(0, delay) * 1000, undefined, { signal: slept.signal });
      return undefined;
    } catch {
      signal?.throwIfAborted();
      return Math.max(0, delay - (performance.now() - started) / 1000);
    } finally {
      wakeup?.removeEventListener('abort', wake);
      signal?.removeEventListener('abort', wake);
    }
  },
};

/** As the administrator, unless told otherwise. */
export function clientOf({ url, ca, token }: ControlPlaneAccess, other: Partial<ConnectionInfo> = {}): HttpKubeClient {
  return kubeClient({
    credentials: staticCredentials({ server: url, ca, ...('cert' in other ? {} : { token }), ...other }),
    clock: realClock,
    logger: recordingLogger(),
  });
}

export interface RecordingClient extends KubeClient {
  /** Methods and paths, in order. */
  readonly requests: string[];
}

/** A client that remembers what it was asked for. */
export function recordingClient(client: KubeClient): RecordingClient {
  const requests: string[] = [];
  return {
    requests,
    request(request) {
      requests.push(`${request.method} ${request.path}`);
      return client.request(request);
    },
    stream(request) {
      requests.push(`${request.method} ${request.path}`);
      return client.stream(request);
    },
  };
}
