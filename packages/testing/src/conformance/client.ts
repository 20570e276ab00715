import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AnyObject,
  ApiClientError,
  ApiConflictError,
  ApiNotFoundError,
  ApiUnprocessableError,
  type Awaitable,
  type KubeClient,
  type KubeRequest,
  type Seconds,
} from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from './cases.js';

/**
 * A client, and a cluster behind it: any server that keeps ConfigMaps as Kubernetes does.
 *
 * ```ts
 * import { type ClientUnderTest, localCluster } from 'kopf-ts/testing';
 * async function create(): Promise<ClientUnderTest> {
 *   const cluster = await localCluster();
 *   return { client: cluster.client, dispose: () => cluster.stop() };
 * }
 * ```
 */
export interface ClientUnderTest {
  readonly client: KubeClient;
  /** Where ConfigMaps may be created; they are deleted afterwards. It has to exist. Default: `default`. */
  readonly namespace?: string;
  /** How many connections the client holds now, if that can be known. */
  connections?(): Awaitable<number>;
  /** Called at the end of each case. */
  dispose?(): Awaitable<void>;
}

/**
 * What a client may take its time for.
 *
 * ```ts
 * import type { ClientExpectations } from 'kopf-ts/testing';
 * const slow: ClientExpectations = { deadline: 60 };
 * ```
 */
export interface ClientExpectations {
  /** How long a case may take: a client that hangs is broken, too. Default: 10 seconds. */
  readonly deadline?: Seconds;
}

type Create = () => Awaitable<ClientUnderTest>;

interface ConfigMap extends AnyObject {
  readonly data?: Readonly<Record<string, string>>;
}
interface ConfigMapEvent {
  readonly type: string;
  readonly object: ConfigMap;
}

const MERGE_PATCH = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** Everything that is easily broken on the way: several bytes per character, quotes, line breaks of all kinds. */
const UNICODE = 'Grüße, 世界, 🚀 "\\" \n\r\t\u2028\u2029\u0007 \ud83d\ude00 \uffff';

/**
 * What every client must hold. `create` gives a client of a running cluster.
 *
 * ```ts
 * import { clientCases } from 'kopf-ts/testing';
 * for (const { name, run } of clientCases(() => ({ client }))) it(name, run);
 * ```
 */
export function clientCases(create: Create, { deadline = 10 }: ClientExpectations = {}): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (cluster: Cluster) => Promise<void>): void => {
    const runAnew = async (): Promise<void> => {
      const target = await create();
      const cluster = new Cluster(target);
      try {
        await inTime(run(cluster), deadline);
      } finally {
        await inTime(cluster.cleanUp(), deadline);
        await target.dispose?.();
      }
    };
    cases.push({ name, run: runAnew });
  };

  addRequests(add);
  addErrors(add);
  addStreams(add);
  addAborting(add);
  addOptional(add);
  return cases;
}

/**
 * Declares the cases as tests of your runner.
 *
 * ```ts
 * import { localCluster, testClient } from 'kopf-ts/testing';
 * testClient(async () => {
 *   const cluster = await localCluster();
 *   return { client: cluster.client, dispose: () => cluster.stop() };
 * }, { describe, it });
 * ```
 */
export function testClient(create: Create, runner?: TestRunner, expectations?: ClientExpectations): void {
  declareCases('a client', clientCases(create, expectations), runner);
}

type Add = (name: string, run: (cluster: Cluster) => Promise<void>) => void;

