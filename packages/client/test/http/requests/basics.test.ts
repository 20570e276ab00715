import { readFileSync } from 'node:fs';
import { ApiClientError, ApiError, ApiServerError, type ConnectionInfo, settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { authorizationOf, KubeConnectionError, kubeClient } from '../../../src/index.js';
import { scripted, scriptedServer } from '../../helpers/scripted.js';

const get = { method: 'GET', path: '/api/v1/pods' } as const;

async function sentTo(connection: Omit<ConnectionInfo, 'dispatcher'>, path = '/api', options = {}) {
  const server = scriptedServer({});
  const logger = recordingLogger();
  const client = kubeClient({
    connection: { ...connection, dispatcher: server.dispatcher },
    clock: manualClock(),
    logger,
    settings: settings(),
    ...options,
  });
  await client.request({ method: 'GET', path });
  await client.request({ method: 'GET', path });
  return { ...server.sent[0], logger };
}

describe('the address', () => {
  it.each([
    ['https://host', '/api/v1', 'https://host/api/v1'],
    ['https://host/', 'api/v1', 'https://host/api/v1'],
    ['https://host//', '//api/v1?watch=true&x=a%2Fb', 'https://host/api/v1?watch=true&x=a%2Fb'],
    ['https://host:6443/k8s/clusters/c-1/', '/api', 'https://host:6443/k8s/clusters/c-1/api'],
    ['http://[::1]:8080', '/api?url=http://x.example/', 'http://[::1]:8080/api?url=http://x.example/'],
    ['https://host/prefix', 'https://host/elsewhere', 'https://host/elsewhere'],
    ['https://host', 'http://other:80/path?q=1', 'http://other/path?q=1'],
  ])('of %s and %s', async (server, path, expected) => {
    expect((await sentTo({ server }, path)).url).toBe(expected);
  });

  it('elsewhere is visited without our credentials', async () => {
    const connection = { server: 'https://host', token: 'secret', impersonate: { user: 'me' } };
    const { headers } = await sentTo(connection, 'https://other/path');
    expect(Object.keys(headers ?? {})).toEqual(['accept', 'user-agent']);
  });

  it.each(['host:6443', 'ftp://host', ''])('is refused if the server is not a URL: "%s"', async (server) => {
    await expect(sentTo({ server })).rejects.toMatchObject({ code: 'KOPF_BAD_SERVER' });
  });
});

describe('the authorization', () => {
  it.each([
    ['a token', { token: 'tkn' }, 'Bearer tkn'],
    ['a scheme', { scheme: 'Digest' }, 'Digest'],
    ['a scheme and a token', { scheme: 'Digest', token: 'xyz' }, 'Digest xyz'],
    ['a username and a password', { username: 'müller', password: 'p:w' }, `Basic ${btoa('mÃ¼ller:p:w')}`],
    ['a username only', { username: 'me' }, undefined],
    ['a password only', { password: 'pw' }, undefined],
    ['nothing', {}, undefined],
  ])('by %s', async (_title, fields, expected) => {
    const connection = { server: 'https://host', ...fields };
    expect(authorizationOf(connection)).toBe(expected);
    expect((await sentTo(connection)).headers?.['authorization']).toBe(expected);
  });

  it('by a token wins over a username with a password, with one warning', async () => {
    const connection = { server: 'https://host', token: 'tkn', username: 'me', password: 'pw' };
    const { headers, logger } = await sentTo(connection);
    expect(headers?.['authorization']).toBe('Bearer tkn');
    expect(logger.messages('warn')).toEqual([
      'Both a token and a username with a password are given; using the token.',
    ]);
    expect(JSON.stringify(logger.lines)).not.toContain('pw');
  });

  it('may be on behalf of somebody else', async () => {
    const impersonate = { user: 'jane', uid: '42', groups: ['a', 'b'], extra: { 'example.com/Scope': ['x', 'y'] } };
    const { headers } = await sentTo({ server: 'https://host', impersonate });
    expect(headers).toMatchObject({
      'impersonate-user': 'jane',
      'impersonate-uid': '42',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-example.com%2FScope': ['x', 'y'],
    });
  });
});

describe('the user agent', () => {
  it('is that of the framework, with its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
    expect((await sentTo({ server: 'https://host' })).headers?.['user-agent']).toBe(`kopf-ts/${version}`);
  });

  it('may be another one', async () => {
    const { headers } = await sentTo({ server: 'https://host' }, '/api', { userAgent: 'my-operator/1.0' });
    expect(headers?.['user-agent']).toBe('my-operator/1.0');
  });
});

describe('the body', () => {
  it.each([
    ['of JSON by default', { body: { a: ['ü'] } }, 'application/json', '{"a":["ü"]}'],
    [
      'of a patch by its type',
      { body: [], contentType: 'application/json-patch+json' as const },
      'application/json-patch+json',
      '[]',
    ],
    [
      'of YAML as it is',
      { body: 'a: 1', contentType: 'application/apply-patch+yaml' as const },
      'application/apply-patch+yaml',
      'a: 1',
    ],
    [
      'of an object to apply, which is YAML, too',
      { body: { a: 1 }, contentType: 'application/apply-patch+yaml' as const },
      'application/apply-patch+yaml',
      '{"a":1}',
    ],
    ['absent, and so is its type', {}, undefined, null],
  ])('is %s', async (_title, fields, type, text) => {
    const { request, sent } = scripted([{}]);
    await request({ method: 'PATCH', path: '/x', ...fields });
    expect(sent[0]?.headers['content-type']).toBe(type);
    expect(sent[0]?.body).toBe(text);
  });
});

