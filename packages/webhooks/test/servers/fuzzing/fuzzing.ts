/** Requests that nobody would send on purpose: valid ones, with something wrong in them. Always the same for a seed. */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { AdmissionError, type AdmissionRequest, deepEqual, isMapping, type Mapping } from '@kopf-ts/core';
import { webhookServer } from '../../../src/index.js';
import { OPERATOR, objectOf, reviewed, reviewOf } from '../../reviewing/reviewed.js';
import { served } from '../support.js';

/** A request as it goes out. */
interface FuzzedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

interface FuzzedAnswer {
  readonly status: number;
  readonly text: string;
}

const BODY_LIMIT = 200_000;

/** Small, fast, and the same everywhere. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const VALID: readonly AdmissionRequest[] = [
  reviewOf(),
  reviewOf({ operation: 'UPDATE', oldObject: objectOf({ spec: { field: 'before' } }) }),
  reviewOf({ operation: 'DELETE', object: null, oldObject: objectOf() }),
  reviewOf({ operation: 'CONNECT', subResource: 'exec' }),
  reviewOf({
    operation: 'UPDATE',
    subResource: 'status',
    oldObject: objectOf({ status: { phase: 'old' } }),
    dryRun: true,
  }),
  reviewOf({ object: objectOf({ metadata: { name: 'x', labels: { a: 'b' }, annotations: { c: 'd' } } }) }),
];

const JUNK: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1e308, 2 ** 53, '', ' ', 'x', 'kopfexamples', '*', '\u0000', '\ud800', '💥', '../..'],
  ...[[], [null], [[]], {}, { '': '' }, { a: { b: { c: [1, 2, { d: null }] } } }, 'y'.repeat(10_000)],
  ...[
    JSON.parse('{"__proto__": {"allowed": true}}'),
    { constructor: { prototype: {} } },
    { toString: 1, valueOf: null },
  ],
  ...[{ metadata: 1 }, { metadata: { name: {}, uid: [], labels: 'x', finalizers: {} } }, 'CREATE', 'DELETE', 'UPDATE'],
];
const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'request',
  'object',
  'response',
  'allowed',
  '',
  'a.b',
  'uid',
  'x',
];
const PATHS = [
  '/check',
  '/',
  '/fill',
  '/absent',
  '/check/',
  '/%63heck',
  '/%',
  '/%00',
  '/check%2Ffill',
  '//',
  '/CHECK',
  '',
];
const QUERIES = ['', '?timeout=10s', '?timeout=', '?timeout=1e9h', '?timeout=-1s', '?timeout=%', '?a=b&timeout=9', '?'];
const METHODS = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'M-SEARCH'];
const TYPES = ['text/plain', 'application/json; charset=latin1', 'application/json,', '', 'APPLICATION/JSON', '\u00ff'];

/** What takes much more memory than there are bytes in it. */
const PARTS = ['{},', '[],', '"",', '{"a":{}},', '0.5,'];

/** Texts that are not in UTF-8, or are something else altogether. */
const ENCODINGS: readonly ((text: string) => Buffer)[] = [
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  (text) => Buffer.from(`${text}ÿ`, 'latin1'),
  (text) => Buffer.from(encodeURIComponent(text)),
  (text) => Buffer.from(Buffer.from(text).toString('base64')),
  (text) => gzipSync(text, { level: 1 }),
];

