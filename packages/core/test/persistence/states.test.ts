import { annotationsProgressStorage, statusProgressStorage } from '@kopf-ts/storage';
import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { PermanentError, TemporaryError } from '../../src/errors.js';
import type { Outcome } from '../../src/execution/outcomes.js';
import { purgeLeftovers, State } from '../../src/execution/progress/state.js';
import type { ProgressRecord, ProgressStorage } from '../../src/seams/memory/storage.js';
import type { Body } from '../../src/values/objects/body.js';
import { Patch } from '../../src/values/patches/patch.js';

const NOW = '2020-12-31T23:59:59.123000+00:00';
const LATER = '2021-01-01T00:00:09.123000+00:00';
const a = { id: 'a' };
const b = { id: 'b' };
const c = { id: 'c' };

const clockAt = (start = NOW) => manualClock({ start });
const storage = statusProgressStorage();

/** An object with these records on it. */
function bodyWith(progress: Readonly<Record<string, ProgressRecord | Record<string, unknown>>>): Body {
  return { status: { kopf: { progress } } } as Body;
}

async function load(
  records: Readonly<Record<string, ProgressRecord>>,
  options: { clock?: ReturnType<typeof clockAt> } = {},
) {
  const { clock = clockAt() } = options;
  return await State.fromStorage({ storage, body: bodyWith(records), handlers: [a, b, c], clock });
}

async function stored(state: State, body: Body = {}): Promise<Record<string, ProgressRecord>> {
  const patch = new Patch();
  await state.store({ body, patch, storage });
  const { status } = patch.merge as { status?: { kopf?: { progress?: Record<string, ProgressRecord> } } };
  return status?.kopf?.progress ?? {};
}

const success = (fields: Partial<Outcome> = {}): Outcome =>
  ({ final: true, result: undefined, subrefs: [], ...fields }) as Outcome;
const failure = (error: Error): Outcome => ({ final: true, error, subrefs: [] });
const retry = (delay?: number, error: Error = new Error('boo')): Outcome => ({
  final: false,
  error,
  delay,
  subrefs: [],
});
const outcomes = (entries: Record<string, Outcome>) => new Map(Object.entries(entries));

describe('A state without handlers', () => {
  it('is done and waits for nothing', () => {
    const state = State.fromScratch(clockAt());
    expect([state.done, state.delay, state.delays, state.size]).toEqual([true, undefined, [], 0]);
    expect(state.counts).toEqual({ success: 0, failure: 0, running: 0 });
    expect(state.extras.size).toBe(0);
  });
});

describe('A fresh record', () => {
  it('is of the purpose of the state, and is due', () => {
    const state = State.fromScratch(clockAt()).withPurpose('create').withHandlers([a]);
    expect(state.get('a')).toMatchObject({
      active: true,
      purpose: 'create',
      retries: 0,
      finished: false,
      awakened: true,
    });
    expect([state.done, state.delay]).toEqual([false, 0]);
  });

  it('is stored even if the handler was never tried', async () => {
    const state = State.fromScratch(clockAt()).withPurpose('create').withHandlers([a]);
    expect(JSON.stringify(await stored(state))).toBe(
      JSON.stringify({
        a: {
          started: NOW,
          stopped: null,
          delayed: null,
          purpose: 'create',
          retries: 0,
          success: false,
          failure: false,
          message: null,
          subrefs: null,
        },
      }),
    );
  });
});