function addRequests(add: Add): void {
  add("returns the server's response", async (cluster) => {
    const created = await cluster.create({ data: { a: 'b' } });
    assert.deepEqual(created.data, { a: 'b' });
    assert.ok(created.metadata?.uid, 'the server has given a uid');
    assert.deepEqual(await cluster.get(created), created);
  });

  add('keeps every character in both directions', async (cluster) => {
    const created = await cluster.create({ data: { text: UNICODE } });
    assert.equal(created.data?.text, UNICODE);
    assert.equal((await cluster.get(created)).data?.text, UNICODE);
  });

  add('sends the query as it is', async (cluster) => {
    const labels = { app: cluster.id, tier: 'a-b_c.d' };
    const wanted = await cluster.create({ labels });
    await cluster.create({ labels: { app: cluster.id, tier: 'other' } });
    const selector = encodeURIComponent(`app=${cluster.id},tier in (a-b_c.d, x)`);
    const list = await cluster.list(`labelSelector=${selector}`);
    assert.deepEqual(
      list.map(({ metadata }) => metadata?.name),
      [wanted.metadata?.name],
    );
  });

  add('sends the content type', async (cluster) => {
    const created = await cluster.create({ data: { a: '1', b: '2' } });
    const merged = await cluster.patch(created, MERGE_PATCH, { data: { a: null, c: '3' } });
    assert.deepEqual(merged.data, { b: '2', c: '3' });
    const patched = await cluster.patch(created, JSON_PATCH, [{ op: 'replace', path: '/data/b', value: '4' }]);
    assert.deepEqual(patched.data, { b: '4', c: '3' });
    const replaced = await cluster.put({ ...patched, data: { d: '5' } });
    assert.deepEqual(replaced.data, { d: '5' });
  });

  add('sends the requested form of the response', async ({ client }) => {
    const plain = await client.request<AnyObject>({ method: 'GET', path: '/apis' });
    assert.equal(plain.kind, 'APIGroupList');
    const aggregated = await client.request<AnyObject>({ method: 'GET', path: '/apis', accept: DISCOVERY });
    assert.equal(aggregated.kind, 'APIGroupDiscoveryList');
  });

  add('deletes, with options and without', async (cluster) => {
    const created = await cluster.create({});
    const foreign = { preconditions: { uid: 'of-somebody-else' } };
    await assert.rejects(cluster.delete(created, foreign), (error) => error instanceof ApiConflictError);
    await cluster.delete(created, { preconditions: { uid: created.metadata?.uid } });
    await assert.rejects(cluster.get(created), (error) => error instanceof ApiNotFoundError);
    const another = await cluster.create({});
    await cluster.delete(another);
    await assert.rejects(cluster.get(another), (error) => error instanceof ApiNotFoundError);
  });

  add('sends and receives large objects', async (cluster) => {
    const text = 'ü€'.repeat(150_000);
    const created = await cluster.create({ data: { text } });
    assert.ok(created.data?.text === text, 'the text is the same');
    assert.ok((await cluster.get(created)).data?.text === text, 'the text is the same later');
  });

  add('receives large lists', async (cluster) => {
    const text = 'x'.repeat(300_000);
    for (let number = 0; number < 10; number++) await cluster.create({ data: { text }, labels: { app: cluster.id } });
    const list = await cluster.list(`labelSelector=app%3D${cluster.id}`);
    assert.equal(list.length, 10);
    assert.ok(
      list.every(({ data }) => data?.text === text),
      'the texts are the same',
    );
  });

  add('sends many requests concurrently', async (cluster) => {
    const numbers = Array.from({ length: 50 }, (_, number) => String(number));
    const created = await Promise.all(numbers.map((number) => cluster.create({ data: { number } })));
    const read = await Promise.all(created.map((object) => cluster.get(object)));
    assert.deepEqual(
      read.map(({ data }) => data?.number),
      numbers,
    );
  });
}

function addErrors(add: Add): void {
  add('throws what the server says: not found', async (cluster) => {
    const error = await failure(cluster.get({ metadata: { name: 'absent' } }));
    assert.ok(error instanceof ApiNotFoundError, `it is ${String(error)}`);
    const { status, reason, message, details } = error;
    assert.deepEqual([status, reason], [404, 'NotFound']);
    assert.match(message, /"absent" not found/);
    assert.equal(details?.name, 'absent');
  });

  add('throws what the server says: already exists', async (cluster) => {
    const { metadata } = await cluster.create({});
    const error = await failure(cluster.post({ metadata: { name: metadata?.name } }));
    assert.ok(error instanceof ApiConflictError, `it is ${String(error)}`);
    assert.deepEqual([error.status, error.reason], [409, 'AlreadyExists']);
  });

  add('throws what the server says: conflict', async (cluster) => {
    const created = await cluster.create({});
    await cluster.patch(created, MERGE_PATCH, { data: { a: 'b' } });
    const error = await failure(cluster.put({ ...created, data: { c: 'd' } }));
    assert.ok(error instanceof ApiConflictError, `it is ${String(error)}`);
    assert.deepEqual([error.status, error.reason], [409, 'Conflict']);
  });

  add('throws what the server says: invalid', async (cluster) => {
    const error = await failure(cluster.post({ metadata: { name: 'Not_A_Name' } }));
    assert.ok(error instanceof ApiUnprocessableError, `it is ${String(error)}`);
    assert.deepEqual([error.status, error.reason], [422, 'Invalid']);
    assert.match(error.message, /metadata\.name/);
    const causes = error.details?.causes as { field?: unknown }[] | undefined;
    assert.equal(causes?.[0]?.field, 'metadata.name');
  });

  add('throws what the server says: any other refusal', async (cluster) => {
    const { metadata } = await cluster.create({});
    const path = cluster.path(metadata?.name);
    const error = await failure(
      cluster.client.request({ method: 'PATCH', path, body: {}, contentType: 'application/json' }),
    );
    assert.ok(error instanceof ApiClientError, `it is ${String(error)}`);
    assert.equal(error.status, 415);
  });

  add('throws for responses that are only texts, too', async ({ client }) => {
    const error = await failure(client.request({ method: 'GET', path: '/apis/absent.example/v1/things' }));
    assert.ok(error instanceof ApiNotFoundError, `it is ${String(error)}`);
    assert.notEqual(error.message, '');
  });
}

