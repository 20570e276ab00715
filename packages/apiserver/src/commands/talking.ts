/** Talks with a client about a command, over its connection. */
import type { Duplex } from 'node:stream';
import type { RequestHead } from '../contracts/request.js';
import { type ExecCommand, type ExecSession, execSession, PROTOCOLS } from './exec-session.js';
import { acceptWebSocket, serverSocket } from './web-socket.js';

/** Tells whether the client speaks the same language; otherwise, nothing is said. */
export function talk(command: ExecCommand, { headers }: RequestHead, client: Duplex, first: Buffer): boolean {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  const protocol = PROTOCOLS.find((one) => offered.includes(one));
  const key = headers['sec-websocket-key'];
  if (protocol === undefined || key === undefined) return false;
  acceptWebSocket(client, key, protocol);
  let session: ExecSession | undefined;
  const early: Buffer[] = [];
  const socket = serverSocket(client, first, {
    onMessage: (message) => void (session === undefined ? early.push(message) : session.accept(message)),
    onClose: () => session?.leave(),
  });
  session = execSession(command, protocol, socket.send, socket.close);
  for (const message of early) session.accept(message);
  return true;
}