describe('Loaded records', () => {
  it('are passive until activated, and do not hold anything', async () => {
    const state = await load({ a: { started: NOW } });
    expect([state.get('a')?.active, state.done, state.delays]).toEqual([false, true, []]);
    const active = state.withHandlers([a]);
    expect([active.get('a')?.active, active.done, active.delays]).toEqual([true, false, [0]]);
  });

  it('are only those which are there', async () => {
    expect((await load({ b: {} })).ids).toEqual(['b']);
  });

  it.each([[undefined], [null]])('without the time of the start (%s) have started now', async (started) => {
    const state = await load({ a: { ...(started === null && { started }) } });
    expect(state.get('a')?.started).toEqual(new Date(NOW));
    expect(state.get('a')?.runtime).toBe(0);
  });

  it.each([['2020-01-01T00:00:00.000000+00:00'], ['1970-01-01T00:00:00.000000+00:00']])(
    'keep the time of the start, even if it is odd: %s',
    async (started) => {
      const state = await load({ a: { started } });
      expect(state.get('a')?.started).toEqual(new Date(started));
      expect(await stored(state, bodyWith({ a: { started } }))).toMatchObject({ a: { started } });
    },
  );

  it('take times without an offset for UTC', async () => {
    const state = await load({ a: { started: '2020-12-31T23:59:49.123', delayed: '2021-01-01T00:00:09.123' } });
    expect(state.withHandlers([a]).delays).toEqual([10]);
    expect(state.get('a')?.runtime).toBe(10);
  });

  it.each([
    [{ success: true }, true],
    [{ failure: true }, true],
    [{ success: false, failure: false }, false],
    [{ success: null, failure: null }, false],
    [{}, false],
    [{ success: 'yes' as never }, false],
  ])('are finished only by true flags: %o', async (record, finished) => {
    const state = (await load({ a: record })).withHandlers([a]);
    expect([state.get('a')?.finished, state.done]).toEqual([finished, finished]);
  });

  it.each([
    [{ delayed: LATER }, { sleeping: true, awakened: false }],
    [{ delayed: NOW }, { sleeping: false, awakened: true }],
    [{ delayed: '2020-01-01T00:00:00.000000+00:00' }, { sleeping: false, awakened: true }],
    [{ delayed: null }, { sleeping: false, awakened: true }],
    [{}, { sleeping: false, awakened: true }],
    [
      { delayed: LATER, success: true },
      { sleeping: false, awakened: false },
    ],
    [
      { delayed: LATER, failure: true },
      { sleeping: false, awakened: false },
    ],
    [
      { delayed: NOW, success: true },
      { sleeping: false, awakened: false },
    ],
  ])('sleep or are awake by their delays: %o', async (record, expected) => {
    expect((await load({ a: record })).get('a')).toMatchObject(expected);
  });

  it('wake up as time passes, by the monotonic clock', async () => {
    const clock = clockAt();
    const state = (await load({ a: { delayed: LATER } }, { clock })).withHandlers([a]);
    await clock.advance(9);
    expect([state.get('a')?.sleeping, state.delay]).toEqual([true, 1]);
    await clock.advance(1);
    expect([state.get('a')?.awakened, state.delay]).toEqual([true, 0]);
    await clock.advance(5);
    expect(state.delay).toBe(0);
  });

  it('are not moved by jumps of the wall clock', async () => {
    const clock = clockAt();
    let jump = 0;
    const jumping = { ...clock, now: clock.now, utc: () => new Date(clock.utc().getTime() + jump) };
    const state = (await load({ a: { delayed: LATER } }, { clock: jumping as never })).withHandlers([a]);
    jump = 3_600_000;
    expect(state.delay).toBe(10);
  });

  it.each([
    ['started', 'yesterday'],
    ['stopped', 'yesterday'],
    ['delayed', 'tomorrow'],
    ['delayed', 123],
    ['delayed', '9999-01-01T00:00:00.000000+00:00'],
  ])('with a senseless "%s" (%s) are reported, and that part of them is ignored', async (field, value) => {
    const problems: string[] = [];
    const body = bodyWith({ a: { retries: 3, [field]: value } });
    const fake = { fetch: () => ({ retries: 3, [field]: value }) } as unknown as ProgressStorage;
    const malformed = (problem: string) => void problems.push(problem);
    const state = await State.fromStorage({ storage: fake, body, handlers: [a], clock: clockAt(), malformed });
    expect(state.get('a')).toMatchObject({ retries: 3, awakened: true });
    expect(problems).toEqual([
      expect.stringContaining(`The stored progress of the handler 'a' is malformed: its '${field}'`),
    ]);
  });

  it.each([['three'], [-1], [null], [Number.NaN]])(
    'with a senseless number of retries (%s) were never tried',
    async (retries) => {
      const fake = { fetch: () => ({ retries, subrefs: 'x', purpose: 5, message: {} }) } as unknown as ProgressStorage;
      const state = await State.fromStorage({ storage: fake, body: {}, handlers: [a], clock: clockAt() });
      expect(state.get('a')).toMatchObject({ retries: 0, subrefs: [], purpose: undefined, message: undefined });
    },
  );

  it('are asked for once per id, with the way to report what is malformed', async () => {
    const asked: unknown[] = [];
    const fake = { fetch: (at: unknown) => void asked.push(at) } as unknown as ProgressStorage;
    const malformed = () => {};
    await State.fromStorage({ storage: fake, body: {}, handlers: [a, a], clock: clockAt(), malformed });
    expect(asked).toEqual([{ key: 'a', body: {}, malformed }]);
  });
});