function addStreams(add: Add): void {
  add('streams the events in order', async (cluster) => {
    const stream = await cluster.watch();
    const created: string[] = [];
    for (let number = 0; number < 20; number++) {
      created.push((await cluster.create({ labels: { app: cluster.id } })).metadata?.name ?? '');
    }
    const events = await taken(stream, 20);
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.metadata?.name]),
      created.map((name) => ['ADDED', name]),
    );
    await stream.return?.();
  });

  add('streams each event as soon as it arrives', async (cluster) => {
    const stream = await cluster.watch();
    const created = await cluster.create({ labels: { app: cluster.id } });
    assert.equal((await taken(stream, 1))[0]?.type, 'ADDED');
    await cluster.patch(created, MERGE_PATCH, { data: { a: 'b' } });
    assert.deepEqual((await taken(stream, 1))[0]?.object.data, { a: 'b' });
    await cluster.delete(created);
    assert.equal((await taken(stream, 1))[0]?.type, 'DELETED');
    await stream.return?.();
  });

  add('streams events of any size, whole', async (cluster) => {
    const stream = await cluster.watch();
    const texts = ['€'.repeat(250_000), 'small', UNICODE.repeat(10_000), ''];
    for (const text of texts) await cluster.create({ data: { text }, labels: { app: cluster.id } });
    const events = await taken(stream, texts.length);
    events.forEach(({ object }, index) => {
      assert.ok(object.data?.text === texts[index], `the text #${index} is the same`);
    });
    await stream.return?.();
  });

  add('ends the stream when the server does', async (cluster) => {
    const stream = await cluster.watch('&timeoutSeconds=1');
    assert.equal((await stream.next()).done, true);
    assert.equal((await stream.next()).done, true, 'and it stays so');
  });

  add('throws what the server says when it refuses to stream', async ({ client }) => {
    const path = '/apis/absent.example/v1/things?watch=true';
    const error = await failure(iterated(client, { method: 'GET', path }).next());
    assert.ok(error instanceof ApiNotFoundError, `it is ${String(error)}`);
  });

  add('throws what the server says when it does not understand what to stream', async (cluster) => {
    const path = `${cluster.path()}?watch=true&labelSelector=!!`;
    const error = await failure(iterated(cluster.client, { method: 'GET', path }).next());
    assert.ok(error instanceof ApiClientError, `it is ${String(error)}`);
    assert.equal(error.status, 400);
  });

  add('has many concurrent, independent streams', async (cluster) => {
    const aborting = new AbortController();
    const reason = new Error('enough');
    const streams = await Promise.all(Array.from({ length: 15 }, () => cluster.watch()));
    const doomed = await cluster.watch('', aborting.signal);
    const doom = failure(doomed.next());
    aborting.abort(reason);
    assert.equal(await doom, reason);
    await cluster.create({ labels: { app: cluster.id } });
    const events = await Promise.all(streams.map((stream) => taken(stream, 1)));
    assert.ok(
      events.every(([event]) => event?.type === 'ADDED'),
      'all others have got the event',
    );
    for (const stream of streams) await stream.return?.();
  });
}

