import type { Fact, FactOf, Observer } from '@kopf-ts/core';
import { facts } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { inTime, type Step, scripted } from '../helpers/scripted.js';

const tooMany: Step = { status: 429, headers: { 'retry-after': '10' } };
const patch = { method: 'PATCH', path: '/apis/kopf.dev/v1/namespaces/ns/kopfexamples/k/status', body: {} } as const;
const watch = { method: 'GET', path: '/api/v1/pods?watch=true' } as const;

/** A client of a scripted server, and what it tells. */
function observed(steps: Parameters<typeof scripted>[0], networking: Parameters<typeof scripted>[1] = {}) {
  const told: FactOf<'request.ended'>[] = [];
  // The clock of the client is made later; and the moments of facts are not looked at here.
  const observer: Observer = {
    wants: ['request.ended'],
    observe: (fact: Fact) => void told.push(fact as FactOf<'request.ended'>),
  };
  const common = { operator: 'me', clock: manualClock(), logger: recordingLogger() };
  return { ...scripted(steps, networking, { facts: facts({ observers: [observer], ...common }) }), told };
}

describe('the end of a request is told', () => {
  it('with what it was, and how it went', async () => {
    const { request, told } = observed([{ status: 201 }]);
    await request(patch);
    expect(told).toEqual([
      {
        kind: 'request.ended',
        operator: 'me',
        at: 0,
        method: 'PATCH',
        verb: 'patch',
        resource: 'kopfexamples.kopf.dev',
        subresource: 'status',
        path: patch.path,
        code: 201,
        error: undefined,
        tries: 1,
        duration: 0,
        waited: 0,
      },
    ]);
  });

  it('once for all its tries', async () => {
    const { request, told } = observed([{ status: 503 }, new Error('broken'), {}], { errorBackoffs: [1, 2] });
    await request(patch);
    expect(told).toMatchObject([{ code: 200, tries: 3, duration: 3, error: undefined }]);
  });

  it.each<[string, Step, object]>([
    ['of the server', { status: 404 }, { code: 404, error: { status: 404 } }],
    ['of the connection', new Error('broken'), { code: undefined, error: { code: 'KOPF_CONNECTION' } }],
  ])('with its error: %s', async (_title, step, expected) => {
    const { request, told } = observed([step], { errorBackoffs: [] });
    await expect(request(patch)).rejects.toThrow();
    expect(told).toMatchObject([{ ...expected, tries: 1 }]);
  });

  it('with how long it has waited before it was sent', async () => {
    const { client, clock, told } = observed([tooMany, {}], { errorBackoffs: [] });
    await expect(client.request(patch)).rejects.toMatchObject({ status: 429 });
    await inTime(clock, client.request(patch));
    expect(told).toMatchObject([
      { code: 429, waited: 0 },
      { code: 200, waited: 10, duration: 10, tries: 1 },
    ]);
  });

  it('without the secrets of its address', async () => {
    const { request, told } = observed([{}]);
    await request({ method: 'GET', path: 'https://me:secret@other.example/x' });
    expect(JSON.stringify(told)).not.toContain('secret');
    expect(told).toHaveLength(1);
  });
});

describe('a try that has failed is told', () => {
  function retried(steps: Parameters<typeof scripted>[0], errorBackoffs: readonly number[]) {
    const told: FactOf<'request.retried'>[] = [];
    const observer: Observer = {
      wants: ['request.retried'],
      observe: (fact: Fact) => void told.push(fact as FactOf<'request.retried'>),
    };
    const common = { operator: 'me', clock: manualClock(), logger: recordingLogger() };
    return { ...scripted(steps, { errorBackoffs }, { facts: facts({ observers: [observer], ...common }) }), told };
  }

  it('at once, with what it was, of which object, why, and when it is sent again', async () => {
    const { client, clock, told } = retried([{ status: 403 }, new Error('broken'), {}], [5, 10]);
    const done = client.request(patch);
    await clock.settle();
    expect(told).toEqual([
      {
        kind: 'request.retried',
        operator: 'me',
        at: 0,
        method: 'PATCH',
        verb: 'patch',
        resource: 'kopfexamples.kopf.dev',
        subresource: 'status',
        namespace: 'ns',
        name: 'k',
        path: patch.path,
        code: 403,
        error: expect.objectContaining({ status: 403 }),
        tries: 1,
        delay: 5,
      },
    ]);
    await inTime(clock, done);
    expect(told.slice(1)).toMatchObject([{ code: undefined, error: { code: 'KOPF_CONNECTION' }, tries: 2, delay: 10 }]);
  });

  it('only if there will be another one', async () => {
    const { client, clock, told } = retried([{ status: 404 }, { status: 503 }, { status: 503 }], [1]);
    await expect(inTime(clock, client.request(patch))).rejects.toThrow();
    expect(told).toEqual([]);
    await expect(inTime(clock, client.request(patch))).rejects.toThrow();
    expect(told).toMatchObject([{ code: 503, tries: 1 }]);
  });
});

describe('the end of a stream is told', () => {
  it('when the server ends it', async () => {
    const { client, told } = observed([{ body: '1\n2\n' }]);
    const lines: unknown[] = [];
    for await (const line of client.stream(watch)) lines.push(line);
    expect(lines).toEqual([1, 2]);
    expect(told).toMatchObject([{ verb: 'watch', resource: 'pods', code: 200, tries: 1, error: undefined }]);
  });

  it('when it is left', async () => {
    const { client, told } = observed([{ body: '1\n2\n' }]);
    for await (const _line of client.stream(watch)) {
      expect(told).toEqual([]);
      break;
    }
    expect(told).toMatchObject([{ verb: 'watch', code: 200, error: undefined }]);
  });

  it('when it cannot be opened', async () => {
    const { client, told } = observed([{ status: 410 }]);
    await expect(client.stream(watch)[Symbol.asyncIterator]().next()).rejects.toMatchObject({ status: 410 });
    expect(told).toMatchObject([{ verb: 'watch', code: 410, error: { status: 410 } }]);
  });

  it('when the caller aborts it', async () => {
    const { client, told } = observed(['hang']);
    const control = new AbortController();
    const next = client
      .stream({ ...watch, signal: control.signal })
      [Symbol.asyncIterator]()
      .next();
    control.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    expect(told).toMatchObject([{ verb: 'watch', code: undefined, error: { message: 'enough' } }]);
  });

  it('but not if it was never asked for', async () => {
    const { client, told } = observed([{}]);
    await client.stream(watch)[Symbol.asyncIterator]().return?.();
    expect(told).toEqual([]);
  });
});
