import assert from 'node:assert/strict';
import type { Awaitable, HttpEndpoint, HttpPage, HttpSite, PageRequest } from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from '../cases.js';

/**
 * An endpoint, and the address at which it can serve.
 *
 * ```ts
 * import type { HttpEndpointUnderTest } from 'kopf-ts/testing';
 * const subject: HttpEndpointUnderTest = {
 *   endpoint: kopf.reactor.httpEndpoint({ clock: kopf.reactor.systemClock, logger }),
 *   address: 'http://127.0.0.1:0',
 * };
 * ```
 */
export interface HttpEndpointUnderTest {
  readonly endpoint: HttpEndpoint;
  /** Without a path. It has to listen on the loopback interface. */
  readonly address: string;
  /** Called after each case. */
  cleanUp?(): Awaitable<unknown>;
}

type Create = () => Awaitable<HttpEndpointUnderTest>;

interface Served {
  readonly running: Promise<void>;
  get(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

interface Bench extends Omit<HttpEndpointUnderTest, 'cleanUp'> {
  serve(path: string, page: HttpPage, more?: Partial<HttpSite>): Promise<Served>;
}

/**
 * What every endpoint must hold.
 *
 * ```ts
 * import { httpEndpointCases } from 'kopf-ts/testing';
 * const endpoint = kopf.reactor.httpEndpoint({ clock: kopf.reactor.systemClock, logger });
 * for (const { name, run } of httpEndpointCases(() => ({ endpoint, address: 'http://127.0.0.1:0' }))) it(name, run);
 * ```
 */
export function httpEndpointCases(create: Create): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (bench: Bench) => Promise<void>): void => {
    cases.push({ name, run: () => onBench(create, run) });
  };

  add('serves a page with its status, headers and text', async ({ serve }) => {
    const { get } = await serve('/page', {
      answer: () => ({
        status: 503,
        headers: { 'content-type': 'text/plain; charset=utf-8', 'x-own': '1' },
        body: 'é€',
      }),
    });
    const response = await get('/page');
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('x-own'), '1');
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain/);
    assert.equal(await response.text(), 'é€');
  });

  add('passes the request to the page', async ({ serve }) => {
    const asked: PageRequest[] = [];
    const { get } = await serve('/page', {
      answer(request) {
        asked.push(request);
        return { body: '' };
      },
    });
    assert.equal((await get('/page?a=1&b', { headers: { 'X-Own': 'yes' } })).status, 200);
    const [request] = asked;
    assert.equal(request?.method, 'GET');
    assert.equal(request.path, '/page');
    assert.equal(request.query, 'a=1&b');
    assert.equal(request.headers['x-own'], 'yes');
  });

  add('answers HEAD without a body', async ({ serve }) => {
    const { get } = await serve('/page', { answer: () => ({ body: 'text' }) });
    const response = await get('/page', { method: 'HEAD' });
    assert.equal(response.status, 200);
    assert.equal(await response.text(), '');
  });

  add('knows no other paths', async ({ serve }) => {
    const { get } = await serve('/page', { answer: () => ({ body: 'text' }) });
    for (const path of ['/', '/page/', '/page/more', '/other']) assert.equal((await get(path)).status, 404, path);
  });

  add('allows only the methods of the page', async ({ serve }) => {
    const reading = await serve('/page', { answer: () => ({ body: 'text' }) });
    assert.equal((await reading.get('/page', { method: 'POST' })).status, 405);
    const acting = await serve('/act', { methods: ['POST'], answer: ({ method }) => ({ body: method }) });
    assert.equal((await acting.get('/act')).status, 405);
    assert.equal(await (await acting.get('/act', { method: 'POST' })).text(), 'POST');
  });

  add('serves additional pages; the main page wins if they share a path', async ({ serve }) => {
    const beside = { '/other': pageOf('other'), '/page': pageOf('hidden') };
    const { get } = await serve('/page', pageOf('page'), { beside });
    assert.equal(await (await get('/page')).text(), 'page');
    assert.equal(await (await get('/other')).text(), 'other');
  });

  add('streams the pieces of an answer', async ({ serve }) => {
    const second = gate();
    async function* pieces(): AsyncGenerator<string> {
      yield 'one';
      await second.opened;
      yield 'two';
    }
    const { get } = await serve('/page', { answer: () => ({ body: pieces() }) });
    const reader = (await get('/page')).body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await reader?.read())?.value, 'one');
    second.open();
    assert.equal((await reader?.read())?.value, 'two');
    assert.equal((await reader?.read())?.done, true);
  });

  add('notifies the page when its client has gone', async ({ serve }) => {
    const [gone, ended, asked] = [gate(), gate(), gate()];
    async function* pieces(signal: AbortSignal): AsyncGenerator<string> {
      try {
        yield 'one';
        signal.addEventListener('abort', gone.open);
        if (signal.aborted) gone.open();
        await gone.opened;
        yield 'two';
      } finally {
        ended.open();
      }
    }
    const { get } = await serve('/page', {
      answer({ signal }) {
        asked.open();
        return { body: pieces(signal) };
      },
    });
    const leaving = new AbortController();
    const response = await get('/page', { signal: leaving.signal });
    await response.body?.getReader().read();
    await asked.opened;
    leaving.abort();
    await ended.opened;
  });

  add('answers 500 for a page that throws, and goes on serving', async ({ serve }) => {
    let count = 0;
    const { get } = await serve('/page', {
      answer() {
        count += 1;
        if (count === 1) throw new Error('a sample');
        return { body: 'fine' };
      },
    });
    const failed = await get('/page');
    assert.equal(failed.status, 500);
    assert.ok(!(await failed.text()).includes('a sample'), 'errors are for the log, not for strangers');
    assert.equal(await (await get('/page')).text(), 'fine');
  });

  add('serves until it is aborted', async ({ serve }) => {
    const { get, stop } = await serve('/page', pageOf('text'));
    assert.equal((await get('/page')).status, 200);
    await stop();
    const after = await get('/page').catch(() => undefined);
    assert.ok(after === undefined || after.status === 404, 'it is still served');
  });

  add('does nothing if aborted before the start', async ({ endpoint, address }) => {
    const signal = AbortSignal.abort(new Error('the end'));
    await endpoint.serve({ name: 'early', url: `${address}/page`, page: pageOf('text'), signal });
  });

  add('completes answers in progress when aborted', async ({ serve }) => {
    const [asked, answered] = [gate(), gate()];
    const { get, stop } = await serve('/page', {
      async answer() {
        asked.open();
        await answered.opened;
        return { body: 'late' };
      },
    });
    const response = get('/page');
    await asked.opened;
    const stopped = stop();
    answered.open();
    assert.equal(await (await response).text(), 'late');
    await stopped;
  });

  add('lets sites share an address, and stop one by one', async ({ serve }) => {
    const one = await serve('/one', pageOf('1'));
    const two = await serve('/two', pageOf('2'));
    assert.equal(await (await one.get('/two')).text(), '2', 'they are at different addresses');
    await one.stop();
    assert.equal(await (await two.get('/two')).text(), '2');
    assert.equal((await two.get('/one')).status, 404);
  });

  add('refuses a path that is taken', async ({ serve, endpoint, address }) => {
    const { get } = await serve('/page', pageOf('first'));
    const { signal } = new AbortController();
    const page = pageOf('second');
    const taken = endpoint.serve({ name: 'second', url: `${address}/page`, page, signal });
    await assert.rejects(taken, /second/, 'it must say which site it is about');
    assert.equal(await (await get('/page')).text(), 'first');
  });

  add('serves again at an address after all its sites have stopped', async ({ serve }) => {
    const one = await serve('/page', pageOf('1'));
    await one.stop();
    const two = await serve('/page', pageOf('2'));
    assert.equal(await (await two.get('/page')).text(), '2');
  });

  add('accepts valid addresses, and refuses others at once', ({ endpoint, address }) => {
    endpoint.check({ name: 'sample', url: `${address}/page` });
    assert.throws(() => endpoint.check({ name: 'sample', url: 'nowhere' }), /sample/);
    return Promise.resolve();
  });

  return cases;
}