class Mutator {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #oneOf<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  #isOnce(outOf: number): boolean {
    return this.#below(outOf) === 0;
  }

  request(): FuzzedRequest {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (this.#isOnce(12)) headers['content-type'] = this.#oneOf(TYPES);
    if (this.#isOnce(15)) delete headers['content-type'];
    if (this.#isOnce(25)) headers['content-encoding'] = this.#oneOf(['gzip', 'identity', '']);
    if (this.#isOnce(10))
      headers[`x-${this.#oneOf(['a', '__proto__', 'constructor', 'host'])}`] = 'z'.repeat(this.#below(9000));
    if (this.#isOnce(20)) headers['transfer-encoding'] = 'chunked';
    if (this.#isOnce(30)) for (let count = this.#below(100); count > 0; count--) headers[`h${count}`] = String(count);
    const path = this.#isOnce(4) ? this.#oneOf(PATHS) : this.#oneOf(PATHS.slice(0, 3));
    return {
      method: this.#isOnce(20) ? this.#oneOf(METHODS) : 'POST',
      path: `${path}${this.#isOnce(3) ? this.#oneOf(QUERIES) : ''}` || '/',
      headers,
      body: this.#body(),
    };
  }

  #body(): Buffer {
    const review = structuredClone(this.#oneOf(VALID)) as unknown as Record<string, unknown>;
    for (let count = this.#below(4); count > 0; count--) this.#spoil(review);
    let text = JSON.stringify(review);
    if (this.#isOnce(100)) text = `${'['.repeat(this.#below(50_000))}${text}`;
    if (this.#isOnce(100)) text = text.replace('"field"', `"deep":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)},"field"`);
    if (this.#isOnce(200)) text = text.replace('"field"', `"many":[${this.#oneOf(PARTS).repeat(15_000)}0],"field"`);
    if (this.#isOnce(200)) text = ' '.repeat(BODY_LIMIT) + text;
    const bytes = this.#isOnce(30) ? this.#oneOf(ENCODINGS)(text) : Buffer.from(text, 'utf8');
    if (!this.#isOnce(3)) return bytes;
    return this.#garble(bytes);
  }

  /** Something somewhere in it is absent, or is something else. */
  #spoil(root: Record<string, unknown>): void {
    let place = root;
    for (;;) {
      const key = this.#isOnce(8) ? this.#oneOf(KEYS) : this.#oneOf(Object.keys(place));
      const value = key === undefined || !Object.hasOwn(place, key) ? undefined : place[key];
      if (isMapping(value) && Object.keys(value).length > 0 && !this.#isOnce(4)) {
        place = value as Record<string, unknown>;
        continue;
      }
      if (key === undefined) return;
      if (this.#isOnce(3)) Reflect.deleteProperty(place, key);
      else
        Object.defineProperty(place, key, {
          // A copy: it may be spoilt in turn.
          value: structuredClone(this.#oneOf(JUNK)),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      return;
    }
  }

  #garble(bytes: Buffer): Buffer {
    const at = this.#below(bytes.length);
    const end = Math.min(bytes.length, at + this.#below(20));
    const ways = [
      () => bytes.subarray(0, at),
      () => bytes.subarray(at),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(at)]),
      () => Buffer.concat([bytes, bytes]),
      () => Buffer.concat([Buffer.from('\ufeff'), bytes]),
      () => {
        const copy = Buffer.from(bytes);
        for (let count = this.#below(8); count >= 0; count--) copy[this.#below(copy.length)] = this.#below(256);
        return copy;
      },
    ];
    return this.#oneOf(ways)();
  }
}

/** What nobody has to be asked about: our own updates of our own marks only, and mutations of what is being deleted. */
function isLegitimatelyUnasked({ path, body }: FuzzedRequest): boolean {
  const request = (JSON.parse(body.toString('utf8')) as Mapping)['request'] as Mapping;
  if (request['operation'] === 'DELETE' && path.startsWith('/fill')) return true;
  const withoutMarks = (object: unknown): unknown =>
    withoutVoids(isMapping(object) ? { ...object, metadata: null } : object);
  const { username } = request['userInfo'] as Mapping;
  return (
    username === OPERATOR &&
    request['operation'] === 'UPDATE' &&
    deepEqual(withoutMarks(request['object']), withoutMarks(request['oldObject']))
  );
}

/** Marks are taken away together with what is empty without them. */
function withoutVoids(value: unknown): unknown {
  if (!isMapping(value)) return value ?? undefined;
  const kept = Object.entries(value).flatMap(([key, item]) => {
    const plain = withoutVoids(item);
    return plain === undefined ? [] : [[key, plain] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

export interface FuzzingReport {
  readonly statuses: Readonly<Record<string, number>>;
  readonly calls: number;
  /** What should never happen, in words. */
  readonly violations: readonly string[];
  /** Of the heap, after each quarter, if the garbage can be collected on demand. */
  readonly heap: readonly number[];
}

/** Sends so many requests, over some connections that are kept alive, and looks at all the answers. */
export async function fuzz(count: number, seed: number): Promise<FuzzingReport> {
  const asked = new Set<string>();
  const { review, logger } = reviewed((registry) => {
    registry.on.validate('kopfexamples', { id: 'check', subresource: '*' }, ({ headers, spec, warnings }) => {
      asked.add(String(headers['x-fuzz']));
      if ((spec as Mapping)['field'] === 'before') throw new AdmissionError('No.', { code: 422 });
      warnings.push('seen');
    });
    registry.on.mutate('kopfexamples', { id: 'fill', subresource: '*' }, ({ headers, patch }) => {
      asked.add(String(headers['x-fuzz']));
      patch.metadata['annotations'] = { filled: 'yes' };
    });
  });
  const mutator = new Mutator(seed);
  const statuses: Record<string, number> = {};
  const violations: string[] = [];
  const heap: number[] = [];
  let calls = 0;
  await using server = await served(webhookServer({ insecure: true, addr: '127.0.0.1', bodyLimit: BODY_LIMIT }), {
    review,
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });

  const exchange = async (id: number): Promise<void> => {
    const request = mutator.request();
    const answer = await send(server.url, { ...request, headers: { ...request.headers, 'x-fuzz': String(id) } }, agent);
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    const isAsked = asked.delete(String(id));
    if (isAsked) calls += 1;
    const complaint = complaintAbout(request, answer, isAsked);
    if (complaint !== undefined)
      violations.push(
        `${complaint}: ${request.method} ${request.path} ${request.body.toString('utf8').slice(0, 2000)}`,
      );
  };
  for (let id = 0; id < count; ) {
    const batch = Math.min(8, count - id);
    await Promise.all(Array.from({ length: batch }, (_, place) => exchange(id + place)));
    id += batch;
    // They are for people to read, and there is nobody.
    server.logger.clear();
    logger.clear();
    server.calls.length = 0;
    if (Math.floor((id * 4) / count) > heap.length) heap.push(await heapNow());
  }
  const valid = { method: 'POST', path: '/check', headers: {}, body: Buffer.from(JSON.stringify(VALID[0])) };
  const last = await send(server.url, valid, agent);
  if (last.status !== 200) violations.push(`After all that, a valid request gets ${last.status}.`);
  agent.destroy();
  return { statuses, calls, violations, heap };
}

const EXPECTED = new Set([200, 400, 404, 405, 413, 415, 431]);

function complaintAbout(request: FuzzedRequest, { status, text }: FuzzedAnswer, isAsked: boolean): string | undefined {
  if (!EXPECTED.has(status)) return `The status is ${status}`;
  if (/\n\s+at /.test(text)) return 'A stack is shown';
  if (status !== 200) return /"allowed"\s*:\s*true/.test(text) ? 'A refusal allows' : undefined;
  const { response } = JSON.parse(text) as { response: { allowed: unknown } };
  if (typeof response.allowed !== 'boolean') return 'There is no decision';
  if (response.allowed && !isAsked && !isLegitimatelyUnasked(request)) return 'It is allowed, and nobody was asked';
  return undefined;
}

async function send(url: string, { method, path, headers, body }: FuzzedRequest, agent: Agent): Promise<FuzzedAnswer> {
  const length = headers['transfer-encoding'] === undefined ? { 'content-length': String(body.length) } : {};
  try {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = httpRequest(url, { method, path, headers: { ...headers, ...length }, agent, timeout: 10_000 });
      outgoing.on('timeout', () => outgoing.destroy(new Error('It hangs.')));
      outgoing.on('response', resolve);
      outgoing.on('error', reject);
      outgoing.end(body);
    });
    let text = '';
    incoming.setEncoding('utf8');
    for await (const chunk of incoming) text += chunk;
    return { status: incoming.statusCode ?? 0, text };
  } catch (error) {
    // A refusal in the midst of a large request may come too late to be read.
    const isCutOff = body.length > BODY_LIMIT || method !== 'POST';
    const { code } = error as NodeJS.ErrnoException;
    if (isCutOff && (code === 'ECONNRESET' || code === 'EPIPE')) return { status: 413, text: '' };
    return { status: 0, text: String(error) };
  }
}

async function heapNow(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn();
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}