function addAborting(add: Add): void {
  const reason = new Error('enough');

  add('sends nothing if already aborted', async (cluster) => {
    const signal = AbortSignal.abort(reason);
    const name = `${cluster.id}-never`;
    assert.equal(await failure(cluster.post({ metadata: { name } }, signal)), reason);
    assert.ok((await failure(cluster.get({ metadata: { name } }))) instanceof ApiNotFoundError, 'nothing is created');
    assert.equal(
      await failure(iterated(cluster.client, { method: 'GET', path: cluster.path(), signal }).next()),
      reason,
    );
  });

  add('rejects with the reason if a request is aborted', async (cluster) => {
    const aborting = new AbortController();
    const request = failure(cluster.list('limit=1', aborting.signal));
    aborting.abort(reason);
    assert.equal(await request, reason);
    assert.equal(getEventListeners(aborting.signal, 'abort').length, 0, 'no listeners are left');
  });

  add('rejects with the reason if a stream is aborted while it opens', async (cluster) => {
    const aborting = new AbortController();
    const path = `${cluster.path()}?watch=true`;
    const stream = iterated(cluster.client, { method: 'GET', path, signal: aborting.signal });
    const next = failure(stream.next());
    aborting.abort(reason);
    assert.equal(await next, reason);
    assert.equal(getEventListeners(aborting.signal, 'abort').length, 0, 'no listeners are left');
  });

  add('rejects with the reason if a stream is aborted while an event is awaited', async (cluster) => {
    const aborting = new AbortController();
    const stream = await cluster.watch('', aborting.signal);
    await cluster.create({ labels: { app: cluster.id } });
    await taken(stream, 1);
    const next = failure(stream.next());
    setImmediate(() => aborting.abort(reason));
    assert.equal(await next, reason);
    assert.equal((await stream.next()).done, true, 'there is nothing after that');
    assert.equal(getEventListeners(aborting.signal, 'abort').length, 0, 'no listeners are left');
  });

  add('yields no more events after the stream is aborted', async (cluster) => {
    const aborting = new AbortController();
    const stream = await cluster.watch('', aborting.signal);
    for (let number = 0; number < 5; number++) await cluster.create({ labels: { app: cluster.id } });
    await taken(stream, 2);
    aborting.abort(reason);
    assert.equal(await failure(stream.next()), reason);
  });

  add('leaves nothing behind: no listeners, no connections of streams', async (cluster) => {
    const aborting = new AbortController();
    const { signal } = aborting;
    await cluster.create({ labels: { app: cluster.id } });
    await Promise.all(Array.from({ length: 20 }, () => cluster.list('limit=1', signal)));
    assert.equal(getEventListeners(signal, 'abort').length, 0, 'after requests');
    const before = await cluster.connections();
    const left = await cluster.watch('', signal);
    await cluster.create({ labels: { app: cluster.id } });
    await taken(left, 1);
    await left.return?.();
    assert.equal(getEventListeners(signal, 'abort').length, 0, 'after a stream that was left');
    assert.equal((await left.next()).done, true);
    const streams = await Promise.all(Array.from({ length: 20 }, () => cluster.watch('', signal)));
    const endings = Promise.all(streams.map((stream) => failure(stream.next())));
    aborting.abort(reason);
    assert.deepEqual(await endings, Array(20).fill(reason));
    assert.equal(getEventListeners(signal, 'abort').length, 0, 'after aborted streams');
    await cluster.untilConnections(before);
  });
}

/** A client need not have these methods; but if it has them, this must hold. */
function addOptional(add: Add): void {
  const reason = new Error('enough');

  add('yields texts line by line with every character, if it supports that', async (cluster) => {
    const created = await cluster.create({ data: { text: UNICODE } });
    const path = cluster.path(created.metadata?.name);
    const lines = await linesOf(cluster.client, { method: 'GET', path });
    assert.deepEqual(lines === undefined ? created : JSON.parse(lines.join('\n')), created);
    assert.ok(!lines?.some((line) => line.endsWith('\n')), 'lines come without their ends');
  });

  add('throws what the server says when it refuses a text, if it can', async (cluster) => {
    if (cluster.client.text === undefined) return;
    const absent = { method: 'GET', path: cluster.path(`${cluster.id}-absent`) } as const;
    const error = await failure(linesOf(cluster.client, absent));
    assert.ok(error instanceof ApiNotFoundError, `it is ${String(error)}`);
    const signal = AbortSignal.abort(reason);
    assert.equal(await failure(linesOf(cluster.client, { ...absent, path: cluster.path(), signal })), reason);
  });

  add('throws what the server says when it refuses to connect, if it can', async ({ client, id, namespace }) => {
    if (client.connect === undefined) return;
    const path = `/api/v1/namespaces/${namespace}/pods/${id}/exec?command=date&stdout=true`;
    const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
    const error = await failure(client.connect({ path, protocols }));
    assert.ok(error instanceof ApiNotFoundError, `it is ${String(error)}`);
    assert.match(error.message, /not found/);
    assert.equal(await failure(client.connect({ path, protocols, signal: AbortSignal.abort(reason) })), reason);
  });
}

async function linesOf(client: KubeClient, request: KubeRequest): Promise<string[] | undefined> {
  if (client.text === undefined) return undefined;
  const lines: string[] = [];
  for await (const line of client.text(request)) lines.push(line);
  return lines;
}

