import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildCertificate } from '../../src/certificates/build-certificate.js';
import { certificateFiles } from '../../src/certificates/certificate-files.js';
import { type Follower, follow, handshake, untilSleeping } from './support.js';

const one = await buildCertificate(['localhost'], { password: 'secret' });
const two = await buildCertificate(['localhost']);
const old = await buildCertificate(['localhost'], { now: new Date('2001-01-01'), validity: 60 });

let folder: string;
let files: { certfile: string; pkeyfile: string };
const clock = () => manualClock({ start: new Date() });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kopf-certificates-'));
  files = { certfile: join(folder, 'tls.crt'), pkeyfile: join(folder, 'tls.key') };
  await put(two);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put({ certificate, privateKey }: { certificate?: string; privateKey?: string }): Promise<void> {
  if (certificate !== undefined) await writeFile(files.certfile, certificate);
  if (privateKey !== undefined) await writeFile(files.pkeyfile, privateKey);
}

const authoritiesOf = ({ materials }: Follower): (string | undefined)[] =>
  materials.map(({ material }) => material.authorities);
const certificatesOf = ({ materials }: Follower): string[] =>
  materials.map(({ material }) => String(material.secure.cert));

describe('certificates in files', () => {
  it('are used as they are, and are their own authorities', async () => {
    const time = clock();
    await using follower = follow(certificateFiles(files), { clock: time });
    await untilSleeping(time);
    expect(authoritiesOf(follower)).toEqual([two.certificate]);
    expect(await handshake(follower.current.secure, two.certificate, 'localhost')).toBe('accepted');
  });

  it('have other authorities if given: as a file, or rather as data', async () => {
    const time = clock();
    const cafile = join(folder, 'ca.crt');
    await writeFile(cafile, one.certificate);
    await using byFile = follow(certificateFiles({ ...files, cafile }), { clock: time });
    const cadata = Buffer.from(old.certificate);
    await using byData = follow(certificateFiles({ ...files, cafile, cadata }), { clock: time });
    await untilSleeping(time, 2);
    expect(authoritiesOf(byFile)).toEqual([one.certificate]);
    expect(authoritiesOf(byData)).toEqual([old.certificate]);
  });

  it('have their keys decrypted with the password', async () => {
    await put(one);
    const time = clock();
    await using follower = follow(certificateFiles({ ...files, password: 'secret' }), { clock: time });
    await untilSleeping(time);
    expect(await handshake(follower.current.secure, one.certificate, 'localhost')).toBe('accepted');
  });

  it('are given again when they are replaced: with both authorities first, then the new certificate', async () => {
    const time = clock();
    const source = certificateFiles({ ...files, checkInterval: 10, password: 'secret' });
    await using follower = follow(source, { clock: time });
    await untilSleeping(time);
    await time.advance(5);
    await put(one);
    await time.advance(4.9);
    expect(follower.materials).toHaveLength(1);

    await time.advance(0.1);
    await untilSleeping(time);
    const both = `${one.certificate}${two.certificate}`;
    expect(certificatesOf(follower)).toEqual([two.certificate, two.certificate]);
    expect(authoritiesOf(follower)).toEqual([two.certificate, both]);
    expect(follower.materials[1]?.time).toBe(10);

    await time.advance(5);
    expect(follower.materials.slice(2)).toEqual([
      { time: 15, material: expect.objectContaining({ authorities: both }) },
    ]);
    expect(String(follower.current.secure.cert)).toBe(one.certificate);

    await time.advance(10);
    expect(follower.current.authorities).toBe(one.certificate);
    expect(follower.materials).toHaveLength(4);
    expect(follower.logger.find('have changed')).toBeDefined();
  });

  it('are given at once when only the certificate is replaced, and not the authorities', async () => {
    const time = clock();
    const source = certificateFiles({ ...files, cadata: two.certificate, password: 'secret' });
    await using follower = follow(source, { clock: time });
    await untilSleeping(time);
    await put(one);
    await time.advance(60);
    await untilSleeping(time);
    expect(certificatesOf(follower)).toEqual([two.certificate, one.certificate]);
    expect(authoritiesOf(follower)).toEqual([two.certificate, two.certificate]);
  });

  it('are given at once when the previous one has expired, as nobody accepts that anyway', async () => {
    await put(old);
    const time = clock();
    await using follower = follow(certificateFiles(files), { clock: time });
    await untilSleeping(time);
    expect(follower.logger.find('has expired at 2001-01-01')?.level).toBe('warn');
    await put(two);
    await time.advance(60);
    await untilSleeping(time);
    expect(authoritiesOf(follower)).toEqual([old.certificate, two.certificate]);
  });

  it('are not given while the content is the same, though the files are new', async () => {
    const time = clock();
    await using follower = follow(certificateFiles(files), { clock: time });
    await untilSleeping(time);
    await writeFile(`${files.certfile}.new`, two.certificate);
    await rename(`${files.certfile}.new`, files.certfile);
    await time.advance(60);
    await untilSleeping(time);
    expect(follower.materials).toHaveLength(1);
  });

  it('are not given while only one of the two files is replaced', async () => {
    const time = clock();
    const source = certificateFiles({ ...files, cadata: two.certificate, password: 'secret' });
    await using follower = follow(source, { clock: time });
    await untilSleeping(time);
    await put({ certificate: one.certificate });
    for (let checks = 0; checks < 3; checks++) {
      await time.advance(60);
      await untilSleeping(time);
    }
    expect(follower.materials).toHaveLength(1);
    expect(follower.logger.messages('warn')).toEqual([
      expect.stringMatching(/cannot be used together: .*mismatch.*keeps using the previous certificate/),
    ]);

    await put({ privateKey: one.privateKey });
    await time.advance(60);
    await untilSleeping(time);
    expect(certificatesOf(follower)).toEqual([two.certificate, one.certificate]);
  });

  it('remain in use when the files are gone', async () => {
    const time = clock();
    await using follower = follow(certificateFiles(files), { clock: time });
    await untilSleeping(time);
    await rm(files.pkeyfile);
    await time.advance(60);
    await untilSleeping(time);
    expect(follower.materials).toHaveLength(1);
    expect(follower.logger.messages('error')).toEqual([expect.stringContaining(`${files.pkeyfile} with the private`)]);
  });

  it.each([
    { title: 'there is no certificate', break: () => rm(files.certfile), message: /tls\.crt .* cannot be read/ },
    { title: 'there is no key', break: () => rm(files.pkeyfile), message: /tls\.key .* cannot be read/ },
    {
      title: 'the key is of another',
      break: () => put({ certificate: old.certificate }),
      message: /together: .*mismatch/,
    },
    { title: 'the password is needed', break: () => put(one), message: /cannot be used together/ },
    { title: 'it is not PEM', break: () => put({ certificate: 'hello' }), message: /cannot be used together/ },
  ])('are an error at the start if $title', async ({ break: spoil, message }) => {
    await spoil();
    await using follower = follow(certificateFiles(files), { clock: clock() });
    expect(await follower.outcome).toMatchObject({
      code: expect.stringMatching(/^KOPF_CERTIFICATE_(FILES|MISMATCH)$/),
      message: expect.stringMatching(message),
    });
  });

  it('are an error if the authorities are not PEM', async () => {
    await using follower = follow(certificateFiles({ ...files, cadata: 'ca.crt' }), { clock: clock() });
    expect(await follower.outcome).toMatchObject({ message: expect.stringContaining('not in PEM') });
  });

  it('are no longer watched when aborted', async () => {
    const time = clock();
    const follower = follow(certificateFiles(files), { clock: time });
    await untilSleeping(time);
    await follower.stop();
    expect(await follower.outcome).toBe('ended');
    expect(time.sleepers).toBe(0);
  });

  it('cannot be checked all the time', () => {
    expect(() => certificateFiles({ ...files, checkInterval: 0 })).toThrow(/cannot be checked every 0 seconds/);
  });
});