describe('An outcome', () => {
  it.each([
    [undefined, null],
    [0, NOW],
    [1, '2021-01-01T00:00:00.123000+00:00'],
    [-5, NOW],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, '2022-01-01T23:59:59.123000+00:00'],
  ])('with the delay of %s sets the time of the next attempt to %s', async (delay, delayed) => {
    const state = State.fromScratch(clockAt())
      .withHandlers([a])
      .withOutcomes(outcomes({ a: retry(delay) }));
    expect(await stored(state)).toMatchObject({ a: { delayed, stopped: null, success: false, failure: false } });
  });

  it.each([
    [null, 1],
    [0, 1],
    [5, 6],
  ])('adds an attempt to %s of them', async (retries, expected) => {
    const state = (await load({ a: { retries } })).withHandlers([a]).withOutcomes(outcomes({ a: retry() }));
    expect(await stored(state)).toMatchObject({ a: { retries: expected } });
  });

  it('of success ends the handler and removes the message of the last failure', async () => {
    const state = (await load({ a: { message: 'boo', delayed: NOW } }))
      .withHandlers([a])
      .withOutcomes(outcomes({ a: success() }));
    expect(await stored(state)).toMatchObject({
      a: { success: true, failure: false, stopped: NOW, message: null, delayed: null },
    });
    expect(state.done).toBe(true);
  });

  it('of failure ends the handler with the message of it', async () => {
    const state = State.fromScratch(clockAt())
      .withHandlers([a])
      .withOutcomes(outcomes({ a: failure(new PermanentError('boo')) }));
    expect(await stored(state)).toMatchObject({ a: { success: false, failure: true, stopped: NOW, message: 'boo' } });
    expect(state.done).toBe(true);
  });

  it.each([
    [new TemporaryError('not yet'), 'not yet'],
    [new TemporaryError(), 'None'],
    [new Error('boo'), 'boo'],
    [new Error(), ''],
    [new PermanentError(), ''],
  ])('of %s is stored with the message "%s", as Kopf would', async (error, message) => {
    const state = State.fromScratch(clockAt())
      .withHandlers([a])
      .withOutcomes(outcomes({ a: retry(1, error) }));
    expect(await stored(state)).toMatchObject({ a: { message } });
  });

  it.each([
    [undefined, [], null],
    [undefined, ['a/z', 'a/x', 'a/z'], ['a/x', 'a/z']],
    [['a/y'], ['a/x'], ['a/x', 'a/y']],
    [['a/y'], [], ['a/y']],
  ])('adds sub-handlers to %s: %s', async (subrefs, added, expected) => {
    const state = (await load({ a: { ...(subrefs && { subrefs }) } }))
      .withHandlers([a])
      .withOutcomes(outcomes({ a: { ...retry(), subrefs: added } }));
    expect(await stored(state)).toMatchObject({ a: { subrefs: expected } });
  });

  it('of an unknown handler is refused', () => {
    const state = State.fromScratch(clockAt()).withHandlers([a]);
    expect(() => state.withOutcomes(outcomes({ x: success() }))).toThrow(
      "the handler 'x', which is not among those called",
    );
  });

  it('gives a new state, and leaves the old one as it was', () => {
    const before = State.fromScratch(clockAt()).withHandlers([a]);
    before.withOutcomes(outcomes({ a: success() }));
    expect(before.get('a')?.retries).toBe(0);
  });
});

