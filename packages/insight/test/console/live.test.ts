import { describe, expect, it } from 'vitest';
import { type Look, shown } from '../support/shown.js';
import { HANDLER, KIND, objectOf, type UntoldFact } from '../support/told.js';

const began = (call: number): UntoldFact =>
  ({ kind: 'call.began', call, handler: HANDLER, object: objectOf('one'), retry: 0 }) as never;
const ended = (call: number, outcome = 'succeeded', duration = 1): UntoldFact =>
  ({ kind: 'call.ended', call, handler: HANDLER, object: objectOf('one'), outcome, retry: 0, duration }) as never;

describe('Those who look at the console', () => {
  it('are told all at once, and then only what is different, once a second at most', async () => {
    const place = shown();
    place.has('one');
    const look = await place.look();
    expect(look.pieces).toHaveLength(1);
    expect(look.last).toMatchObject({
      hello: { mayWrite: true },
      overview: { total: 1, kinds: [{ resource: 'kopfexamples.kopf.dev', done: 1 }], isPaused: false },
      objects: { items: [{ name: 'one', kind: 'KopfExample', namespace: 'default', state: 'done' }], matched: 1 },
      object: null,
    });
    // However much happens.
    for (let call = 0; call < 500; call += 1) {
      place.tell(began(call));
      place.tell(ended(call));
    }
    await look.after(1);
    expect(look.pieces).toHaveLength(2);
    expect(look.pieces[1]).toMatch(/^event: overview\n/);
    expect(look.pieces[1]).not.toContain('event: objects');
    expect(look.last.overview?.handlers).toMatchObject([{ id: 'fn', kind: 'change', calls: 500, running: 0 }]);
    await look.leave();
  });

  it('are told at once of what happens after a quiet time, and now and then that nothing does', async () => {
    const place = shown();
    const look = await place.look();
    await look.after(9);
    expect(look.pieces).toHaveLength(1);
    await look.after(1);
    expect(look.pieces[1]).toBe(': still here\n\n');
    await look.after(5);
    place.tell(began(1));
    await look.after(0);
    expect(look.pieces).toHaveLength(3);
    expect(look.last.overview?.handlers).toMatchObject([{ running: 1 }]);
    await look.leave();
  });

  it('see what fits: by kind, by state, by a text; the most pressing first', async () => {
    const place = shown();
    for (const name of ['apple', 'banana', 'cherry']) place.has(name);
    place.has('date', { phase: 'waiting' });
    const names = async (query: string) => {
      const look = await place.look(query);
      await look.leave();
      return [look.last.objects?.matched, ...(look.last.objects?.items ?? []).map(({ name }) => name)];
    };
    expect(await names('')).toEqual([4, 'date', 'apple', 'banana', 'cherry']);
    expect(await names('limit=2')).toEqual([4, 'date', 'apple']);
    expect(await names('text=AN')).toEqual([1, 'banana']);
    expect(await names('text=default/')).toEqual([4, 'date', 'apple', 'banana', 'cherry']);
    expect(await names('state=waiting')).toEqual([1, 'date']);
    expect(await names('state=nonsense&limit=-1')).toEqual([4, 'date', 'apple', 'banana', 'cherry']);
    expect(await names('resource=pods')).toEqual([0]);
  });

  it('see all about one object: why, its timeline, what runs; and that it is unknown, if it is', async () => {
    const place = shown();
    place.has('one', { phase: 'running', calls: ['fn'], daemons: ['d'], version: '42' } as never);
    place.tell({ kind: 'object.cause', object: objectOf('one'), reason: 'create', paths: [[]], version: '1' });
    const look = await place.look('atResource=kopfexamples.kopf.dev&atNamespace=default&atName=one');
    expect(look.last.object).toMatchObject({
      name: 'one',
      kind: 'KopfExample',
      isKnown: true,
      state: 'running',
      calls: ['fn'],
      daemons: ['d'],
      version: '42',
    });
    expect(look.last.object?.timeline.length).toBeGreaterThan(0);
    expect(look.last.object?.findings.length).toBeGreaterThan(0);
    const before = look.pieces.length;
    await look.after(1);
    // Nothing has happened: it is not told again.
    expect(look.pieces.slice(before).join()).not.toContain('event: object\n');
    await look.leave();
    const other = await place.look('atResource=kopfexamples.kopf.dev&atNamespace=default&atName=two');
    expect(other.last.object).toBeNull();
    await other.leave();
  });

  it('are not more than sixteen; and whoever has left makes room', async () => {
    const place = shown();
    const looks: Look[] = [];
    while (looks.length < 16) looks.push(await place.look());
    expect((await place.ask('/api/live')).status).toBe(503);
    await looks[0]?.leave();
    const another = await place.look();
    expect(another.pieces).toHaveLength(1);
    for (const look of [...looks.slice(1), another]) await look.leave();
  });
});

