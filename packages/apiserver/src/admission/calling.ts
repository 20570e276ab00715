/** The calls of webhooks over HTTPS. Failures are told as the real server tells them. */

import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { type Clock, getOwn, isMapping } from '@kopf-ts/core';
import { goQuote } from '../text/go-text.js';
import { parseJson } from '../text/json-syntax.js';
import { HookFailure } from './admission-review.js';
import type { Hook, ServiceReference } from './hooks.js';

/**
 * Where a service of the cluster really listens: `127.0.0.1:8443`, or a URL; `undefined` if it is not known.
 *
 * ```ts
 * import { localCluster, type ServiceResolver } from 'kopf-ts/testing';
 * const resolveService: ServiceResolver = ({ name }) => (name === 'webhooks' ? '127.0.0.1:9443' : undefined);
 * await using cluster = await localCluster({ resolveService });
 * ```
 */
export type ServiceResolver = (service: ServiceReference) => string | undefined;

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

interface Destination {
  /** As it is told in messages. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly servername: string | undefined;
}

/** Keeps connections to the webhooks open between the calls. */
export class HookCaller {
  readonly #clock: Clock;
  readonly #resolveService: ServiceResolver;
  readonly #agents = new Map<string, Agent>();

  constructor(clock: Clock, resolveService: ServiceResolver) {
    this.#clock = clock;
    this.#resolveService = resolveService;
  }

