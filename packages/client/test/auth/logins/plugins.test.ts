import { chmodSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { LoginError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { loginByPlugin } from '../../../src/auth/login-plugins.js';
import { loginWithKubeconfig } from '../../../src/index.js';
import { jwt, kubeconfig, type TemporaryFolder, temporaryFolder } from '../../helpers/folders.js';

const future = '2049-01-01T00:00:00Z';
const futureSeconds = Date.parse(future) / 1000;

/** A plugin that answers with this, told what it was told. */
function plugin(folder: TemporaryFolder, status: string, more = ''): string {
  const script = [
    '#!/usr/bin/env node',
    'const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);',
    more,
    `console.log(JSON.stringify({ apiVersion: info.apiVersion, kind: 'ExecCredential', status: ${status} }));`,
  ].join('\n');
  const file = folder.write('bin/plugin', script);
  chmodSync(file, 0o755);
  return file;
}

const withNode = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` };

async function loginWith(folder: TemporaryFolder, user: object, cluster: object = {}) {
  const path = folder.write('config', kubeconfig(user, cluster));
  return await loginWithKubeconfig({ path, env: withNode });
}

describe('a plugin', () => {
  it('gives a token, and tells its end', async () => {
    using folder = temporaryFolder();
    const command = plugin(folder, `{ token: 'tkn', expirationTimestamp: '${future}' }`);
    await expect(loginWith(folder, { exec: { command } })).resolves.toEqual({
      server: 'https://host',
      priority: 10,
      token: 'tkn',
      expiration: new Date(future),
    });
  });

  it('gives a token that tells its end by itself', async () => {
    using folder = temporaryFolder();
    const token = jwt({ exp: futureSeconds });
    const command = plugin(folder, `{ token: '${token}' }`);
    await expect(loginWith(folder, { exec: { command } })).resolves.toMatchObject({
      token,
      expiration: new Date(future),
    });
  });

  it('gives a certificate', async () => {
    using folder = temporaryFolder();
    const command = plugin(folder, `{ clientCertificateData: 'CERT', clientKeyData: 'KEY' }`);
    await expect(loginWith(folder, { exec: { command } })).resolves.toMatchObject({ cert: 'CERT', key: 'KEY' });
  });

  it('is run again at every login', async () => {
    using folder = temporaryFolder();
    const command = plugin(folder, `{ token: String(process.pid), expirationTimestamp: '${future}' }`);
    const first = await loginWith(folder, { exec: { command } });
    const second = await loginWith(folder, { exec: { command } });
    expect(first?.token).not.toBe(second?.token);
  });

  it('is found relative to the kubeconfig, and gets its arguments and variables', async () => {
    using folder = temporaryFolder();
    plugin(folder, '{ token: [...process.argv.slice(2), process.env.MINE].join() }');
    const exec = { command: './bin/plugin', args: ['a', 1], env: [{ name: 'MINE', value: 'x' }] };
    await expect(loginWith(folder, { exec })).resolves.toMatchObject({ token: 'a,1,x' });
  });

  it('is told what version to speak, that nobody is there to be asked, and the cluster if it wants', async () => {
    using folder = temporaryFolder();
    const command = plugin(folder, "{ token: Buffer.from(JSON.stringify(info)).toString('base64') }");
    const apiVersion = 'client.authentication.k8s.io/v1beta1';
    const told = async (more: object) => {
      const info = await loginWith(folder, { exec: { command, apiVersion, ...more } }, { 'tls-server-name': 'x' });
      return JSON.parse(Buffer.from(info?.token ?? '', 'base64').toString());
    };
    expect(await told({})).toEqual({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
    expect(await told({ provideClusterInfo: true })).toEqual({
      apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://host', 'tls-server-name': 'x' } },
    });
  });

  it('that fails is an error with its own words', async () => {
    using folder = temporaryFolder();
    const command = plugin(folder, '{}', "console.error('session expired, log in'); process.exit(3);");
    const failure = loginWith(folder, { exec: { command } });
    await expect(failure).rejects.toBeInstanceOf(LoginError);
    await expect(failure).rejects.toThrow(/login of "usr" by the plugin ".*plugin" failed: session expired, log in/);
  });

  it('that gives nothing is an error', async () => {
    using folder = temporaryFolder();
    const command = plugin(folder, '{}');
    await expect(loginWith(folder, { exec: { command } })).rejects.toThrow(/neither a token nor a certificate/);
  });

  it('that is not installed is an error with the hint how to install it', async () => {
    using folder = temporaryFolder();
    const exec = { command: 'no-such-plugin-anywhere', installHint: 'Get it at the counter.' };
    await expect(loginWith(folder, { exec })).rejects.toThrow(
      /not installed, or not on the PATH\. Get it at the counter\./,
    );
  });

  it('needs the library, and says so where it is absent', async () => {
    const user = { name: 'usr', fields: { exec: { command: 'x' } }, folder: '/' };
    const cluster = { name: 'cls', fields: {}, folder: '/' };
    const importLibrary = () => Promise.reject(new Error('Cannot find package'));
    const failure = loginByPlugin(user, cluster, { env: {}, clock: { utc: () => new Date(0) }, importLibrary });
    await expect(failure).rejects.toBeInstanceOf(LoginError);
    await expect(failure).rejects.toThrow(/npm install @kubernetes\/client-node/);
  });
});

describe('an auth provider', () => {
  it('OIDC gives its token while it is valid', async () => {
    using folder = temporaryFolder();
    const token = jwt({ exp: futureSeconds });
    const user = { 'auth-provider': { name: 'oidc', config: { 'id-token': token, 'idp-issuer-url': 'https://idp' } } };
    await expect(loginWith(folder, user)).resolves.toMatchObject({ token, expiration: new Date(future) });
  });

  it('OIDC with an ended token and no way to refresh it is an error', async () => {
    using folder = temporaryFolder();
    const user = { 'auth-provider': { name: 'oidc', config: { 'id-token': jwt({ exp: 1 }) } } };
    await expect(loginWith(folder, user)).rejects.toThrow(/auth provider "oidc".*log in with the tool/);
  });
});