/** ConfigMaps by the client under test, with names that nobody else has. */
class Cluster {
  readonly client: KubeClient;
  readonly id = `conformance-${randomBytes(5).toString('hex')}`;
  readonly #target: ClientUnderTest;
  readonly #created = new Set<string>();
  #number = 0;

  constructor(target: ClientUnderTest) {
    this.client = target.client;
    this.#target = target;
  }

  get namespace(): string {
    return this.#target.namespace ?? 'default';
  }

  path(name?: string): string {
    const collection = `/api/v1/namespaces/${this.namespace}/configmaps`;
    return name === undefined ? collection : `${collection}/${name}`;
  }

  async create({ data, labels }: { data?: object; labels?: object }): Promise<ConfigMap> {
    const name = `${this.id}-${this.#number++}`;
    this.#created.add(name);
    return await this.post({ metadata: { name, ...(labels && { labels }) }, ...(data && { data }) });
  }

  post(fields: object, signal?: AbortSignal): Promise<ConfigMap> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', ...fields };
    return this.client.request({ method: 'POST', path: this.path(), body, ...(signal && { signal }) });
  }

  get({ metadata }: ConfigMap): Promise<ConfigMap> {
    return this.client.request({ method: 'GET', path: this.path(metadata?.name) });
  }

  put(body: ConfigMap): Promise<ConfigMap> {
    return this.client.request({ method: 'PUT', path: this.path(body.metadata?.name), body });
  }

  patch(
    { metadata }: ConfigMap,
    contentType: NonNullable<KubeRequest['contentType']>,
    body: unknown,
  ): Promise<ConfigMap> {
    return this.client.request({ method: 'PATCH', path: this.path(metadata?.name), contentType, body });
  }

  delete({ metadata }: ConfigMap, options?: object): Promise<unknown> {
    const body = options === undefined ? {} : { body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options } };
    return this.client.request({ method: 'DELETE', path: this.path(metadata?.name), ...body });
  }

  async list(query: string, signal?: AbortSignal): Promise<readonly ConfigMap[]> {
    const path = `${this.path()}?${query}`;
    const list = await this.client.request<{ items?: readonly ConfigMap[] }>({
      method: 'GET',
      path,
      ...(signal && { signal }),
    });
    return list.items ?? [];
  }

  /** A stream of what happens to the objects of this case from now on. */
  async watch(query = '', signal?: AbortSignal): Promise<AsyncIterator<ConfigMapEvent, unknown>> {
    const list = await this.client.request<AnyObject>({ method: 'GET', path: `${this.path()}?limit=1` });
    const version = list.metadata?.resourceVersion ?? '';
    const path = `${this.path()}?watch=true&resourceVersion=${version}&labelSelector=app%3D${this.id}${query}`;
    return iterated(this.client, { method: 'GET', path, ...(signal && { signal }) });
  }

  connections(): Awaitable<number> {
    return this.#target.connections?.() ?? 0;
  }

  /** There may be more of them kept alive for the next requests, but not that many. */
  async untilConnections(count: number): Promise<void> {
    const kept = 5;
    while ((await this.connections()) > count + kept) await delay(1);
  }

  async cleanUp(): Promise<void> {
    await Promise.all([...this.#created].map((name) => this.delete({ metadata: { name } }).catch(() => undefined)));
  }
}

function iterated(client: KubeClient, request: KubeRequest): AsyncIterator<ConfigMapEvent, unknown> {
  return client.stream<ConfigMapEvent>(request)[Symbol.asyncIterator]();
}

async function taken(stream: AsyncIterator<ConfigMapEvent, unknown>, count: number): Promise<ConfigMapEvent[]> {
  const events: ConfigMapEvent[] = [];
  while (events.length < count) {
    const { done, value } = await stream.next();
    if (done) assert.fail(`The stream has ended after ${events.length} events of ${count}.`);
    events.push(value);
  }
  return events;
}

/** What it fails with; that it does not fail, is a failure. */
async function failure(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value: unknown) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome) return outcome.error;
  return assert.fail(`It should have failed, but gave ${JSON.stringify(outcome.value)?.slice(0, 200)}.`);
}

async function inTime(promise: Promise<void>, deadline: Seconds): Promise<void> {
  const stopping = new AbortController();
  const alarm = delay(deadline * 1000, undefined, { signal: stopping.signal }).then(
    () => assert.fail(`It has not come to an end within ${deadline} seconds.`),
    () => {},
  );
  try {
    await Promise.race([promise, alarm]);
  } finally {
    stopping.abort();
  }
}
