import { connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { dockerDesktopServer, k3dServer, minikubeServer, webhookServer } from '../../src/index.js';
import { accessibleAddress, formatUrl } from '../../src/servers/server-urls.js';
import { ask, certificatesOnDemand, dial, localMaterial, served } from './support.js';

const insecure = { insecure: true, addr: '127.0.0.1' } as const;

describe('the address that is announced', () => {
  it.each([
    [{ ...insecure, port: 0, path: '/p1/p2' }, /^http:\/\/127\.0\.0\.1:\d+\/p1\/p2$/],
    [{ insecure: true, addr: '::1', path: '/p1/p2' }, /^http:\/\/\[::1\]:\d+\/p1\/p2$/],
    [{ insecure: true, path: '/p1/p2' }, /^http:\/\/localhost:\d+\/p1\/p2$/],
    [{ insecure: true, addr: '0.0.0.0' }, /^http:\/\/127\.0\.0\.1:\d+$/],
    [{ insecure: true, addr: '::' }, /^http:\/\/\[::1\]:\d+$/],
    [{ ...insecure, host: 'somehost', path: '/p1/p2' }, /^http:\/\/somehost:\d+\/p1\/p2$/],
    [{ ...insecure, host: 'fd00::1' }, /^http:\/\/\[fd00::1\]:\d+$/],
    [{ ...insecure, path: '/p1/' }, /^http:\/\/127\.0\.0\.1:\d+\/p1\/$/],
    [
      { ...insecure, url: 'https://webhooks.example.com/deep', path: '/p1' },
      /^https:\/\/webhooks\.example\.com\/deep$/,
    ],
  ])('for %j is like %s', async (options, expected) => {
    await using server = await served(webhookServer(options));
    expect(server.config).toEqual({ url: expect.stringMatching(expected) });
  });

  it.each([
    ['http', 80, 'http://host/path'],
    ['https', 443, 'https://host/path'],
    ['http', 443, 'http://host:443/path'],
    ['https', 80, 'https://host:80/path'],
  ] as const)('omits the port if it is the usual one: %s on %d', (scheme, port, expected) => {
    expect(formatUrl({ scheme, host: 'host', port, path: '/path' })).toBe(expected);
  });

  it.each([
    [undefined, 'localhost'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '::1'],
    ['10.1.2.3', '10.1.2.3'],
    ['somehost', 'somehost'],
    ['constructor', 'constructor'],
  ])('of a server on %s is %s', (addr, expected) => {
    expect(accessibleAddress(addr)).toBe(expected);
  });

  it('differs between two servers without ports', async () => {
    await using one = await served(webhookServer(insecure));
    await using two = await served(webhookServer(insecure));
    expect(one.url).not.toBe(two.url);
  });

  it.each([
    ['k3d', k3dServer, 'host.k3d.internal'],
    ['Minikube', minikubeServer, 'host.minikube.internal'],
    ['Docker Desktop', dockerDesktopServer, 'host.docker.internal'],
  ] as const)('has the name that %s has for this machine', async (_title, flavour, host) => {
    await using server = await served(flavour(insecure));
    expect(server.url).toMatch(new RegExp(`^http://${host.replaceAll('.', '\\.')}:\\d+$`));
    await using other = await served(flavour({ ...insecure, host: 'otherhost' }));
    expect(other.url).toMatch(/^http:\/\/otherhost:\d+$/);
  });

  it('has a bundle with the authority if it is secure', async () => {
    const material = await localMaterial();
    const certificates = certificatesOnDemand(material);
    await using server = await served(webhookServer({ addr: '127.0.0.1', host: 'somehost', certificates }));
    expect(server.url).toMatch(/^https:\/\/somehost:\d+$/);
    expect(server.ca).toBe(material.authorities);
  });

  it('has a certificate of its own making by default, for all its names', async () => {
    const server = webhookServer({ addr: '127.0.0.1', host: 'somehost', extraSans: ['otherhost'] });
    await using own = await served(server);
    for (const servername of ['somehost', 'otherhost']) {
      const url = own.url.replace('somehost', '127.0.0.1');
      expect(await ask(`${url}/fn`, { tls: { ca: own.ca, servername } })).toMatchObject({ status: 200 });
    }
    const byAddress = await ask(`${own.url.replace('somehost', '127.0.0.1')}/fn`, { tls: { ca: own.ca } });
    expect(byAddress.status).toBe(200);
  });
});

describe('listening', () => {
  it('is told in the log, with an asterisk for all interfaces', async () => {
    await using all = await served(webhookServer({ insecure: true, path: '/p1/p2' }));
    expect(all.logger.messages('info').join()).toMatch(/http:\/\/\*:\d+\/p1\/p2/);
    await using one = await served(webhookServer({ ...insecure, path: '/p1/p2' }));
    expect(one.logger.messages('info').join()).toMatch(/http:\/\/127\.0\.0\.1:\d+\/p1\/p2/);
  });

  it('is on the given port', async () => {
    const port = await freePort();
    await using server = await served(webhookServer({ ...insecure, port }));
    expect(server.url).toBe(`http://127.0.0.1:${port}`);
    expect((await ask(`${server.url}/fn`)).status).toBe(200);
  });

  it('fails with a hint if the port is taken', async () => {
    await using server = await served(webhookServer(insecure));
    const port = Number(new URL(server.url).port);
    const second = served(webhookServer({ ...insecure, port }));
    await expect(second).rejects.toThrow(new RegExp(`port ${port} of 127\\.0\\.0\\.1.*taken.*another port`));
    await expect(served(webhookServer({ ...insecure, port }))).rejects.toMatchObject({ code: 'KOPF_BAD_ENDPOINT' });
  });

  it('fails with a hint if there is no such address', async () => {
    const server = webhookServer({ insecure: true, addr: '192.0.2.1' });
    await expect(served(server)).rejects.toThrow(/no such address.*"addr"/);
  });

  it('ends with all connections closed', async () => {
    const server = await served(webhookServer(insecure));
    const { received } = await dial(server.url);
    const end = server.end();
    await server.clock.advance(1);
    await end;
    expect(await received).toBe('');
    const { port } = new URL(server.url);
    const refused = new Promise((resolve) => connect(Number(port), '127.0.0.1').once('error', resolve));
    expect(await refused).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
