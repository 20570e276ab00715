import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import {
  type AdmissionRequest,
  type AdmissionResponse,
  AmbiguousResourceError,
  type Awaitable,
  MissingDataError,
  UnknownResourceError,
  type WebhookClientConfig,
} from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from '../cases.js';
import { ServedWorld, type WebhookServerExpectations, type WebhookServerUnderTest } from './webhook-callers.js';

type Create = () => Awaitable<WebhookServerUnderTest>;

const REVIEW: AdmissionRequest = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'uid1',
    kind: { group: 'kopf.dev', version: 'v1', kind: 'KopfExample' },
    resource: { group: 'kopf.dev', version: 'v1', resource: 'kopfexamples' },
    operation: 'CREATE',
    userInfo: { username: 'somebody' },
    object: { metadata: { name: 'ünïcödé' } },
  },
};
const ANSWER: AdmissionResponse = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: { uid: 'uid1', allowed: true, warnings: ['«a warning»'] },
};

/**
 * What every server and every tunnel must hold. They are called for real, so the time is real, too.
 *
 * ```ts
 * import { webhookServerCases } from 'kopf-ts/testing';
 * const create = () => ({ server: kopf.webhooks.webhookServer({ addr: '127.0.0.1' }) });
 * for (const { name, run } of webhookServerCases(create, { promptness: 30 })) it(name, run);
 * ```
 */
