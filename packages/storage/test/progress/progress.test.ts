import { type Body, digestOnly, Patch, type ProgressStorage } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import {
  annotationsProgressStorage,
  multiProgressStorage,
  smartProgressStorage,
  statusProgressStorage,
} from '../../src/index.js';

const annotated = (annotations: Record<string, string>): Body => ({ metadata: { annotations } });

async function patchOf(fill: (patch: Patch) => unknown): Promise<unknown> {
  const patch = new Patch();
  await fill(patch);
  return patch.merge;
}

describe('progress in annotations', () => {
  const storage = annotationsProgressStorage({ prefix: 'op.example.com' });
  const key = 'x'.repeat(64);
  const current = `op.example.com/${'x'.repeat(56)}-SItAqA`;
  const former = `op.example.com/${'x'.repeat(41)}-SItAqA`;

  it.each([
    ['current', current],
    ['older', former],
  ])('is read from annotations of the %s format', async (_, annotation) => {
    expect(await storage.fetch({ key, body: annotated({ [annotation]: '{"retries":5}' }) })).toEqual({ retries: 5 });
  });

  it('is read from the current format if there are both', async () => {
    const body = annotated({ [former]: '{"retries":1}', [current]: '{"retries":2}' });
    expect(await storage.fetch({ key, body })).toEqual({ retries: 2 });
  });

  it.each([['null'], ['broken']])('is read from the older format if the current one has %s', async (text) => {
    const body = annotated({ [former]: '{"retries":1}', [current]: text });
    expect(await storage.fetch({ key, body })).toEqual({ retries: 1 });
  });

  it('is not read from the older format if told so', async () => {
    const strict = annotationsProgressStorage({ prefix: 'op.example.com', v1: false });
    expect(await strict.fetch({ key, body: annotated({ [former]: '{"retries":1}' }) })).toBeUndefined();
  });

  it('is purged from annotations of both formats, each where it is', async () => {
    const body = annotated({ [former]: '{"retries":1}' });
    expect(await patchOf((patch) => storage.purge({ key, body, patch }))).toEqual({
      metadata: { annotations: { [former]: null } },
    });
  });

  it('is purged from the object even if it was going to be written again', async () => {
    const body = annotated({ 'op.example.com/fn': '{}', 'op.example.com/kopf-managed': 'yes' });
    const merge = await patchOf(async (patch) => {
      await storage.store({ key: 'fn', record: { retries: 1 }, body, patch });
      await storage.purge({ key: 'fn', body, patch });
    });
    expect(merge).toEqual({ metadata: { annotations: { 'op.example.com/fn': null } } });
  });

  it('is touched in annotations of both formats, as many as there are', async () => {
    const long = annotationsProgressStorage({ prefix: 'op.example.com', touchKey: key });
    expect(await patchOf((patch) => long.touch({ value: 'hello', body: {}, patch }))).toEqual({
      metadata: { annotations: { [current]: 'hello', [former]: 'hello', 'op.example.com/kopf-managed': 'yes' } },
    });
  });

  it('is not touched with what is there already', async () => {
    const body = annotated({ 'op.example.com/touch-dummy': 'hello' });
    expect(await patchOf((patch) => storage.touch({ value: 'hello', body, patch }))).toEqual({});
  });

  it('clears all annotations of its prefix, also of handlers that are no more, and what is left empty', () => {
    const essence = {
      spec: {},
      status: {},
      metadata: { labels: {}, annotations: { 'op.example.com/gone': '1', 'op.example.com/kopf-managed': 'yes' } },
    };
    expect(storage.clear(essence)).toEqual({ spec: {} });
  });

  it('clears no annotations of prefixes that only begin alike', () => {
    const essence = { metadata: { annotations: { 'op.example.community/x': '1', 'op.example.com': '2' } } };
    expect(storage.clear(essence)).toEqual(essence);
  });

  it('ignores those keys of records that it does not know', async () => {
    const body = annotated({ 'op.example.com/fn': '{"future":{"a":1},"retries":1,"__proto__":{"b":2}}' });
    expect(await storage.fetch({ key: 'fn', body })).toStrictEqual({ retries: 1 });
  });

  it('returns no nulls of verbose records, so that an unchanged record looks unchanged', async () => {
    const verbose = annotationsProgressStorage({ verbose: true });
    const patch = new Patch();
    await verbose.store({ key: 'fn', record: { retries: 0, message: null }, body: {}, patch });
    expect(await verbose.fetch({ key: 'fn', body: patch.merge as Body })).toStrictEqual({ retries: 0 });
  });

  it('asks for the compatibility at each use, since settings can change', async () => {
    const options: { compat: 'kopf' | undefined } = { compat: undefined };
    const flexible = annotationsProgressStorage(options);
    const store = (patch: Patch) => flexible.store({ key: 'fn', record: { digest: 'abc' }, body: {}, patch });
    expect(await patchOf(store)).toEqual({ metadata: { annotations: { 'kopf.zalando.org/fn': '{"digest":"abc"}' } } });
    options.compat = 'kopf';
    expect(await patchOf(store)).toEqual({ metadata: { annotations: { 'kopf.zalando.org/fn': '{}' } } });
  });

  it.each([
    '2020-12-31T23:59:59.123456+00:00',
    '2020-12-31T23:59:59.123456-11:00',
    '2020-12-31T23:59:59.123456',
    '2020-12-31T23:59:59Z',
    '2020-12-31 23:59',
  ])('accepts a timestamp in any form that Kopf ever wrote: %s', async (started) => {
    const body = annotated({ 'op.example.com/fn': JSON.stringify({ started }) });
    expect(await storage.fetch({ key: 'fn', body })).toEqual({ started });
  });
});

