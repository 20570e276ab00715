/** Requests to pods and services, passed on to where these listen: as they come, and so are the answers. */
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { ServiceResolver } from '../admission/calling.js';
import type { RequestBody, RequestHead } from '../contracts/request.js';
import type { StoreReader } from '../contracts/store.js';
import { StatusError } from '../http/status-errors.js';
import type { ProxiedPath } from './proxied-path.js';
import { type ProxyTarget, proxyTarget } from './proxy-target.js';

interface ProxiedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly content: Readable;
}

export interface ClusterProxy {
  forward(path: ProxiedPath, head: RequestHead, body: Readable | RequestBody): Promise<ProxiedAnswer | Redirect>;
  /** Connects the client with whoever speaks the other protocol. Rejects as long as nothing is sent to the client. */
  upgrade(path: ProxiedPath, head: RequestHead, client: Duplex, first: Buffer): Promise<void>;
}

/** The root of what is proxied is a folder. */
interface Redirect {
  readonly status: 301;
  readonly location: string;
}

/** Between two connections, each has its own; and who may come in here is nobody's business there. */
const NOT_PASSED = new Set([
  'authorization',
  'connection',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const isPassed = (name: string): boolean =>
  !NOT_PASSED.has(name) && !name.startsWith('impersonate-') && !name.startsWith('access-control-allow-');

export function makeProxy(store: StoreReader, resolve: ServiceResolver | undefined): ClusterProxy {
  return {
    async forward(path, head, body) {
      const target = proxyTarget(path, store, resolve);
      const isRead = head.method === 'GET' || head.method === 'HEAD';
      if (path.rest === '' && isRead) return { status: 301, location: redirected(head.url) };
      const answer = await exchange(target, path, head, body);
      return { status: answer.statusCode ?? 502, headers: answered(answer, path, head.url), content: answer };
    },
    async upgrade(path, head, client, first) {
      const target = proxyTarget(path, store, resolve);
      const headers = { connection: 'Upgrade', upgrade: head.headers['upgrade'] };
      const request = await open(target, path, head, headers);
      request.end();
      await connected(request, target, client, first);
    },
  };
}

const redirected = (url: string): string => {
  const [path = '', ...query] = url.split('?');
  return [`${path}/`, ...query].join('?');
};

/** TLS is loaded if somebody speaks it; certificates of pods are nobody's business, as on the real server. */
async function open(
  target: ProxyTarget,
  path: ProxiedPath,
  head: RequestHead,
  extra: RequestOptions['headers'],
): Promise<ClientRequest> {
  const { host, port, scheme } = target;
  const passed = Object.entries(head.headers).filter(([name, value]) => value !== undefined && isPassed(name));
  const options: RequestOptions = {
    host,
    port,
    method: head.method,
    path: `${path.rest === '' ? '/' : path.rest}${path.search}`,
    agent: false,
    headers: {
      ...Object.fromEntries(passed),
      'x-forwarded-uri': head.url.split('?')[0] as string,
      'x-forwarded-host': head.headers['host'] ?? '',
      ...extra,
    } as Record<string, string>,
  };
  if (scheme === 'http') return httpRequest(options);
  const https = await import('node:https');
  return https.request({ ...options, rejectUnauthorized: false });
}

async function exchange(
  target: ProxyTarget,
  path: ProxiedPath,
  head: RequestHead,
  body: Readable | RequestBody,
): Promise<IncomingMessage> {
  const request = await open(target, path, head, {});
  const leave = (): void => void request.destroy();
  head.signal.addEventListener('abort', leave, { once: true });
  return await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', (error) => reject(unreachable(error, target)));
    if (typeof body === 'object' && 'pipe' in body) body.pipe(request);
    else request.end(typeof body === 'object' ? JSON.stringify(body) : body);
  });
}

/** Links within the answer stay as they are; where it sends the client to is a path of ours. */
function answered(answer: IncomingMessage, { rest }: ProxiedPath, url: string): ProxiedAnswer['headers'] {
  const headers = Object.entries(answer.headers).filter(([name, value]) => value !== undefined && isPassed(name));
  const { location } = answer.headers;
  const root = url.split('?')[0]?.slice(0, -rest.length || undefined) ?? '';
  const isOwn = location?.startsWith('/') === true && !location.startsWith('//');
  return {
    ...Object.fromEntries(headers),
    ...(isOwn ? { location: `${root}${location}` } : {}),
  } as ProxiedAnswer['headers'];
}

function connected(request: ClientRequest, target: ProxyTarget, client: Duplex, first: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    client.on('error', () => request.destroy());
    client.on('close', () => request.destroy());
    request.on('error', (error) => reject(unreachable(error, target)));
    request.on('upgrade', (answer, server, early) => {
      client.write(headOf(answer));
      if (early.length > 0) client.write(early);
      if (first.length > 0) server.write(first);
      const end = (): void => {
        client.destroy();
        server.destroy();
      };
      server.on('error', end).on('close', end);
      client.on('error', end).on('close', end);
      server.pipe(client).pipe(server);
      resolve();
    });
    // It does not want to: that is an answer, too, and the last one on this connection.
    request.on('response', (answer) => {
      client.write(headOf(answer, { connection: 'close' }));
      answer.pipe(client);
      resolve();
    });
  });
}

function headOf(answer: IncomingMessage, extra: Readonly<Record<string, string>> = {}): string {
  const lines: string[] = [];
  for (let index = 0; index < answer.rawHeaders.length; index += 2) {
    const name = answer.rawHeaders[index] as string;
    const isReplaced = Object.hasOwn(extra, name.toLowerCase()) || name.toLowerCase() === 'transfer-encoding';
    if (!isReplaced) lines.push(`${name}: ${answer.rawHeaders[index + 1]}`);
  }
  for (const [name, value] of Object.entries(extra)) lines.push(`${name}: ${value}`);
  return `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

function unreachable(error: NodeJS.ErrnoException, { host, port }: ProxyTarget): StatusError {
  const why = error.code === 'ECONNREFUSED' ? 'connect: connection refused' : error.message;
  const message = `error trying to reach service: dial tcp ${host}:${port}: ${why}`;
  return new StatusError(503, 'ServiceUnavailable', message);
}
