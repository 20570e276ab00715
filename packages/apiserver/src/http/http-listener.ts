/** The HTTP listener: a server on the loopback interface, with or without TLS. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Credentials, Security } from '../contracts/authentication.js';
import type { RequestHead } from '../contracts/request.js';
import { proxiedPathOf } from '../proxy/proxied-path.js';
import { PROTOBUF, type ProtobufReader, protobufReader, WireError } from '../typed/protobuf.js';
import { ConnectionReset } from '../watching/outlet.js';
import { refusal } from './answers.js';
import type { Gateway, GatewayAnswer } from './gateway.js';
import { mediaTypeOf } from './request-bodies.js';
import { badRequest, StatusError } from './status-errors.js';

export interface HttpListener {
  readonly url: string;
  readonly port: number;
  refuseConnections(refuse: boolean): void;
  dropConnections(): void;
  /** Closes the port and breaks all connections; `open` opens the same port again. */
  close(): Promise<void>;
  open(): Promise<void>;
}

export interface HttpListenerOptions {
  readonly gateway: () => Gateway;
  readonly security: Security;
  readonly host: string;
  readonly port: number;
}

/** The limit for request bodies, in bytes. */
const MAX_BODY = 3 * 1024 * 1024;
/** Of a body that nobody wants, so much is read nevertheless, so that the connection can be used again. */
const MAX_UNWANTED = 256 * 1024;
/** As much as Go's servers take. */
const MAX_HEADERS = 1024 * 1024 + 4096;

export async function openListener({ gateway, security, host, port }: HttpListenerOptions): Promise<HttpListener> {
  const sockets = new Set<Socket>();
  const readProtobuf = protobufReader();
  let isRefusing = false;
  let server: Server | undefined;
  let actualPort = port;
  const scheme = security.tls === undefined ? 'http' : 'https';

  const listen = async (): Promise<void> => {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      void serve(request, response, gateway(), security, readProtobuf, reset);
    };
    const created = await createFor(security, listener);
    created.on('upgrade', (request: IncomingMessage, socket: Duplex, first: Buffer) => {
      void upgrade(request, socket, first, { gateway: gateway(), security, listener });
    });
    // Connections are kept by their clients for as long as these want: that is what pools are for.
    created.keepAliveTimeout = 60_000;
    created.on('connection', (socket: Socket) => {
      if (isRefusing) {
        socket.destroy();
        return;
      }
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      created.once('error', reject);
      created.listen(actualPort, host, () => {
        created.removeListener('error', reject);
        resolve();
      });
    });
    actualPort = (created.address() as AddressInfo).port;
    server = created;
  };
  const dropConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  /** Under TLS, a request knows only the socket of that; what can be reset is the one below, to the same port. */
  const reset = ({ remotePort }: Socket): void => {
    for (const socket of sockets) if (socket.remotePort === remotePort) socket.resetAndDestroy();
  };

  await listen();
  return {
    get url() {
      return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${actualPort}`;
    },
    get port() {
      return actualPort;
    },
    refuseConnections(refuse) {
      isRefusing = refuse;
    },
    dropConnections,
    async close() {
      const closing = server;
      server = undefined;
      if (closing === undefined) return;
      const closed = new Promise<void>((resolve) => closing.close(() => resolve()));
      dropConnections();
      await closed;
    },
    open: listen,
  };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

async function createFor(security: Security, listener: Listener): Promise<Server> {
  // Newer Nodes ask; older ones take every request that could be an upgrade for one.
  const shouldUpgradeCallback = ({ url = '', headers }: IncomingMessage): boolean =>
    proxiedPathOf(url) !== undefined || isCommand(url, headers.upgrade);
  const options = { maxHeaderSize: MAX_HEADERS, requestTimeout: 0, shouldUpgradeCallback };
  if (security.tls === undefined) return createServer(options, listener);
  // TLS takes longer to load than everything else; most clusters live without.
  const https = await import('node:https');
  const { cert, key, ca } = security.tls;
  return https.createServer({ ...options, cert, key, ca, requestCert: true, rejectUnauthorized: false }, listener);
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  gateway: Gateway,
  security: Security,
  readProtobuf: ProtobufReader,
  reset: (socket: Socket) => void,
): Promise<void> {
  const leaving = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) leaving.abort(new Error('The client has gone away.'));
  });
  let isRead = !hasBody(request);
  try {
    const answer = await gateway.handle(headOf(request, leaving.signal), {
      identify: () => security.identify(credentialsOf(request)),
      rawBody: () => {
        isRead = true;
        return request;
      },
      readBody: () => {
        if (isRead) return undefined;
        isRead = true;
        return readBody(request).then((body) => contentOf(request, body, readProtobuf));
      },
    });
    if (!isRead) limitUnwanted(request);
    await send(response, answer);
  } catch (error) {
    if (error instanceof ConnectionReset) reset(request.socket);
    else if (!response.headersSent) await send(response, refusal(error));
    else response.destroy();
  }
}

function headOf(request: IncomingMessage, signal: AbortSignal): RequestHead {
  return {
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    headers: request.headers as Record<string, string | undefined>,
    headerLists: () => request.headersDistinct,
    signal,
  };
}

interface UpgradeParts {
  readonly gateway: Gateway;
  readonly security: Security;
  readonly listener: Listener;
}

/** A connection that is to speak another protocol; unless it is a request like others, whose client would only like to. */
async function upgrade(
  request: IncomingMessage,
  socket: Duplex,
  first: Buffer,
  { gateway, security, listener }: UpgradeParts,
): Promise<void> {
  socket.on('error', () => socket.destroy());
  const { upgradedResponse, withBodyFrom } = await import('../proxy/upgrade-requests.js');
  const { url = '', headers } = request;
  if (proxiedPathOf(url) === undefined && !isCommand(url, headers.upgrade)) {
    listener(withBodyFrom(request, socket, first), upgradedResponse(request, socket));
    return;
  }
  const leaving = new AbortController();
  socket.on('close', () => leaving.abort(new Error('The client has gone away.')));
  const visitor = { identify: () => security.identify(credentialsOf(request)), readBody: () => undefined };
  const answer = await gateway.upgrade(headOf(request, leaving.signal), visitor, socket, first);
  if (answer !== undefined) await send(upgradedResponse(request, socket), answer);
}

/** Commands in containers are spoken of in messages. */
const isCommand = (url: string, upgrade: string | undefined): boolean =>
  upgrade?.toLowerCase() === 'websocket' && /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+\/exec(\?|$)/.test(url);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Node reads to the end what nobody has read, however long that is. */
function limitUnwanted(request: IncomingMessage): void {
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_UNWANTED) request.destroy();
  });
}

/** By events: an iterator over the few chunks of a body costs more than the chunks. */
function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const tooLarge = (): StatusError =>
      new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY}`);
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY) chunks.push(chunk);
      // A little more is read and thrown away, so that the client gets to see the answer; but not without end.
      else if (size > 8 * MAX_BODY) {
        request.destroy();
        reject(tooLarge());
      }
    });
    request.on('end', () => {
      if (size > MAX_BODY) reject(tooLarge());
      else if (size === 0) resolve(undefined);
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.on('error', reject);
    request.on('close', () => {
      if (!request.readableEnded) reject(new Error('The client has gone away.'));
    });
  });
}