/**
 * Declares the cases above as tests.
 *
 * ```ts
 * import { testHttpEndpoint } from 'kopf-ts/testing';
 * const endpoint = kopf.reactor.httpEndpoint({ clock: kopf.reactor.systemClock, logger });
 * testHttpEndpoint(() => ({ endpoint, address: 'http://127.0.0.1:0' }), { describe, it });
 * ```
 */
export function testHttpEndpoint(create: Create, runner?: TestRunner): void {
  declareCases('HttpEndpoint', httpEndpointCases(create), runner);
}

async function onBench(create: Create, run: (bench: Bench) => Promise<void>): Promise<void> {
  const { endpoint, address, cleanUp } = await create();
  const all: Served[] = [];
  const serve: Bench['serve'] = async (path, page, more = {}) => {
    const controller = new AbortController();
    let isListening = (_port: number): void => {};
    const listening = new Promise<number>((resolve) => {
      isListening = resolve;
    });
    const running = endpoint.serve({
      name: path.slice(1),
      url: `${address}${path}`,
      page,
      ...more,
      signal: controller.signal,
      onListening: ({ port }) => isListening(port),
    });
    const ended = running.then(() => assert.fail('it has ended before it was aborted'));
    const port = await Promise.race([listening, ended]);
    ended.catch(() => {});
    const served: Served = {
      running,
      get: (asked, init) => fetch(`http://127.0.0.1:${port}${asked}`, init),
      async stop() {
        controller.abort(new Error('the end'));
        await running;
      },
    };
    all.push(served);
    return served;
  };
  try {
    await run({ endpoint, address, serve });
  } finally {
    for (const served of all) await served.stop();
    await cleanUp?.();
  }
}

function pageOf(text: string): HttpPage {
  return { answer: () => ({ body: text }) };
}

function gate(): { open(): void; readonly opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