describe('Purposes', () => {
  it('of the stored records stay; those of fresh ones are current', async () => {
    const state = (await load({ a: { purpose: 'create' } })).withPurpose('update').withHandlers([a, b]);
    expect([state.get('a')?.purpose, state.get('b')?.purpose]).toEqual(['create', 'update']);
  });

  it('that differ make extras, which are not counted among the current ones', async () => {
    const records = {
      a: { purpose: 'create', success: true },
      b: { purpose: 'update', failure: true },
      c: { purpose: null, success: true },
    };
    const state = (await load(records)).withPurpose('update');
    expect([...state.extras]).toEqual([['create', { success: 1, failure: 0, running: 0 }]]);
    expect(state.counts).toEqual({ success: 1, failure: 1, running: 0 });
  });

  it('that are unknown or empty are never extras', async () => {
    const state = (await load({ a: { purpose: null }, b: {}, c: { purpose: '' } })).withPurpose('update');
    expect(state.extras.size).toBe(0);
    expect(state.counts.running).toBe(3);
  });

  it('do not matter if the state has none', async () => {
    const state = await load({ a: { purpose: 'create' }, b: { purpose: 'update', success: true } });
    expect(state.extras.size).toBe(0);
    expect(state.counts).toEqual({ success: 1, failure: 0, running: 1 });
  });

  it('are changed only for the handlers listed', async () => {
    const records = { a: { purpose: 'create' }, b: { purpose: 'create' } };
    const state = (await load(records)).withPurpose('update', [a, { id: 'unknown' }]);
    expect([state.get('a')?.purpose, state.get('b')?.purpose, state.size]).toEqual(['update', 'create', 2]);
  });

  it('of a creation superseded by a deletion: only the deletion is waited for', async () => {
    const records = {
      a: { purpose: 'create', success: true },
      b: { purpose: 'create', failure: true },
      c: { purpose: 'create', delayed: LATER },
    };
    const state = (await load(records)).withPurpose('delete').withHandlers([{ id: 'd' }]);
    expect(state.extras.get('create')).toEqual({ success: 1, failure: 1, running: 1 });
    expect([state.done, state.delays]).toEqual([false, [0]]);
    expect(state.withOutcomes(outcomes({ d: success() })).done).toBe(true);
  });
});

describe('A handler that has finished something else before a deletion', () => {
  const records = { a: { purpose: 'update', success: true, stopped: NOW, retries: 4 } };

  it('is called for the deletion, even if it is declared for both under one id', async () => {
    const state = (await load(records)).withPurpose('delete', [a]).withHandlers([a]);
    expect(state.get('a')).toMatchObject({ purpose: 'delete', awakened: true, retries: 0, success: false });
  });

  it('is not called again if it only resumes', async () => {
    const state = (await load(records)).withPurpose('delete', [{ id: 'a', initial: true }]).withHandlers([a]);
    expect(state.get('a')).toMatchObject({ purpose: 'delete', success: true });
  });

  it('is not called in the mode of compatibility', async () => {
    const options = { storage, body: bodyWith(records), handlers: [a], clock: clockAt(), compat: 'kopf' } as const;
    const state = (await State.fromStorage(options)).withPurpose('delete', [a]).withHandlers([a]);
    expect(state.get('a')).toMatchObject({ purpose: 'delete', success: true });
  });
});

