import { createServer } from 'node:net';
import { insight, type OperatorOptions, PermanentError, settings, TemporaryError } from 'kopf-ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Asked, asked, KIND } from './asked.js';

async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

const RESOURCE = `${KIND}.kopf.dev`;

/** The first that somebody is told who looks. */
async function seen(url: string, query = ''): Promise<Readonly<Record<string, Record<string, unknown>>>> {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const answer = await fetch(`${url}/api/live?${query}`, { signal: leaving.signal });
  expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const { value } = await (answer.body as ReadableStream<Uint8Array>).getReader().read();
  leaving.abort();
  const text = Buffer.from(value ?? []).toString();
  return Object.fromEntries(
    [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, name, data = '']) => [name, JSON.parse(data)]),
  );
}

async function busy(options: Partial<OperatorOptions>): Promise<Asked> {
  const place = await asked(({ on, daemon }) => {
    on.startup({ id: 'begin' }, () => {});
    on.create(KIND, { id: 'make' }, ({ name, logger }) => {
      logger.info(`Making ${name}`);
      if (name === 'later') throw new TemporaryError('not yet', { delay: 600 });
      if (name === 'never') throw new PermanentError('never');
    });
    daemon(KIND, { id: 'follow', labels: { followed: 'yes' } }, async ({ stopped }) => {
      await new Promise((resolve) => stopped.addEventListener('abort', resolve));
    });
  }, options);
  await place.runner.ready;
  return place;
}

describe('An operator with a console', () => {
  it('shows its page, its objects, its handlers, its streams, and all about one object', async () => {
    const url = await freeAddress();
    const place = await busy({ console: url });
    for (const name of ['good', 'later', 'never']) await place.create(name);
    await place.create('daemonic', { metadata: { labels: { followed: 'yes' } } } as never);
    const page = await fetch(url);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await page.text()).toContain('<title>kopf console</title>');
    const { overview, objects, object } = await seen(
      url,
      `atResource=${RESOURCE}&atNamespace=default&atName=later&limit=10`,
    );
    expect(objects).toMatchObject({
      matched: 4,
      items: [
        { name: 'never', state: 'failed', message: 'never' },
        { name: 'later', state: 'retrying', message: 'not yet', until: expect.any(Number) },
        { name: 'daemonic', state: 'daemons' },
        { name: 'good', state: 'done' },
      ],
    });
    expect(overview).toMatchObject({
      total: 4,
      kinds: [{ resource: RESOURCE, failed: 1, retrying: 1, daemons: 1, done: 1 }],
      // The definitions of kinds are watched as well.
      streams: [{ phase: 'watching' }, { resource: RESOURCE, namespace: null, phase: 'watching' }],
      queue: { queued: 0, running: 0, waiting: 1 },
      indexing: { isReady: true },
    });
    const handlers = overview?.['handlers'] as readonly { id: string }[];
    expect(handlers.find(({ id }) => id === 'make')).toMatchObject({ resource: KIND, calls: 4, errors: 2 });
    expect(handlers.find(({ id }) => id === 'follow')).toMatchObject({ kind: 'daemon', resource: KIND, running: 1 });
    expect(handlers.find(({ id }) => id === 'begin')).toMatchObject({ kind: 'activity', resource: 'startup' });
    expect(object).toMatchObject({ name: 'later', state: 'retrying', isKnown: true });
    const { logs, findings } = object as unknown as { logs: { message: string }[]; findings: { reason: string }[] };
    expect(logs.map(({ message }) => message)).toContain('Making later');
    expect(findings.map(({ reason }) => reason)).toContain('retrying');
  });

  it('answers what the admin endpoint does, also if both have the same address', async () => {
    const url = await freeAddress();
    const place = await busy({ console: url, admin: url });
    await place.create('later');
    const object = { resource: RESOURCE, namespace: 'default', name: 'later' };
    expect((await insight.askWhy({ url }, object)).journal?.name).toBe('later');
    expect(await insight.askAction({ url }, { action: 'retry', ...object })).toEqual({ isChanged: true });
    await place.settled();
    expect(await (await fetch(url)).text()).toContain('<title>kopf console</title>');
  });

  it('can be set so by a startup handler, with both endpoints; and ends with the operator, whoever looks', async () => {
    const [console, admin] = [await freeAddress(), await freeAddress()];
    const { runner } = await asked(({ on }) => {
      on.startup(({ settings: own }) => {
        Object.assign(own.insight, { console, admin });
      });
      on.create(KIND, { id: 'fn' }, () => {});
    });
    await runner.ready;
    expect((await fetch(admin)).headers.get('content-type')).toMatch(/json/);
    const answer = await fetch(`${console}/api/live`);
    const reading = answer.text();
    await runner.stop();
    expect(await reading).toMatch(/^event: hello\n/);
    await expect(fetch(console)).rejects.toThrow();
  });

  it('refuses to listen for everybody without tokens', async () => {
    const own = settings({ peering: { standalone: true }, insight: { console: 'http://0.0.0.0:8082' } });
    await expect(asked(() => {}, { settings: own })).rejects.toThrow('could be asked by everybody around');
  });
});