describe('progress in the status', () => {
  it.each<[string, Parameters<typeof statusProgressStorage>[0], object]>([
    ['by default', {}, { status: { kopf: { progress: { fn: null }, dummy: 'hello' } } }],
    ['by the name', { name: 'my-op' }, { status: { 'my-op': { progress: { fn: null }, dummy: 'hello' } } }],
    ['by the fields', { field: 'status.a', touchField: 'status.b' }, { status: { a: { fn: null }, b: 'hello' } }],
    [
      'by the fields with the name',
      { name: '$&', field: 'status.{name}.a', touchField: 'x.{name}' },
      { status: { '$&': { a: { fn: null } } }, x: { '$&': 'hello' } },
    ],
    [
      'by the fields with dots, where names are not put into',
      { field: ['status', '{name}.a'], touchField: ['x.y'] },
      { status: { '{name}.a': { fn: null } }, 'x.y': 'hello' },
    ],
  ])('is where it is told to be: %s', async (_, options, expected) => {
    const storage = statusProgressStorage(options);
    const stored = new Patch();
    await storage.store({ key: 'fn', record: { retries: 1 }, body: {}, patch: stored });
    const body = stored.merge as Body;
    expect(await storage.fetch({ key: 'fn', body })).toEqual({ retries: 1 });
    const merge = await patchOf(async (patch) => {
      await storage.purge({ key: 'fn', body, patch });
      await storage.touch({ value: 'hello', body, patch });
    });
    expect(merge).toEqual(expected);
  });

  it.each<[string, Body]>([
    ['an empty object', {}],
    ['a status that is a text', { status: 'ready' }],
    ['a status that is null', { status: null }],
    ['a name that is a list', { status: { kopf: [] } }],
    ['no records', { status: { kopf: {} } }],
    ['records of others', { status: { kopf: { progress: { other: {} } } } }],
    ['a record that is null', { status: { kopf: { progress: { fn: null } } } }],
  ])('is absent in %s, without complaints', async (_, body) => {
    const problems: string[] = [];
    const malformed = (problem: string) => void problems.push(problem);
    expect(await statusProgressStorage().fetch({ key: 'fn', body, malformed })).toBeUndefined();
    expect(problems).toEqual([]);
  });

  it('removes the digest that the record has no more, since records are merged', async () => {
    const body: Body = { status: { kopf: { progress: { fn: { digest: 'abc' } } } } };
    const merge = await patchOf((patch) => statusProgressStorage().store({ key: 'fn', record: {}, body, patch }));
    expect(merge).toMatchObject({ status: { kopf: { progress: { fn: { digest: null } } } } });
  });

  it('clears its records, and what is left empty, but not the touches, as Kopf does', () => {
    const storage = statusProgressStorage();
    expect(storage.clear({ status: { kopf: { progress: { a: {} } } } })).toEqual({});
    expect(storage.clear({ status: { kopf: { progress: { a: {} }, dummy: 'x' }, y: 1 } })).toEqual({
      status: { kopf: { dummy: 'x' }, y: 1 },
    });
    expect(storage.clear({ status: 'ready' })).toEqual({ status: 'ready' });
  });
});

