import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect as connectTo, type Socket } from 'node:net';
import { ApiForbiddenError, type ConnectionInfo, type KubeConnection } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type HttpKubeClient, KubeConnectionError, kubeClient } from '../../src/index.js';
import { authority } from '../helpers/certificates.js';

const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const disposals: (() => unknown)[] = [];
afterEach(async () => {
  for (const dispose of disposals.splice(0).reverse()) await dispose();
});

/** A server that agrees, unless it has an answer; and what it was asked for. */
async function serverOf(
  talk: (socket: WebSocket) => void,
  answer?: (request: IncomingMessage) => string | undefined,
  identity?: { readonly cert: string; readonly key: string },
) {
  const requests: IncomingMessage[] = [];
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: ([first]) => first ?? false });
  const server = identity === undefined ? createServer() : createSecureServer(identity);
  server.on('upgrade', (request, socket, head) => {
    requests.push(request);
    const refusal = answer?.(request);
    if (refusal !== undefined) socket.end(refusal);
    else sockets.handleUpgrade(request, socket, head, talk);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  disposals.push(() => {
    sockets.close();
    server.closeAllConnections();
    server.close();
  });
  const protocol = identity === undefined ? 'http' : 'https';
  return { url: `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** A proxy that opens tunnels, unless it has another answer; and what it was asked for. */
async function proxyOf(refusal?: string) {
  const asked: string[] = [];
  const server = createServer();
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [host, port] = (request.url ?? '').split(':');
    const onward = connectTo(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    disposals.push(() => {
      socket.destroy();
      onward.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  disposals.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: (user?: string) => `http://${user === undefined ? '' : `${user}@`}127.0.0.1:${port}`, asked };
}

function clientOf(connection: ConnectionInfo): HttpKubeClient {
  const client = kubeClient({ connection, clock: manualClock(), logger: recordingLogger(), env: {} });
  disposals.push(() => client.close());
  return client;
}

const connect = (client: HttpKubeClient, signal?: AbortSignal): Promise<KubeConnection> =>
  (client.connect as NonNullable<HttpKubeClient['connect']>)({
    path: '/exec?command=date',
    protocols: PROTOCOLS,
    signal,
  });

async function textsOf(connection: KubeConnection): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of connection) texts.push(Buffer.from(message).toString());
  return texts;
}

