import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type TlsSource, webhookServer } from '../../src/index.js';
import { ask, certificatesOnDemand, localMaterial, pem, served } from './support.js';

const addr = '127.0.0.1';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kopf-tls-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The certificate that a new connection meets. */
async function presented(url: string): Promise<string> {
  const socket = connect({ host: addr, port: Number(new URL(url).port), rejectUnauthorized: false });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return raw.toString('base64');
}

const bare = (certificate: unknown): string => String(certificate).replace(/-----[^-]+-----|\s/g, '');

describe('a TLS context', () => {
  it.each(['ready', 'to be made'])('is used as it is given: %s', async (how) => {
    const { secure, authorities = '' } = await localMaterial();
    const context = how === 'ready' ? createSecureContext(secure) : secure;
    await using server = await served(webhookServer({ addr, context }));
    expect(server.config).toEqual({ url: expect.stringMatching(/^https:/) });
    expect((await ask(`${server.url}/fn`, { tls: { ca: authorities } })).status).toBe(200);
    const byName = await ask(`${server.url}/fn`, { tls: { ca: authorities, servername: 'localhost' } });
    expect(byName.status).toBe(200);
  });

  it('is announced with the authority that is said to have signed it', async () => {
    const { secure, authorities = '' } = await localMaterial();
    await using byData = await served(webhookServer({ addr, context: secure, cadata: Buffer.from(authorities) }));
    expect(byData.ca).toBe(authorities);
    const cafile = join(folder, 'context-ca.pem');
    await writeFile(cafile, authorities);
    await using byFile = await served(webhookServer({ addr, context: secure, cafile }));
    expect(byFile.ca).toBe(authorities);
  });

  it('is announced again when the file of the authority changes', async () => {
    const [{ secure, authorities = '' }, other] = await Promise.all([localMaterial(), localMaterial('other')]);
    const cafile = join(folder, 'changing-ca.pem');
    await writeFile(cafile, authorities);
    await using server = await served(webhookServer({ addr, context: secure, cafile, fileCheckInterval: 10 }));
    const next = server.next();
    await expect.poll(() => server.clock.sleepers).toBe(1);
    await writeFile(cafile, `${authorities}${other.authorities}`);
    await server.clock.advance(10);
    const { caBundle = '' } = (await next) ?? {};
    expect(Buffer.from(caBundle, 'base64').toString()).toBe(`${authorities}${other.authorities}`);
  });
});

