/** A listening socket with an HTTP server behind it: opened once, closed to the last connection. */
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContext, SecureContextOptions, TLSSocket } from 'node:tls';
import { type Clock, KopfError, type Logger, type Seconds } from '@kopf-ts/core';
import { alarm, toError } from '@kopf-ts/core/engine';
import { quoted } from '../../quoting.js';
import { connectionKeeper } from './connections.js';
import type { ToldOfRefusals } from './http-refusals.js';

/** What to speak TLS with: what a context is made of, or a ready one. */
export type Credentials = SecureContextOptions | { readonly ready: SecureContext };

export interface ListenerOptions {
  readonly addr: string | undefined;
  readonly port: number;
  /** Plain HTTP if absent. */
  readonly credentials: Credentials | undefined;
  readonly verification: Verification;
  readonly requestTimeout: Seconds;
  /** How many there may be at once. */
  readonly maxConnections: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** Told of connections and of requests that are no HTTP. */
  readonly refused?: ToldOfRefusals | undefined;
}

/** How callers are verified. */
export interface Verification {
  readonly mode: 'none' | 'optional' | 'required';
  readonly authorities: readonly string[] | undefined;
}

export interface Listener {
  readonly port: number;
  /** New connections are made with these; those that exist go on as they are. Throws if they are unusable. */
  renew(credentials: Credentials): void;
  /** Stops accepting, waits for the requests under way, though not for long, and closes everything. */
  close(): Promise<void>;
}

/** Longer than the API server keeps idle connections (90 s): a request must never meet a connection being closed. */
const KEEP_ALIVE: Seconds = 120;
/** How long the idle connections stay open when the server ends: callers may be just about to use them. */
const LINGERING: Seconds = 1;
/** How long the requests under way may take when the server is to end. */
const CLOSING_GRACE: Seconds = 5;
const HANDSHAKE_TIMEOUT: Seconds = 10;

/** What sessions of callers belong to; 32 characters at most. */
const SESSIONS = 'kopf-ts webhooks';

export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { addr, port, credentials, clock, requestTimeout } = options;
  const limits = {
    // These are the limits of sockets, which are kept by Node itself.
    requestTimeout: requestTimeout * 1000,
    headersTimeout: requestTimeout * 1000,
    connectionsCheckingInterval: Math.min(Math.max(requestTimeout * 250, 50), 5000),
    keepAliveTimeout: KEEP_ALIVE * 1000,
  };
  const server = credentials === undefined ? createServer(limits) : secureServer(options, credentials, limits);
  const connections = connectionKeeper(server);
  server.on('request', (request, response) => {
    // A request may already be in the buffers of a connection that is being destroyed: of those not let in.
    if (!request.socket.destroyed) options.onRequest(request, response);
  });
  server.on('clientError', (error, socket) => refuseConnection(error, socket as Socket, options));
  limitConnections(server, options);
  await listen(server, addr, port);
  // Of connections that could not be accepted, e.g. if there are too many files open: that is no reason to crash.
  server.on('error', (error) => {
    options.logger.error(`The webhook server has failed to accept a connection: ${quoted(error.message)}.`);
  });
  return {
    port: (server.address() as AddressInfo).port,
    renew: (next) => 'setSecureContext' in server && setCredentials(server, next, options.verification),
    async close() {
      // Node would do it at once, and would lose the requests that are on their way here.
      server.closeIdleConnections = () => {};
      const isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.release();
      const cancelIdle = alarm(clock, LINGERING, () => connections.closeIdle());
      const cancelBusy = alarm(clock, CLOSING_GRACE, () => connections.destroy());
      await isClosed;
      cancelIdle();
      cancelBusy();
    },
  };
}

/** It is said once in a while: whoever opens too many connections opens many. */
const CROWD_TOLD_EVERY: Seconds = 60;

/** Those beyond the limit are closed at once, before they cost anything. */
function limitConnections(
  server: HttpServer | HttpsServer,
  { maxConnections, clock, logger, refused }: ListenerOptions,
): void {
  let toldAt = Number.NEGATIVE_INFINITY;
  server.maxConnections = maxConnections;
  server.on('drop', (dropped) => {
    const why = `There are ${maxConnections} connections already.`;
    refused?.({ code: undefined, why, from: dropped?.remoteAddress });
    const isTold = clock.now() - toldAt < CROWD_TOLD_EVERY;
    if (!isTold) toldAt = clock.now();
    const from = dropped?.remoteAddress ?? 'an unknown address';
    logger[isTold ? 'debug' : 'warn'](`A connection to the webhook server is refused: from ${from}: ${why}`);
  });
}

