/** Requests to the API server as users make them, with all that they are told in return. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { AnyObject, ConnectionInfo } from '@kopf-ts/core';
import type { TestKind } from '../../support/operators/kinds.js';

export interface Answer {
  readonly status: number;
  /** Those for people: kubectl shows them. */
  readonly warnings: readonly string[];
  readonly body: AnyObject;
}

export interface RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

/** One request; whatever the answer is, it is an answer. Fails only if there is none. */
export async function ask({ server, ca, token }: ConnectionInfo, options: RequestOptions): Promise<Answer> {
  const { method, path } = options;
  const send = server.startsWith('https:') ? httpsRequest : httpRequest;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(`${server}${path}`, {
      method,
      ...(ca === undefined ? {} : { ca: Buffer.from(ca) }),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
      timeout: 60_000,
    });
    request.on('timeout', () => request.destroy(new Error('There is no answer in a minute.')));
    request.on('response', resolve);
    request.on('error', reject);
    request.end(options.body === undefined ? undefined : JSON.stringify(options.body));
  });
  const { statusCode = 0, rawHeaders } = response;
  const content = await text(response);
  const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
  const body: AnyObject = isJson ? JSON.parse(content) : { message: content };
  return { status: statusCode, warnings: warningsIn(rawHeaders), body };
}

function warningsIn(rawHeaders: readonly string[]): string[] {
  const values = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'warning' && index % 2 === 1);
  return values.map((value) => /^299 - "(.*)"$/.exec(value)?.[1] ?? value);
}

/** What a user does to the objects of one kind in one namespace. */
export interface Usage {
  create(name: string, content?: object, query?: string): Promise<Answer>;
  /** Of the object, or of a part of it: `one/status`. */
  patch(name: string, patch: object): Promise<Answer>;
  delete(name: string): Promise<Answer>;
}

export function usageOf(
  connection: ConnectionInfo,
  { group, plural }: Pick<TestKind, 'group' | 'plural'>,
  namespace: string | undefined,
): Usage {
  const root = `/apis/${group}/v1${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`;
  return {
    create: (name, content = {}, query = '') => {
      const { metadata = {}, ...rest } = content as AnyObject;
      const body = { apiVersion: `${group}/v1`, kind, metadata: { ...metadata, name }, ...rest };
      return ask(connection, { method: 'POST', path: `${root}${query}`, body });
    },
    patch: (name, body) => ask(connection, { method: 'PATCH', path: `${root}/${name}`, body }),
    delete: (name) => ask(connection, { method: 'DELETE', path: `${root}/${name}` }),
  };
}