describe('the answer', () => {
  it.each([200, 201, 202, 206])('of HTTP %i is no error', async (status) => {
    const { request } = scripted([{ status, body: { a: 1 } }]);
    await expect(request(get)).resolves.toEqual({ a: 1 });
  });

  it.each([
    [207, 'GET'],
    [299, 'PATCH'],
    [300, 'GET'],
    [302, 'PATCH'],
    [304, 'GET'],
    [307, 'POST'],
    [308, 'DELETE'],
    [399, 'PUT'],
  ] as const)('of HTTP %i is no success either (%s)', async (status, method) => {
    const headers = { location: 'https://login.example/?return=secret' };
    const { request, sent } = scripted([{ status, headers, body: { a: 1 } }], { errorBackoffs: [1, 1] });
    const error = await request({ method, path: '/api/v1/pods/x' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KubeConnectionError);
    expect(error).toMatchObject({ code: 'KOPF_BAD_ANSWER' });
    expect(String(error)).toContain(`HTTP ${status} (a redirect to https://login.example)`);
    expect(sent).toHaveLength(3);
  });

  it.each([301, 302, 399])('of HTTP %i is no success of a stream either', async (status) => {
    const { client } = scripted([{ status, body: '{}\n' }]);
    const next = client.stream(get)[Symbol.asyncIterator]().next();
    await expect(next).rejects.toMatchObject({ code: 'KOPF_BAD_ANSWER' });
  });

  it.each([
    ['GET', 200, ''],
    ['PATCH', 200, ''],
    ['PUT', 204, ''],
    ['POST', 201, ' \n'],
    ['PATCH', 200, '<html>'],
    ['GET', 200, '{"items": ['],
  ] as const)(
    'that is no object is an error, and the request is sent again: %s, %i, "%s"',
    async (method, status, body) => {
      const whole = { body: { metadata: {} } };
      const { request, sent } = scripted([{ status, body }, { status, body }, whole], { errorBackoffs: [1, 1] });
      await expect(request({ method, path: '/apis/kopf.dev/v1/x/y' })).resolves.toEqual({ metadata: {} });
      expect(sent).toHaveLength(3);
      const failing = scripted([{ status, body }], { errorBackoffs: [] });
      await expect(failing.request({ method, path: '/apis/kopf.dev/v1/x/y' })).rejects.toBeInstanceOf(
        KubeConnectionError,
      );
    },
  );

  it.each([
    ['to a deletion', { method: 'DELETE', path: '/api/v1/namespaces/ns/pods/x' }],
    ['of a proxied service', { method: 'POST', path: '/api/v1/namespaces/ns/services/x/proxy/do/it' }],
    ['from elsewhere', { method: 'POST', path: 'https://other.example/hook' }],
  ] as const)('that is empty is nothing, %s', async (_title, emptied) => {
    const { request, sent } = scripted([{ status: 200, body: '' }]);
    await expect(request(emptied)).resolves.toBeUndefined();
    expect(sent).toHaveLength(1);
  });

  it('to a deletion may be a Status', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Success' };
    const { request } = scripted([{ body: status }]);
    await expect(request({ method: 'DELETE', path: '/api/v1/namespaces/ns/pods/x' })).resolves.toEqual(status);
  });

  it('that is not JSON is an error, which quotes nothing of it', async () => {
    const { request } = scripted([{ headers: { 'content-type': 'text/html' }, body: 'secret: 123' }]);
    const error = await request(get).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'KOPF_BAD_JSON' });
    expect(String(error)).toContain('text/html');
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('secret');
  });

  it.each([
    [400, 'ApiClientError'],
    [401, 'ApiUnauthorizedError'],
    [403, 'ApiForbiddenError'],
    [404, 'ApiNotFoundError'],
    [409, 'ApiConflictError'],
    [410, 'ApiGoneError'],
    [422, 'ApiUnprocessableError'],
    [429, 'ApiTooManyRequestsError'],
    [500, 'ApiServerError'],
    [666, 'ApiError'],
  ])('of HTTP %i is an error of its own class: %s', async (status, name) => {
    const { request } = scripted([{ status }]);
    const error = await request({ ...get, retries: 'none' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name, status });
    expect(error instanceof ApiClientError).toBe(status >= 400 && status < 500);
    expect(error instanceof ApiServerError).toBe(status >= 500 && status < 600);
  });

  it('with an error keeps the words of the server', async () => {
    const body = { kind: 'Status', code: 409, reason: 'Conflict', message: 'already there', details: { name: 'x' } };
    const { request } = scripted([{ status: 409, body }]);
    await expect(request(get)).rejects.toMatchObject({
      status: 409,
      reason: 'Conflict',
      message: 'already there',
      details: { name: 'x' },
    });
  });

  it('with an error keeps a text, but not for long', async () => {
    const { request } = scripted([{ status: 400, body: `  ${'x'.repeat(300)}  ` }]);
    await expect(request(get)).rejects.toMatchObject({ payload: `${'x'.repeat(253)}...` });
  });

  it('with an error hides what is not a Status', async () => {
    const { request } = scripted([{ status: 400, body: { kind: 'Secret', data: { password: 'xyz' } } }]);
    const error = await request(get).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ payload: undefined, message: 'HTTP 400' });
  });
});

it('needs either credentials or a connection', () => {
  const common = { clock: manualClock(), logger: recordingLogger() };
  const connection = { server: 'https://host' };
  const credentials = { current: async () => connection, invalidate: () => {} };
  expect(() => kubeClient(common)).toThrow(/either/);
  expect(() => kubeClient({ ...common, connection, credentials })).toThrow(/either/);
});