const refused = (status: string, message: string): string => {
  const body = JSON.stringify({ kind: 'Status', status: 'Failure', message, reason: status.split(' ')[1] });
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

describe('connecting', () => {
  it('speaks in messages, both ways, as who it is', async () => {
    const { url, requests } = await serverOf((socket) => {
      socket.on('message', (data: Buffer) => {
        socket.send(`heard ${data.toString()}`);
        if (data.toString() === 'goodbye') socket.close(1000);
      });
    });
    const connection = await connect(clientOf({ server: `${url}/prefix`, token: 'secret' }));
    expect(connection.protocol).toBe('v5.channel.k8s.io');
    await connection.send(Buffer.from('hello'));
    await connection.send(Buffer.from('goodbye'));
    expect(await textsOf(connection)).toEqual(['heard hello', 'heard goodbye']);
    const { url: path, headers } = requests[0] as IncomingMessage;
    expect(path).toBe('/prefix/exec?command=date');
    expect(headers).toMatchObject({
      authorization: 'Bearer secret',
      'sec-websocket-protocol': PROTOCOLS.join(','),
    });
    await expect(connection.send(Buffer.from('still there?'))).rejects.toThrow('closed');
  });

  it('throws what the server says when it refuses', async () => {
    const { url } = await serverOf(
      () => {},
      () => refused('403 Forbidden', 'pods "web" is forbidden'),
    );
    const refusal = connect(clientOf({ server: url }));
    await expect(refusal).rejects.toBeInstanceOf(ApiForbiddenError);
    await expect(refusal).rejects.toThrow('pods "web" is forbidden');
  });

  it('throws if it is no API server that answers, or nobody', async () => {
    const { url } = await serverOf(
      () => {},
      () => 'HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n',
    );
    await expect(connect(clientOf({ server: url }))).rejects.toThrow('which no API server does');
    await expect(connect(clientOf({ server: 'http://127.0.0.1:1' }))).rejects.toBeInstanceOf(KubeConnectionError);
  });

  it('throws when the connection breaks, after what has come before', async () => {
    const { url } = await serverOf((socket) => socket.send('one', () => socket.terminate()));
    const iterator = (await connect(clientOf({ server: url })))[Symbol.asyncIterator]();
    expect(Buffer.from((await iterator.next()).value as Uint8Array).toString()).toBe('one');
    await expect(iterator.next()).rejects.toBeInstanceOf(KubeConnectionError);
  });

  it('ends with the signal, with the client, and with the reader', async () => {
    let closed = 0;
    const { url } = await serverOf((socket) => {
      socket.on('close', () => {
        closed += 1;
      });
      socket.send('one');
    });
    const reason = new Error('enough');
    const control = new AbortController();
    const client = clientOf({ server: url });
    const aborted = await connect(client, control.signal);
    const reading = textsOf(aborted);
    control.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await expect(connect(client, control.signal)).rejects.toBe(reason);
    for await (const _ of await connect(client)) break;
    const left = textsOf(await connect(client));
    left.catch(() => {});
    await client.close();
    await expect(left).rejects.toThrow('The client is closed.');
    await expect.poll(() => closed).toBe(3);
  });

  it.each(['http', 'https'] as const)('goes through proxies, to servers of %s', async (protocol) => {
    const ca = authority();
    const identity = protocol === 'https' ? ca.issue('server', [{ ip: '127.0.0.1' }]) : undefined;
    const server = await serverOf((socket) => socket.send('hello'), undefined, identity);
    const proxy = await proxyOf();
    const connection = { server: server.url, ca: ca.cert, token: 'secret', proxyUrl: proxy.url('me:pass') };
    const client = clientOf(protocol === 'https' ? connection : { server: server.url, proxyUrl: proxy.url('me:pass') });
    for await (const message of await connect(client)) {
      expect(Buffer.from(message).toString()).toBe('hello');
      break;
    }
    const credentials = Buffer.from('me:pass').toString('base64');
    expect(proxy.asked).toEqual([`CONNECT ${new URL(server.url).host} Basic ${credentials}`]);
    expect(server.requests).toHaveLength(1);
    // The token is for the server behind the proxy.
    expect(server.requests[0]?.headers.authorization).toBe(protocol === 'https' ? 'Bearer secret' : undefined);
  });

  it('verifies the server behind a proxy, too', async () => {
    const stranger = authority().issue('server', [{ ip: '127.0.0.1' }]);
    const server = await serverOf(() => {}, undefined, stranger);
    const proxy = await proxyOf();
    const client = clientOf({ server: server.url, ca: authority().cert, proxyUrl: proxy.url() });
    await expect(connect(client)).rejects.toThrow(/certificate/i);
    expect(server.requests).toEqual([]);
  });

  it('says whose fault it is if a proxy does not let it through, and keeps its password for itself', async () => {
    const proxy = await proxyOf('407 Proxy Authentication Required');
    const refused = clientOf({ server: 'http://127.0.0.1:1', proxyUrl: proxy.url('me:hunter2') });
    const error = await connect(refused).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KubeConnectionError);
    expect(String(error)).toMatch(
      /The proxy http:\/\/.*@127\.0\.0\.1:\d+ gives no way to 127\.0\.0\.1:1: it answered with HTTP 407/,
    );
    expect(String(error)).not.toContain('hunter2');
    const none = clientOf({ server: 'http://127.0.0.1:1', proxyUrl: 'http://127.0.0.1:2' });
    await expect(connect(none)).rejects.toThrow(/gives no way to 127\.0\.0\.1:1: .*ECONNREFUSED/);
    const socks = clientOf({ server: 'http://127.0.0.1:1', proxyUrl: 'socks5://127.0.0.1:2' });
    await expect(connect(socks)).rejects.toThrow('go through HTTP proxies only');
  });
});
