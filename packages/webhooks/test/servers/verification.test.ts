import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type VerificationOptions, webhookServer } from '../../src/index.js';
import { type Answer, ask, certificatesOnDemand, localMaterial, pem, type Served, served } from './support.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kopf-peers-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function verifying(options: VerificationOptions): Promise<Served> {
  const certificates = certificatesOnDemand(await localMaterial());
  return served(webhookServer({ addr: '127.0.0.1', certificates, ...options }));
}

/** As a caller with this certificate, or with none. */
async function askAs({ url, ca }: Served, peer?: string): Promise<Answer | 'refused'> {
  const own = peer === undefined ? {} : pem((await localMaterial(peer)).secure);
  return ask(`${url}/fn`, { tls: { ca, ...own } }).catch(() => 'refused' as const);
}

const authorityOf = async (peer: string): Promise<string> => String((await localMaterial(peer)).authorities);

describe('callers', () => {
  it('are not asked for certificates by default', async () => {
    await using server = await verifying({});
    expect(await askAs(server, 'friend')).toMatchObject({ status: 200 });
    expect(server.calls[0]?.hints.sslPeer).toEqual({});
  });

  it('are asked if it is said who signs, and are known by their certificates then', async () => {
    await using server = await verifying({ verifyCadata: await authorityOf('friend') });
    expect(await askAs(server, 'friend')).toMatchObject({ status: 200 });
    expect(server.calls[0]?.hints.sslPeer).toMatchObject({ subject: { CN: 'friend' } });
    expect(await askAs(server)).toMatchObject({ status: 200 });
    expect(server.calls[1]?.hints.sslPeer).toEqual({});
  });

  it('may have no certificate, but not a wrong one, if that is optional', async () => {
    await using server = await verifying({ verifyMode: 'optional', verifyCadata: await authorityOf('friend') });
    expect(await askAs(server, 'stranger')).toBe('refused');
    expect(server.calls).toEqual([]);
    expect(server.logger.messages('warn').join()).toMatch(/certificate of 127\.0\.0\.1 is not accepted/);
    expect(await askAs(server)).toMatchObject({ status: 200 });
  });

  it('must have a right certificate if that is required', async () => {
    await using server = await verifying({ verifyMode: 'required', verifyCadata: await authorityOf('friend') });
    expect(await askAs(server)).toBe('refused');
    expect(await askAs(server, 'stranger')).toBe('refused');
    expect(server.calls).toEqual([]);
    expect(await askAs(server, 'friend')).toMatchObject({ status: 200 });
  });

  it('are verified by a file', async () => {
    const verifyCafile = join(folder, 'peers.pem');
    await writeFile(verifyCafile, await authorityOf('friend'));
    await using server = await verifying({ verifyMode: 'required', verifyCafile });
    expect(await askAs(server, 'friend')).toMatchObject({ status: 200 });
    expect(await askAs(server, 'stranger')).toBe('refused');
  });

  it('are verified by a directory of files, whatever else is in it', async () => {
    const verifyCapath = join(folder, 'peers');
    await mkdir(join(verifyCapath, 'deeper'), { recursive: true });
    await writeFile(join(verifyCapath, 'one.pem'), await authorityOf('friend'));
    await writeFile(join(verifyCapath, 'two.pem'), await authorityOf('partner'));
    await writeFile(join(verifyCapath, 'notes.txt'), 'Ask the partner for a new one in May.');
    await using server = await verifying({ verifyMode: 'required', verifyCapath });
    expect(await askAs(server, 'friend')).toMatchObject({ status: 200 });
    expect(await askAs(server, 'partner')).toMatchObject({ status: 200 });
    expect(await askAs(server, 'stranger')).toBe('refused');
  });

  it('are verified by a directory that Kubernetes has mounted', async () => {
    const verifyCapath = join(folder, 'mounted');
    await mkdir(join(verifyCapath, '..2026_11_16'), { recursive: true });
    await writeFile(join(verifyCapath, '..2026_11_16', 'ca.crt'), await authorityOf('friend'));
    await symlink('..2026_11_16', join(verifyCapath, '..data'));
    await symlink('..data/ca.crt', join(verifyCapath, 'ca.crt'));
    await using server = await verifying({ verifyMode: 'required', verifyCapath });
    expect(await askAs(server, 'friend')).toMatchObject({ status: 200 });
    expect(await askAs(server, 'stranger')).toBe('refused');
  });

  it('are all refused if there are no authorities in the directory', async () => {
    const verifyCapath = join(folder, 'empty');
    await mkdir(verifyCapath);
    await using server = await verifying({ verifyMode: 'required', verifyCapath });
    expect(await askAs(server, 'friend')).toBe('refused');
  });

  it('are still verified after the certificate of the server has changed', async () => {
    const [first, second] = await Promise.all([localMaterial(), localMaterial('second')]);
    const certificates = certificatesOnDemand(first);
    const options = { verifyMode: 'required', verifyCadata: await authorityOf('friend') } as const;
    await using server = await served(webhookServer({ addr: '127.0.0.1', certificates, ...options }));
    const next = server.next();
    certificates.materialsNow.put(second);
    const { url = '', caBundle = '' } = (await next) ?? {};
    const ca = Buffer.from(caBundle, 'base64').toString();
    expect(await askAs({ ...server, url, ca }, 'friend')).toMatchObject({ status: 200 });
    expect(await askAs({ ...server, url, ca }, 'stranger')).toBe('refused');
  });

  it('are verified by a ready context, also when they resume their sessions', async () => {
    const { secure, authorities: ca = '' } = await localMaterial();
    const context = createSecureContext({ ...secure, ca: await authorityOf('friend') });
    await using server = await served(webhookServer({ addr: '127.0.0.1', context, verifyMode: 'required' }));
    const own = pem((await localMaterial('friend')).secure);
    const connected = async (session?: Buffer) => {
      const port = Number(new URL(server.url).port);
      const socket = connect({ host: '127.0.0.1', port, ca, ...own, ...(session && { session }) });
      const offered = new Promise<Buffer>((resolve) => socket.once('session', resolve).resume());
      await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
      return { socket, offered, isResumed: socket.isSessionReused() };
    };
    const first = await connected();
    const second = await connected(await first.offered);
    expect([first.isResumed, second.isResumed]).toEqual([false, true]);
    for (const { socket } of [first, second]) socket.destroy();
    expect(await askAs({ ...server, ca }, 'stranger')).toBe('refused');
    expect(await askAs({ ...server, ca })).toBe('refused');
  });

  it('cannot be verified by a file that does not exist', async () => {
    const failing = verifying({ verifyCafile: join(folder, 'absent.pem') });
    await expect(failing).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
