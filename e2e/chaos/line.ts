/**
 * The line between the operator and the API server: it speaks plain HTTP to the one, does to
 * each request what it is told to do, and writes down what became of every write. Unlike the fault proxy of
 * `@kopf-ts/apiserver`, it can lose answers to requests that the server has carried out, and it knows of each object
 * whether the operator was told what became of its writes.
 */
import { once } from 'node:events';
import {
  createServer,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { LineWrite } from './history.js';

/** What happens to one request. */
export type Fate =
  | { readonly kind: 'pass' }
  /** The server does it, and the connection breaks before the answer. */
  | { readonly kind: 'lose the answer' }
  /** The connection breaks before the server gets anything. */
  | { readonly kind: 'reset' }
  /** The line answers by itself. */
  | { readonly kind: 'refuse'; readonly status: 429 | 500 | 503 }
  /** Nothing comes for a while; then the answer does, if somebody still waits for it. */
  | { readonly kind: 'freeze'; readonly ms: number }
  /** The answer comes bit by bit. */
  | { readonly kind: 'trickle'; readonly ms: number };

export interface LineRequest {
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
  readonly isWrite: boolean;
}

export interface Line {
  readonly url: string;
  /** Of all writes to single objects, in the order of their ends. */
  readonly writes: readonly LineWrite[];
  /** How often each fate has come true. */
  readonly counts: Readonly<Record<string, number>>;
  /** Asked for each request; without it, everything passes. */
  decide: (request: LineRequest) => Fate;
  /** Breaks all connections. */
  resetAll(): void;
  /** Breaks the connections with watches. */
  resetStreams(): void;
  /** No byte goes through in any direction for so long. */
  freeze(ms: number): void;
  close(): Promise<void>;
}

export interface LineTarget {
  readonly url: string;
  /** Of servers that speak HTTPS. */
  readonly ca?: string;
}

const PASS: Fate = { kind: 'pass' };

export async function openLine(target: LineTarget): Promise<Line> {
  const isSecure = target.url.startsWith('https:');
  const agent = isSecure ? new HttpsAgent({ keepAlive: true, ca: target.ca }) : new HttpAgent({ keepAlive: true });
  const send = isSecure ? httpsRequest : httpRequest;
  const sockets = new Set<Socket>();
  const streams = new Set<Socket>();
  const writes: LineWrite[] = [];
  const counts: Record<string, number> = {};
  let frozenUntil = 0;

  const thaw = async (): Promise<void> => {
    for (let left = frozenUntil - Date.now(); left > 0; left = frozenUntil - Date.now()) await pause(left);
  };
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => incoming.socket.resetAndDestroy());
  });
  server.requestTimeout = 0;
  // Nothing may get lost on a connection that is closed for idleness: whatever fails here is wanted.
  server.keepAliveTimeout = 600_000;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const request = describe(incoming);
    const fate = line.decide(request);
    if (fate.kind !== 'pass') {
      const name = fate.kind === 'refuse' ? `refuse by ${fate.status}` : fate.kind;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    const key = request.isWrite ? keyOf(request.path) : undefined;
    const from = Date.now();
    const record = (rest: Pick<LineWrite, 'status' | 'isApplied' | 'fate'>): void => {
      if (key === undefined) return;
      const method = request.path.endsWith('/status') ? `${request.method} of the status` : request.method;
      writes.push({ from, to: Date.now(), key, method, marks: marksIn(body.toString()), ...rest });
    };
    const breakOff = (): void => void incoming.socket.resetAndDestroy();

    await thaw();
    if (fate.kind === 'freeze') await pause(fate.ms);
    if (outgoing.destroyed) return record({ status: 0, isApplied: false, fate: 'given up by the client' });
    if (fate.kind === 'reset') {
      breakOff();
      return record({ status: 0, isApplied: false, fate: 'reset' });
    }
    if (fate.kind === 'refuse') {
      const isDelivered = await deliver(outgoing, fate.status, refusalHeaders(fate.status), [refusal(fate.status)], 0);
      const { status } = fate;
      return record({ status, isApplied: false, fate: isDelivered ? 'delivered' : 'given up by the client' });
    }

    let answer: IncomingMessage;
    let content = Buffer.alloc(0);
    const isStream = (status: number | undefined): boolean => request.isWatch && status === 200;
    try {
      answer = await ask(incoming, body);
      if (!isStream(answer.statusCode)) content = await buffer(answer);
    } catch {
      breakOff();
      return record({ status: 0, isApplied: false, fate: 'server down' });
    }
    if (isStream(answer.statusCode)) return await relay(answer, outgoing, fate);
    const { statusCode: status = 502 } = answer;
    const isApplied = status < 300;
    await thaw();
    if (fate.kind === 'lose the answer') {
      breakOff();
      return record({ status, isApplied, fate: 'answer lost' });
    }
    const pieces = fate.kind === 'trickle' ? inPieces(content, 8) : [content];
    const gap = fate.kind === 'trickle' ? fate.ms / pieces.length : 0;
    const headers = { ...answer.headers, 'content-length': String(content.length) };
    delete (headers as Record<string, unknown>)['transfer-encoding'];
    const isDelivered = await deliver(outgoing, status, headers, pieces, gap);
    record({ status, isApplied, fate: isDelivered ? 'delivered' : 'given up by the client' });
  }

  async function ask({ method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const upstream = send(new URL(url ?? '/', target.url), {
      agent,
      ...(method !== undefined && { method }),
      headers: { ...headers, host: new URL(target.url).host },
    });
    upstream.end(body);
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    return answer;
  }

  async function relay(answer: IncomingMessage, outgoing: ServerResponse, fate: Fate): Promise<void> {
    const { socket } = outgoing;
    if (socket === null) return void answer.destroy();
    streams.add(socket);
    outgoing.once('close', () => {
      streams.delete(socket);
      answer.destroy();
    });
    outgoing.writeHead(200, answer.headers);
    outgoing.flushHeaders();
    let isLeftToTrickle = fate.kind === 'trickle';
    // Lost in the middle of a stream: some lines come, and the connection breaks.
    if (fate.kind === 'lose the answer') void pause(500).then(() => socket.resetAndDestroy());
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      await thaw();
      for (const piece of isLeftToTrickle ? inPieces(chunk, 8) : [chunk]) {
        if (outgoing.destroyed) return;
        if (fate.kind === 'trickle' && isLeftToTrickle) await pause(fate.ms / 8);
        if (!outgoing.write(piece)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]);
      }
      isLeftToTrickle = false;
    }
    outgoing.end();
  }

  async function deliver(
    outgoing: ServerResponse,
    status: number,
    headers: NodeJS.Dict<string | string[]>,
    pieces: readonly Buffer[],
    gap: number,
  ): Promise<boolean> {
    if (outgoing.destroyed) return false;
    const ended = new Promise<boolean>((resolve) => {
      outgoing.once('finish', () => resolve(true));
      outgoing.once('close', () => resolve(false));
    });
    outgoing.writeHead(status, headers);
    for (const piece of pieces) {
      if (gap > 0) await pause(gap);
      await thaw();
      if (outgoing.destroyed) return false;
      outgoing.write(piece);
    }
    outgoing.end();
    return await ended;
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const line: Line = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes,
    counts,
    decide: () => PASS,
    resetAll: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    resetStreams: () => {
      for (const socket of streams) socket.resetAndDestroy();
    },
    freeze: (ms) => {
      frozenUntil = Math.max(frozenUntil, Date.now() + ms);
    },
    async close() {
      frozenUntil = 0;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
      agent.destroy();
    },
  };
  return line;
}

