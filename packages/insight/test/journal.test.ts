import { ABSENT, ApiForbiddenError, PermanentError, PRESENT } from '@kopf-ts/core';
import { manualClock, testObserver } from '@kopf-ts/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { journal, type ObjectJournal } from '../src/index.js';
import { HANDLER, KIND, objectOf, SECRETS, told, type UntoldFact } from './support/told.js';

const object = objectOf('one');

testObserver(() => journal({ clock: manualClock() }).observer, { describe, it });

const RETRIED = {
  kind: 'request.retried',
  ...{ method: 'PATCH', verb: 'patch', resource: 'kopfexamples.kopf.dev', subresource: undefined, path: '/x' },
  ...{ namespace: 'default', code: 403, tries: 1, delay: 5 },
} as const;

/** The bytes of all texts, counted in another way than the journal does. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length;
  if (typeof value === 'number') return 8;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + weigh(one), 16);
}

const total = (objects: Iterable<ObjectJournal>): number => [...objects].reduce((sum, one) => sum + weigh(one), 0);

/** Facts of anything about a few objects, with texts of any length. */
function anyFact(): fc.Arbitrary<UntoldFact> {
  const text = fc.oneof(fc.string(), fc.string({ minLength: 200, maxLength: 3000 }), fc.string({ unit: 'binary' }));
  const path = fc.array(text, { maxLength: 5 });
  const of = fc.record({ name: fc.integer({ min: 0, max: 30 }), isSecret: fc.boolean() }).map(({ name, isSecret }) => {
    const resource = isSecret ? SECRETS : KIND;
    // Some have no uids, as in reviews.
    return { ...objectOf(String(name), resource), ...(name % 7 === 0 ? { uid: undefined } : {}) };
  });
  const handler = fc.record({ id: text, kind: fc.constantFrom('change', 'watch', 'daemon', 'index') });
  const error = text.map((message) => new Error(message));
  const value = fc.oneof(
    fc.anything(),
    fc.constantFrom(PRESENT, ABSENT, () => true),
    text,
  );
  const version = fc.option(text, { nil: undefined });
  return fc.oneof(
    fc.record({ kind: fc.constant('stream.event'), object: of, type: fc.constant('MODIFIED'), version }),
    fc.record({
      kind: fc.constant('object.cause'),
      object: of,
      reason: fc.constantFrom('create', 'update', 'noop'),
      paths: fc.array(path, { maxLength: 40 }),
      version,
    }),
    fc.record({
      kind: fc.constant('handler.considered'),
      object: of,
      handler,
      rejection: fc.option(
        fc.record({ filter: fc.constantFrom('labels', 'value', 'when'), path, wanted: value, found: value }),
        { nil: undefined },
      ),
    }),
    fc.record({
      kind: fc.constant('request.retried'),
      method: fc.constantFrom('GET', 'PATCH'),
      resource: fc.constantFrom('secrets', 'kopfexamples.kopf.dev'),
      namespace: fc.option(text, { nil: undefined }),
      name: fc.option(text, { nil: undefined }),
      error,
      delay: fc.double(),
    }),
    fc.record({
      kind: fc.constant('call.ended'),
      object: of,
      handler,
      reason: text,
      outcome: fc.constantFrom('succeeded', 'retried'),
      retry: fc.nat(),
      duration: fc.nat(),
      delay: fc.nat(),
      error,
    }),
    fc.record({
      kind: fc.constant('patch.sent'),
      object: of,
      requests: fc.array(fc.record({ content: fc.anything() }), { maxLength: 3 }),
      version,
    }),
    fc.record({ kind: fc.constant('patch.dropped'), object: of, what: text, why: text }),
    fc.record({ kind: fc.constant('object.failed'), object: of, error, pause: fc.nat() }),
    fc.record({ kind: fc.constant('object.gone'), object: of }),
    fc.record({
      kind: fc.constant('breaker.tripped'),
      object: of,
      fields: fc.array(text, { maxLength: 30 }),
      handlers: fc.array(text, { maxLength: 30 }),
      pause: fc.nat(),
    }),
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<UntoldFact>;
}

describe('The budget', () => {
  it('is never exceeded, whatever is told', { timeout: 60_000 }, () => {
    const numRuns = Number(process.env['KOPF_JOURNAL_RUNS'] ?? 60);
    fc.assert(
      fc.property(
        fc.array(anyFact(), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 500, max: 60_000 }),
        fc.integer({ min: 1, max: 20 }),
        (all, maxBytes, maxEntries) => {
          const { journal: own, tell } = told({ maxBytes, maxEntries });
          for (const fact of all) {
            tell({ ...fact });
            expect(own.bytes).toBeLessThanOrEqual(maxBytes);
          }
          expect(total(own.objects())).toBeLessThanOrEqual(own.bytes);
          for (const { entries } of own.objects()) expect(entries.length).toBeLessThanOrEqual(maxEntries);
        },
      ),
      { numRuns },
    );
  });

  it('holds for writes that are sent again, too: they are given up after objects that are quiet', () => {
    const { journal: own, tell } = told({ maxBytes: 20_000 });
    for (let count = 0; count < 300; count++)
      tell({ ...RETRIED, name: String(count), error: new Error('x'.repeat(300)) });
    expect(own.bytes).toBeLessThanOrEqual(20_000);
    tell({ ...RETRIED, name: 'one', error: new Error('x') });
    for (let count = 0; count < 300; count++) {
      tell({
        kind: 'object.failed',
        object: objectOf(count % 2 ? 'one' : `other-${count}`),
        error: new Error('x'),
        pause: 1,
      });
      expect(own.bytes).toBeLessThanOrEqual(20_000);
    }
    expect(own.find({ name: 'one' })?.retriedWrite).toBeDefined();
  });

  it('is given to the objects where something happens: those that were quiet for longest are forgotten first', () => {
    const { journal: own, tell } = told({ maxBytes: 12_000 });
    const happens = (name: string): void =>
      tell({ kind: 'object.failed', object: objectOf(name), error: new Error('x'.repeat(100)), pause: 1 });
    happens('first');
    happens('second');
    for (let count = 0; count < 30; count++) {
      happens(`other-${count}`);
      happens('first');
    }
    expect(own.find({ name: 'first' })?.entries.length).toBeGreaterThan(5);
    expect(own.find({ name: 'second' })).toBeUndefined();
    expect(own.find({ name: 'other-29' })).toBeDefined();
    expect(own.bytes).toBeLessThanOrEqual(12_000);
  });

  it('is enough for the latest entries of one object that is larger than all of it', () => {
    const { journal: own, tell } = told({ maxBytes: 4000 });
    for (let count = 0; count < 30; count++) {
      tell({ kind: 'object.failed', object, error: new Error(`${count}`.padStart(100, '.')), pause: 1 });
    }
    const { entries, lost } = own.find({ name: 'one' }) as ObjectJournal;
    expect(entries.length).toBeGreaterThan(2);
    expect(lost + entries.length).toBe(30);
    expect(entries.at(-1)).toMatchObject({ kind: 'failed', error: { message: expect.stringMatching(/29$/) } });
  });
});

