import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect as connectTo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Control,
  ControlledObject,
  KubeClient,
  KubeConnection,
  KubeRequest,
  PageAnswer,
  PageRequest,
} from '@kopf-ts/core';
import { settings as makeSettings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { admin, askAction, askWhy, journal, portForward } from '../src/index.js';
import { objectOf } from './support/told.js';

const LOOPBACK = 'http://127.0.0.1:8083';

interface Place {
  readonly requests: KubeRequest[];
  readonly retried: unknown[];
  ask(path: string, request?: Partial<PageRequest>): Promise<PageAnswer & { json: Record<string, unknown> }>;
}

function tokenFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-admin-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'tokens');
  writeFileSync(file, text);
  return file;
}

function place({ url = LOOPBACK, tokens }: { url?: string; tokens?: string } = {}): Place {
  const clock = manualClock();
  const requests: KubeRequest[] = [];
  const retried: unknown[] = [];
  const client = {
    async request(request: KubeRequest) {
      requests.push(request);
      const annotations = { 'kopf.zalando.org/paused-until': 'x' };
      return {
        apiVersion: 'kopf.dev/v1',
        kind: 'KopfExample',
        metadata: { name: 'one', namespace: 'default', annotations },
      };
    },
  } as unknown as KubeClient;
  const controlled = { object: objectOf('one'), phase: 'waiting', isPaused: false, calls: ['fn'], daemons: [] };
  const control = {
    isPaused: false,
    objects: (query: { name?: string } = {}) =>
      query.name === undefined || query.name === 'one' ? [controlled as unknown as ControlledObject] : [],
    retry(query: unknown) {
      retried.push(query);
      return 1;
    },
  } as unknown as Control;
  const own = journal({ clock });
  own.observer.observe({ kind: 'object.gone', object: objectOf('one'), operator: 'op', at: 1 });
  const settings = makeSettings({ insight: tokens === undefined ? {} : { tokenFile: tokenFile(tokens) } });
  const pages = admin({ journal: own, control, client, clock, logger: recordingLogger(), settings }).pages(url);
  const { signal } = new AbortController();
  return {
    requests,
    retried,
    async ask(path, request = {}) {
      const [name = '', query = ''] = path.split('?');
      const { headers, ...rest } = request;
      const usual = {
        host: '127.0.0.1:8083',
        ...(rest.body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const method = rest.body === undefined ? 'GET' : 'POST';
      const answer = await pages[name]?.answer({
        method,
        path: name,
        query,
        signal,
        ...rest,
        headers: { ...usual, ...headers },
      });
      if (answer === undefined) throw new Error(`There is no page ${name}.`);
      return { ...answer, json: JSON.parse(String(answer.body)) as Record<string, unknown> };
    },
  };
}

const retry = JSON.stringify({ action: 'retry', resource: 'kopfexamples', namespace: 'default', name: 'one' });
const asked = (action: object): string =>
  JSON.stringify({ resource: 'kopfexamples', namespace: 'default', name: 'one', ...action });

describe('The admin endpoint', () => {
  it('tells what is known of an object, and what is done with it now', async () => {
    const { json } = await place().ask('/api/why?resource=kopfexamples&namespace=default&name=one');
    expect(json).toMatchObject({
      journal: { name: 'one', entries: [{ kind: 'gone' }] },
      live: { phase: 'waiting', calls: ['fn'] },
      operator: { now: 0 },
    });
  });

  it('lists the objects, and tells of itself', async () => {
    const { ask } = place();
    expect((await ask('/api/objects')).json).toMatchObject({
      total: 1,
      items: [{ resource: 'kopfexamples.kopf.dev', name: 'one' }],
    });
    expect((await ask('/')).json).toHaveProperty('paths');
    expect((await ask('/api/operator')).json).toHaveProperty('streams');
  });

  it('retries, pauses and resumes, and records each as an event about the object', async () => {
    const { ask, requests, retried } = place();
    expect((await ask('/api/actions', { body: retry })).json).toEqual({ action: 'retry', isChanged: true });
    expect(retried).toMatchObject([{ name: 'one', uid: 'uid-one' }]);
    const paused = await ask('/api/actions', { body: asked({ action: 'pause', seconds: 60, by: 'me' }) });
    expect(paused.json).toEqual({ action: 'pause', until: '2020-01-01T00:01:00.000Z' });
    expect((await ask('/api/actions', { body: asked({ action: 'resume' }) })).json).toMatchObject({ isChanged: true });
    const writes = requests.filter(({ method }) => method !== 'GET');
    const path = '/apis/kopf.dev/v1/namespaces/default/kopfexamples/one';
    const until = '2020-01-01T00:01:00Z';
    expect(writes).toMatchObject([
      { path: '/api/v1/namespaces/default/events', body: { reason: 'Retried', involvedObject: { name: 'one' } } },
      { path, body: { metadata: { annotations: { 'kopf.zalando.org/paused-until': until } } } },
      { method: 'POST', body: { reason: 'Paused', message: `Handlers are paused until ${until} by me.` } },
      { path, body: { metadata: { annotations: { 'kopf.zalando.org/paused-until': null } } } },
      { method: 'POST', body: { reason: 'Resumed', message: 'Handlers are resumed.' } },
    ]);
  });

  it('records who it was as a text, whatever it looks like', async () => {
    const { ask, requests } = place();
    await ask('/api/actions', { body: asked({ action: 'retry', by: '\u001b]0;owned\u0007\u202e\nnext' }) });
    expect(requests).toMatchObject([
      { body: { message: 'Handlers are retried now by \\u001b]0;owned\\u0007\\u202e next.' } },
    ]);
  });

  it.each([
    ['no JSON', '{', 400],
    ['a list', '[]', 400],
    ['null', 'null', 400],
    ['another action', asked({ action: 'delete' }), 400],
    ['no object', asked({ action: 'retry', name: undefined }), 400],
    ['a number for a name', asked({ action: 'retry', name: 5 }), 400],
    ['no number of seconds', asked({ action: 'pause', seconds: 'long' }), 400],
    ['a pause of nothing', asked({ action: 'pause', seconds: -1 }), 400],
    ['a pause for ever', asked({ action: 'pause', seconds: 1e12 }), 400],
    ['an unknown object', asked({ action: 'retry', name: 'two' }), 404],
  ])('refuses what makes no sense: %s', async (_, body, status) => {
    const { ask, requests, retried } = place();
    expect((await ask('/api/actions', { body })).status).toBe(status);
    expect([requests, retried]).toEqual([[], []]);
  });
});

describe('Those who ask', () => {
  const actions = '/api/actions';
  it.each<[string, Readonly<Record<string, string | undefined>>]>([
    ['from pages of other sites', { origin: 'http://evil.example' }],
    ['from other ports', { origin: 'http://127.0.0.1:9999' }],
    ['from nowhere', { origin: 'null' }],
    ['under another name of this address', { host: 'evil.example:8083' }],
    ['under no name', { host: undefined }],
    ['under an empty name', { host: '' }],
    ['under another name after ours', { host: '127.0.0.1:8083@evil.example' }],
    ['across sites, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['across subdomains', { 'sec-fetch-site': 'same-site' }],
    ['by forms', { 'content-type': 'text/plain' }],
    ['by forms with a token', { 'content-type': 'application/x-www-form-urlencoded' }],
  ])('%s are refused, and nothing is done', async (_, headers) => {
    const { ask, requests, retried } = place();
    const { status } = await ask(actions, { body: retry, headers });
    expect([403, 415]).toContain(status);
    expect([requests, retried]).toEqual([[], []]);
  });

  it.each<[Readonly<Record<string, string>>]>([
    [{ host: 'localhost:8083', origin: 'http://localhost:8083' }],
    [{ host: '[::1]:8083' }],
    [{ origin: 'http://127.0.0.1:8083', 'sec-fetch-site': 'same-origin' }],
  ])('from this machine are answered: %j', async (headers) => {
    expect((await place().ask(actions, { body: retry, headers })).status).toBe(200);
  });

  it('never get headers that would let other sites read', async () => {
    const { headers } = await place().ask('/api/objects', { headers: { origin: 'http://127.0.0.1:8083' } });
    expect(Object.keys(headers ?? {}).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it.each([
    [undefined, 401, 401],
    ['Bearer wrong', 401, 401],
    ['Bearer ', 401, 401],
    ['Basic abc', 401, 401],
    ['Bearer looker', 200, 403],
    ['Bearer doer', 200, 200],
    ['Bearer also', 200, 200],
  ])('with the token in "%s" may read: %i, and act: %i', async (authorization, read, act) => {
    const { ask } = place({ url: 'http://0.0.0.0:8083', tokens: 'looker read\ndoer write\n\nalso\n' });
    const headers = { authorization, host: '10.0.0.5:8083' };
    expect((await ask('/api/objects', { headers })).status).toBe(read);
    expect((await ask(actions, { body: retry, headers })).status).toBe(act);
  });

  it('are all refused if the tokens cannot be read, or if there are none', async () => {
    for (const tokens of ['', '\n\n']) {
      const { ask } = place({ tokens });
      expect((await ask('/api/objects', { headers: { authorization: 'Bearer x' } })).status).toBe(401);
    }
  });

  it.each(['http://:8083', 'http://0.0.0.0:8083', 'http://10.0.0.5', 'http://127.0.0.1.evil.example:8083'])(
    'could be anybody at %s: it is not served without tokens',
    (url) => {
      expect(() => place({ url })).toThrow(/could be asked by everybody around: set settings\.insight\.tokenFile/);
    },
  );
});

/** A server behind a client that forwards ports, as the cluster does it. */
async function forwarded(answer: (path: string, body: string, token: string | undefined) => object | number) {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => {
      body += piece.toString();
    });
    request.on('end', () => {
      const said = answer(request.url ?? '', body, request.headers.authorization);
      response
        .writeHead(typeof said === 'number' ? said : 200)
        .end(JSON.stringify(typeof said === 'number' ? { error: '\u001b[31mno' } : said));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const paths: string[] = [];
  const client = {
    async connect({ path }: { path: string }): Promise<KubeConnection> {
      paths.push(path);
      const socket = connectTo(port, '127.0.0.1');
      const number = Buffer.from([port & 255, port >> 8]);
      return {
        protocol: 'v4.channel.k8s.io',
        async send(message) {
          expect(message[0]).toBe(0);
          socket.write(message.subarray(1));
        },
        close: () => void socket.destroy(),
        async *[Symbol.asyncIterator]() {
          for (const channel of [0, 1]) yield Buffer.concat([Buffer.from([channel]), number]);
          for await (const piece of socket) yield Buffer.concat([Buffer.from([0]), piece as Buffer]);
        },
      };
    },
  } as unknown as KubeClient;
  const connect = () => portForward(client, { namespace: 'ops', pod: 'op-0', port: 8083 });
  return { paths, way: { url: LOOPBACK, token: 'secret', connect }, direct: { url: `http://127.0.0.1:${port}` } };
}

describe('Asking', () => {
  const object = { resource: 'kopfexamples.kopf.dev', namespace: 'default', name: 'one & two' };

  it('goes directly, and through the API server, with the token', async () => {
    const told: unknown[] = [];
    const { way, direct, paths } = await forwarded((path, body, token) => {
      told.push([path, body, token]);
      return { operator: { now: 1 }, isChanged: false };
    });
    expect(await askWhy(way, object)).toMatchObject({ operator: { now: 1 } });
    expect(await askWhy(direct, object)).toMatchObject({ operator: { now: 1 } });
    expect(await askAction(way, { action: 'retry', ...object })).toEqual({ isChanged: false });
    expect(paths[0]).toBe('/api/v1/namespaces/ops/pods/op-0/portforward?ports=8083');
    const path = '/api/why?resource=kopfexamples.kopf.dev&name=one+%26+two&namespace=default';
    expect(told).toEqual([
      [path, '', 'Bearer secret'],
      [path, '', undefined],
      ['/api/actions', JSON.stringify({ action: 'retry', ...object }), 'Bearer secret'],
    ]);
  });

  it('says what the operator has said, but not its commands to the terminal', async () => {
    const { way } = await forwarded(() => 403);
    await expect(askWhy(way, object)).rejects.toThrow(
      'The operator at http://127.0.0.1:8083 refuses (403): \\u001b[31mno.',
    );
  });

  it.each([{}, [], { operator: null }, { operator: 'up' }, { connections: 3 }])(
    'says that somebody else answers: %j',
    async (said) => {
      const { direct } = await forwarded(() => said);
      await expect(askWhy(direct, object)).rejects.toThrow(
        /^What answers at .* is not the admin endpoint of an operator\.$/,
      );
    },
  );

  it('says that there is nobody', async () => {
    await expect(askWhy({ url: 'http://127.0.0.1:1' }, object)).rejects.toThrow(
      /^No response from the operator at http:\/\/127\.0\.0\.1:1: /,
    );
  });

  it('says why a port cannot be reached', async () => {
    const connection: KubeConnection = {
      protocol: 'v4.channel.k8s.io',
      send: async () => {},
      close() {},
      async *[Symbol.asyncIterator]() {
        yield Buffer.from([1, 0, 0]);
        yield Buffer.concat([Buffer.from([1]), Buffer.from('connection refused')]);
      },
    };
    const client = { connect: async () => connection } as unknown as KubeClient;
    const connect = () => portForward(client, { namespace: 'ops', pod: 'op-0', port: 8083 });
    await expect(askWhy({ url: LOOPBACK, connect }, object)).rejects.toThrow(
      'the port 8083 of the pod ops/op-0 cannot be reached: connection refused',
    );
    await expect(portForward({} as KubeClient, { namespace: 'a', pod: 'b', port: 1 })).rejects.toThrow(
      'it has no connect()',
    );
  });
});