describe('The handlers', () => {
  it('have rates, errors and times of the last five minutes, and counts of all the time', async () => {
    const declared = [
      { id: 'fn', kind: 'change' as const, resource: 'kopfexamples' },
      { id: 'idle', kind: 'timer' as const, resource: 'pods' },
    ];
    const place = shown({ handlers: () => declared });
    await place.clock.advance(600);
    for (let call = 0; call < 10; call += 1) {
      place.tell(began(call));
      place.tell(ended(call, call < 3 ? 'retried' : 'succeeded', 0.5));
    }
    const look = await place.look();
    expect(look.last.overview?.handlers).toEqual([
      {
        id: 'fn',
        kind: 'change',
        resource: 'kopfexamples',
        calls: 10,
        errors: 3,
        running: 0,
        perMinute: 2,
        errorRatio: 0.3,
        meanSeconds: 0.5,
      },
      { id: 'idle', kind: 'timer', resource: 'pods', calls: 0, errors: 0, running: 0, perMinute: 0 },
    ]);
    await look.after(330);
    expect(look.last.overview?.handlers[0]).toMatchObject({ calls: 10, errors: 3, perMinute: 0 });
    expect(look.last.overview?.handlers[0]).not.toHaveProperty('errorRatio');
    await look.leave();
  });
});

describe('What is around the objects', () => {
  const stream = { resource: KIND, namespace: null };

  it('streams with their health and their lag, which is asked for only while somebody looks', async () => {
    const measured: unknown[] = [];
    const lag = {
      lagOf: () => (measured.length === 0 ? undefined : 3),
      async measure(streams: Iterable<unknown>) {
        measured.push([...streams].length);
      },
    };
    const place = shown({ lag });
    place.tell({ kind: 'stream.phase', stream, phase: 'watching', since: 0, lastEventAt: 0 } as never);
    await place.clock.advance(120);
    expect(measured).toEqual([]);
    const look = await place.look();
    await look.after(1);
    expect(measured.length).toBeGreaterThan(0);
    expect(look.last.overview?.streams).toMatchObject([
      { resource: 'kopfexamples.kopf.dev', namespace: null, phase: 'watching', lag: 3 },
    ]);
    place.tell({ kind: 'stream.phase', stream, phase: 'down', since: 121, error: new Error('refused') } as never);
    await look.after(1);
    expect(look.last.overview?.streams).toMatchObject([{ phase: 'down', error: 'refused' }]);
    place.tell({ kind: 'stream.phase', stream, phase: 'ended', since: 122 } as never);
    await look.after(1);
    expect(look.last.overview?.streams).toEqual([]);
    await look.leave();
  });

  it('the queue, the peers, the reviews', async () => {
    const place = shown({ workerLimit: () => 5, version: '1.2.3' });
    place.has('one', { phase: 'queued' });
    place.tell({ kind: 'object.phase', object: objectOf('one'), phase: 'queued', before: 'idle' } as never);
    const why = { kind: 'peer', by: 'other' };
    place.tell({ kind: 'peering.ruled', namespace: null, isPaused: true, why } as never);
    place.tell({ kind: 'peering.ruled', namespace: 'gone', isPaused: true, why } as never);
    place.tell({ kind: 'peering.left', namespace: 'gone' } as never);
    const review = { operation: 'CREATE', handlers: ['validate'], duration: 0.25, object: objectOf('one') };
    place.tell({ kind: 'review.answered', ...review, allowed: true } as never);
    place.tell({ kind: 'review.answered', ...review, allowed: false, code: 400 } as never);
    place.tell({ kind: 'webhook.refused', code: 413, why: 'too large' } as never);
    place.tell({ kind: 'webhook.certified', until: new Date(86_400_000) } as never);
    const look = await place.look();
    expect(look.last.overview).toMatchObject({
      version: '1.2.3',
      queue: { queued: 1, running: 0, waiting: 0, limit: 5, oldest: expect.any(Number) },
      peers: [{ namespace: null, isPaused: true, kind: 'peer', by: 'other' }],
      reviews: {
        allowed: 1,
        denied: 1,
        refused: 1,
        certified: 86_400_000,
        recent: [
          { outcome: 'refused', code: 413, text: 'too large' },
          { outcome: 'denied', code: 400, operation: 'CREATE', name: 'one', text: 'validate', seconds: 0.25 },
          { outcome: 'allowed', name: 'one' },
        ],
      },
    });
    await look.leave();
  });
});
