import { ApiError, ApiTooManyRequestsError, KopfError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { KubeConnectionError } from '../../../src/index.js';
import { scripted } from '../../helpers/scripted.js';

const get = { method: 'GET', path: '/api/v1/pods' } as const;
const refusal = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('which failures are worth another attempt', () => {
  it.each([400, 404, 405, 409, 410, 415, 422, 499, 666, 999])('HTTP %i is not', async (status) => {
    const { request, sent, logger, sleeps } = scripted([{ status }], { errorBackoffs: [1, 1, 1] });
    await expect(request(get)).rejects.toMatchObject({ status });
    expect(sent).toHaveLength(1);
    expect(sleeps).toEqual([]);
    expect(logger.lines).toEqual([]);
  });

  it.each([403, 429, 500, 502, 503, 504, 599])('HTTP %i is', async (status) => {
    const { request, sent } = scripted([{ status }], { errorBackoffs: [1, 1, 1] });
    await expect(request(get)).rejects.toMatchObject({ status });
    expect(sent).toHaveLength(4);
  });

  it('HTTP 403 is not, if the caller wants to know of missing permissions at once; others still are', async () => {
    const request403 = scripted([{ status: 403 }], { errorBackoffs: [1, 1, 1] });
    await expect(request403.request({ ...get, retries: 'unless-forbidden' })).rejects.toMatchObject({ status: 403 });
    expect([request403.sent.length, request403.logger.lines]).toEqual([1, []]);
    const request503 = scripted([{ status: 503 }], { errorBackoffs: [1, 1, 1] });
    await expect(request503.request({ ...get, retries: 'unless-forbidden' })).rejects.toMatchObject({ status: 503 });
    expect(request503.sent).toHaveLength(4);
  });

  it.each([
    'etcdserver: request is too large',
    'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097163 vs. 2097152)',
  ])('HTTP 500 about the size of the object is not: %s', async (message) => {
    const body = { kind: 'Status', message, code: 500 };
    const { request, sent, logger } = scripted([{ status: 500, body }], { errorBackoffs: [1, 1, 1] });
    await expect(request(get)).rejects.toMatchObject({ status: 500, message });
    expect(sent).toHaveLength(1);
    expect(logger.lines).toEqual([]);
  });

  it.each([403, 500])('HTTP %i is not, if it is the decision of an admission webhook', async (status) => {
    const message = 'admission webhook "check.example.com" denied the request: No!';
    const body = { kind: 'Status', message, code: status };
    const { request, sent } = scripted([{ status, body }], { errorBackoffs: [1, 1, 1] });
    await expect(request(get)).rejects.toMatchObject({ status, message });
    expect(sent).toHaveLength(1);
  });

  it('a broken connection is', async () => {
    const { request, sent } = scripted([refusal()], { errorBackoffs: [1, 1, 1] });
    await expect(request(get)).rejects.toBeInstanceOf(KubeConnectionError);
    expect(sent).toHaveLength(4);
  });

  it('a timeout is', async () => {
    const { request, sent } = scripted(['hang'], { errorBackoffs: [1, 1, 1], requestTimeout: 10 });
    await expect(request(get)).rejects.toMatchObject({ code: 'KOPF_TIMEOUT' });
    expect(sent).toHaveLength(4);
  });

  it('an answer that is not JSON is', async () => {
    const { request, sent } = scripted([{ body: '<html>' }], { errorBackoffs: [1, 1, 1] });
    await expect(request(get)).rejects.toMatchObject({ code: 'KOPF_BAD_JSON' });
    expect(sent).toHaveLength(4);
  });

  it('a failure of whoever gives the credentials is not', async () => {
    const credentials = {
      current: () => Promise.reject(new KopfError('no credentials')),
      invalidate: () => {},
    };
    const { request, sent, logger } = scripted([{}], { errorBackoffs: [1, 1, 1] }, { credentials });
    await expect(request(get)).rejects.toThrow('no credentials');
    expect(sent).toHaveLength(0);
    expect(logger.lines).toEqual([]);
  });
});

describe('the log of attempts', () => {
  it('tells of each failure, with the number of the attempt and the total', async () => {
    const { request, logger } = scripted([{ status: 503 }], { errorBackoffs: [0, 0, 0] });
    await expect(request(get)).rejects.toThrow(ApiError);
    const url = 'GET https://cluster.example/api/v1/pods';
    expect(logger.messages('error')).toEqual([
      `Request attempt #1/4 failed; will retry: ${url} -> ApiServerError: HTTP 503`,
      `Request attempt #2/4 failed; will retry: ${url} -> ApiServerError: HTTP 503`,
      `Request attempt #3/4 failed; will retry: ${url} -> ApiServerError: HTTP 503`,
      `Request attempt #4/4 failed; escalating: ${url} -> ApiServerError: HTTP 503`,
    ]);
    expect(logger.messages('debug')).toEqual([
      `Request attempt #2/4: ${url}`,
      `Request attempt #3/4: ${url}`,
      `Request attempt #4/4: ${url}`,
    ]);
  });

  it('tells of the success after failures', async () => {
    const { request, logger, sent } = scripted([{ status: 505 }, { status: 505 }, { body: { ok: true } }], {
      errorBackoffs: [0, 0, 0],
    });
    await expect(request(get)).resolves.toEqual({ ok: true });
    expect(sent).toHaveLength(3);
    expect(logger.messages('debug').at(-1)).toBe(
      'Request attempt #3/4 succeeded: GET https://cluster.example/api/v1/pods',
    );
    expect(logger.find('#4/4')).toBeUndefined();
  });

  it('is empty when all goes well', async () => {
    const { request, logger } = scripted([{}]);
    await request(get);
    expect(logger.lines).toEqual([]);
  });

  it('has no total where the backoffs cannot be counted', async () => {
    function* endless() {
      for (;;) yield 0;
    }
    const errorBackoffs = { [Symbol.iterator]: endless };
    const { request, logger } = scripted([{ status: 500 }, { status: 500 }, {}], { errorBackoffs });
    await request(get);
    expect(logger.messages('error').map((line) => line.slice(0, 28))).toEqual([
      'Request attempt #1 failed; w',
      'Request attempt #2 failed; w',
    ]);
  });

  it('has the words of the server', async () => {
    const body = { kind: 'Status', message: 'etcd is on holiday', code: 500 };
    const { request, logger } = scripted([{ status: 500, body }], { errorBackoffs: [] });
    await expect(request(get)).rejects.toThrow('etcd is on holiday');
    expect(logger.messages('error')).toEqual([
      'Request attempt #1/1 failed; escalating: GET https://cluster.example/api/v1/pods -> ApiServerError: HTTP 500: etcd is on holiday',
    ]);
  });
});

describe('the pauses between attempts', () => {
  it.each([
    ['an empty list', [], []],
    ['a list of one', [1], [1]],
    ['a list of two', [1, 2], [1, 2]],
    ['a set', new Set([3, 4]), [3, 4]],
    ['a number', 5, [5]],
    ['nothing', undefined, []],
  ])('are those of the settings: %s', async (_title, errorBackoffs, expected) => {
    const { request, sent, sleeps } = scripted([{ status: 500 }], { errorBackoffs: errorBackoffs as never });
    await expect(request(get)).rejects.toThrow(ApiError);
    expect(sleeps).toEqual(expected);
    expect(sent).toHaveLength(expected.length + 1);
  });

  it('begin anew with every request, and an unfinished generator is closed', async () => {
    let closings = 0;
    const errorBackoffs = {
      *[Symbol.iterator]() {
        try {
          yield* [1, 2, 3];
        } finally {
          closings++;
        }
      },
    };
    const { request, sleeps } = scripted([{ status: 500 }, { status: 500 }, {}, { status: 500 }, {}], {
      errorBackoffs,
    });
    await request(get);
    await request(get);
    expect(sleeps).toEqual([1, 2, 1]);
    expect(closings).toBe(2);
  });

  it('follow the settings as they are at the moment of the request', async () => {
    const { request, sleeps, settings } = scripted([{ status: 500 }], { errorBackoffs: [1] });
    await expect(request(get)).rejects.toThrow(ApiError);
    settings.networking.errorBackoffs = [7, 8];
    await expect(request(get)).rejects.toThrow(ApiError);
    expect(sleeps).toEqual([1, 7, 8]);
  });
});

describe('a request without retries', () => {
  it.each([403, 429, 500, 503])('gives HTTP %i at once, and logs nothing', async (status) => {
    const { request, sent, logger, sleeps } = scripted([{ status }]);
    await expect(request({ ...get, retries: 'none' })).rejects.toMatchObject({ status });
    expect(sent).toHaveLength(1);
    expect(sleeps).toEqual([]);
    expect(logger.lines).toEqual([]);
  });

  it('gives a broken connection at once', async () => {
    const { request, sent } = scripted([refusal()]);
    await expect(request({ ...get, retries: 'none' })).rejects.toThrow(/ECONNREFUSED/);
    expect(sent).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  const tooMany = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds } });
  const inBody = {
    status: 429,
    body: { kind: 'Status', code: 429, message: 'slow down', details: { retryAfterSeconds: 10 } },
  };

  it.each([
    ['only where it is longer than planned', false, [10, 10, 15]],
    ['always, if enforced', true, [10, 10, 10]],
  ])('replaces the planned pause %s', async (_title, enforceRetryAfter, expected) => {
    for (const answer of [tooMany('10'), tooMany('10.9'), inBody]) {
      const networking = { errorBackoffs: [5, 10, 15], enforceRetryAfter };
      const { request, sleeps } = scripted([answer], networking);
      await expect(request(get)).rejects.toBeInstanceOf(ApiTooManyRequestsError);
      expect(sleeps).toEqual(expected);
    }
  });

  it('is told in the log where it replaces the pause', async () => {
    const { request, logger } = scripted([tooMany('10'), {}], { errorBackoffs: [5] });
    await request(get);
    expect(logger.find('Overriding the backoff 5s with the retry-after 10s')?.level).toBe('debug');
  });

  it('may be a date', async () => {
    const { request, sleeps } = scripted([tooMany('Wed, 01 Jan 2020 00:00:30 GMT'), {}], { errorBackoffs: [5] });
    await request(get);
    expect(sleeps).toEqual([30]);
  });

  it.each(['soon', '-5', ''])('is ignored where it makes no sense: "%s"', async (text) => {
    const { request, sleeps } = scripted([tooMany(text), {}], { errorBackoffs: [5] });
    await request(get);
    expect(sleeps).toEqual([5]);
  });

  it('does not help the last attempt', async () => {
    const { request, sent, sleeps } = scripted([tooMany('10')], { errorBackoffs: [] });
    await expect(request(get)).rejects.toMatchObject({ status: 429, retryAfter: 10 });
    expect(sent).toHaveLength(1);
    expect(sleeps).toEqual([]);
  });
});

describe('aborting a request', () => {
  it('ends a pause with the reason', async () => {
    const aborting = new AbortController();
    const { request, sent } = scripted(
      [
        () => {
          queueMicrotask(() => setImmediate(() => aborting.abort(new Error('enough'))));
          return { status: 500 };
        },
      ],
      { errorBackoffs: [Number.POSITIVE_INFINITY] },
      {},
    );
    await expect(request({ ...get, signal: aborting.signal })).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
  });

  it('is not taken for a failure that is worth another attempt', async () => {
    const aborting = new AbortController();
    const { request, sent, logger } = scripted([
      () => {
        aborting.abort(new Error('enough'));
        return 'hang';
      },
    ]);
    await expect(request({ ...get, signal: aborting.signal })).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
    expect(logger.lines).toEqual([]);
  });

  it('sends nothing, if it was before the sending', async () => {
    const { request, sent } = scripted([{}]);
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(request({ ...get, signal })).rejects.toThrow('too late');
    expect(sent).toHaveLength(0);
  });
});
