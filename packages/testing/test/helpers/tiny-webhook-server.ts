import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { AmbiguousResourceError, UnknownResourceError, WebhookError, type WebhookServer } from '@kopf-ts/core';
import { onAbort, untilAborted } from '@kopf-ts/core/engine';

type Surroundings = Parameters<WebhookServer['serve']>[0];

/** What can be done in another way than is right. */
export interface Habits {
  readonly url?: (port: number) => string;
  readonly idOf?: (path: string) => string | undefined;
  readonly headersOf?: (request: IncomingMessage) => Record<string, string>;
  readonly timeoutOf?: (url: URL) => number | undefined;
  readonly statusOf?: (error: unknown) => number;
  readonly textOf?: (error: unknown) => string;
  readonly read?: (request: IncomingMessage) => Promise<string>;
  readonly parse?: (text: string) => unknown;
  readonly methods?: readonly string[];
  readonly type?: string;
  readonly answer?: (answer: unknown) => unknown;
  /** Before the review. */
  readonly queue?: () => Promise<() => void>;
  readonly onFailure?: (server: Server) => void;
  readonly close?: (server: Server, sockets: ReadonlySet<Socket>) => Promise<void>;
  readonly before?: (at: Surroundings) => void;
  readonly wait?: (at: Surroundings) => Promise<void>;
  readonly after?: (at: Surroundings) => void;
  readonly closesOnAbort?: boolean;
  readonly closesOnLeaving?: boolean;
  readonly startsAborted?: boolean;
}

/** The smallest server that is right in everything, unless told to be wrong in something. All its servers are in `opened`. */
export function tinyWebhookServer(habits: Habits = {}, opened: Server[] = []): WebhookServer {
  const close = habits.close ?? closeGracefully;
  return {
    async *serve(at) {
      if (at.signal.aborted && !habits.startsAborted) return;
      const server = createServer((request, response) => void answer(at, habits, server, request, response));
      opened.push(server);
      const sockets = new Set<Socket>();
      server.on('connection', (socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      let closing: Promise<void> | undefined;
      const closeOnce = (): Promise<void> => {
        closing ??= close(server, sockets);
        return closing;
      };
      const forget = habits.closesOnAbort === false ? () => {} : onAbort(at.signal, () => void closeOnce());
      try {
        habits.before?.(at);
        const { port } = server.address() as AddressInfo;
        yield { url: habits.url?.(port) ?? `http://127.0.0.1:${port}` };
        await (habits.wait ?? (({ signal }) => untilAborted(signal)))(at);
        if (habits.closesOnLeaving === false) await closeOnce();
      } finally {
        forget();
        if (habits.closesOnLeaving !== false) await closeOnce();
        habits.after?.(at);
      }
    },
  };
}

async function answer(
  { review }: Surroundings,
  habits: Habits,
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const end = (status: number, type: string, text: string): void => {
    if (server.listening === false) response.setHeader('connection', 'close');
    response.writeHead(status, { 'content-type': type }).end(text);
  };
  const url = new URL(request.url ?? '', 'http://server');
  const id = (habits.idOf ?? idOf)(url.pathname);
  const timeout = (habits.timeoutOf ?? timeoutOf)(url);
  const headers = (habits.headersOf ?? ((it) => it.headers as Record<string, string>))(request);
  if (!(habits.methods ?? ['POST']).includes(request.method ?? '')) return end(405, 'text/plain', 'not POST');
  let data: unknown;
  try {
    data = (habits.parse ?? JSON.parse)(await (habits.read ?? read)(request));
  } catch {
    return end(400, 'text/plain', 'not JSON');
  }
  const leave = await habits.queue?.();
  try {
    const hints = { headers, ...(id === undefined ? {} : { webhook: id }), ...(timeout ? { timeout } : {}) };
    const answered = await review(data as never, hints);
    end(200, habits.type ?? 'application/json', JSON.stringify(habits.answer ? habits.answer(answered) : answered));
  } catch (error) {
    end((habits.statusOf ?? statusOf)(error), 'text/plain', habits.textOf?.(error) ?? 'error');
    habits.onFailure?.(server);
  } finally {
    leave?.();
  }
}

function idOf(path: string): string | undefined {
  return path === '/' ? undefined : decodeURIComponent(path.slice(1));
}

function timeoutOf({ searchParams }: URL): number | undefined {
  return Number.parseFloat(searchParams.get('timeout') ?? '') || undefined;
}

function statusOf(error: unknown): number {
  if (error instanceof AmbiguousResourceError) return 409;
  if (error instanceof UnknownResourceError) return 404;
  return error instanceof WebhookError ? 400 : 500;
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function closeGracefully(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const idle = [...sockets].filter((socket) => socket.bytesRead === 0);
  for (const socket of idle) socket.destroy();
  await closed;
}
