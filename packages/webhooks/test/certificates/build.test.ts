import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { buildCertificate } from '../../src/certificates/build-certificate.js';
import { certificateNames } from '../../src/certificates/making/certificate-names.js';
import { newKeyPair } from '../../src/certificates/making/keys.js';
import { signCertificate } from '../../src/certificates/making/x509.js';
import { handshake } from './support.js';

const HOSTS = ['1.2.3.4', 'hostname1', '0:0:0:0:0:0:0:1', 'hostname2', '127.0.0.1'];
const built = buildCertificate(HOSTS);

describe('a built certificate', { timeout: 60_000 }, () => {
  it('is for all the names and addresses', async () => {
    const { certificate } = await built;
    const { subject, subjectAltName } = new X509Certificate(certificate);
    expect(subject).toBe('CN=hostname1');
    expect(subjectAltName?.split(', ')).toEqual([
      ...['DNS:1.2.3.4', 'DNS:hostname1', 'DNS:::1', 'DNS:hostname2', 'DNS:127.0.0.1'],
      ...['IP Address:1.2.3.4', 'IP Address:0:0:0:0:0:0:0:1', 'IP Address:127.0.0.1'],
    ]);
  });

  it('is its own authority, of servers and of clients', async () => {
    const parsed = new X509Certificate((await built).certificate);
    expect(parsed.ca).toBe(true);
    expect(parsed.issuer).toBe(parsed.subject);
    expect(parsed.checkIssued(parsed)).toBe(true);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect(parsed.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });

  it('can sign for servers only, not for other authorities', async () => {
    const { certificate, privateKey } = await built;
    const root = { certificate, privateKey: createPrivateKey(privateKey) };
    const dates = { notBefore: new Date(Date.now() - 1000), notAfter: new Date(Date.now() + 3_600_000) };
    const issue = async (issuer: typeof root, isAuthority: boolean) => {
      const keys = newKeyPair();
      const issued = await signCertificate({
        ...{ commonName: 'issued', publicKey: keys.publicKey, issuer, ...dates, isAuthority },
        usages: isAuthority ? ['keyCertSign'] : ['digitalSignature'],
        names: certificateNames(['localhost']),
      });
      return { certificate: issued, privateKey: keys.privateKey };
    };
    const trying = async (server: typeof root, chain = '') => {
      const key = server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      return await handshake({ cert: `${server.certificate}${chain}`, key }, certificate, 'localhost');
    };
    expect(await trying(await issue(root, false))).toBe('accepted');
    const other = await issue(root, true);
    expect(await trying(await issue(other, false), other.certificate)).toBe('PATH_LENGTH_EXCEEDED');
  });

  it('comes with its key', async () => {
    const { certificate, privateKey } = await built;
    expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))).toBe(true);
  });

  it.each(['hostname1', 'hostname2', '1.2.3.4', '127.0.0.1', '::1'])('is accepted for %s', async (name) => {
    const { certificate, privateKey } = await built;
    expect(await handshake({ cert: certificate, key: privateKey }, certificate, name)).toBe('accepted');
  });

  it.each(['hostname3', 'sub.hostname1', '4.3.2.1', '::2'])('is refused for %s', async (name) => {
    const { certificate, privateKey } = await built;
    const outcome = await handshake({ cert: certificate, key: privateKey }, certificate, name);
    expect(outcome).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('is refused by those who trust another one', async () => {
    const { certificate, privateKey } = await built;
    const other = await buildCertificate(HOSTS);
    const outcome = await handshake({ cert: certificate, key: privateKey }, other.certificate, 'hostname1');
    expect(outcome).toMatch(/SELF_SIGNED|UNABLE_TO_VERIFY|CERT_SIGNATURE_FAILURE/);
  });

  it('has its key encrypted with the password', async () => {
    const { certificate, privateKey } = await buildCertificate(['localhost'], { password: 'secret' });
    expect(privateKey).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/);
    expect(() => createPrivateKey({ key: privateKey, passphrase: 'wrong' })).toThrow(/decrypt/);
    const secure = { cert: certificate, key: privateKey, passphrase: 'secret' };
    expect(await handshake(secure, certificate, 'localhost')).toBe('accepted');
  });

  it('is valid for as long as asked, and since a day before: clocks differ', async () => {
    const now = new Date('2024-05-06T07:08:09Z');
    const { certificate } = await buildCertificate(['localhost'], { now, validity: 3600 });
    const { validFrom, validTo } = new X509Certificate(certificate);
    expect(new Date(validFrom)).toEqual(new Date('2024-05-05T07:08:09Z'));
    expect(new Date(validTo)).toEqual(new Date('2024-05-06T08:08:09Z'));
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('cannot be valid for %s seconds', async (validity) => {
    await expect(buildCertificate(['localhost'], { validity })).rejects.toThrow(/cannot be valid for/);
  });

  it('takes no time to speak of: nobody waits for a search for keys', async () => {
    const begun = performance.now();
    for (let count = 0; count < 50; count++) await buildCertificate(['localhost']);
    // An RSA key alone takes 50 ms and more; 50 of them would take seconds.
    expect(performance.now() - begun).toBeLessThan(2500);
  });

  it.each([40 * 365 * 86_400, 1000 * 365 * 86_400])('can be valid for %d seconds', async (validity) => {
    const now = new Date('2024-05-06T07:08:09Z');
    const { certificate } = await buildCertificate(['localhost'], { now, validity });
    expect(new Date(new X509Certificate(certificate).validTo)).toEqual(new Date(now.getTime() + validity * 1000));
  });
});

describe('without node-forge', () => {
  it('says what to install', async () => {
    vi.resetModules();
    vi.doMock('node-forge', () => {
      throw new Error('Cannot find package');
    });
    const { buildCertificate: build } = await import('../../src/certificates/build-certificate.js');
    await expect(build(['localhost'])).rejects.toMatchObject({
      code: 'KOPF_MISSING_DEPENDENCY',
      message: expect.stringContaining('npm install node-forge'),
    });
    vi.doUnmock('node-forge');
  });
});