describe('progress in several storages', () => {
  const both = multiProgressStorage([annotationsProgressStorage(), statusProgressStorage()]);

  it('is written to all, and read from the first that has it', async () => {
    const patch = new Patch();
    await both.store({ key: 'fn', record: { retries: 1 }, body: {}, patch });
    await both.touch({ value: 'hello', body: {}, patch });
    expect(patch.merge).toMatchObject({
      metadata: { annotations: { 'kopf.zalando.org/fn': '{"retries":1}', 'kopf.zalando.org/touch-dummy': 'hello' } },
      status: { kopf: { progress: { fn: { retries: 1 } }, dummy: 'hello' } },
    });
    const progress = { fn: { retries: 2 }, old: { retries: 3 } };
    const body = { ...annotated({ 'kopf.zalando.org/fn': '{"retries":1}' }), status: { kopf: { progress } } };
    expect(await both.fetch({ key: 'fn', body })).toEqual({ retries: 1 });
    expect(await both.fetch({ key: 'old', body })).toEqual({ retries: 3 });
    expect(await both.fetch({ key: 'none', body })).toBeUndefined();
  });

  it('is purged and cleared from all', async () => {
    const body = { ...annotated({ 'kopf.zalando.org/fn': '{}' }), status: { kopf: { progress: { fn: {} } } } };
    expect(await patchOf((patch) => both.purge({ key: 'fn', body, patch }))).toEqual({
      metadata: { annotations: { 'kopf.zalando.org/fn': null } },
      status: { kopf: { progress: { fn: null } } },
    });
    expect(both.clear({ spec: {}, ...body })).toEqual({ spec: {} });
  });

  it('waits for slow storages, one after another, and flushes those that need it', async () => {
    const calls: string[] = [];
    const slow = (name: string): ProgressStorage => {
      const call = (method: string) => async () => {
        await Promise.resolve();
        calls.push(`${name}.${method}`);
        return undefined;
      };
      const methods = { fetch: call('fetch'), store: call('store'), purge: call('purge'), touch: call('touch') };
      return { ...methods, flush: call('flush'), clear: (essence) => essence };
    };
    const storage = multiProgressStorage([slow('a'), statusProgressStorage(), slow('b')]);
    const at = { key: 'fn', record: {}, body: {}, patch: new Patch() };
    await storage.fetch(at);
    await storage.store(at);
    await storage.purge(at);
    await storage.touch({ ...at, value: null });
    await storage.flush?.();
    const methods = ['fetch', 'store', 'purge', 'touch', 'flush'];
    expect(calls).toEqual(methods.flatMap((method) => [`a.${method}`, `b.${method}`]));
  });
});

describe('progress by default', () => {
  const storage = smartProgressStorage();

  it('is never written to the status', async () => {
    const merge = await patchOf(async (patch) => {
      await storage.store({ key: 'fn', record: { retries: 1 }, body: {}, patch });
      await storage.touch({ value: 'hello', body: {}, patch });
    });
    expect(merge).toEqual({
      metadata: { annotations: { 'kopf.zalando.org/fn': '{"retries":1}', 'kopf.zalando.org/touch-dummy': 'hello' } },
    });
  });

  it('is read from the status, purged from it, and cleared of it', async () => {
    const body: Body = { status: { kopf: { progress: { fn: { retries: 1 } } } } };
    expect(await storage.fetch({ key: 'fn', body })).toEqual({ retries: 1 });
    expect(await patchOf((patch) => storage.purge({ key: 'fn', body, patch }))).toEqual({
      status: { kopf: { progress: { fn: null } } },
    });
    expect(storage.clear({ status: { kopf: { progress: {} } } })).toEqual({});
  });

  it('takes the options of both its parts', async () => {
    const custom = smartProgressStorage({ prefix: 'op.example.com', touchKey: 'ping', name: 'op', verbose: false });
    const body: Body = { status: { op: { progress: { fn: { retries: 1 } } } } };
    expect(await custom.fetch({ key: 'fn', body })).toEqual({ retries: 1 });
    expect(await patchOf((patch) => custom.touch({ value: 'hello', body, patch }))).toMatchObject({
      metadata: { annotations: { 'op.example.com/ping': 'hello' } },
    });
  });
});

