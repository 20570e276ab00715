import { stat } from 'node:fs/promises';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, sep } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ClusterSecurity, createSecurity } from '../../src/server/security.js';

const open: ClusterSecurity[] = [];
async function security(tls: boolean): Promise<ClusterSecurity> {
  const made = await createSecurity({ tls, hosts: ['localhost', '127.0.0.1', '::1'] });
  open.push(made);
  return made;
}
afterEach(async () => {
  for (const made of open.splice(0)) await made.dispose();
});
const bearer = (token: string) => ({ authorization: `Bearer ${token}`, certificate: undefined });

describe('identities', () => {
  it('the administrator comes in with the token, and nobody else does', async () => {
    const made = await security(false);
    expect(made.authenticate(bearer(made.token))?.groups).toContain('system:masters');
    expect(made.authenticate(bearer(`${made.token}x`))).toBeUndefined();
    expect(made.authenticate(bearer(''))).toBeUndefined();
    expect(made.authenticate({ authorization: undefined, certificate: undefined })).toBeUndefined();
    expect(made.authenticate({ authorization: `Basic ${made.token}`, certificate: undefined })).toBeUndefined();
  });

  it.each([
    ['bearer TOKEN', true],
    [' Bearer TOKEN ', true],
    ['Bearer TOKEN and more', true],
    ['Bearer  TOKEN', false],
    ['Bearer Bearer TOKEN', false],
  ])('of the header %j, the second word is the token', async (header, isTheirs) => {
    const made = await security(false);
    const authorization = header.replace('TOKEN', made.token);
    expect(made.authenticate({ authorization, certificate: undefined }) !== undefined).toBe(isTheirs);
  });

  it('two clusters have different tokens', async () => {
    expect((await security(false)).token).not.toBe((await security(false)).token);
  });

  it('added users come in until they are revoked', async () => {
    const made = await security(false);
    const token = made.addUser({ username: 'me', groups: ['devs'], uid: '5' });
    const me = { username: 'me', groups: ['devs', 'system:authenticated'], uid: '5' };
    expect(made.authenticate(bearer(token))).toEqual(me);
    expect(made.userOfToken(token)).toEqual(me);
    made.revoke(token);
    expect(made.userOfToken(token)).toBeUndefined();
  });

  it('a certificate names the user and the groups', async () => {
    const made = await security(false);
    const certificate = { commonName: 'jane', organizations: ['devs', 'ops'] };
    expect(made.authenticate({ authorization: undefined, certificate })).toEqual({
      username: 'jane',
      groups: ['devs', 'ops', 'system:authenticated'],
    });
  });
});

describe('certificates', () => {
  it('are trusted by those who trust the authority, in both directions', async () => {
    const made = await security(true);
    const client = await made.issueClientCertificate({ commonName: 'jane', organizations: ['devs', 'ops'] });
    const server = createServer({ ...made.tls, requestCert: true, rejectUnauthorized: false }, (incoming, outgoing) => {
      const socket = incoming.socket as TLSSocket;
      const { CN, O } = socket.getPeerCertificate().subject ?? {};
      outgoing.end(JSON.stringify({ authorized: socket.authorized, CN, O }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const ask = (options: object): Promise<unknown> =>
        new Promise((resolve, reject) => {
          const outgoing = request({ host: '127.0.0.1', port, ca: made.tls?.ca, ...options }, (incoming) => {
            let body = '';
            incoming.on('data', (chunk) => {
              body += chunk;
            });
            incoming.on('end', () => resolve(JSON.parse(body)));
          });
          outgoing.on('error', reject).end();
        });
      expect(await ask(client)).toEqual({ authorized: true, CN: 'jane', O: ['devs', 'ops'] });
      expect(await ask({})).toEqual({ authorized: false });
      await expect(ask({ ca: undefined })).rejects.toThrow(/certificate/);
      await expect(ask({ servername: 'example.com' })).rejects.toThrow(/altnames/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('are not made where nobody asks for them', async () => {
    expect((await security(false)).tls).toBeUndefined();
  });
});

describe('kubeconfigs', () => {
  it('lead to the server with the token and the authority', async () => {
    const made = await security(true);
    const config = parse(made.kubeconfig('https://127.0.0.1:1234'));
    expect(config.clusters[0].cluster).toEqual({
      server: 'https://127.0.0.1:1234',
      'certificate-authority-data': Buffer.from(made.tls?.ca ?? '').toString('base64'),
    });
    expect(config.users[0].user).toEqual({ token: made.token });
    expect(config.contexts[0]).toEqual({ name: 'kopf-ts', context: { cluster: 'kopf-ts', user: 'kopf-ts' } });
    expect(config['current-context']).toBe('kopf-ts');
  });

  it('are files for us alone in a temporary folder, one per address, and are removed in the end', async () => {
    const made = await security(false);
    const path = await made.kubeconfigFile('http://127.0.0.1:1');
    expect(path.startsWith(tmpdir() + sep)).toBe(true);
    expect(await made.kubeconfigFile('http://127.0.0.1:1')).toBe(path);
    expect(await made.kubeconfigFile('http://127.0.0.1:2')).not.toBe(path);
    if (process.platform !== 'win32') {
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    }
    await made.dispose();
    await expect(stat(dirname(path))).rejects.toThrow(/ENOENT/);
  });
});