describe('Storing', () => {
  const record = { started: NOW, purpose: 'create', retries: 1, success: false, failure: false };

  it('skips what has not changed', async () => {
    const state = (await load({ a: record, b: record })).withPurpose('create').withHandlers([a, b]);
    const changed = state.withOutcomes(outcomes({ b: success() }));
    expect(Object.keys(await stored(state))).toEqual([]);
    expect(Object.keys(await stored(changed))).toEqual(['b']);
  });

  it('does not take nulls for changes, as verbose storages write them', async () => {
    const verbose = annotationsProgressStorage({ verbose: true });
    const [body, patch] = [{} as Body, new Patch()];
    const fresh = State.fromScratch(clockAt()).withHandlers([a]);
    await fresh.store({ body, patch, storage: verbose });
    const written = { metadata: { annotations: { ...patch.metadata.annotations } } } as Body;
    expect(JSON.stringify(written)).toContain('\\"stopped\\":null');

    const loaded = await State.fromStorage({ storage: verbose, body: written, handlers: [a], clock: clockAt(LATER) });
    const again = new Patch();
    await loaded.withHandlers([a]).store({ body: written, patch: again, storage: verbose });
    expect(again.isEmpty).toBe(true);
  });

  it('keeps the microseconds of others, and does not patch an object for the sake of them', async () => {
    const [started, delayed] = ['2020-12-31T23:00:00.123456+00:00', '2020-12-31T23:00:00.654321+01:00'];
    const state = (await load({ a: { ...record, started, delayed } })).withHandlers([a]);
    expect(await stored(state)).toEqual({});
    const tried = state.withOutcomes(outcomes({ a: retry(1) }));
    expect(await stored(tried)).toMatchObject({ a: { started, delayed: '2021-01-01T00:00:00.123000+00:00' } });
  });

  it('keeps silent about the keys that are not ours', async () => {
    const fake = { ...storage, fetch: () => ({ ...record, colour: 'blue' }) } as unknown as ProgressStorage;
    const state = await State.fromStorage({ storage: fake, body: {}, handlers: [a], clock: clockAt() });
    expect(await stored(state.withHandlers([a]))).toEqual({});
  });

  it('flushes the storage after all', async () => {
    const log: string[] = [];
    const slow: ProgressStorage = {
      ...storage,
      store: async ({ key }) => {
        await Promise.resolve();
        log.push(key);
      },
      flush: () => void log.push('flush'),
    };
    await State.fromScratch(clockAt()).withHandlers([a, b]).store({ body: {}, patch: new Patch(), storage: slow });
    expect(log).toEqual(['a', 'b', 'flush']);
  });
});

describe('Purging', () => {
  const body = bodyWith({ a: { subrefs: ['a/x', 'a/y', 'a/gone'] }, 'a/x': {}, 'a/y': {}, b: {}, other: {} });
  const purged = async (state: State, handlers: { id: string }[]) => {
    const patch = new Patch();
    await state.purge({ body, patch, storage, handlers });
    const { status } = patch.merge as { status?: { kopf: { progress: object } } };
    return status?.kopf.progress ?? {};
  };

  it('removes handlers known at loading, with all their sub-handlers that are there', async () => {
    const state = await State.fromStorage({ storage, body, handlers: [a], clock: clockAt() });
    expect(await purged(state, [])).toEqual({ a: null, 'a/x': null, 'a/y': null });
  });

  it('removes handlers known only when purging', async () => {
    expect(await purged(State.fromScratch(clockAt()), [b])).toEqual({ b: null });
  });

  it('takes back what was to be stored in the same patch', async () => {
    const patch = new Patch();
    const state = State.fromScratch(clockAt()).withHandlers([c]);
    const place = { body: {}, patch, storage };
    await state.store(place);
    expect(patch.isEmpty).toBe(false);
    await state.purge({ ...place, handlers: [] });
    expect(patch.isEmpty).toBe(true);
  });

  it('of extras keeps those of the current purpose, also if they only sleep', async () => {
    const records = {
      a: { purpose: 'create', subrefs: ['a/x', 'shared'] },
      b: { purpose: 'update', delayed: LATER, subrefs: ['b/x', 'shared'] },
      c: { purpose: 'update', success: true },
      'a/x': {},
      'b/x': {},
      shared: {},
    };
    const state = (await load(records)).withPurpose('update').withHandlers([b]);
    const patch = new Patch();
    await state.purgeExtras({ body: bodyWith(records), patch, storage });
    expect(patch.merge).toEqual({ status: { kopf: { progress: { a: null, 'a/x': null } } } });
  });

  it('of leftovers tells whether there were any', async () => {
    const patch = new Patch();
    const place = { patch, storage, handlers: [a, b], clock: clockAt() };
    expect(await purgeLeftovers({ ...place, body: {} })).toBe(false);
    expect(patch.isEmpty).toBe(true);
    expect(await purgeLeftovers({ ...place, body: bodyWith({ b: { success: true } }) })).toBe(true);
    expect(patch.merge).toEqual({ status: { kopf: { progress: { b: null } } } });
  });
});