describe.each([
  ['annotations', annotationsProgressStorage()],
  ['the status', statusProgressStorage()],
  ['several storages', multiProgressStorage([annotationsProgressStorage(), statusProgressStorage()])],
])('progress in %s', (_, storage) => {
  it('keeps an essence recognisable that is known by its digest only', () => {
    const essence = digestOnly('abc');
    expect(storage.clear(essence)).toBe(essence);
  });
});

it.each([
  ['annotations', annotationsProgressStorage()],
  ['the status', statusProgressStorage()],
])(
  'progress in %s clears empty stanzas of the system, even if it has left nothing there, as Kopf does',
  (_, storage) => {
    const essence = { spec: {}, status: {}, metadata: { labels: {}, annotations: {} } };
    expect(storage.clear(essence)).toEqual({ spec: {} });
    expect(storage.clear({ spec: {}, status: {} })).toEqual({ spec: {} });
  },
);

describe('of what is in the places of a storage, it knows its own:', () => {
  const record = { started: '2020-01-01T00:00:00+00:00', purpose: 'create', retries: 1, digest: 'abc' };
  const text = JSON.stringify(record);

  it('records, touches and the mark in annotations, but not what others have there', () => {
    const storage = annotationsProgressStorage({ prefix: 'op.example.com', touchKey: 'ping' });
    const others = {
      'op.example.com/paused': 'true',
      'op.example.com/number': '1',
      'op.example.com/nothing': '',
      'op.example.com/config': '{"retries":1}',
      'op.example.com/more': JSON.stringify({ ...record, allowed: true }),
      'op.example.com/less': JSON.stringify({ ...record, started: 'once' }),
      'op.example.com/list': `[${text}]`,
      'other.example.com/fn': text,
    };
    const ours = { 'op.example.com/fn': text, 'op.example.com/ping': 'now', 'op.example.com/kopf-managed': 'yes' };
    const body = { metadata: { annotations: { ...others, ...ours } }, spec: {} };
    expect(storage.clearOwn?.(body)).toEqual({ metadata: { annotations: others }, spec: {} });
    expect(storage.clearOwn?.({ metadata: { annotations: ours }, spec: {} })).toEqual({ spec: {} });
    const unmarked = { metadata: { annotations: { 'op.example.com/kopf-managed': 'by me' } } };
    expect(storage.clearOwn?.(unmarked)).toEqual(unmarked);
    expect(Object.keys(body.metadata.annotations)).toHaveLength(11);
  });

  it('records and touches in the status, but not what others have there', () => {
    const storage = statusProgressStorage();
    const others = { settings: { retries: 1 }, text, more: { ...record, allowed: true } };
    const cleared = storage.clearOwn?.({ status: { kopf: { progress: { fn: record, ...others }, dummy: 'now' } } });
    expect(cleared).toEqual({ status: { kopf: { progress: others } } });
    expect(storage.clearOwn?.({ status: { kopf: { progress: { fn: record }, dummy: 'now' }, x: 1 } })).toEqual({
      status: { x: 1 },
    });
    expect(storage.clearOwn?.({ status: 'ready' })).toEqual({ status: 'ready' });
  });

  it('all of that in several storages, also in those that do not make a difference', () => {
    const { clearOwn: _, ...simple } = statusProgressStorage();
    const storage = multiProgressStorage([annotationsProgressStorage(), simple]);
    const annotations = { 'kopf.zalando.org/fn': text, 'kopf.zalando.org/paused': 'true' };
    expect(storage.clearOwn?.({ metadata: { annotations }, status: { kopf: { progress: { any: 'thing' } } } })).toEqual(
      {
        metadata: { annotations: { 'kopf.zalando.org/paused': 'true' } },
      },
    );
    const essence = digestOnly('abc');
    expect(storage.clearOwn?.(essence)).toBe(essence);
  });
});