function describe({ method = 'GET', url = '/' }: IncomingMessage): LineRequest {
  const [path = '', query = ''] = url.split('?', 2);
  const isWatch = new URLSearchParams(query).get('watch') === 'true';
  return { method, path, isWatch, isWrite: method !== 'GET' && method !== 'HEAD' };
}

/** `<plural>/<name>` of a namespaced object, or of its subresource. */
function keyOf(path: string): string | undefined {
  const { plural, name } = /\/namespaces\/[^/]+\/(?<plural>[^/]+)\/(?<name>[^/]+)/.exec(path)?.groups ?? {};
  return plural && name ? `${plural}/${name}` : undefined;
}

/** In merge-patches and in JSON patches alike. */
export function marksIn(body: string): string[] {
  const merged = body.matchAll(/"kopf\.zalando\.org\/(?<name>[^"]+)"\s*:\s*(?<value>null)?/g);
  const patched = body.matchAll(/annotations\/kopf\.zalando\.org~1(?<name>[^"]+)"/g);
  return [...merged, ...patched].flatMap(({ groups = {} }) =>
    groups['name'] === undefined ? [] : [`${groups['value'] === undefined ? '' : '-'}${groups['name']}`],
  );
}

function refusal(status: number): Buffer {
  const reasons: Record<number, string> = { 429: 'TooManyRequests', 500: 'InternalError', 503: 'ServiceUnavailable' };
  const content = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'a fault of the line',
    reason: reasons[status],
    ...(status === 429 && { details: { retryAfterSeconds: 1 } }),
    code: status,
  };
  return Buffer.from(JSON.stringify(content));
}

function refusalHeaders(status: number): Record<string, string> {
  return { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': '1' }) };
}

function inPieces(content: Buffer, count: number): Buffer[] {
  const size = Math.max(1, Math.ceil(content.length / count));
  const pieces: Buffer[] = [];
  for (let at = 0; at < content.length; at += size) pieces.push(content.subarray(at, at + size));
  return pieces;
}
