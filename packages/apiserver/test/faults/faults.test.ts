import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it, vi } from 'vitest';
import type { ServerControl } from '../../src/contracts/faults.js';
import type { StreamLine } from '../../src/contracts/request.js';
import { Faults } from '../../src/faults/fault-plan.js';
import type { FaultRule } from '../../src/faults/fault-rules.js';

const control = (): ServerControl => ({
  restart: vi.fn(async () => {}),
  dropConnections: vi.fn(),
  compact: vi.fn(),
  refuseConnections: vi.fn(),
});
const request = (method = 'GET', url = '/api/v1/pods') => ({ method, url, headers: {} });
const WATCH = '/api/v1/pods?watch=1';
const line = (type: StreamLine['type']): StreamLine => ({ type, text: `{"type":"${type}"}\n` });
const streamControl = () => ({ end: vi.fn(), reset: vi.fn(), write: vi.fn() });

function setup(...rules: FaultRule[]) {
  const clock = manualClock();
  const server = control();
  const faults = new Faults(clock, server);
  const handles = rules.map((rule) => faults.add(rule));
  return { clock, server, faults, handles };
}

describe('which requests are met', () => {
  it.each<[string, FaultRule['match'], string, string, boolean]>([
    ['anything', {}, 'GET', '/x', true],
    ['a method', { method: 'POST' }, 'POST', '/x', true],
    ['another method', { method: 'POST' }, 'GET', '/x', false],
    ['one of the methods', { method: ['POST', 'PATCH'] }, 'PATCH', '/x', true],
    ['a path, whatever the query', { path: '/x' }, 'GET', '/x?limit=5', true],
    ['another path', { path: '/x' }, 'GET', '/x/y', false],
    ['a pattern of paths', { path: /pods/ }, 'GET', WATCH, true],
    ['a pattern that is in the query only', { path: /limit/ }, 'GET', '/x?limit=5', false],
    ['watches', { watch: true }, 'GET', WATCH, true],
    ['watches, not lists', { watch: true }, 'GET', '/api/v1/pods?watch=false', false],
    ['lists, not watches', { watch: false }, 'GET', WATCH, false],
    ['a predicate', { where: ({ url }) => url.endsWith('y') }, 'GET', '/xy', true],
  ])('%s', async (_title, match, method, url, isMet) => {
    const { faults } = setup({ match: match ?? {}, reset: true });
    expect(await faults.beforeRequest(request(method, url))).toEqual(isMet ? { kind: 'reset' } : undefined);
  });

  it('as many as specified, after as many as specified', async () => {
    const { faults, handles } = setup({ reset: true, after: 1, times: 2 });
    const met = [];
    for (let index = 0; index < 5; index++) met.push((await faults.beforeRequest(request())) !== undefined);
    expect(met).toEqual([false, true, true, false, false]);
    expect(handles[0]?.hits).toBe(2);
  });

  it('none after the fault is removed', async () => {
    const { faults, handles } = setup({ reset: true });
    handles[0]?.remove();
    expect(await faults.beforeRequest(request())).toBeUndefined();
  });

  it('the earliest of several faults is met first, until it is used up', async () => {
    const { faults } = setup({ answer: { status: 503 }, times: 1 }, { answer: { status: 429 } });
    const statuses = [];
    for (let index = 0; index < 3; index++) {
      const fault = await faults.beforeRequest(request());
      statuses.push(fault?.kind === 'answer' ? fault.answer.status : undefined);
    }
    expect(statuses).toEqual([503, 429, 429]);
  });
});

describe('answers', () => {
  it('are Status objects with the usual reasons and Retry-After', async () => {
    const { faults } = setup({ answer: { status: 429, retryAfter: 7 } });
    const fault = await faults.beforeRequest(request());
    expect(fault).toMatchObject({ kind: 'answer', answer: { status: 429, headers: { 'retry-after': '7' } } });
    expect(JSON.parse(fault?.kind === 'answer' ? fault.answer.body : '')).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'too many requests, please try again later',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 7 },
      code: 429,
    });
  });

  it('can be garbage', async () => {
    const { faults } = setup({ answer: { status: 200, body: '<html>' } });
    expect(await faults.beforeRequest(request())).toMatchObject({ answer: { body: '<html>' } });
  });
});

it('latency delays by the clock of the cluster', async () => {
  const { faults, clock } = setup({ latency: 5 });
  let isThrough = false;
  const waiting = Promise.resolve(faults.beforeRequest(request())).then((fault) => {
    expect(fault).toBeUndefined();
    isThrough = true;
  });
  await clock.advance(4.9);
  expect(isThrough).toBe(false);
  await clock.advance(0.2);
  await waiting;
});

it.each([
  ['let through', { latency: 3600 }, undefined],
  ['answered', { latency: 3600, answer: { status: 503 } }, 'answer'],
])('latency ends when the fault is removed: the request is %s then', async (_title, rule, verdict) => {
  const { faults, handles, clock } = setup(rule);
  const waiting = faults.beforeRequest(request());
  await clock.advance(10);
  handles[0]?.remove();
  expect((await waiting)?.kind).toBe(verdict);
  expect(clock.sleepers).toBe(0);
});