describe('The journal', () => {
  it('keeps what was there to be filtered, as short texts', () => {
    const { journal: own, tell } = told();
    tell({ kind: 'object.cause', object, reason: 'update', paths: [['spec', 'size']], version: '5' });
    const found = { deep: { list: ['x'.repeat(10_000_000)] } };
    const rejection = { filter: 'value', path: ['spec', 'size'], wanted: 5, found } as const;
    tell({ kind: 'handler.considered', object, handler: HANDLER, rejection });
    const [entry] = own.find({ name: 'one' })?.entries ?? [];
    expect(entry).toMatchObject({
      kind: 'cause',
      paths: ['spec.size'],
      verdicts: [{ handler: 'fn', rejection: { filter: 'value', path: 'spec.size', wanted: '5' } }],
    });
    expect(JSON.stringify(entry).length).toBeLessThan(600);
  });

  it('keeps no values of Secrets: neither of their fields, nor in the words of errors', () => {
    const { journal: own, tell } = told();
    const secret = objectOf('one', SECRETS);
    tell({ kind: 'object.cause', object: secret, reason: 'update', paths: [['data', 'password']], version: '5' });
    for (const filter of ['labels', 'annotations', 'value', 'old', 'new', 'change'] as const) {
      const handler = { id: filter, kind: 'change' } as const;
      const rejection = { filter, path: ['data', 'password'], wanted: 'hunter2', found: 'hunter2' };
      tell({ kind: 'handler.considered', object: secret, handler, rejection });
    }
    const error = new Error('Invalid value: "hunter2"');
    const call = { reason: 'update', outcome: 'failed', result: 'hunter2', retry: 0, duration: 1, delay: 1 } as const;
    tell({ kind: 'call.ended', call: 1, object: secret, handler: HANDLER, error, ...call });
    const content = { data: { password: 'hunter2' } };
    const requests = [{ address: 'object', type: 'merge', content, version: '6' }] as const;
    tell({ kind: 'patch.sent', object: secret, requests, version: '6', duration: 1 });
    tell({ kind: 'patch.failed', object: secret, requests, error, duration: 1 });
    tell({ kind: 'patch.dropped', object: secret, what: 'data.password', why: error.message });
    tell({ kind: 'object.failed', object: secret, error, pause: 1 });
    const text = JSON.stringify(own.find({ name: 'one' }));
    expect(text).not.toContain('hunter2');
    expect(text).toContain('data.password');
  });

  it.each([
    ['the field itself', ['spec', 'password']],
    ['what is inside of it', ['spec', 'password', 'old']],
    ['what it is inside of', ['spec']],
  ])('keeps no values of sensitive fields: %s', (_, path) => {
    const { journal: own, tell } = told({ sensitive: ['spec.password'] });
    tell({ kind: 'object.cause', object, reason: 'update', paths: [path], version: '5' });
    const rejection = { filter: 'value', path, wanted: 'x', found: { password: 'hunter2' } } as const;
    tell({ kind: 'handler.considered', object, handler: HANDLER, rejection });
    expect(JSON.stringify(own.find({ name: 'one' }))).not.toContain('hunter2');
    expect(own.find({ name: 'one' })?.entries[0]).toMatchObject({ verdicts: [{ rejection: { isHidden: true } }] });
  });

  it('keeps no messages of errors that name sensitive fields', () => {
    const { journal: own, tell } = told({ sensitive: ['spec.password'] });
    const error = new PermanentError('spec.password: Invalid value: "hunter2": it is too short');
    tell({ kind: 'patch.failed', object, requests: [], error, duration: 1 });
    tell({ kind: 'object.failed', object, error: new Error('spec.size: Invalid value: 5'), pause: 1 });
    expect(own.find({ name: 'one' })?.entries).toMatchObject([
      { error: { message: 'PermanentError' } },
      { error: { message: 'spec.size: Invalid value: 5' } },
    ]);
  });

  it('keeps one entry for what is looked at again and again, but another one for another change', () => {
    const { journal: own, tell } = told();
    const cause = { kind: 'object.cause', object, reason: 'update', paths: [['spec']] } as const;
    tell({ ...cause, version: '5' });
    tell({ ...cause, version: '5' });
    const requests = [{ address: 'object', type: 'merge', content: { status: { a: 1 } }, version: '6' }] as const;
    tell({ kind: 'patch.sent', object, requests, version: '6', duration: 1 });
    tell({ ...cause, version: '6' });
    tell({ ...cause, version: '9' });
    const kinds = own
      .find({ name: 'one' })
      ?.entries.map((entry) => [entry.kind, entry.kind === 'cause' && entry.repeats]);
    expect(kinds).toEqual([
      ['cause', 2],
      ['patch', false],
      ['cause', 0],
    ]);
  });

  it('finds objects by any name of their kinds, and the newest of the same name', () => {
    const { journal: own, tell } = told();
    tell({ kind: 'object.gone', object: { ...object, uid: 'old' } });
    tell({ kind: 'object.failed', object: { ...object, uid: 'new' }, error: new Error('x'), pause: 1 });
    for (const resource of [
      'kopfexamples',
      'KopfExample',
      'kopfexample',
      'kex',
      'kopfexamples.kopf.dev',
      'kex.kopf.dev',
    ]) {
      expect(own.find({ resource, namespace: 'default', name: 'one' })?.uid).toBe('new');
    }
    for (const query of [{ resource: 'pods' }, { resource: 'kex.other.dev' }, { namespace: 'other' }, { uid: 'x' }]) {
      expect(own.find({ name: 'one', ...query })).toBeUndefined();
    }
  });

  it('knows what the operator as a whole is like', () => {
    const { journal: own, tell } = told();
    const stream = { resource: KIND, namespace: null };
    const error = new ApiForbiddenError({ status: 403, payload: 'no' });
    const phase = { phase: 'down', since: 1, lastEventAt: undefined, lastGoodAt: undefined, error } as const;
    tell({ kind: 'discovery.revised', resources: [KIND], namespaces: [null] });
    tell({ kind: 'stream.phase', stream, ...phase });
    tell({ kind: 'peering.ruled', namespace: null, isPaused: true, why: { kind: 'leader', by: 'other' } });
    tell({ kind: 'indexing.ready', isReady: false, missing: ['pods'] });
    expect(own.operator()).toMatchObject({
      operator: 'op',
      resources: ['kopfexamples.kopf.dev'],
      pauses: [{ kind: 'leader', by: 'other' }],
      indexing: { isReady: false, missing: ['pods'] },
      streams: [{ resource: 'kopfexamples.kopf.dev', phase: 'down', status: 403, error: 'no' }],
    });
    tell({ kind: 'peering.ruled', namespace: null, isPaused: false, why: undefined });
    tell({ kind: 'peering.ruled', namespace: 'gone', isPaused: true, why: undefined });
    tell({ kind: 'peering.left', namespace: 'gone' });
    tell({ kind: 'stream.phase', stream, ...phase, phase: 'ended' });
    expect(own.operator()).toMatchObject({ pauses: [], streams: [] });
  });
});
