import type { HttpEndpoint, HttpPage } from '@kopf-ts/core';
import { httpEndpoint, systemClock } from '@kopf-ts/reactor';
import { describe, expect, it } from 'vitest';
import {
  type HttpEndpointUnderTest,
  httpEndpointCases,
  recordingLogger,
  testHttpEndpoint,
} from '../../../src/index.js';
import { failures } from '../failures.js';

type Serve = HttpEndpoint['serve'];

function under(spoil: (serve: Serve) => Serve = (serve) => serve): () => HttpEndpointUnderTest {
  return () => {
    const good = httpEndpoint({ clock: systemClock, logger: recordingLogger() });
    return { endpoint: { check: good.check, serve: spoil(good.serve) }, address: 'http://127.0.0.1:0' };
  };
}

/** With something wrong in each page. */
const withPages = (spoil: (page: HttpPage) => HttpPage) =>
  under((serve) => (at) => serve({ ...at, page: spoil(at.page) }));

testHttpEndpoint(under(), { describe, it });

const broken: [sin: string, caught: string, create: () => HttpEndpointUnderTest][] = [
  [
    'has one status for all',
    'serves a page with its status, headers and text',
    withPages((page) => ({ ...page, answer: async (request) => ({ ...(await page.answer(request)), status: 200 }) })),
  ],
  [
    'does not tell of queries',
    'passes the request to the page',
    withPages((page) => ({ ...page, answer: (request) => page.answer({ ...request, query: '' }) })),
  ],
  [
    'lets all methods through',
    'allows only the methods of the page',
    withPages((page) => ({ ...page, methods: ['GET', 'HEAD', 'POST'] })),
  ],
  [
    'shows errors to strangers',
    'answers 500 for a page that throws, and goes on serving',
    withPages((page) => ({
      ...page,
      answer: async (request) => {
        try {
          return await page.answer(request);
        } catch (error) {
          return { status: 500, body: String(error) };
        }
      },
    })),
  ],
  [
    'collects the pieces first',
    'streams the pieces of an answer',
    withPages((page) => ({
      ...page,
      async answer(request) {
        const { body, ...rest } = await page.answer(request);
        if (typeof body === 'string') return { body, ...rest };
        const pieces: string[] = [];
        // It would wait for ever: the next piece comes only when the first one is there.
        await Promise.race([
          (async () => {
            for await (const piece of body) pieces.push(piece);
          })(),
          systemClock.sleep(0.2),
        ]);
        return { ...rest, body: pieces.concat('?').join('') };
      },
    })),
  ],
  [
    'forgets what is beside',
    'serves additional pages; the main page wins if they share a path',
    under((serve) => (at) => serve({ ...at, beside: {} })),
  ],
  [
    'goes on for ever',
    'serves until it is aborted',
    under((serve) => {
      return async (at) => {
        const forever = serve({ ...at, signal: new AbortController().signal });
        const isAborted = new Promise<void>((resolve) => at.signal.addEventListener('abort', () => resolve()));
        await Promise.race([forever, isAborted]);
      };
    }),
  ],
  [
    'has an address for each',
    'lets sites share an address, and stop one by one',
    under(() => (at) => httpEndpoint({ clock: systemClock, logger: recordingLogger() }).serve(at)),
  ],
];

describe('the suite of HTTP endpoints', () => {
  it.each(broken)('catches one that %s', async (_, caught, create) => {
    const cases = httpEndpointCases(create).filter(({ name }) => name === caught);
    expect(await failures(cases)).toEqual([caught]);
  });
});
