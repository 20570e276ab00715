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
  /** With the answers that may be still under way; only the last of them, unless requests come before the answers. */
  const open = new Map<Socket, ServerResponse[]>();
  /** By their addresses: a connection that turns into a secure one is another object then. */
  const shakingHands = new Map<string, Socket>();
  let isReleased = false;

  const keep = (socket: Socket): void => {
    open.set(socket, []);
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
  // No listeners for each answer: they would cost more than all the rest of this.
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const pending = open.get(socket);
    if (pending === undefined) return;
    while (pending[0] !== undefined && isDone(pending[0])) pending.shift();
    pending.push(response);
    if (isReleased) closeAfter(response);
  });

  return {
    release() {
      isReleased = true;
      for (const responses of open.values()) {
        for (const response of responses) if (!isDone(response)) closeAfter(response);
      }
    },
    closeIdle() {
      for (const socket of shakingHands.values()) socket.destroy();
      for (const [socket, responses] of open) if (responses.every(isDone)) socket.destroy();
    },
    destroy() {
      for (const socket of [...open.keys(), ...shakingHands.values()]) socket.destroy();
    },
  };
}

function isDone(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed;
}

/** The caller is told so, if it is not too late for that; and it is done in any case. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
  response.once('close', () => response.req.socket.destroySoon());
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
