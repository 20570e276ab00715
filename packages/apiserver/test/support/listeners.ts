/** The same requests over HTTP and within the process. */
import { ApiError, type KubeRequest } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { type LocalCluster, localCluster } from '../../src/index.js';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
  readonly body: any;
}

export interface Client {
  readonly cluster: LocalCluster;
  send(method: KubeRequest['method'], path: string, body?: unknown, contentType?: string): Promise<Answer>;
}

export const MERGE = 'application/merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';

/** By name; time stands still in the clusters behind them. */
export const listeners: readonly (readonly [name: string, open: () => Promise<Client>])[] = [
  ['in the process', inProcess],
  ['over HTTP', overHttp],
];

export async function inProcess(): Promise<Client> {
  const cluster = await localCluster({ listen: false, clock: manualClock(), controllers: false });
  return {
    cluster,
    async send(method, path, body, contentType) {
      try {
        const request = { method, path, ...(body === undefined ? {} : { body }) };
        const typed = contentType === undefined ? request : { ...request, contentType: contentType as typeof MERGE };
        return { status: 200, body: await cluster.client.request(typed) };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { status: error.status, body: error.payload };
      }
    },
  };
}

export async function overHttp(): Promise<Client> {
  const cluster = await localCluster({ clock: manualClock(), controllers: false });
  return {
    cluster,
    async send(method, path, body, contentType) {
      const response = await fetch(`${cluster.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${cluster.token}`,
          ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      // Creations are told apart elsewhere; here success is success.
      const status = response.status === 201 ? 200 : response.status;
      return { status, body: isJson ? JSON.parse(text) : text };
    },
  };
}
