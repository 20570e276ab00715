import { delimiter, join } from 'node:path';
import { LoginError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { loginWithKubeconfig } from '../../../src/index.js';
import { jwt, kubeconfig, temporaryFolder } from '../../helpers/folders.js';

const clock = { utc: () => new Date('2020-01-01T00:00:00Z') };
const seconds = (text: string): number => Date.parse(text) / 1000;

/** Logs in with a kubeconfig of this content. */
async function loginWith(config: unknown, options = {}) {
  using folder = temporaryFolder();
  const path = folder.write('config', config);
  return await loginWithKubeconfig({ path, clock, ...options });
}

describe('the kubeconfig is found', () => {
  it('where the environment says', async () => {
    using folder = temporaryFolder();
    const KUBECONFIG = folder.write('anywhere.yaml', kubeconfig({ token: 'a' }));
    await expect(loginWithKubeconfig({ env: { KUBECONFIG } })).resolves.toMatchObject({ token: 'a' });
  });

  it('in the home folder, if the environment says nothing, or nothing of use', async () => {
    using folder = temporaryFolder();
    folder.write('.kube/config', kubeconfig({ token: 'a' }));
    for (const KUBECONFIG of [undefined, '', ' ', delimiter]) {
      const env = { HOME: folder.path, ...(KUBECONFIG === undefined ? {} : { KUBECONFIG }) };
      await expect(loginWithKubeconfig({ env })).resolves.toMatchObject({ token: 'a' });
    }
  });

  it('relative to the home folder', async () => {
    using folder = temporaryFolder();
    folder.write('my/config', kubeconfig({ token: 'a' }));
    const env = { HOME: folder.path, KUBECONFIG: ' ~/my/config ' };
    await expect(loginWithKubeconfig({ env })).resolves.toMatchObject({ token: 'a' });
  });

  it('nowhere, and that is no error', async () => {
    using folder = temporaryFolder();
    await expect(loginWithKubeconfig({ env: { HOME: folder.path } })).resolves.toBeUndefined();
  });

  it('not where it should be, and that is an error with the path', async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'absent');
    const present = folder.write('present', kubeconfig());
    for (const options of [{ path: file }, { env: { KUBECONFIG: `${present}${delimiter}${file}` } }]) {
      const failure = expect(loginWithKubeconfig(options)).rejects;
      await failure.toBeInstanceOf(LoginError);
      await expect(loginWithKubeconfig(options)).rejects.toThrow(file);
    }
  });
});

describe('the kubeconfig is read', () => {
  it('as YAML', async () => {
    const text = [
      'current-context: c',
      'contexts: [{name: c, context: {cluster: x, user: y}}]',
      'clusters:',
      '- {name: x, cluster: {server: https://host}}',
      'users:',
      '- name: y',
      '  user:',
      '    token: 012345',
      '    username: 7',
    ].join('\n');
    await expect(loginWith(text)).resolves.toMatchObject({ server: 'https://host', username: '7' });
  });

  it('but not if it is nonsense; nothing of it is quoted then', async () => {
    const text = 'users:\n- token: "secret\n- }';
    const error = await loginWith(text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LoginError);
    expect(String(error)).toMatch(/config:\d+ is not valid YAML/);
    expect(String(error)).not.toContain('secret');
  });

  it.each(['', '{}', 'null', '[]', 'text', 'contexts: {}'])(
    'but not if it has no current context: "%s"',
    async (text) => {
      await expect(loginWith(text)).rejects.toThrow(/Current context is not set/);
    },
  );

  it.each([
    ['context', { 'current-context': 'other' }, /no context "other".*Known: ctx/],
    ['cluster', { clusters: [{ name: 'c2' }] }, /no cluster "cls".*Known: c2/],
    ['user', { users: null }, /no user "usr".*Known: none/],
  ])('but not if there is no such %s', async (_what, fields, text) => {
    await expect(loginWith({ ...kubeconfig(), ...fields })).rejects.toThrow(text);
  });

  it('but not without a server', async () => {
    await expect(loginWith(kubeconfig({}, { server: '' }))).rejects.toThrow(/"cls" has no "server"/);
  });

  it('without a user, if the context has none', async () => {
    await expect(loginWith(kubeconfig({}, {}, { user: '' }))).resolves.toEqual({
      server: 'https://host',
      priority: 10,
    });
  });

  it('with names that mean something in JavaScript', async () => {
    const context = '__proto__';
    const config = {
      'current-context': context,
      contexts: [{ name: context, context: { cluster: 'constructor', user: 'toString' } }],
      clusters: [{ name: 'constructor', cluster: { server: 'https://host' } }],
      users: [{ name: 'toString', user: { token: 'a' } }],
    };
    await expect(loginWith(config)).resolves.toMatchObject({ token: 'a' });
    await expect(loginWith({ ...config, clusters: [] })).rejects.toThrow(/no cluster "constructor"/);
  });
});

