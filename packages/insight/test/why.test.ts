import { ApiError, settings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { explain, marksOf, type ObjectMarks } from '../src/index.js';
import { KIND, objectOf, SECRETS, told } from './support/told.js';

const object = { resource: 'kopfexamples.kopf.dev', namespace: 'default', name: 'one' };
const PAUSE = 'kopf.zalando.org/paused-until';

const marks = async (body: object): Promise<ObjectMarks> => await marksOf({ body, settings: settings() });

describe('By the object alone,', () => {
  const utc = new Date('2020-01-01T00:00:00Z');
  const texts = async (annotations: Record<string, string>): Promise<readonly string[]> => {
    const known = await marks({ metadata: { name: 'one', annotations } });
    return explain({ object, marks: known, utc }).findings.map(({ text }) => text);
  };

  it.each([
    ['2020-01-01T01:00:00Z', 'The object is paused by an annotation, and resumes in 1 h, at 01:00:00 UTC.'],
    // Without a zone, as Kopf writes it, it is UTC: not the time at the place of whoever asks.
    ['2020-01-01T01:00:00', 'The object is paused by an annotation, and resumes in 1 h, at 01:00:00 UTC.'],
    ['9999-12-31T23:59:59Z', 'The object is paused by an annotation, and resumes in hundreds of years.'],
    // As the operator takes them.
    ['2030', 'The pause annotation is not a valid time and is ignored: 2030'],
    ['-1', 'The pause annotation is not a valid time and is ignored: -1'],
    ['NaN', 'The pause annotation is not a valid time and is ignored: NaN'],
    ['+300000-01-01T00:00:00Z', 'The pause annotation is not a valid time and is ignored: +300000-01-01T00:00:00Z'],
    ['Nov 5 2030', 'The pause annotation is not a valid time and is ignored: Nov 5 2030'],
  ])('a pause until %s', async (until, expected) => {
    expect((await texts({ [PAUSE]: until }))[0]).toBe(expected);
  });

  it.each([
    ['2020-01-01T00:01:00.123456', 'the next one is due in 1 min, at 00:01:00 UTC'],
    ['2500-01-01T00:00:00', 'the next one is due in hundreds of years'],
    ['tomorrow', 'the next one is due at an unknown time'],
  ])('a retry at %s', async (delayed, expected) => {
    const record = { started: '2020-01-01T00:00:00', purpose: 'create', retries: 1, delayed };
    expect((await texts({ 'kopf.zalando.org/fn': JSON.stringify(record) }))[0]).toContain(expected);
  });

  it('nothing is told of the values in a Secret', async () => {
    const record = { started: '2020-01-01T00:00:00', purpose: 'create', retries: 1, message: 'bad: hunter2' };
    const known = await marks({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'one',
        labels: { tier: 'hunter2' },
        annotations: { 'kopf.zalando.org/fn': JSON.stringify(record) },
      },
      data: { password: 'hunter2' },
    });
    expect(known).toMatchObject({ labels: { tier: '…' }, progress: [{ handler: 'fn' }] });
    expect(JSON.stringify(known)).not.toContain('hunter2');
  });
});

