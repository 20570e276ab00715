/** The connections of a server, so that it can be closed without losing a request, and without waiting for the idle. */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

export interface ConnectionKeeper {
  /** From now on, each connection is closed as soon as it has served a request. */
  release(): void;
  /** Closes those that serve no requests now. */
  closeIdle(): void;
  /** Closes all of them now. */
  destroy(): void;
}

export function connectionKeeper(server: HttpServer | HttpsServer): ConnectionKeeper {
  const open = new Set<Socket>();
  /** By their addresses: a connection that turns into a secure one is another object then. */
  const shakingHands = new Map<string, Socket>();
  const pending = new Set<ServerResponse>();
  let isReleased = false;

  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  if ('setSecureContext' in server) {
    server.on('connection', (socket: Socket) => {
      const key = keyOf(socket);
      shakingHands.set(key, socket);
      socket.once('close', () => shakingHands.get(key) === socket && shakingHands.delete(key));
    });
    server.on('secureConnection', (socket) => {
      shakingHands.delete(keyOf(socket));
      keep(socket);
    });
  } else {
    server.on('connection', keep);
  }
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    pending.add(response);
    if (isReleased) response.setHeader('connection', 'close');
    response.once('close', () => {
      pending.delete(response);
      if (isReleased) socket.destroySoon();
    });
  });

  return {
    release() {
      isReleased = true;
      for (const response of pending) if (!response.headersSent) response.setHeader('connection', 'close');
    },
    closeIdle() {
      const busy = new Set([...pending].map(({ req }) => req.socket));
      for (const socket of [...open, ...shakingHands.values()]) if (!busy.has(socket)) socket.destroy();
    },
    destroy() {
      for (const socket of [...open, ...shakingHands.values()]) socket.destroy();
    },
  };
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