  /** The answer as JSON. Throws `HookFailure`. */
  async call(hook: Hook, body: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    const destination = this.#locate(hook);
    const deadline = new AbortController();
    const giveUp = (): void => deadline.abort(new Error('context canceled'));
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted) giveUp();
    const isOver = new AbortController();
    // Time is the cluster's: a webhook that hangs does so for as long as the clock says.
    this.#clock.sleep(hook.timeoutSeconds, { signal: isOver.signal }).then(
      () => deadline.abort(new Error('context deadline exceeded')),
      () => {},
    );
    try {
      const text = JSON.stringify(body);
      return await this.#exchange(hook, destination, text, deadline.signal);
    } finally {
      isOver.abort();
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** When the configurations change, so may the authorities: connections are made anew. Calls under way go on. */
  renew(): void {
    for (const agent of this.#agents.values()) {
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    }
    this.#agents.clear();
  }

  /** Closes the connections, also those in use. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #locate(hook: Hook): Destination {
    const query = `timeout=${hook.timeoutSeconds}s`;
    if (hook.service !== undefined) {
      const { namespace, name, port } = hook.service;
      const servername = `${name}.${namespace}.svc`;
      const path = `/${hook.service.path.replace(/^\//, '')}?${query}`;
      const url = `https://${servername}:${port}${path}`;
      const address = this.#resolveService(hook.service);
      if (address === undefined) throw unreachable(url, `service ${goQuote(name)} not found`);
      const target = new URL(address.includes('://') ? address : `https://${address}`);
      return { url, host: bareHost(target), port: Number(target.port || 443), path, servername };
    }
    if (hook.url === undefined) {
      throw new HookFailure('could not get REST client: webhook configuration must have either service or URL');
    }
    const target = new URL(hook.url);
    const path = `${target.pathname === '/' && !hook.url.endsWith('/') ? '' : target.pathname}?${query}`;
    const url = `${target.protocol}//${target.host}${path}`;
    const requestPath = path.startsWith('/') ? path : `/${path}`;
    return { url, host: bareHost(target), port: Number(target.port || 443), path: requestPath, servername: undefined };
  }

  async #exchange(hook: Hook, destination: Destination, body: string, signal: AbortSignal): Promise<unknown> {
    let answer: { readonly status: number; readonly type: string; readonly text: string };
    try {
      answer = await this.#post(hook, destination, body, signal);
    } catch (error) {
      if (error instanceof HookFailure) throw error;
      throw unreachable(destination.url, describe(signal.aborted ? signal.reason : error, destination));
    }
    const { status, type, text } = answer;
    if (status < 200 || status > 299)
      throw new HookFailure(`failed to call webhook: ${describeStatus(status, type, text)}`);
    if (text === '') {
      const details = `0-length response with status code: ${status} and content type: ${type}`;
      throw new HookFailure(`failed to call webhook: ${details}`);
    }
    try {
      const data = parseJson(text);
      if (isMapping(data)) return data;
    } catch {
      // Told below, in the same words as for JSON that is no object.
    }
    throw new HookFailure(
      "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value" +
        ' of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    );
  }

  async #post(
    hook: Hook,
    destination: Destination,
    body: string,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly type: string; readonly text: string }> {
    const { host, port, path, servername } = destination;
    for (;;) {
      const request = httpsRequest({
        host,
        port,
        path,
        method: 'POST',
        agent: this.#agentFor(hook.ca, servername),
        signal,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'user-agent': 'kube-apiserver-admission',
          'content-length': Buffer.byteLength(body),
        },
        ...(servername === undefined ? {} : { servername }),
      });
      try {
        const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
          request.on('response', resolve);
          request.on('error', reject);
          request.end(body);
        });
        const text = await readBody(incoming, destination.url);
        return { status: incoming.statusCode ?? 0, type: incoming.headers['content-type'] ?? '', text };
      } catch (error) {
        // A kept connection may have been closed on the other side meanwhile; that is no failure of the webhook.
        const isStale = request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
        if (!isStale || signal.aborted) throw error;
      }
    }
  }

  #agentFor(ca: string | undefined, servername: string | undefined): Agent {
    const key = `${servername ?? ''}\n${ca ?? ''}`;
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      agent = new Agent({ keepAlive: true, maxFreeSockets: 4, ...(ca === undefined ? {} : { ca }) });
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

async function readBody(incoming: IncomingMessage, url: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size > MAX_ANSWER_BYTES) {
      incoming.destroy();
      throw unreachable(url, `http: response body is larger than ${MAX_ANSWER_BYTES} bytes`);
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const unreachable = (url: string, why: string): HookFailure =>
  new HookFailure(`failed to call webhook: Post ${goQuote(url)}: ${why}`);

const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);

function describe(error: unknown, { host, port, servername }: Destination): string {
  const { code = '', message = String(error), address = host } = error as NodeJS.ErrnoException & { address?: string };
  const invalid = 'tls: failed to verify certificate: x509:';
  if (code === 'ECONNREFUSED')
    return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: connect: connection refused`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  if (code === 'ECONNRESET') return 'EOF';
  if (UNKNOWN_AUTHORITY.has(code)) return `${invalid} certificate signed by unknown authority`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return `${invalid} certificate has expired or is not yet valid`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = [...message.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map((match) => match[1]);
    return `${invalid} certificate is valid for ${names.join(', ')}, not ${servername ?? host}`;
  }
  if (code === 'EPROTO') return 'http: server gave HTTP response to HTTPS client';
  return message;
}

/** What clients in Go make of an answer that is no success. */
function describeStatus(status: number, type: string, text: string): string {
  try {
    const data: unknown = JSON.parse(text);
    const message = isMapping(data) && getOwn(data, 'kind') === 'Status' ? getOwn(data, 'message') : undefined;
    if (typeof message === 'string') return message;
  } catch {
    // It is no Status; then there is nothing to read in it.
  }
  // Only texts are quoted.
  const isText = type === '' || /^text\//i.test(type);
  const shown = text.trim() === '' || !isText ? 'unknown' : text.trim().slice(0, 2048);
  switch (status) {
    case 400:
      return 'the server rejected our request for an unknown reason';
    case 401:
      return 'the server has asked for the client to provide credentials';
    case 403:
      return shown;
    case 404:
      return 'the server could not find the requested resource';
    case 405:
      return 'the server does not allow this method on the requested resource';
    case 415:
      return 'the body of the request was in an unknown format - accepted media types include: ';
    case 429:
      return 'the server has received too many requests and has asked us to try again later';
    case 503:
      return 'the server is currently unable to handle the request';
    case 504:
      return 'the server was unable to return a response in the time allotted, but may still be processing the request';
    default:
      if (status >= 500) return `an error on the server (${goQuote(shown)}) has prevented the request from succeeding`;
      return `the server responded with the status code ${status} but did not return more information`;
  }
}