/** The text as received; protobuf is decoded here, so that nothing behind the listener needs to know of it. */
function contentOf(
  request: IncomingMessage,
  body: Buffer | undefined,
  readProtobuf: ProtobufReader,
): string | object | undefined {
  if (body === undefined || mediaTypeOf(request.headers['content-type']) !== PROTOBUF) return body?.toString('utf8');
  try {
    return readProtobuf(body);
  } catch (error) {
    if (!(error instanceof WireError || error instanceof SyntaxError)) throw error;
    throw badRequest(error.message);
  }
}

function credentialsOf(request: IncomingMessage): Credentials {
  const socket = request.socket as TLSSocket;
  const isTrusted = socket.encrypted === true && socket.authorized;
  const subject = isTrusted ? socket.getPeerCertificate().subject : undefined;
  const organizations = subject?.O as string | readonly string[] | undefined;
  return {
    authorization: request.headers.authorization,
    certificate:
      subject === undefined
        ? undefined
        : {
            commonName: String(subject.CN),
            organizations: organizations === undefined ? [] : [organizations].flat(),
          },
  };
}

async function send(response: ServerResponse, answer: GatewayAnswer): Promise<void> {
  const { status, headers, outlet } = answer;
  const always = { 'audit-id': randomUUID(), 'cache-control': 'no-cache, private' };
  const all: Record<string, string | string[]> = { ...always, ...(headers as Record<string, string | string[]>) };
  if (all['cache-control'] === '') delete all['cache-control'];
  if (answer.content !== undefined) {
    response.on('close', () => answer.content?.destroy());
    answer.content.on('error', () => response.destroy());
    response.writeHead(status, all);
    answer.content.pipe(response);
    return;
  }
  if (outlet === undefined) {
    const content = answer.bytes ?? (answer.isLine === true ? `${answer.body}\n` : answer.body);
    response.writeHead(status, { ...all, 'content-length': Buffer.byteLength(content) });
    response.end(content);
    return;
  }
  response.on('close', () => outlet.close());
  response.writeHead(status, all);
  // The beginning is told at once, even if there is nothing to tell yet.
  response.flushHeaders();
  for (;;) {
    const text = await outlet.next();
    if (text === undefined) break;
    if (!response.write(text) && !response.destroyed) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.removeListener('drain', done);
      response.removeListener('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}
