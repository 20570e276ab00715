import { once } from 'node:events';
import { connect } from 'node:net';
import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { localCluster } from '../../src/index.js';
import { jsonPatch } from '../../src/patches/json.js';
import { mergePatch } from '../../src/patches/merge.js';
import { parseJson } from '../../src/text/json-syntax.js';
import { type Client, JSON_PATCH, listeners, MERGE, overHttp } from '../support/listeners.js';

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('bodies over HTTP', () => {
  let client: Client;
  beforeEach(async () => {
    client = await overHttp();
  });
  afterEach(async () => {
    await client.cluster.stop();
  });

  it('that are too large are refused', async () => {
    const huge = JSON.stringify({ metadata: { name: 'huge' }, data: { x: 'x'.repeat(3 * 1024 * 1024) } });
    expect(await client.send('POST', MAPS, huge)).toMatchObject({
      status: 413,
      body: { reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' },
    });
    expect((await client.send('GET', MAPS)).body.items).toEqual([]);
  });

  it.each([
    ['{bad', "json parse error: invalid character 'b' looking for beginning of object key string ({bad)"],
    ['', 'json parse error: unexpected end of JSON input (<empty>)'],
    ['{"metadata":{"name":"x"}', 'json parse error: unexpected end of JSON input'],
    ['[]', 'json parse error: json: cannot unmarshal array into Go value'],
    ['"x"', 'json parse error: json: cannot unmarshal string into Go value'],
  ])('that are no objects are refused: %s', async (body, message) => {
    expect(await client.send('POST', MAPS, body)).toMatchObject({
      status: 400,
      body: { reason: 'BadRequest', message: expect.stringContaining(message) },
    });
  });

  it('of unknown types are refused', async () => {
    expect((await client.send('POST', MAPS, 'x', 'text/plain')).status).toBe(415);
  });

  it('in YAML are fine, and are read as there: some words are booleans', async () => {
    const { body } = await client.send(
      'POST',
      MAPS,
      'metadata:\n  name: yaml\ndata:\n  on: "yes"\n',
      'application/yaml',
    );
    expect(body.data).toEqual({ true: 'yes' });
  });

  it.each([
    { fields: 5, length: 300, warnings: 5 },
    { fields: 20, length: 200, warnings: 19 },
    { fields: 50, length: 240, warnings: 16 },
    { fields: 60, length: 100, warnings: 35 },
    { fields: 200_000, length: 1, warnings: 211 },
  ])(
    'are not answered with endless warnings: $fields unknown fields',
    async ({ fields, length, warnings }) => {
      const unknown = Object.fromEntries(Array.from({ length: fields }, (_, index) => ['f'.repeat(length) + index, 1]));
      const answer = await fetch(`${client.cluster.url}${MAPS}?fieldValidation=Warn`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.cluster.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, ...unknown }),
      });
      expect(answer.status).toBe(201);
      expect(answer.headers.get('warning')?.split('299 - ')).toHaveLength(warnings + 1);
    },
    30_000,
  );

  it.each([1_000, 9_000, 100_000])('that are nested %s times are refused, and nothing else happens', async (depth) => {
    const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const { status } = await client.send('POST', MAPS, `{"metadata":{"name":"deep"},"data":{"x":${nested}}}`);
    expect(status).toBe(400);
    expect((await client.send('GET', MAPS)).body.items).toEqual([]);
  });

  it('that are nested thousands of times are kept as they are', async () => {
    await client.cluster.define({ group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing' });
    const things = '/apis/example.com/v1/namespaces/default/things';
    const spec = `${'{"a":['.repeat(4_400)}1${']}'.repeat(4_400)}`;
    const thing = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"deep"},"spec":${spec}}`;
    expect((await client.send('POST', things, thing)).status).toBe(200);
    expect((await client.send('PATCH', `${things}/deep`, { metadata: { labels: { a: 'b' } } }, MERGE)).status).toBe(
      200,
    );
    const answer = await fetch(`${client.cluster.url}${things}/deep`, {
      headers: { authorization: `Bearer ${client.cluster.token}` },
    });
    expect(await answer.text()).toContain(`"spec":${spec}`);
  });

  it('of strangers are not even read', async () => {
    const { hostname, port } = new URL(client.cluster.url);
    const socket = connect(Number(port), hostname);
    // Megabytes are announced, and never sent: the answer does not wait for them.
    socket.write(
      `POST ${MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n{`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
  });

  it('of strangers do not keep the connection busy', async () => {
    const { hostname, port } = new URL(client.cluster.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write(`POST ${MAPS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
    await once(socket, 'data');
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const send = (): void => void socket.write(chunk.repeat(8), () => socket.destroyed || send());
    send();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(socket.destroyed).toBe(true);
  });

  it('that do not come in a minute are not waited for', async () => {
    const clock = manualClock();
    await using cluster = await localCluster({ clock, controllers: false });
    const { hostname, port } = new URL(cluster.url);
    const socket = connect(Number(port), hostname);
    const head = `Host: x\r\nAuthorization: Bearer ${cluster.token}\r\nContent-Length: 1000\r\n\r\n{`;
    socket.write(`POST ${MAPS} HTTP/1.1\r\n${head}`);
    const answered = once(socket, 'data');
    await vi.waitFor(async () => {
      await clock.advance(61);
      expect(await Promise.race([answered.then(() => true), new Promise((resolve) => setImmediate(resolve))])).toBe(
        true,
      );
    });
    const [answer] = (await answered) as [Buffer];
    expect(String(answer)).toContain('HTTP/1.1 504 ');
    expect(String(answer)).toContain('Timeout: request did not complete within the allotted timeout');
    socket.destroy();
  });

  it('may have headers of a megabyte, and no more', async () => {
    const get = (length: number): Promise<Response> =>
      fetch(`${client.cluster.url}${MAPS}`, {
        headers: { authorization: `Bearer ${client.cluster.token}`, 'x-long': 'x'.repeat(length) },
      });
    expect((await get(1_000_000)).status).toBe(200);
    expect((await get(1_100_000)).status).toBe(431);
  });

  it('nobody is let in without credentials', async () => {
    expect((await fetch(`${client.cluster.url}${MAPS}`)).status).toBe(401);
    expect((await fetch(`${client.cluster.url}${MAPS}`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(
      401,
    );
  });
});

it.each([
  ['/api/v1/namespaces/default/configmaps/%2e%2e', 400],
  ['/api/v1/namespaces/default/configmaps/a%2fb/c', 404],
  ['/api/v1/namespaces/../configmaps', 500],
  ['/api/%zz', 400],
  ['//api/v1/pods', 404],
  ['/..%2f..', 404],
])('paths lead nowhere but where they lead: %s', async (path, status) => {
  await using cluster = await localCluster({ listen: false, clock: manualClock() });
  await expect(cluster.client.request({ method: 'GET', path })).rejects.toMatchObject({ status });
});

describe.each(listeners)('objects, %s', (_name, open) => {
  let client: Client;
  beforeEach(async () => {
    client = await open();
    await client.cluster.define({ group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing' });
  });
  afterEach(async () => {
    await client.cluster.stop();
  });
  const THINGS = '/apis/example.com/v1/namespaces/default/things';
  const refusal = { kind: 'Status', message: 'etcdserver: request is too large', code: 500 };

  it('are not larger than what etcd takes at once, whoever makes them grow', async () => {
    const thing = (name: string, size: number) => ({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name },
      spec: { x: 'x'.repeat(size) },
    });
    expect(await client.send('POST', THINGS, thing('large', 1_600_000))).toMatchObject({ status: 500, body: refusal });
    expect((await client.send('POST', THINGS, thing('fitting', 1_500_000))).status).toBe(200);
    const growth = { spec: { y: 'y'.repeat(100_000) } };
    expect(await client.send('PATCH', `${THINGS}/fitting`, growth, MERGE)).toMatchObject({
      status: 500,
      body: refusal,
    });
    expect((await client.send('PATCH', `${THINGS}/fitting`, { spec: { x: null, y: '' } }, MERGE)).status).toBe(200);
    expect((await client.send('GET', THINGS)).body.items).toMatchObject([{ spec: { y: '' } }]);
  });
});

describe.each(listeners)('names of prototypes, %s', (_name, open) => {
  let client: Client;
  beforeEach(async () => {
    client = await open();
    await client.send('POST', MAPS, { metadata: { name: 'one' }, data: { a: 'b' } });
    await client.cluster.define({ group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing' });
  });
  afterEach(async () => {
    await client.cluster.stop();
  });
  const hostile = (key: string, value: unknown): object => JSON.parse(`{"${key}":${JSON.stringify(value)}}`) as object;

  it.each(['__proto__', 'constructor'])('%s in a merge patch is a key like any other', async (key) => {
    const { body } = await client.send('PATCH', `${MAPS}/one`, { data: hostile(key, 'x') }, MERGE);
    expect(Object.getOwnPropertyNames(body.data).sort()).toEqual(['a', key].sort());
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  it.each(['/__proto__/polluted', '/constructor/prototype/polluted', '/data/__proto__/polluted'])(
    'a JSON patch of %s reaches nothing',
    async (path) => {
      expect((await client.send('PATCH', `${MAPS}/one`, [{ op: 'add', path, value: 'x' }], JSON_PATCH)).status).toBe(
        422,
      );
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  it('in objects they are stored, or dropped as unknown, but never obeyed', async () => {
    const body = {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 'x' },
      spec: hostile('__proto__', { y: 1 }),
    };
    const { body: created } = await client.send('POST', '/apis/example.com/v1/namespaces/default/things', body);
    expect(JSON.stringify(created.spec)).toBe('{"__proto__":{"y":1}}');
    const map = await client.send('POST', MAPS, {
      metadata: { name: 'two' },
      ...hostile('__proto__', { data: { z: '1' } }),
    });
    expect(map.body).not.toHaveProperty('data');
  });
});

describe('JSON patches', () => {
  const object = (): object => ({ data: { a: 'x'.repeat(1000) }, list: [1] });
  const copies = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/${index}` }));

  it('copy what there is, and null where nothing is', () => {
    expect(jsonPatch({ a: {} }, [{ op: 'copy', from: '/a/b', path: '/c' }])).toEqual({ a: {}, c: null });
    expect(() => jsonPatch(object(), [{ op: 'copy', from: '/list/1', path: '/c' }])).toThrow();
    expect(() => jsonPatch(object(), [{ op: 'copy', from: '/nothing/b', path: '/c' }])).toThrow();
  });

  it('do not grow without end by copies of copies', () => {
    expect(JSON.stringify(jsonPatch(object(), copies(10))).length).toBeLessThan(3_000_000);
    expect(() => jsonPatch(object(), copies(60))).toThrow(/rejected our request/);
  });

  it('copy three megabytes in all, counted as JSON', () => {
    const operations = (count: number) => Array.from({ length: count }, () => ({ op: 'copy', from: '/a', path: '/b' }));
    const target = () => ({ a: 'ü'.repeat(50_000) });
    expect(jsonPatch(target(), operations(31))).toMatchObject({ b: expect.any(String) });
    expect(() => jsonPatch(target(), operations(32))).toThrow(/rejected our request/);
  });
});

describe('merge patches', () => {
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j with %j is %j', (target, patch, expected) => {
    expect(mergePatch(target, patch)).toEqual(expected);
  });
});

it.each([
  ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 2}', "invalid character '2' after object key:value pair"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['-', 'unexpected end of JSON input'],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['"a', 'unexpected end of JSON input'],
])('what is wrong with %s is told', (text, message) => {
  expect(() => parseJson(text)).toThrow(message);
});
