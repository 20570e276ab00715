/** Requests that Node has taken for upgrades, and that are answered as others are. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';

/** The last answer on this connection. */
export function upgradedResponse(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.on('finish', () => socket.end());
  return response;
}

/** Nobody has read its body: it begins with the first bytes, and the socket has the rest. */
export function withBodyFrom(request: IncomingMessage, socket: Duplex, first: Buffer): IncomingMessage {
  let left = Number(request.headers['content-length'] ?? 0);
  if (left === 0) return request;
  const body = new PassThrough();
  const take = (chunk: Buffer): void => {
    body.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left > 0) return;
    socket.removeListener('data', take);
    body.end();
  };
  socket.on('data', take);
  socket.on('close', () => body.destroy());
  if (first.length > 0) take(first);
  const { method, url, headers, headersDistinct } = request;
  return Object.assign(body, { method, url, headers, headersDistinct, socket }) as unknown as IncomingMessage;
}
