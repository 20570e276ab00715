import { readFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import { type ConnectionInfo, LoginError, settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { kubeClient, tlsOptions } from '../../../src/index.js';
import { authority } from '../../helpers/certificates.js';
import { type LoopbackServer, loopbackServer } from '../../helpers/servers.js';

const ca = authority();
const strangers = authority('another-ca');
const server = ca.issue('server', [{ dns: 'cluster.example' }, { ip: '127.0.0.1' }]);
const nameless = ca.issue('nameless', [{ dns: 'cluster.example' }]);
const user = ca.issue('jane');
const stranger = strangers.issue('john');

async function secureServer(identity = server): Promise<LoopbackServer> {
  const tls = { cert: identity.cert, key: identity.key, ca: ca.cert, requestCert: true, rejectUnauthorized: false };
  return await loopbackServer((request, response) => {
    const socket = request.socket as TLSSocket & { servername?: string | false };
    const subject = socket.authorized ? socket.getPeerCertificate().subject.CN : undefined;
    response.end(JSON.stringify({ user: subject ?? 'nobody', servername: socket.servername }));
  }, tls);
}

async function visit(connection: ConnectionInfo): Promise<unknown> {
  const networking = { errorBackoffs: [] };
  const client = kubeClient({
    connection,
    clock: manualClock(),
    logger: recordingLogger(),
    settings: settings({ networking }),
  });
  try {
    return await client.request({ method: 'GET', path: '/' });
  } finally {
    await client.close();
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const forms = [
  ['PEM', (pem: string) => pem],
  ['bytes of PEM', bytes],
  ['base64 of PEM', base64],
  ['base64 of PEM in lines', (pem: string) => base64(pem).replace(/.{64}/g, '$&\n')],
  ['bytes of base64 of PEM', (pem: string) => bytes(base64(pem))],
  ['PEM with remarks before it', (pem: string) => `Bag Attributes\n  friendlyName: x\n${pem}`],
] as const;

describe('the server is trusted', () => {
  it.each(forms)('by the CA, given as %s', async (_title, form) => {
    await using loopback = await secureServer();
    await expect(visit({ server: loopback.url, ca: form(ca.cert) })).resolves.toMatchObject({ user: 'nobody' });
  });

  it('by nothing, if told so', async () => {
    await using loopback = await secureServer(nameless);
    await expect(visit({ server: loopback.url, insecure: true })).resolves.toMatchObject({ user: 'nobody' });
  });

  it('by another name, if told so', async () => {
    await using loopback = await secureServer(nameless);
    const connection = { server: loopback.url, ca: ca.cert, serverName: 'cluster.example' };
    await expect(visit(connection)).resolves.toEqual({ user: 'nobody', servername: 'cluster.example' });
  });
});

describe('the server is not trusted', () => {
  it.each([
    ['without its CA', {}],
    ['by another CA', { ca: strangers.cert }],
  ])('%s', async (_title, fields) => {
    await using loopback = await secureServer();
    await expect(visit({ server: loopback.url, ...fields })).rejects.toMatchObject({ code: 'KOPF_CONNECTION' });
  });

  it('under a wrong name', async () => {
    await using loopback = await secureServer();
    const connection = { server: loopback.url, ca: ca.cert, serverName: 'other.example' };
    await expect(visit(connection)).rejects.toThrow(/altnames/);
  });
});

describe('the user is known by a certificate', () => {
  it.each(forms)('given as %s', async (_title, form) => {
    await using loopback = await secureServer();
    const connection = { server: loopback.url, ca: ca.cert, cert: form(user.cert), key: form(user.key) };
    await expect(visit(connection)).resolves.toMatchObject({ user: 'jane' });
  });

  it('but not by that of another CA', async () => {
    await using loopback = await secureServer();
    const connection = { server: loopback.url, ca: ca.cert, cert: stranger.cert, key: stranger.key };
    await expect(visit(connection)).resolves.toMatchObject({ user: 'nobody' });
  });

  it.each([
    ['the key', { cert: user.cert }, /certificate without its private key/],
    ['the certificate', { key: user.key }, /private key without its certificate/],
  ])('but not without %s', (_title, fields, text) => {
    expect(() => tlsOptions({ server: 'https://host', ...fields })).toThrow(LoginError);
    expect(() => tlsOptions({ server: 'https://host', ...fields })).toThrow(text);
  });
});

it.each(['/etc/ssl/ca.crt', 'nonsense', base64('not a certificate'), ''])('"%s" is no certificate', (text) => {
  expect(() => tlsOptions({ server: 'https://host', ca: text })).toThrow(/neither PEM .* nor base64/);
});

it('reads no files by names that look like certificates', () => {
  const path = new URL('../../../package.json', import.meta.url).pathname;
  expect(readFileSync(path, 'utf8')).toContain('undici');
  expect(() => tlsOptions({ server: 'https://host', ca: path })).toThrow(/pass the file's content/);
});