describe('a file of authorities', () => {
  it('that vanishes is told of once, and announced again when it comes back with something new', async () => {
    const [{ secure, authorities = '' }, other] = await Promise.all([localMaterial(), localMaterial('other')]);
    const cafile = join(folder, 'vanishing-ca.pem');
    await writeFile(cafile, authorities);
    await using server = await served(webhookServer({ addr, context: secure, cafile, fileCheckInterval: 10 }));
    const next = server.next();
    await expect.poll(() => server.clock.sleepers).toBe(1);
    await rm(cafile);
    for (const _ of [1, 2]) {
      await server.clock.advance(10);
      await expect.poll(() => server.clock.sleepers).toBe(1);
    }
    expect(server.logger.messages('error')).toEqual([expect.stringMatching(/CA file cannot.*ENOENT/)]);
    await writeFile(cafile, String(other.authorities));
    await server.clock.advance(10);
    expect(Buffer.from((await next)?.caBundle ?? '', 'base64').toString()).toBe(other.authorities);
  });

  it('that is not there is an error at the start', async () => {
    const { secure } = await localMaterial();
    const server = webhookServer({ addr, context: secure, cafile: join(folder, 'absent-ca.pem') });
    await expect(served(server)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('given files', () => {
  it('are used, and their certificate is what to trust', async () => {
    const { cert, key } = pem((await localMaterial()).secure);
    const [certfile, pkeyfile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    await Promise.all([writeFile(certfile, cert), writeFile(pkeyfile, key)]);
    const certified = vi.fn();
    await using server = await served(webhookServer({ addr, certfile, pkeyfile }), { certified });
    expect(certified.mock.calls).toEqual([[new Date(new X509Certificate(cert).validTo)]]);
    expect(server.ca).toBe(cert);
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect((await ask(`${server.url}/fn`, { tls: { ca: server.ca } })).status).toBe(200);
  });
});

describe('new certificates', () => {
  it('are used at once by new connections, while the old ones go on', async () => {
    const [first, second] = await Promise.all([localMaterial(), localMaterial('second')]);
    const certificates = certificatesOnDemand({ ...first, authorities: `${first.authorities}${second.authorities}` });
    await using server = await served(webhookServer({ addr, certificates }));
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: server.ca });
    const question = { agent, tls: { ca: server.ca } };
    expect((await ask(`${server.url}/fn`, question)).status).toBe(200);
    expect(await presented(server.url)).toBe(bare(first.secure.cert));

    const next = server.next();
    certificates.materialsNow.put({ ...second, authorities: `${first.authorities}${second.authorities}` });
    await expect.poll(() => presented(server.url)).toBe(bare(second.secure.cert));
    const sockets = Object.values(agent.freeSockets).flat();
    expect((await ask(`${server.url}/fn`, question)).status).toBe(200);
    expect(Object.values(agent.freeSockets).flat()).toEqual(sockets);
    agent.destroy();
    server.abort();
    expect(await next).toBeUndefined();
  });

  it('are announced only if there are new authorities', async () => {
    const [first, second] = await Promise.all([localMaterial(), localMaterial('second')]);
    const both = `${first.authorities}${second.authorities}`;
    const certificates = certificatesOnDemand(first);
    await using server = await served(webhookServer({ addr, certificates }));
    const next = server.next();
    certificates.materialsNow.put({ ...first });
    await expect.poll(() => presented(server.url)).toBe(bare(first.secure.cert));
    certificates.materialsNow.put({ ...first, authorities: both });
    expect(await next).toEqual({ url: server.url, caBundle: Buffer.from(both).toString('base64') });
  });

  it('are not asked for before the authorities are announced and taken', async () => {
    const [first, second] = await Promise.all([localMaterial(), localMaterial('second')]);
    const asked: number[] = [];
    const certificates: TlsSource = {
      async *materials() {
        asked.push(1);
        yield first;
        asked.push(2);
        yield { ...first, authorities: `${first.authorities}${second.authorities}` };
        asked.push(3);
        yield { ...second, authorities: `${first.authorities}${second.authorities}` };
        asked.push(4);
      },
    };
    await using server = await served(webhookServer({ addr, certificates }));
    await server.clock.settle();
    expect(asked).toEqual([1]);
    await server.next();
    await server.clock.settle();
    expect(asked).toEqual([1, 2]);
    const next = server.next();
    await expect.poll(() => asked).toEqual([1, 2, 3, 4]);
    expect(await presented(server.url)).toBe(bare(second.secure.cert));
    server.abort();
    expect(await next).toBeUndefined();
  });

  it('that cannot be used leave the old ones in use', async () => {
    const [first, second] = await Promise.all([localMaterial(), localMaterial('second')]);
    const certificates = certificatesOnDemand(first);
    await using server = await served(webhookServer({ addr, certificates }));
    const next = server.next();
    const mixed = { cert: second.secure.cert, key: first.secure.key } as typeof first.secure;
    certificates.materialsNow.put({ secure: mixed, authorities: second.authorities });
    await expect.poll(() => server.logger.messages('error')).toHaveLength(1);
    expect(server.logger.messages('error')[0]).toMatch(/cannot be used.*previous ones/);
    expect(await presented(server.url)).toBe(bare(first.secure.cert));
    certificates.materialsNow.put(second);
    expect((await next)?.caBundle).toBe(Buffer.from(String(second.authorities)).toString('base64'));
    expect(await presented(server.url)).toBe(bare(second.secure.cert));
  });

  it('end the server if their source fails', async () => {
    const material = await localMaterial();
    const certificates: TlsSource = {
      async *materials() {
        yield material;
        throw new Error('The disk is gone.');
      },
    };
    const server = await served(webhookServer({ addr, certificates }));
    await expect(server.next()).rejects.toThrow('The disk is gone.');
    await expect(ask(`${server.url}/fn`, { tls: { ca: server.ca } })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('the dump of the authority', () => {
  it('is written, and written again when it changes', async () => {
    const [first, second] = await Promise.all([localMaterial(), localMaterial('second')]);
    const cadump = join(folder, 'dumped.pem');
    const certificates = certificatesOnDemand(first);
    await using server = await served(webhookServer({ addr, certificates, cadump }));
    expect(await readFile(cadump, 'utf8')).toBe(first.authorities);
    const next = server.next();
    certificates.materialsNow.put(second);
    await next;
    expect(await readFile(cadump, 'utf8')).toBe(second.authorities);
  });
});

describe('a failed handshake', () => {
  it('is told in one line', async () => {
    const certificates = certificatesOnDemand(await localMaterial());
    await using server = await served(webhookServer({ addr, certificates }));
    const { authorities = '' } = await localMaterial('second');
    await expect(ask(`${server.url}/fn`, { tls: { ca: authorities } })).rejects.toThrow(/self.signed|unable to/);
    await ask(server.url.replace('https:', 'http:')).catch(() => undefined);
    await expect
      .poll(() => server.logger.messages('warn').join('\n'))
      .toMatch(/handshake with 127\.0\.0\.1 has failed: "/);
    expect(server.calls).toEqual([]);
  });
});
