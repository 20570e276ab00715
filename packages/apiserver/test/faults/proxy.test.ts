import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FaultProxy, faultProxy } from '../../src/faults/fault-proxy.js';
import { renderKubeconfig } from '../../src/server/kubeconfig.js';

let server: Server;
let proxy: FaultProxy;
let target: string;
let watches: ServerResponse[];
let connections: number;

beforeEach(async () => {
  watches = [];
  connections = 0;
  server = createServer((incoming, outgoing) => {
    if (incoming.url?.includes('watch=1')) {
      outgoing.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      watches.push(outgoing);
      outgoing.write('{"type":"ADDED","object":{}}\n{"type":"BOOKM');
      outgoing.write('ARK","object":{}}\n');
      return;
    }
    let body = '';
    incoming.on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => {
      const { method, url } = incoming;
      outgoing
        .setHeader('x-echo', 'yes')
        .end(JSON.stringify({ method, url, body, auth: incoming.headers.authorization }));
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy = await faultProxy({ target });
});
afterEach(async () => {
  await proxy.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Opens a watch, and gives its lines one after another; `undefined` at the end. */
async function watch(query = 'watch=1'): Promise<{ next(): Promise<string | undefined>; status: number | undefined }> {
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${proxy.url}/api/v1/pods?${query}`, { agent: false }, resolve).on('error', reject);
  });
  async function* lines(): AsyncGenerator<string> {
    let rest = '';
    for await (const chunk of incoming.setEncoding('utf8')) {
      const parts = (rest + String(chunk)).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
    }
  }
  const generator = lines();
  return {
    status: incoming.statusCode,
    next: async () => (await generator.next()).value as string | undefined,
  };
}
const typeOf = (line: string | undefined): string | undefined =>
  line === undefined ? undefined : (JSON.parse(line) as { type: string }).type;

describe('without faults', () => {
  it('passes requests and answers as they are', async () => {
    const answer = await fetch(`${proxy.url}/api?x=1`, {
      method: 'POST',
      body: 'hello',
      headers: { authorization: 'Bearer t' },
    });
    expect(answer.headers.get('x-echo')).toBe('yes');
    expect(await answer.json()).toEqual({ method: 'POST', url: '/api?x=1', body: 'hello', auth: 'Bearer t' });
  });

  it('passes watches line by line', async () => {
    const stream = await watch();
    expect(typeOf(await stream.next())).toBe('ADDED');
    expect(typeOf(await stream.next())).toBe('BOOKMARK');
    watches[0]?.end();
    expect(await stream.next()).toBeUndefined();
  });

  it('brings the credentials of a kubeconfig for those who have none', async () => {
    const other = await faultProxy({ target: renderKubeconfig({ server: target, ca: undefined, token: 'abc' }) });
    try {
      expect(await (await fetch(`${other.url}/x`)).json()).toMatchObject({ auth: 'Bearer abc' });
    } finally {
      await other.stop();
    }
  });
});

describe('with faults', () => {
  it('answers in place of the server', async () => {
    proxy.faults.add({ match: { path: '/api' }, answer: { status: 503, retryAfter: 1 }, times: 1 });
    const answer = await fetch(`${proxy.url}/api`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(`${proxy.url}/api`)).status).toBe(200);
  });

  it('breaks connections, and refuses new ones', async () => {
    proxy.faults.add({ reset: true, times: 1 });
    await expect(fetch(`${proxy.url}/api`)).rejects.toThrow();
    expect((await fetch(`${proxy.url}/api`)).status).toBe(200);
    proxy.faults.cutConnections();
    const refusal = proxy.faults.refuseConnections();
    await expect(fetch(`${proxy.url}/api`)).rejects.toThrow();
    refusal.remove();
    expect((await fetch(`${proxy.url}/api`)).status).toBe(200);
  });

  it('drops bookmarks, puts garbage into streams, and ends them', async () => {
    proxy.faults.dropBookmarks();
    const stream = await watch();
    expect(typeOf(await stream.next())).toBe('ADDED');
    expect(proxy.faults.garbleStreams('oops')).toBe(1);
    expect(await stream.next()).toBe('oops');
    expect(proxy.faults.endStreams()).toBe(1);
    expect(await stream.next()).toBeUndefined();
  });

  it('freezes and thaws streams', async () => {
    const frost = proxy.faults.freezeStreams();
    const stream = await watch();
    const first = stream.next();
    expect(frost.hits).toBe(1);
    frost.remove();
    expect(typeOf(await first)).toBe('ADDED');
  });

  it('does not forward what was abandoned while it was held back', async () => {
    const latency = proxy.faults.add({ match: { watch: true }, latency: 3600 });
    const leaving = new AbortController();
    const abandoned = fetch(`${proxy.url}/api/v1/pods?watch=1`, { signal: leaving.signal });
    await vi.waitFor(() => expect(latency.hits).toBe(1));
    leaving.abort();
    await expect(abandoned).rejects.toThrow();
    // Each of these comes later than the leaving, and takes the same way.
    await (await fetch(`${proxy.url}/api`)).text();
    latency.remove();
    await (await fetch(`${proxy.url}/api`)).text();
    expect(connections).toBe(1);
  });

  it('resets streams', async () => {
    const stream = await watch();
    await stream.next();
    await stream.next();
    proxy.faults.resetStreams();
    await expect(stream.next()).rejects.toThrow(/aborted|reset/i);
  });

  it('forgets the history once for each watched path', async () => {
    proxy.faults.compact();
    expect((await watch('watch=1&resourceVersion=5')).status).toBe(410);
    expect((await watch('watch=1&resourceVersion=6')).status).toBe(200);
  });

  it('restarts on the same port', async () => {
    const stream = await watch();
    await stream.next();
    await stream.next();
    const broken = expect(stream.next()).rejects.toThrow();
    await proxy.faults.restart();
    await broken;
    expect((await fetch(`${proxy.url}/api`)).status).toBe(200);
  });
});