describe('Digests', () => {
  const finished = {
    purpose: 'update',
    success: true,
    retries: 3,
    started: '2020-01-01T00:00:00.000000+00:00',
    stopped: NOW,
  };

  it('that differ reopen those finished and active; with a new beginning', async () => {
    const records = {
      a: { ...finished, digest: 'old' },
      b: { ...finished, digest: 'same' },
      c: { ...finished, digest: 'old' },
    };
    const state = (await load(records)).withHandlers([a, b]).withEssence((id) => (id === 'b' ? 'same' : 'new'));
    expect(state.reopened).toEqual(['a']);
    expect(state.get('a')).toMatchObject({
      finished: false,
      retries: 0,
      runtime: 0,
      stopped: undefined,
      digest: 'old',
    });
    expect([state.get('b')?.finished, state.get('c')?.finished, state.done]).toEqual([true, true, false]);
  });

  it.each([
    [undefined, 'new'],
    ['old', undefined],
  ])('that are unknown (%s, %s) reopen nothing', async (digest, current) => {
    const state = (await load({ a: { ...finished, ...(digest && { digest }) } }))
      .withHandlers([a])
      .withEssence(() => current);
    expect([state.reopened, state.done]).toEqual([[], true]);
  });

  it('are stored with final outcomes only', async () => {
    const state = State.fromScratch(clockAt())
      .withHandlers([a, b, c])
      .withEssence((id) => `of-${id}`);
    const tried = state.withOutcomes(outcomes({ a: success(), b: failure(new Error('boo')), c: retry() }));
    const { a: ofA, b: ofB, c: ofC } = await stored(tried);
    expect([ofA?.digest, ofB?.digest]).toEqual(['of-a', 'of-b']);
    expect(ofC).not.toHaveProperty('digest');
  });

  it('of what was handled last are kept until the handler finishes again', async () => {
    const state = (await load({ a: { ...finished, digest: 'old' } })).withHandlers([a]).withEssence(() => 'new');
    const failing = state.withOutcomes(outcomes({ a: retry() }));
    expect(await stored(failing)).toMatchObject({ a: { digest: 'old' } });
    expect(await stored(failing.withOutcomes(outcomes({ a: success() })))).toMatchObject({ a: { digest: 'new' } });
  });

  it('are removed where the handler finishes without one', async () => {
    const body = bodyWith({ a: { purpose: 'delete', digest: 'old' } });
    const state = (await State.fromStorage({ storage, body, handlers: [a], clock: clockAt() })).withHandlers([a]);
    expect(await stored(state.withOutcomes(outcomes({ a: success() })), body)).toMatchObject({ a: { digest: null } });
  });

  it('are neither looked at nor written in the mode of compatibility', async () => {
    const body = bodyWith({ a: { ...finished, failure: false, digest: 'old' } });
    const options = { storage, body, handlers: [a], clock: clockAt(), compat: 'kopf' } as const;
    const state = (await State.fromStorage(options)).withHandlers([a, b]).withEssence(() => 'new');
    expect([state.reopened, state.get('a')?.finished]).toEqual([[], true]);
    const records = await stored(state.withOutcomes(outcomes({ b: success() })), body);
    expect(Object.keys(records)).toEqual(['b']);
    expect(records['b']).not.toHaveProperty('digest');
  });
});
