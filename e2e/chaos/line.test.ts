import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { becomesTrue } from '../support/waiting.js';
import { type Fate, type Line, marksIn, openLine } from './line.js';

const PATH = '/apis/example.com/v1/namespaces/default/things/one';

describe('the line', () => {
  let server: Server;
  let line: Line;
  /** What the server has been asked for. */
  let received: string[];

  beforeEach(async () => {
    received = [];
    server = createServer((request, response) => {
      received.push(`${request.method} ${request.url}`);
      request.resume();
      if (request.url?.includes('watch=true')) response.write('{"type":"ADDED"}\n');
      else response.end('{"kind":"Thing"}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    line = await openLine({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
  afterEach(async () => {
    await line.close();
    server.closeAllConnections();
    server.close();
  });

  const patch = (signal?: AbortSignal) =>
    fetch(`${line.url}${PATH}/status`, {
      method: 'PATCH',
      body: '{"metadata":{"annotations":{"kopf.zalando.org/made":"{}"}}}',
      ...(signal && { signal }),
    });
  const meets = (fate: Fate) => {
    line.decide = () => fate;
  };
  const recorded = async () => {
    expect(await becomesTrue(() => line.writes.length > 0)).toBe(true);
    return line.writes[0];
  };

  it.each<Fate>([{ kind: 'pass' }, { kind: 'trickle', ms: 20 }, { kind: 'freeze', ms: 20 }])(
    'lets requests through: %j',
    async (fate) => {
      meets(fate);
      expect(await (await patch()).json()).toEqual({ kind: 'Thing' });
      expect(received).toEqual([`PATCH ${PATH}/status`]);
      const told = { key: 'things/one', status: 200, isApplied: true, fate: 'delivered', marks: ['made'] };
      expect(await recorded()).toMatchObject(told);
    },
  );

  it('loses answers to what the server has done', async () => {
    meets({ kind: 'lose the answer' });
    await expect(patch()).rejects.toThrow();
    expect(received).toEqual([`PATCH ${PATH}/status`]);
    expect(await recorded()).toMatchObject({ status: 200, isApplied: true, fate: 'answer lost' });
    expect(line.counts).toEqual({ 'lose the answer': 1 });
  });

  it('breaks connections before the server gets anything', async () => {
    meets({ kind: 'reset' });
    await expect(patch()).rejects.toThrow();
    expect(received).toEqual([]);
    expect(await recorded()).toMatchObject({ status: 0, isApplied: false, fate: 'reset' });
  });

  it.each([429, 500, 503] as const)('answers %i by itself', async (status) => {
    meets({ kind: 'refuse', status });
    const answer = await patch();
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ kind: 'Status', code: status });
    expect(answer.headers.get('retry-after')).toBe(status === 429 ? '1' : null);
    expect(received).toEqual([]);
    expect(await recorded()).toMatchObject({ status, isApplied: false, fate: 'delivered' });
  });

  it('knows when nobody waits for the answer any more', async () => {
    meets({ kind: 'freeze', ms: 300 });
    await expect(patch(AbortSignal.timeout(50))).rejects.toThrow();
    expect(await recorded()).toMatchObject({ isApplied: false, fate: 'given up by the client' });
    expect(received).toEqual([]);
  });

  it('tells when the server is down', async () => {
    server.close();
    await expect(patch()).rejects.toThrow();
    expect(await recorded()).toMatchObject({ isApplied: false, fate: 'server down' });
  });

  it('lets nothing through while it is frozen', async () => {
    line.freeze(200);
    const began = Date.now();
    await patch();
    expect(Date.now() - began).toBeGreaterThanOrEqual(190);
  });

  it('breaks streams only, or everything', async () => {
    const stream = await fetch(`${line.url}/apis/example.com/v1/things?watch=true`);
    const reader = stream.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('{"type":"ADDED"}\n');
    line.resetStreams();
    await expect(reader?.read()).rejects.toThrow();
    meets({ kind: 'freeze', ms: 10_000 });
    const frozen = patch();
    frozen.catch(() => {});
    expect(await becomesTrue(() => line.counts['freeze'] === 1)).toBe(true);
    line.resetAll();
    await expect(frozen).rejects.toThrow();
  });

  it('writes down nothing about requests that change nothing', async () => {
    await (await fetch(`${line.url}${PATH}`)).text();
    expect(line.writes).toEqual([]);
  });
});

it.each([
  ['{"metadata":{"annotations":{"kopf.zalando.org/a.b":"{}","other/c":"1","kopf.zalando.org/d":null}}}', ['a.b', '-d']],
  ['[{"op":"add","path":"/metadata/annotations/kopf.zalando.org~1a","value":"{}"}]', ['a']],
  ['{"metadata":{"finalizers":["kopf.zalando.org/KopfFinalizerMarker"]}}', []],
  ['not JSON at all', []],
])('marks are found in %s', (body, marks) => {
  expect(marksIn(body)).toEqual(marks);
});
