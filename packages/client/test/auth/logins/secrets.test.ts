import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { type ConnectionInfo, LoginError, settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { maskSecrets, maskUrl } from '../../../src/auth/secret-masking.js';
import { kubeClient, loginWithKubeconfig, tlsOptions } from '../../../src/index.js';
import { authority } from '../../helpers/certificates.js';
import { jwt, kubeconfig, temporaryFolder } from '../../helpers/folders.js';
import { loopbackServer, until } from '../../helpers/servers.js';

const get = { method: 'GET', path: '/api' } as const;
const ca = authority();
const SECRETS = [jwt({ sub: 'x' }), 'xoxb-0123456789abcdefghijKLMNOP_q', '3f786850e387550fdab836ed7e6dc881de23001b'];

/** A plugin of a few words of JavaScript, and what became of the login by it. */
async function failureOf(script: string, options: { clock?: ReturnType<typeof manualClock> } = {}) {
  using folder = temporaryFolder();
  const exec = { command: process.execPath, args: ['-e', script] };
  const path = folder.write('config', kubeconfig({ exec }));
  return await loginWithKubeconfig({ path, ...options }).catch((thrown: unknown) => thrown);
}

describe('what a plugin prints is not told', () => {
  it.each(SECRETS)('if it is the bare token: %s', async (secret) => {
    const error = await failureOf(`console.log(${JSON.stringify(secret)})`);
    expect(error).toBeInstanceOf(LoginError);
    expect(String(error)).toMatch(/its output is not JSON\. Run it by hand/);
    expect(inspect(error, { depth: 9 })).not.toContain(secret.slice(0, 8));
  });

  it.each(SECRETS)('if it is among its complaints: %s', async (secret) => {
    const words = `session expired, token=${secret}, see https://me:${secret}@idp.example/x or Bearer ${secret} ${secret}`;
    const error = await failureOf(`console.error(${JSON.stringify(words)}); process.exit(3)`);
    expect(String(error)).toContain('session expired');
    expect(String(error)).toContain('https://***@idp.example/x');
    expect(inspect(error, { depth: 9 })).not.toContain(secret.slice(0, 20));
  });
});

it.each([
  'getting credentials: exec: executable aws failed with exit code 255',
  'Unable to reach https://sts.eu-central-1.amazonaws.com/ from /etc/somewhere/.config/gcloud',
  'authentication-required-by-the-identity-provider',
])('words are left as they are: %s', (text) => {
  expect(maskSecrets(text)).toBe(text);
});

it.each([
  ['ftp://u:PASS@host/x', 'ftp://***@host/x'],
  ['http://u:p/a?s#s@proxy:8080', 'http://***@proxy:8080'],
  ['u:p@ss@proxy', '***@proxy'],
  ['socks4://me:PASS@proxy', 'socks4://***@proxy'],
  ['https://host/path', 'https://host/path'],
])('%s is told as %s', (url, expected) => {
  expect(maskUrl(url)).toBe(expected);
});

it.each<[string, Partial<ConnectionInfo>, string]>([
  ['the server', { server: 'ftp://me:PASS@host' }, '/api'],
  ['the server, without a scheme', { server: 'me:PASS@host:6443' }, '/api'],
  ['the proxy', { proxyUrl: 'http://me:PASS/word@proxy:8080' }, '/api'],
  ['the proxy of a wrong kind', { proxyUrl: 'gopher://me:PA/SS@proxy:8080' }, '/api'],
  ['the address', {}, 'https://me:PASS@ho st/x'],
])('passwords are not told: in %s', async (_title, fields, path) => {
  const connection = { server: 'https://host.invalid', ...fields };
  const logger = recordingLogger();
  const config = settings({ networking: { errorBackoffs: [] } });
  await using client = kubeClient({ connection, clock: manualClock(), logger, settings: config });
  const error = await client.request({ ...get, path }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toContain('***@');
  expect(inspect([error, logger.lines], { depth: 9 })).not.toMatch(/PASS|PA\/SS/);
});

it.each([60, 7])(
  'a plugin that hangs is ended after %i seconds, even if others hold its output',
  async (pluginTimeout) => {
    using folder = temporaryFolder();
    const clock = manualClock();
    const script = [
      "require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 8e3)'], { stdio: 'inherit' });",
      `require('node:fs').writeFileSync(${JSON.stringify(join(folder.path, 'started'))}, '');`,
      'setInterval(() => {}, 1e6)',
    ].join('\n');
    const exec = { command: process.execPath, args: ['-e', script] };
    const path = folder.write('config', kubeconfig({ exec }));
    const login = loginWithKubeconfig({ path, clock, ...(pluginTimeout === 60 ? {} : { pluginTimeout }) });
    const failure = expect(login).rejects.toThrow(
      `did not finish within ${pluginTimeout}s and was killed. Run it by hand`,
    );
    await until(() => existsSync(join(folder.path, 'started')), 'the plugin to start');
    await clock.advance(pluginTimeout);
    await failure;
    expect(clock.sleepers).toBe(0);
  },
);

it.each(['call', 'stream'])('a client certificate is not shown to strangers, by a %s', async (purpose) => {
  const { cert, key } = ca.issue('server', [{ ip: '127.0.0.1' }, { dns: 'cluster.example' }]);
  const shown: string[] = [];
  const tls = { cert, key, ca: ca.cert, requestCert: true, rejectUnauthorized: false };
  const serve = () =>
    loopbackServer((request, response) => {
      shown.push(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? 'nobody'));
      response.end('{}\n');
    }, tls);
  await using ours = await serve();
  await using foreign = await serve();
  const user = ca.issue('jane');
  const connection = { server: ours.url, ca: ca.cert, cert: user.cert, key: user.key, serverName: 'cluster.example' };
  await using client = kubeClient({ connection, clock: manualClock(), logger: recordingLogger() });
  for (const path of ['/x', `${foreign.url}/x`]) {
    if (purpose === 'call') await client.request({ ...get, path });
    else
      await client
        .stream({ ...get, path })
        [Symbol.asyncIterator]()
        .next();
  }
  expect(shown).toEqual(['jane', 'nobody']);
});

describe('a CA together with no verification is refused', () => {
  it('in a connection', () => {
    const given = { server: 'https://host', ca: ca.cert, insecure: true };
    expect(() => tlsOptions(given)).toThrow(/Keep only one of them/);
    expect(tlsOptions({ ...given, insecure: false })).toHaveProperty('ca');
  });

  it.each([
    ['inline', { 'certificate-authority-data': btoa(ca.cert) }],
    ['in a file', { 'certificate-authority': 'ca.crt' }],
  ])('in a kubeconfig, %s', async (_title, fields) => {
    using folder = temporaryFolder();
    folder.write('ca.crt', ca.cert);
    const path = folder.write('config', kubeconfig({}, { ...fields, 'insecure-skip-tls-verify': true }));
    const login = loginWithKubeconfig({ path });
    await expect(login).rejects.toMatchObject({ code: 'KOPF_INSECURE_WITH_CA' });
    await expect(login).rejects.toThrow(/cluster "cls".*remove insecure-skip-tls-verify/);
  });
});