function secureServer(options: ListenerOptions, credentials: Credentials, limits: object): HttpsServer {
  const { mode } = options.verification;
  const server = createTlsServer({
    ...limits,
    handshakeTimeout: HANDSHAKE_TIMEOUT * 1000,
    requestCert: mode !== 'none',
    rejectUnauthorized: mode === 'required',
  });
  setCredentials(server, credentials, options.verification);
  server.on('tlsClientError', (error, socket) => {
    const from = socket.remoteAddress ?? 'an unknown address';
    // A probe that only looks whether the port is open is no news.
    const level = (error as NodeJS.ErrnoException).code === 'ECONNRESET' ? 'debug' : 'warn';
    options.logger[level](`The TLS handshake with ${from} has failed: ${quoted(error.message)}.`);
  });
  if (mode === 'optional') {
    server.on('secureConnection', (socket: TLSSocket) => {
      // Node would let them in, and leave the decision to us.
      if (socket.authorized || Object.keys(socket.getPeerCertificate()).length === 0) return;
      const why = quoted(String(socket.authorizationError));
      options.logger.warn(`The certificate of ${socket.remoteAddress} is not accepted: ${why}.`);
      socket.destroy();
    });
  }
  return server;
}

function setCredentials(server: HttpsServer, credentials: Credentials, { authorities }: Verification): void {
  if ('ready' in credentials) {
    // Node has no other way to give a server a ready context for callers that name no host, as those by IP address do.
    if (!('_sharedCreds' in server)) throw noReadyContexts();
    const { ready } = credentials;
    // Node does it for the contexts that it makes itself. Without that, verified callers cannot resume their sessions.
    (ready.context as SessionsContext).setSessionIdContext?.(SESSIONS);
    server._sharedCreds = ready;
    return;
  }
  server.setSecureContext(authorities === undefined ? credentials : { ...credentials, ca: [...authorities] });
}

/** Absent from the types of Node. */
interface SessionsContext {
  setSessionIdContext?(id: string): void;
}

function noReadyContexts(): KopfError {
  const message = 'This version of Node does not take ready TLS contexts; give the options of the context instead.';
  return new KopfError(message, { code: 'KOPF_BAD_ENDPOINT' });
}

function listen(server: HttpServer | HttpsServer, addr: string | undefined, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(listeningError(error, addr, port));
    server.once('error', fail);
    server.listen({ port, ...(addr === undefined ? {} : { host: addr }) }, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

function listeningError(error: NodeJS.ErrnoException, addr: string | undefined, port: number): KopfError {
  const where = addr === undefined ? `the port ${port}` : `the port ${port} of ${addr}`;
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE:
      'it is taken by another process. Stop that one, or choose another port; without any, a free one is used',
    EACCES: 'this user may not use such ports. Choose one above 1023',
    EADDRNOTAVAIL: 'this machine has no such address. Omit the option "addr" to listen on all of them',
    ENOTFOUND: 'there is no such address. Omit the option "addr" to listen on all that there are',
  };
  const reason = why[error.code ?? ''] ?? error.message;
  return new KopfError(`The webhook server cannot listen on ${where}: ${reason}.`, {
    code: 'KOPF_BAD_ENDPOINT',
    cause: error,
  });
}

const STATUSES: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** Callers that have closed the connection get no answer. */
const GONE: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

/** What comes is no HTTP, or takes too long to come. */
function refuseConnection(
  thrown: unknown,
  socket: Socket,
  { logger, refused }: Pick<ListenerOptions, 'logger' | 'refused'>,
): void {
  const error = toError(thrown) as NodeJS.ErrnoException;
  // API servers open more connections than they use: those are in nobody's way, and no requests.
  const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
  if (isUnused || GONE.has(error.code ?? '') || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ''] ?? '400 Bad Request';
  const { remoteAddress: from } = socket;
  const who = from ?? 'an unknown address';
  logger.warn(`An admission request is refused with ${status.slice(0, 3)}: from ${who}: ${quoted(error.message)}.`);
  refused?.({ code: Number(status.slice(0, 3)), why: error.message, from });
  const text = status.replace(' ', ': ');
  const head = `HTTP/1.1 ${status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${text.length}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${text}`);
  socket.destroySoon();
}