describe('streams', () => {
  it('freeze while open, and thaw when told to', async () => {
    const { faults, clock } = setup();
    const stream = faults.onStream(request('GET', WATCH), streamControl());
    expect(await stream.pass(line('ADDED'))).toBe('send');
    const frost = faults.freezeStreams({ path: /pods/ });
    let verdict: string | undefined;
    const frozen = Promise.resolve(stream.pass(line('MODIFIED'))).then((result) => {
      verdict = result;
    });
    await clock.advance(3600);
    expect(verdict).toBeUndefined();
    frost.remove();
    await frozen;
    expect(verdict).toBe('send');
    expect(frost.hits).toBe(1);
  });

  it('are not held any more when they are closed', async () => {
    const { faults } = setup();
    faults.freezeStreams();
    const stream = faults.onStream(request('GET', WATCH), streamControl());
    const frozen = stream.pass(line('ADDED'));
    stream.closed();
    expect(await frozen).toBe('send');
  });

  it('lose their bookmarks only', async () => {
    const { faults } = setup();
    const stream = faults.onStream(request('GET', WATCH), streamControl());
    const handle = faults.dropBookmarks();
    expect(await stream.pass(line('BOOKMARK'))).toBe('drop');
    expect(await stream.pass(line('ADDED'))).toBe('send');
    handle.remove();
    expect(await stream.pass(line('BOOKMARK'))).toBe('send');
  });

  it('get their bookmarks late', async () => {
    const { faults, clock } = setup();
    faults.delayBookmarks(10);
    const stream = faults.onStream(request('GET', WATCH), streamControl());
    let verdict: string | undefined;
    const delayed = Promise.resolve(stream.pass(line('BOOKMARK'))).then((result) => {
      verdict = result;
    });
    await clock.advance(9);
    expect(verdict).toBeUndefined();
    await clock.advance(2);
    await delayed;
    expect(verdict).toBe('send');
  });

  it.each([
    ['end', { endAfter: 1 }],
    ['reset', { resetAfter: 1 }],
  ] as const)('%s after so many lines', async (action, stream) => {
    const { faults } = setup({ stream });
    const spies = streamControl();
    const opened = faults.onStream(request('GET', WATCH), spies);
    expect(await opened.pass(line('ADDED'))).toBe('send');
    expect(spies[action]).not.toHaveBeenCalled();
    expect(await opened.pass(line('ADDED'))).toBe('drop');
    expect(spies[action]).toHaveBeenCalledTimes(1);
  });

  it('get garbage, either at their beginning or at once', async () => {
    const { faults } = setup({ stream: { garbage: 'oops' } });
    const spies = streamControl();
    const stream = faults.onStream(request('GET', WATCH), spies);
    await stream.pass(line('ADDED'));
    await stream.pass(line('ADDED'));
    expect(spies.write.mock.calls).toEqual([['oops\n']]);
    expect(faults.garbleStreams('again')).toBe(1);
    expect(spies.write).toHaveBeenLastCalledWith('again\n');
  });

  it('are ended, reset or left alone, according to their paths', () => {
    const { faults } = setup();
    const [pods, nodes] = [streamControl(), streamControl()];
    faults.onStream(request('GET', WATCH), pods);
    const second = faults.onStream(request('GET', '/api/v1/nodes?watch=1'), nodes);
    expect(faults.endStreams({ path: /pods/ })).toBe(1);
    expect(pods.end).toHaveBeenCalledTimes(1);
    expect(nodes.end).not.toHaveBeenCalled();
    second.closed();
    expect(faults.resetStreams({ path: /nodes/ })).toBe(0);
  });
});

describe('the server itself', () => {
  it('restarts, refuses, forgets and cuts', async () => {
    const { faults, server } = setup();
    const spies = streamControl();
    faults.onStream(request('GET', WATCH), spies);
    await faults.restart({ downFor: 5 });
    expect(server.restart).toHaveBeenCalledWith({ downFor: 5 });
    expect(spies.reset).toHaveBeenCalledTimes(1);
    faults.compact();
    expect(server.compact).toHaveBeenCalledTimes(1);
    faults.cutConnections();
    expect(server.dropConnections).toHaveBeenCalledTimes(1);
    const refusal = faults.refuseConnections();
    refusal.remove();
    expect(vi.mocked(server.refuseConnections).mock.calls).toEqual([[true], [false]]);
  });

  it('works as before once everything is cleared', async () => {
    const { faults, server } = setup({ reset: true }, { stream: { freeze: true } });
    faults.clear();
    expect(await faults.beforeRequest(request())).toBeUndefined();
    expect(await faults.onStream(request('GET', WATCH), streamControl()).pass(line('ADDED'))).toBe('send');
    expect(server.refuseConnections).toHaveBeenCalledWith(false);
  });
});