describe('By an operator,', () => {
  it.each([
    [
      403,
      'forbidden',
      'The operator has no permission to change the object (2 s ago; next try in 3 s, at 00:00:05 UTC): no!',
    ],
    [503, 'patch-failed', 'The operator could not change the object (2 s ago; next try in 3 s, at 00:00:05 UTC): no!'],
  ])('a write that is sent again is told at once, until it is over: %d', async (status, reason, text) => {
    const { tell, why, clock } = told();
    const write = { method: 'PATCH', verb: 'patch', subresource: undefined, path: '/x', code: status } as const;
    const error = new ApiError({ status, payload: 'no!' });
    const retried = {
      kind: 'request.retried',
      ...write,
      error,
      tries: 1,
      delay: 5,
      resource: object.resource,
    } as const;
    tell({ kind: 'object.woken', object: objectOf('one'), why: 'event' });
    tell({ ...retried, namespace: 'default', name: 'other' });
    tell({ ...retried, namespace: 'other', name: 'one' });
    tell({ ...retried, namespace: 'default', name: 'one', method: 'GET', verb: 'get' });
    expect(why().findings.map((one) => one.reason)).toEqual(['done']);
    tell({ ...retried, namespace: 'default', name: 'one' });
    await clock.advance(2);
    expect(why().findings).toEqual([{ reason, text }]);
    tell({ kind: 'patch.sent', object: objectOf('one'), requests: [], version: '6', duration: 1 });
    expect(why().findings.map((one) => one.reason)).not.toContain(reason);
    // Nobody tells that requests of handlers have succeeded.
    tell({ ...retried, namespace: 'default', name: 'one' });
    await clock.advance(60);
    expect(why().findings.map((one) => one.reason)).not.toContain(reason);
  });

  it('a write of a Secret that is sent again does not tell its values', () => {
    const { journal, tell } = told();
    const secret = objectOf('one', SECRETS);
    tell({ kind: 'object.woken', object: secret, why: 'event' });
    const write = { method: 'PATCH', verb: 'patch', subresource: undefined, path: '/x', code: 403 } as const;
    const error = new Error('hunter2');
    tell({
      kind: 'request.retried',
      ...write,
      resource: 'secrets',
      namespace: 'default',
      name: 'one',
      error,
      tries: 1,
      delay: 5,
    });
    expect(journal.find({ name: 'one' })?.retriedWrite).toMatchObject({ error: { message: 'Error' } });
  });

  it('kinds without their groups are found in all parts of the answer', () => {
    const { tell, why } = told();
    tell({ kind: 'discovery.revised', resources: [KIND], namespaces: [null] });
    const stream = { resource: KIND, namespace: null, labelSelector: 'tier=gold' };
    const phase = { phase: 'down', since: 1, lastEventAt: undefined, lastGoodAt: undefined } as const;
    tell({ kind: 'stream.phase', stream, ...phase, error: new Error('refused') });
    const { findings } = why({ object: { ...object, resource: 'kopfexamples' }, journal: undefined });
    expect(findings.map(({ reason }) => reason)).toEqual(['stream-down', 'filtered']);
  });

  it('a pause by a peering of one namespace is one of the whole operator, until that namespace is left', () => {
    const { tell, why } = told();
    tell({ kind: 'object.gone', object: objectOf('one') });
    tell({ kind: 'peering.ruled', namespace: 'other', isPaused: true, why: { kind: 'peer', by: 'them' } });
    expect(why().findings[0]?.text).toBe('The operator is paused in favour of its peers in the namespace other: them.');
    tell({ kind: 'peering.left', namespace: 'other' });
    expect(why().findings.map(({ reason }) => reason)).toEqual(['gone']);
  });

  it('an object that is only being written to is not done', () => {
    const { tell, why } = told();
    tell({ kind: 'object.cause', object: objectOf('one'), reason: 'create', paths: [], version: '1' });
    const live = { phase: 'running', isPaused: false, calls: [], daemons: [] } as const;
    expect(why({ live }).findings).toMatchObject([
      { reason: 'running', text: expect.stringMatching(/^The object is being handled right now/) },
    ]);
  });

  it('absurd times have words, too', () => {
    const { tell, why } = told();
    const call = { outcome: 'retried', reason: 'create', result: undefined, retry: 0, duration: 0 } as const;
    const handler = { id: 'fn', kind: 'change' } as const;
    for (const delay of [1e15, 1e300, Number.POSITIVE_INFINITY, Number.NaN]) {
      tell({ kind: 'call.ended', call: 1, object: objectOf('one'), handler, error: undefined, ...call, delay });
      tell({ kind: 'object.waiting', object: objectOf('one'), until: delay, why: 'delay' });
      const sent = JSON.parse(JSON.stringify({ journal: why() })) as object;
      expect(JSON.stringify(sent)).not.toMatch(/NaN|Infinity|e\+/);
    }
    expect(why().findings[0]?.reason).toBe('retrying');
  });
});
