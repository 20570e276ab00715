/** One listening socket and its pages. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock, HttpPage, Logger, PageAnswer, Seconds } from '@kopf-ts/core';
import { alarm, describeError, toError } from '@kopf-ts/core/engine';

export interface PageServer {
  readonly host: string | undefined;
  readonly port: number;
  /** Resolves when it listens. */
  readonly listening: Promise<AddressInfo>;
  /** Rejects if it cannot listen, or cannot go on. */
  readonly failed: Promise<never>;
  /** Set as soon as closing begins. */
  readonly closed: Promise<void> | undefined;
  /** The names of the sites: `liveness`, `metrics`. */
  readonly names: readonly string[];
  ownerOf(path: string): string | undefined;
  /** Returns a function that waits for unfinished answers of these pages. */
  add(name: string, pages: ReadonlyMap<string, HttpPage>): () => Promise<void>;
  remove(pages: ReadonlyMap<string, HttpPage>): void;
  /** No new connections; the open ones have a little time, and are then closed. */
  close(): Promise<void>;
}

export interface PageServerOptions {
  readonly host: string | undefined;
  readonly port: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onClosed: () => void;
}

/** How long requests at the very end may wait for their answers. */
export const CLOSING_LIMIT: Seconds = 1;

/** Those who ask are few: kubelets, Prometheus, a person. More than that are somebody's mistake, or worse. */
const MAX_CONNECTIONS = 256;

const USUAL_METHODS: readonly string[] = ['GET', 'HEAD'];

interface Served {
  readonly name: string;
  readonly page: HttpPage;
  /** Unfinished answers of all pages of the same site. */
  readonly answers: Set<Promise<void>>;
}

export function pageServer({ host, port, clock, logger, onClosed }: PageServerOptions): PageServer {
  const pages = new Map<string, Served>();
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const served = pages.get(path);
    const answer = respond(request, response, path, served, { clock, logger });
    served?.answers.add(answer);
    void answer.finally(() => served?.answers.delete(answer));
  });
  limitConnections(server);
  const failed = new Promise<never>((_resolve, reject) => void server.on('error', reject));
  failed.catch(() => {});
  const listening = new Promise<AddressInfo>((resolve) => {
    const place = { port, ...(host === undefined ? {} : { host }) };
    server.listen(place, () => resolve(server.address() as AddressInfo));
  });
  let closed: Promise<void> | undefined;

  return {
    host,
    port,
    listening,
    failed,
    get closed() {
      return closed;
    },
    get names() {
      return [...new Set([...pages.values()].map(({ name }) => name))];
    },
    ownerOf: (path) => pages.get(path)?.name,
    add(name, added) {
      const answers = new Set<Promise<void>>();
      for (const [path, page] of added) pages.set(path, { name, page, answers });
      return async () => {
        while (answers.size > 0) await Promise.all(answers);
      };
    },
    remove(removed) {
      for (const path of removed.keys()) pages.delete(path);
    },
    close() {
      closed ??= closeServer(server, clock).finally(onClosed);
      return closed;
    },
  };
}

/** Whoever comes last is heard, lest many who say nothing make the probes fail: the oldest one has to go. */
function limitConnections(server: Server): void {
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    const [oldest] = connections;
    if (connections.size > MAX_CONNECTIONS) oldest?.destroy();
  });
}

async function closeServer(server: Server, clock: Clock): Promise<void> {
  if (!server.listening) {
    // It may still be starting to listen.
    server.once('listening', () => server.close());
    return;
  }
  const isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
  const forget = alarm(clock, CLOSING_LIMIT, () => server.closeAllConnections());
  await isClosed;
  forget();
}

/** Never rejects. */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  served: Served | undefined,
  { clock, logger }: Pick<PageServerOptions, 'clock' | 'logger'>,
): Promise<void> {
  try {
    if (served === undefined) return await send(response, jsonAnswer(404, 'not found'), clock);
    const { methods = USUAL_METHODS } = served.page;
    const { method = '', url = '' } = request;
    if (!methods.includes(method)) {
      response.setHeader('allow', methods.join(', '));
      return await send(response, jsonAnswer(405, 'method not allowed'), clock);
    }
    const body = BODILESS.has(method) ? undefined : await bodyOf(request);
    if (body === null) return await send(response, jsonAnswer(413, 'the request is too large'), clock);
    const gone = new AbortController();
    response.once('close', () => gone.abort(new DOMException('The caller is gone.', 'AbortError')));
    const { signal } = gone;
    const query = url.slice(path.length + 1);
    const answer = await served.page.answer({ method, path, query, headers: headersOf(request), body, signal });
    await send(response, answer, clock);
  } catch (error) {
    if (response.destroyed) return;
    const name = served?.name ?? 'HTTP';
    logger.error(`The ${name} endpoint has failed to answer: ${describeError(error)}`, { error: toError(error) });
    if (response.headersSent) response.destroy();
    else await send(response, jsonAnswer(500, 'internal error'), clock);
  }
}

const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);
const MAX_BODY = 64 * 1024;

/** `null` if it is too large: what is left of it is not read. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += (piece as Buffer).length;
    if (size > MAX_BODY) return null;
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces).toString();
}

function jsonAnswer(status: number, error: string): PageAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify({ error }) };
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** Requests are rare; and connections that are kept are only in the way at the end. */
const ALWAYS = { 'cache-control': 'no-store', connection: 'close' };

/** Somebody who takes nothing for so long is gone, or might as well be. */
const STALL_LIMIT: Seconds = 30;

async function send(
  response: ServerResponse,
  { status = 200, headers, body }: PageAnswer,
  clock: Clock,
): Promise<void> {
  if (typeof body === 'string') {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    response.writeHead(status, { ...ALWAYS, ...headers, ...length }).end(body);
    return;
  }
  response.writeHead(status, { ...ALWAYS, ...headers });
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  for await (const piece of untilClosed(response, body)) {
    if (response.write(piece)) continue;
    const forget = alarm(clock, STALL_LIMIT, () => response.destroy());
    await drained(response);
    forget();
  }
  response.end();
}

/** The same pieces, but no more of them, and the source is told so, as soon as nobody reads them. */
async function* untilClosed(response: ServerResponse, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  const iterator = pieces[Symbol.asyncIterator]();
  // Not a race with a promise of the end: that would keep each piece in the memory until the end.
  let end = (): void => {};
  response.once('close', () => end());
  try {
    while (!response.closed) {
      const next = await new Promise<IteratorResult<string> | undefined>((resolve, reject) => {
        end = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (next === undefined || next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited: a source that waits for its next piece ends when it has it.
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

/** Or closed. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.closed) return resolve();
    const leave = (): void => {
      response.off('drain', leave);
      response.off('close', leave);
      resolve();
    };
    response.on('drain', leave);
    response.on('close', leave);
  });
}
