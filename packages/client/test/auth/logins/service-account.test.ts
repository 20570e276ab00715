import { join } from 'node:path';
import { LoginError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { login, loginWithServiceAccount } from '../../../src/index.js';
import { jwt, kubeconfig, temporaryFolder } from '../../helpers/folders.js';

const clock = { utc: () => new Date('2020-01-01T00:00:00Z') };
const seconds = (text: string): number => Date.parse(text) / 1000;

describe('a service account', () => {
  it('is known by its token alone', async () => {
    using folder = temporaryFolder();
    folder.write('token', ' tkn\n');
    await expect(loginWithServiceAccount({ dir: folder.path, env: {}, clock })).resolves.toEqual({
      server: 'https://kubernetes.default.svc',
      token: 'tkn',
      priority: 20,
      expiration: new Date('2020-01-01T00:01:00Z'),
    });
  });

  it('has its namespace and the CA of the cluster', async () => {
    using folder = temporaryFolder();
    folder.write('token', 'tkn');
    folder.write('namespace', ' ns\n');
    folder.write('ca.crt', '-----BEGIN CERTIFICATE-----');
    await expect(loginWithServiceAccount({ dir: folder.path, env: {}, trustEnv: false })).resolves.toMatchObject({
      defaultNamespace: 'ns',
      ca: '-----BEGIN CERTIFICATE-----',
      trustEnv: false,
    });
  });

  it.each([
    ['10.96.0.1', '443', 'https://10.96.0.1:443'],
    ['fd00::1', '6443', 'https://[fd00::1]:6443'],
    ['', '443', 'https://kubernetes.default.svc'],
    ['10.96.0.1', '', 'https://kubernetes.default.svc'],
  ])('goes to the address of the environment: %s %s', async (host, port, server) => {
    using folder = temporaryFolder();
    folder.write('token', 'tkn');
    const env = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port };
    await expect(loginWithServiceAccount({ dir: folder.path, env })).resolves.toMatchObject({ server });
  });

  it('is absent without a token, or with an empty one', async () => {
    using folder = temporaryFolder();
    await expect(loginWithServiceAccount({ dir: join(folder.path, 'absent') })).resolves.toBeUndefined();
    folder.write('namespace', 'ns');
    await expect(loginWithServiceAccount({ dir: folder.path })).resolves.toBeUndefined();
    folder.write('token', ' \n');
    await expect(loginWithServiceAccount({ dir: folder.path })).resolves.toBeUndefined();
  });

  it('that cannot be read is an error', async () => {
    using folder = temporaryFolder();
    folder.write('token/is/a/folder', '');
    await expect(loginWithServiceAccount({ dir: folder.path })).rejects.toBeInstanceOf(LoginError);
  });

  it.each([
    ['by the end of the token', { exp: seconds('2020-01-01T01:00:00Z') }, '2020-01-01T01:00:00Z'],
    [
      'by the hint of the cluster, if the token is prolonged for old clients',
      { exp: seconds('2021-01-01T00:00:00Z'), 'kubernetes.io': { warnafter: seconds('2020-01-01T01:00:07Z') } },
      '2020-01-01T01:00:07Z',
    ],
    [
      'by the end of the token, if the hint has passed',
      { exp: seconds('2021-01-01T00:00:00Z'), 'kubernetes.io': { warnafter: seconds('2019-01-01T00:00:00Z') } },
      '2021-01-01T00:00:00Z',
    ],
    ['in a minute, if all has passed', { exp: seconds('2019-01-01T00:00:00Z') }, '2020-01-01T00:01:00Z'],
  ])('is to be read again %s', async (_title, claims, expected) => {
    using folder = temporaryFolder();
    folder.write('token', jwt(claims));
    const info = await loginWithServiceAccount({ dir: folder.path, env: {}, clock });
    expect(info?.expiration).toEqual(new Date(expected));
  });
});

describe('a login by whatever there is', () => {
  it('prefers the service account', async () => {
    using folder = temporaryFolder();
    folder.write('sa/token', 'of the pod');
    folder.write('.kube/config', kubeconfig({ token: 'of the person' }));
    const options = { dir: join(folder.path, 'sa'), env: { HOME: folder.path } };
    await expect(login(options)).resolves.toMatchObject({ token: 'of the pod' });
    folder.write('sa/token', '');
    await expect(login(options)).resolves.toMatchObject({ token: 'of the person' });
  });

  it('says what to do, if there is nothing', async () => {
    using folder = temporaryFolder();
    const failure = login({ dir: folder.path, env: { HOME: folder.path } });
    await expect(failure).rejects.toBeInstanceOf(LoginError);
    await expect(failure).rejects.toThrow(/automountServiceAccountToken.*KUBECONFIG/);
  });
});