describe('several kubeconfigs', () => {
  it('are merged: the first of a name wins, and so does the first current context', async () => {
    using folder = temporaryFolder();
    const first = folder.write('1', {
      'current-context': null,
      contexts: [{ name: 'a', context: { cluster: 'x', user: 'u', namespace: 'first' } }],
      users: [{ name: 'u', user: { token: 'first' } }],
    });
    const second = folder.write('2', {
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'y', user: 'u', namespace: 'second' } }],
      clusters: [{ name: 'x', cluster: { server: 'https://second' } }],
      users: [{ name: 'u', user: { token: 'second' } }],
    });
    const third = folder.write('3', {
      'current-context': 'b',
      clusters: [{ name: 'x', cluster: { server: 'https://third' } }],
    });
    const expected = { server: 'https://second', token: 'first', defaultNamespace: 'first' };
    const KUBECONFIG = [first, second, '', third].join(delimiter);
    await expect(loginWithKubeconfig({ env: { KUBECONFIG } })).resolves.toMatchObject(expected);
    await expect(loginWithKubeconfig({ path: [first, second, third] })).resolves.toMatchObject(expected);
  });

  it('have their files beside themselves', async () => {
    using folder = temporaryFolder();
    folder.write('one/certs/ca.crt', 'CA of one');
    folder.write('two/client.crt', 'certificate of two');
    const key = folder.write('elsewhere/client.key', 'key of elsewhere');
    const one = folder.write('one/config', {
      ...kubeconfig({}, { 'certificate-authority': 'certs/ca.crt' }),
      users: [],
    });
    const two = folder.write('two/config', kubeconfig({ 'client-certificate': './client.crt', 'client-key': key }));
    await expect(loginWithKubeconfig({ path: [one, two] })).resolves.toMatchObject({
      ca: Buffer.from('CA of one'),
      cert: Buffer.from('certificate of two'),
      key: Buffer.from('key of elsewhere'),
    });
  });
});

it('another context than the current one may be chosen', async () => {
  const config = {
    'current-context': 'a',
    contexts: [
      { name: 'a', context: { cluster: 'x', user: 'u' } },
      { name: 'b', context: { cluster: 'y', user: 'v' } },
    ],
    clusters: [
      { name: 'x', cluster: { server: 'https://x' } },
      { name: 'y', cluster: { server: 'https://y' } },
    ],
    users: [
      { name: 'u', user: { token: 'u' } },
      { name: 'v', user: { token: 'v' } },
    ],
  };
  await expect(loginWith(config, { context: 'b' })).resolves.toMatchObject({ server: 'https://y', token: 'v' });
  await expect(loginWith(config, { context: 'c' })).rejects.toThrow(/no context "c".*Known: a, b/);
});

