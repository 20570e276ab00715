import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { type ConnectionInfo, settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { proxyOf } from '../../../src/connections/proxies.js';
import { kubeClient } from '../../../src/index.js';
import { authority } from '../../helpers/certificates.js';
import { loopbackServer } from '../../helpers/servers.js';

const ca = authority();
const identity = ca.issue('server', [{ ip: '127.0.0.1' }]);

async function visit(connection: ConnectionInfo, env = {}, trustEnv = false): Promise<unknown> {
  const networking = { errorBackoffs: [], trustEnv };
  const client = kubeClient({
    connection,
    clock: manualClock(),
    logger: recordingLogger(),
    settings: settings({ networking }),
    env,
  });
  try {
    return await client.request({ method: 'GET', path: '/api' });
  } finally {
    await client.close();
  }
}

/** A proxy that remembers what it was asked for. */
async function httpProxy() {
  const asked: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    authorizations.push(request.headers['proxy-authorization']);
    response.end('{"by":"proxy"}');
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    authorizations.push(request.headers['proxy-authorization']);
    const [host, port] = (request.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    asked,
    authorizations,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const answering = () =>
  loopbackServer((_request, response) => response.end('{"by":"server"}'), { cert: identity.cert, key: identity.key });

describe('a proxy', () => {
  it('is a tunnel to a server with TLS', async () => {
    using proxy = await httpProxy();
    await using server = await answering();
    const connection = { server: server.url, ca: ca.cert, proxyUrl: proxy.url };
    await expect(visit(connection)).resolves.toEqual({ by: 'server' });
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${server.port}`]);
  });

  it('does not weaken the trust in the server', async () => {
    using proxy = await httpProxy();
    await using server = await answering();
    await expect(visit({ server: server.url, proxyUrl: proxy.url })).rejects.toMatchObject({ code: 'KOPF_CONNECTION' });
  });

  it('passes on plain requests to a server without TLS', async () => {
    using proxy = await httpProxy();
    await expect(visit({ server: 'http://cluster.example:8080', proxyUrl: proxy.url })).resolves.toEqual({
      by: 'proxy',
    });
    expect(proxy.asked).toEqual(['GET http://cluster.example:8080/api']);
  });

  it('may want a password', async () => {
    using proxy = await httpProxy();
    await using server = await answering();
    const proxyUrl = `http://me:p%40ss@${proxy.host}`;
    await visit({ server: server.url, ca: ca.cert, proxyUrl });
    expect(proxy.authorizations).toEqual([`Basic ${btoa('me:p@ss')}`]);
  });

  it('may speak SOCKS', async () => {
    await using server = await answering();
    const asked: string[] = [];
    const sockets = new Set<Socket>();
    const socks = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(Buffer.from([5, 0]));
        socket.once('data', (request) => {
          const port = request.readUInt16BE(request.length - 2);
          asked.push(`${request[3]} ${port}`);
          const onward = connect(server.port, '127.0.0.1', () => {
            socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
            onward.pipe(socket).pipe(onward);
          });
          sockets.add(onward);
        });
      });
    });
    await new Promise<void>((resolve) => {
      socks.listen(0, '127.0.0.1', resolve);
    });
    const { port } = socks.address() as AddressInfo;
    const connection = { server: server.url, ca: ca.cert, proxyUrl: `socks5://127.0.0.1:${port}` };
    await expect(visit(connection)).resolves.toEqual({ by: 'server' });
    expect(asked).toEqual([`1 ${server.port}`]);
    for (const socket of sockets) socket.destroy();
    socks.close();
  });

  it.each(['ftp://proxy', 'http://', 'socks4://proxy'])('is refused if it is not one: %s', (proxyUrl) => {
    expect(() => proxyOf({ server: 'https://host', proxyUrl }, {})).toThrow(/cannot be used/);
  });

  it('does not show its password in errors', () => {
    const connection = { server: 'https://host', proxyUrl: 'ftp://me:secret@proxy' };
    expect(() => proxyOf(connection, {})).toThrow(/^(?!.*secret)/);
  });
});