export function webhookServerCases(
  create: Create,
  expectations: WebhookServerExpectations = {},
): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (world: ServedWorld) => Promise<void>): void => {
    const runAnew = async (): Promise<void> => {
      const world = new ServedWorld(await create(), expectations, ANSWER);
      try {
        await run(world);
      } finally {
        await world.cleanUp();
      }
    };
    cases.push({ name, run: runAnew });
  };

  add('reports its address', async (world) => {
    const config = await world.start();
    assertAddress(config);
  });

  add('passes the review and the response unchanged', async (world) => {
    await world.start();
    const answer = await world.post('/fn', REVIEW);
    assert.equal(answer.status, 200, `the status is ${answer.status}`);
    assert.match(answer.type, /^application\/json\b/, 'the answer is not declared as JSON');
    assert.deepEqual(JSON.parse(answer.text), ANSWER, 'the answer is not that of the review function');
    assert.deepEqual(world.calls[0]?.review, REVIEW, 'the review function got something else than was sent');
  });

  add('reports which handler a request is for', async (world) => {
    await world.start();
    await world.post('/fn%21/spec.field', REVIEW);
    assert.equal(world.calls[0]?.hints.webhook, 'fn!/spec.field');
  });

  add('reports no handler if the request names none', async (world) => {
    await world.start();
    await world.post('/', REVIEW);
    assert.equal(world.calls.length, 1, 'the review function is not called');
    assert.equal(world.calls[0]?.hints.webhook, undefined);
  });

  add('passes the headers', async (world) => {
    await world.start();
    await world.post('/fn', REVIEW, { headers: { 'X-Some-Header': 'value' } });
    assert.equal(world.calls[0]?.hints.headers?.['x-some-header'], 'value');
  });

  add('reports the timeout of the API server', async (world) => {
    await world.start();
    await world.post('/fn?timeout=10s', REVIEW);
    assert.equal(world.calls[0]?.hints.webhook, 'fn', 'the query is taken for a part of the id');
    assert.equal(world.calls[0]?.hints.timeout, 10);
  });

  add('reviews several requests at once', async (world) => {
    let arrived = 0;
    let release = (): void => {};
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.review = async () => {
      arrived += 1;
      if (arrived === 3) release();
      await all;
      return ANSWER;
    };
    await world.start();
    const answers = await Promise.all([1, 2, 3].map(() => world.post('/fn', REVIEW)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
  });

  add('passes large reviews', async (world) => {
    await world.start();
    const text = 'x'.repeat(3 * 1024 * 1024);
    const large = { ...REVIEW, request: { ...REVIEW.request, object: { text } } } as unknown as AdmissionRequest;
    const { status } = await world.post('/fn', large);
    assert.equal(status, 200, `a review of 3 MiB gets ${status}`);
    assert.deepEqual(world.calls[0]?.review, large);
  });

  add('refuses anything but JSON without a review', async (world) => {
    await world.start();
    const answer = await world.post('/fn', '{"apiVersion": "admission.k8s.io/v1", ');
    assertRefused(answer, [400]);
    assert.equal(world.calls.length, 0, 'the review function is called');
  });

  add('refuses methods other than POST without a review', async (world) => {
    await world.start();
    assertRefused(await world.post('/fn', REVIEW, { method: 'PUT' }), [404, 405]);
    assert.equal(world.calls.length, 0, 'the review function is called');
  });

  const failing: readonly [what: string, error: Error, status: number][] = [
    ['an unknown resource or handler with 404', new UnknownResourceError('There is none.'), 404],
    ['ambiguous resources with 409', new AmbiguousResourceError('There are two.'), 409],
    ['incomplete reviews with 400', new MissingDataError('There is no user.'), 400],
    ['what the review fails at with 500', new TypeError('a-secret-of-ours'), 500],
  ];
  for (const [what, error, status] of failing) {
    add(`refuses ${what}`, async (world) => {
      world.review = () => Promise.reject(error);
      await world.start();
      assertRefused(await world.post('/fn', REVIEW), [status]);
    });
  }

  add('keeps inner errors to itself', async (world) => {
    world.review = () => Promise.reject(new TypeError('a-secret-of-ours'));
    await world.start();
    const { text } = await world.post('/fn', REVIEW);
    assert.ok(!text.includes('a-secret-of-ours'), 'the message of the error is shown to the caller');
    assert.ok(!/\bat .*:\d+/.test(text), 'the stack of the error is shown to the caller');
  });

  add('goes on after bad requests and failed reviews', async (world) => {
    await world.start();
    world.review = () => Promise.reject(new TypeError('broken'));
    await world.post('/fn', REVIEW);
    await world.post('/fn', 'nonsense');
    world.review = () => Promise.resolve(ANSWER);
    const { status } = await world.post('/fn', REVIEW);
    assert.equal(status, 200);
  });

  add('stays until it is aborted', async (world) => {
    await world.start();
    await world.clock.advance(600);
    assert.ok(!(await world.hasEnded()), 'it has ended by itself');
    assert.equal((await world.post('/fn', REVIEW)).status, 200);
  });

  add('ends in time and without an error when aborted', async (world) => {
    await world.start();
    await world.end();
  });

  add('closes all its sockets at the end, including idle keep-alive ones', async (world) => {
    await world.start();
    const connection = await world.connect();
    await world.end();
    await world.within(connection.closed, 'a connection is still open');
    assert.ok(!(await world.isReachable()), 'it still accepts connections');
  });

  add('closes even if the next address is never requested', async (world) => {
    await world.start({ isBusy: true });
    world.abort();
    await world.untilUnreachable();
  });

  add('closes even if the loop is left without aborting', async (world) => {
    await world.start({ isBusy: true });
    await world.leave();
    await world.untilUnreachable();
  });

  add('answers requests in progress before it ends', async (world) => {
    const arrival = world.blockReviews();
    await world.start();
    const answer = world.post('/fn', REVIEW);
    await world.within(arrival.arrived, 'the request does not arrive');
    world.abort();
    await new Promise((resolve) => setImmediate(resolve));
    arrival.release();
    assert.equal((await answer).status, 200, 'the request is lost');
    await world.end();
  });

  add('does nothing if already aborted', async (world) => {
    world.abort();
    assert.equal(await world.next(), undefined, 'it says where it can be reached');
  });

  add('can be used again after it has ended', async (world) => {
    await world.start();
    await world.end();
    world.renew();
    await world.start();
    assert.equal((await world.post('/fn', REVIEW)).status, 200);
  });

  add('leaves no timers and no listeners behind', async (world) => {
    const { sleepers } = world.clock;
    await world.start();
    await world.end();
    assert.equal(world.clock.sleepers, sleepers, 'somebody still sleeps');
    assert.equal(getEventListeners(world.signal, 'abort').length, 0, 'somebody still listens');
  });

  return cases;
}

/**
 * Declares the cases of a server as tests.
 *
 * ```ts
 * import { testWebhookServer } from 'kopf-ts/testing';
 * testWebhookServer(() => ({ server: kopf.webhooks.webhookServer({ addr: '127.0.0.1' }) }), { describe, it });
 * ```
 */
export function testWebhookServer(create: Create, runner?: TestRunner, expectations?: WebhookServerExpectations): void {
  declareCases('webhook server', webhookServerCases(create, expectations), runner);
}

function assertAddress({ url, service, caBundle }: WebhookClientConfig): void {
  assert.ok((url === undefined) !== (service === undefined), 'there must be either a URL or a service');
  if (url !== undefined) assert.ok(URL.canParse(url), `${url} is not a URL`);
  if (caBundle === undefined) return;
  const text = Buffer.from(caBundle, 'base64').toString('utf8');
  assert.match(text, /-----BEGIN CERTIFICATE-----/, 'the bundle is not a PEM in Base64');
}

function assertRefused({ status, text }: { status: number; text: string }, expected: readonly number[]): void {
  assert.ok(!/"allowed"\s*:\s*true/.test(text), 'it is allowed');
  assert.ok(expected.includes(status), `the status is ${status} instead of ${expected.join(' or ')}`);
}