describe('what kubectl understands', () => {
  it.each([
    ['verified', { 'certificate-authority-data': 'Q0E=', 'certificate-authority': '/not/looked/at' }, { ca: 'Q0E=' }],
    ['not verified', { 'insecure-skip-tls-verify': true }, { insecure: true }],
  ])('of the cluster and the context, %s', async (_title, trust, trusted) => {
    const cluster = {
      server: 'https://host:6443/path',
      ...trust,
      'tls-server-name': 'other',
      'proxy-url': 'http://proxy:3128',
    };
    await expect(loginWith(kubeconfig({}, cluster, { namespace: 'ns' }), { trustEnv: true })).resolves.toEqual({
      server: 'https://host:6443/path',
      ...trusted,
      serverName: 'other',
      proxyUrl: 'http://proxy:3128',
      defaultNamespace: 'ns',
      priority: 10,
      trustEnv: true,
    });
  });

  it.each([
    ['a token', { token: 'tkn' }, { token: 'tkn' }],
    ['a username and a password', { username: 'me', password: 'pw' }, { username: 'me', password: 'pw' }],
    ['empty ones', { username: '', password: '', token: '' }, {}],
    ['a certificate', { 'client-certificate-data': 'QQ==', 'client-key-data': 'Qg==' }, { cert: 'QQ==', key: 'Qg==' }],
    [
      'a token that an unknown provider has left',
      { 'auth-provider': { name: 'x', config: { 'access-token': 't' } } },
      { token: 't' },
    ],
    [
      'a token rather than that',
      { token: 'a', 'auth-provider': { name: 'x', config: { 'access-token': 't' } } },
      { token: 'a' },
    ],
    ['a token rather than a plugin', { token: 'a', exec: { command: 'absent' } }, { token: 'a' }],
    [
      'somebody else to act as',
      { as: 'jane', 'as-uid': '1', 'as-groups': ['a'], 'as-user-extra': { scope: ['x'] } },
      { impersonate: { user: 'jane', uid: '1', groups: ['a'], extra: { scope: ['x'] } } },
    ],
  ])('of the user: %s', async (_title, user, expected) => {
    await expect(loginWith(kubeconfig(user))).resolves.toEqual({ server: 'https://host', priority: 10, ...expected });
  });

  it('but not groups to act as without a user', async () => {
    await expect(loginWith(kubeconfig({ 'as-groups': ['a'] }))).rejects.toThrow(/no user \("as"\)/);
  });

  it.each(['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'])(
    'but not files that are not there: %s',
    async (field) => {
      const [user, cluster] =
        field === 'certificate-authority' ? [{}, { [field]: 'x.pem' }] : [{ [field]: 'x.pem' }, {}];
      await expect(loginWith(kubeconfig(user, cluster))).rejects.toThrow(
        new RegExp(`"${field}" of "(usr|cls)" in the kubeconfig cannot be read from .*x\\.pem: there is no such file`),
      );
    },
  );
});

describe('a file with a token', () => {
  const login = async (token: string, user: object = {}) => {
    using folder = temporaryFolder();
    folder.write('secrets/token', token);
    const path = folder.write('config', kubeconfig({ tokenFile: 'secrets/token', ...user }));
    return await loginWithKubeconfig({ path, clock });
  };

  it('is beside the kubeconfig, and goes before a token in it', async () => {
    await expect(login(' rotated\n', { token: 'first' })).resolves.toMatchObject({ token: 'rotated' });
  });

  it('that is empty gives way to the token', async () => {
    await expect(login('\n', { token: 'first' })).resolves.toMatchObject({ token: 'first' });
  });

  it('is to be read again in a minute, if the token does not tell its end', async () => {
    for (const token of ['opaque', 'a.b.c', jwt({}), jwt({ exp: 'soon' })]) {
      await expect(login(token)).resolves.toMatchObject({ expiration: new Date('2020-01-01T00:01:00Z') });
    }
  });

  it('is to be read again by the end of the token, if it tells that', async () => {
    const token = jwt({ exp: seconds('2020-01-01T01:00:00Z') });
    await expect(login(token)).resolves.toMatchObject({ token, expiration: new Date('2020-01-01T01:00:00Z') });
  });

  it('is to be read again in a minute, if the token has ended already', async () => {
    const token = jwt({ exp: seconds('2019-12-31T23:59:59Z') });
    await expect(login(token)).resolves.toMatchObject({ token, expiration: new Date('2020-01-01T00:01:00Z') });
  });
});
