/** Real servers on the loopback, for what only sockets can show. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface LoopbackServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** How many connections are open now, and how many have been opened at all. */
  readonly connections: { readonly open: number; readonly ever: number };
  readonly server: Server;
}

export async function loopbackServer(listener: RequestListener, tls?: ServerOptions): Promise<LoopbackServer> {
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  const sockets = new Set<Socket>();
  let ever = 0;
  server.on('connection', (socket: Socket) => {
    ever++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    server: server as Server,
    connections: {
      get open() {
        return sockets.size;
      },
      get ever() {
        return ever;
      },
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Waits for the condition by looking at it in each turn of the event loop; fails after 5 seconds. */
export async function until(condition: () => boolean, what = 'the condition'): Promise<void> {
  const deadline = performance.now() + 5000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`Waited in vain for ${what}.`);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

export async function bodyOf(request: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
