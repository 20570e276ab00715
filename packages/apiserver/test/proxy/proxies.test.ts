import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
let server: Server;
let port: number;
const asked: IncomingMessage[] = [];

/** What runs in the pod: it tells what it was asked, and speaks another protocol if asked to. */
beforeEach(async () => {
  asked.length = 0;
  server = createServer((incoming, response) => {
    asked.push(incoming);
    if (incoming.url === '/moved') {
      response.writeHead(302, { location: '/there' }).end();
      return;
    }
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'x-own': 'yes' });
      response.end(Buffer.concat([Buffer.from(`${incoming.method} ${incoming.url} `), ...chunks]));
    });
  });
  server.on('upgrade', (incoming, socket) => {
    asked.push(incoming);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello ');
    socket.on('data', (data: Buffer) => socket.write(data.toString().toUpperCase()));
    socket.on('error', () => {}).on('end', () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  cluster = await localCluster({ clock: manualClock(), controllers: false });
  const containers = [{ name: 'c', image: 'x', ports: [{ name: 'web', containerPort: port }] }];
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { app: 'web' } },
    spec: { containers },
  });
  await cluster.client.request({
    method: 'PATCH',
    path: `${root}/pods/p/status`,
    contentType: 'application/merge-patch+json',
    body: { status: { podIP: '127.0.0.1', phase: 'Running' } },
  });
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'web' }] },
  });
});
afterEach(async () => {
  await cluster.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const root = '/api/v1/namespaces/default';
const ask = (path: string, options: RequestInit = {}): Promise<Response> =>
  fetch(`${cluster.url}${root}/${path}`, {
    redirect: 'manual',
    ...options,
    headers: { authorization: `Bearer ${cluster.token}`, ...options.headers },
  });

describe('proxies', () => {
  it.each(['pods/p', 'services/s', 'services/s:80', 'services/s:http', 'services/http:s:http'])(
    'lead through %s to where it listens',
    async (id) => {
      const response = await ask(`${id}/proxy/a%20b/c?d=e`);
      expect([response.status, response.headers.get('x-own')]).toEqual([200, 'yes']);
      expect(await response.text()).toBe('GET /a%20b/c?d=e ');
      expect(asked[0]?.headers['authorization']).toBeUndefined();
    },
  );

  it('pass bodies on as they are', async () => {
    const body = Buffer.from([0, 255, 128, 10]);
    const response = await ask('pods/p/proxy/x', { method: 'PUT', body, headers: { 'content-type': 'a/b' } });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat([Buffer.from('PUT /x '), body]));
  });

  it('send clients to paths of their own', async () => {
    expect((await ask('pods/p/proxy')).headers.get('location')).toBe(`${root}/pods/p/proxy/`);
    expect((await ask('pods/p/proxy/moved')).headers.get('location')).toBe(`${root}/pods/p/proxy/there`);
  });

  it('answer clients in the process, too', async () => {
    const path = `${root}/services/s/proxy/y`;
    expect(await cluster.client.request({ method: 'GET', path })).toBe('GET /y ');
  });

  it.each([
    ['pods/none/proxy/', 404, 'pods "none" not found'],
    ['services/none/proxy/', 404, 'services "none" not found'],
    ['services/s:81/proxy/', 503, 'no service port 81 found for service "s"'],
    ['services/a:b:c:d/proxy/', 400, 'invalid service request "a:b:c:d"'],
    ['pods/p:1/proxy/', 503, 'error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused'],
  ])('refuse %s', async (path, status, message) => {
    const response = await ask(path);
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([status, message]);
  });

  it('are not for strangers', async () => {
    const response = await fetch(`${cluster.url}${root}/pods/p/proxy/`);
    expect([response.status, asked.length]).toEqual([401, 0]);
  });
});

/** What comes back on a connection that is to speak another protocol, once it ends with the expected text. */
function upgraded(path: string, ends: string, token = cluster.token): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port: own } = new URL(cluster.url);
    const socket = connect(Number(own), hostname);
    let text = '';
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.on('data', (data: Buffer) => {
      text += data.toString();
      if (text.endsWith(ends)) socket.destroy();
    });
    const lines = [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`];
    socket.write(`${[...lines, 'Connection: Upgrade', 'Upgrade: websocket'].join('\r\n')}\r\n\r\nworld`);
  });
}

describe('upgrades', () => {
  it('connect the client with the pod', async () => {
    const text = await upgraded(`${root}/services/s/proxy/ws?x=y`, 'WORLD');
    expect(text).toMatch(/^HTTP\/1\.1 101 .*hello WORLD$/s);
    expect(asked[0]?.url).toBe('/ws?x=y');
  });

  it('are refused as other requests are', async () => {
    expect(await upgraded(`${root}/pods/none/proxy/ws`, '}')).toMatch(/^HTTP\/1\.1 404 .*"pods \\"none\\" not found"/s);
    expect(await upgraded(`${root}/pods/p/proxy/ws`, '}', 'wrong')).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('of anything else are ordinary requests, with their bodies', async () => {
    const body = JSON.stringify({ metadata: { name: 'c' } });
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${cluster.token}`,
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': '',
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      };
      const sent = request(`${cluster.url}${root}/configmaps`, { method: 'POST', headers }, resolve);
      sent.on('error', reject);
      sent.end(body);
    });
    answer.resume();
    expect(answer.statusCode).toBe(201);
    expect(cluster.get('configmaps/default/c')).toMatchObject({ metadata: { name: 'c' } });
  });
});