describe('the environment', () => {
  it('is not trusted by default', async () => {
    await using server = await answering();
    const env = { HTTPS_PROXY: 'http://127.0.0.1:1' };
    await expect(visit({ server: server.url, ca: ca.cert }, env)).resolves.toEqual({ by: 'server' });
  });

  it.each([
    ['the connection', { trustEnv: true }, false],
    ['the settings', {}, true],
  ])('is trusted if %s says so', async (_title, fields, trustEnv) => {
    using proxy = await httpProxy();
    await using server = await answering();
    await visit({ server: server.url, ca: ca.cert, ...fields }, { HTTPS_PROXY: proxy.url }, trustEnv);
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${server.port}`]);
  });

  it('is not trusted by a connection that does not want it, whatever the settings say', async () => {
    await using server = await answering();
    const connection = { server: server.url, ca: ca.cert, trustEnv: false };
    const env = { HTTPS_PROXY: 'http://127.0.0.1:1' };
    await expect(visit(connection, env, true)).resolves.toEqual({ by: 'server' });
  });

  const proxy = 'http://proxy:3128';
  it.each([
    ['https://host', { HTTPS_PROXY: proxy }, proxy],
    ['https://host', { https_proxy: proxy }, proxy],
    ['https://host', { HTTP_PROXY: proxy }, undefined],
    ['http://host', { HTTP_PROXY: proxy }, proxy],
    ['http://host', { HTTPS_PROXY: proxy }, undefined],
    ['https://host', { HTTPS_PROXY: 'proxy:3128' }, proxy],
    ['https://host', { HTTPS_PROXY: '' }, undefined],
    ['https://host', {}, undefined],
    ['https://host', { HTTPS_PROXY: proxy, NO_PROXY: '*' }, undefined],
    ['https://host', { HTTPS_PROXY: proxy, no_proxy: 'other, host' }, undefined],
    ['https://sub.host', { HTTPS_PROXY: proxy, NO_PROXY: 'host' }, undefined],
    ['https://sub.host', { HTTPS_PROXY: proxy, NO_PROXY: '.host' }, undefined],
    ['https://sub.host', { HTTPS_PROXY: proxy, NO_PROXY: '*.host' }, undefined],
    ['https://host', { HTTPS_PROXY: proxy, NO_PROXY: '.host' }, proxy],
    ['https://xhost', { HTTPS_PROXY: proxy, NO_PROXY: 'host' }, proxy],
    ['https://host:6443', { HTTPS_PROXY: proxy, NO_PROXY: 'host:6443' }, undefined],
    ['https://host:6443', { HTTPS_PROXY: proxy, NO_PROXY: 'host:443' }, proxy],
    ['https://host', { HTTPS_PROXY: proxy, NO_PROXY: 'host:443' }, undefined],
    ['https://10.96.0.1', { HTTPS_PROXY: proxy, NO_PROXY: '10.0.0.0/8' }, undefined],
    ['https://11.96.0.1', { HTTPS_PROXY: proxy, NO_PROXY: '10.0.0.0/8' }, proxy],
    ['https://10.96.0.1', { HTTPS_PROXY: proxy, NO_PROXY: '10.0.0.0/99' }, proxy],
    ['https://[fd00::1]', { HTTPS_PROXY: proxy, NO_PROXY: 'fd00::/8' }, undefined],
    ['https://[fd00::1]', { HTTPS_PROXY: proxy, NO_PROXY: 'fd00::1' }, undefined],
    ['https://[fd00::1]:6443', { HTTPS_PROXY: proxy, NO_PROXY: '[fd00::1]:6443' }, undefined],
  ])('for %s has %j', (server, env, expected) => {
    expect(proxyOf({ server, trustEnv: true }, env)).toBe(expected);
  });

  it('gives way to the proxy of the connection', () => {
    const connection = { server: 'https://host', trustEnv: true, proxyUrl: 'http://mine:1' };
    expect(proxyOf(connection, { HTTPS_PROXY: proxy, NO_PROXY: '*' })).toBe('http://mine:1');
  });
});
