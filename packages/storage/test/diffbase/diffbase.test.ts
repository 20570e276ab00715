import { type Body, type DiffBaseStorage, digestOnly, type FieldPath, isDigestOnly, Patch } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { annotationsDiffBaseStorage, multiDiffBaseStorage, statusDiffBaseStorage } from '../../src/index.js';

const KEY = 'kopf.zalando.org/last-handled-configuration';

describe.each<[string, DiffBaseStorage]>([
  ['annotations', annotationsDiffBaseStorage()],
  ['the status', statusDiffBaseStorage()],
  ['several storages', multiDiffBaseStorage([annotationsDiffBaseStorage(), statusDiffBaseStorage()])],
])('the essence for a state in %s', (_, storage) => {
  it('has neither the kind, nor the version', () => {
    expect(storage.build({ body: { apiVersion: 'v1', kind: 'X' } })).toEqual({});
  });

  it.each([
    'uid',
    'name',
    'namespace',
    'selfLink',
    'generation',
    'finalizers',
    'resourceVersion',
    'creationTimestamp',
    'deletionTimestamp',
    'anything',
  ])('has no metadata.%s, unless it is asked for', (field) => {
    const body: Body = { metadata: { [field]: 'x' } };
    expect(storage.build({ body })).toEqual({});
    expect(storage.build({ body, extraFields: [['metadata', field]] })).toEqual({ metadata: { [field]: 'x' } });
  });

  it('has no status, unless a part of it is asked for', () => {
    const body: Body = { status: { kopf: { progress: 'x' }, other: 'y' } };
    expect(storage.build({ body })).toEqual({});
    expect(storage.build({ body, extraFields: [['status', 'other']] })).toEqual({ status: { other: 'y' } });
  });

  it('has no copy of itself by kubectl, but other annotations', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', x: 'y' };
    expect(storage.build({ body: { metadata: { annotations } } })).toEqual({ metadata: { annotations: { x: 'y' } } });
  });

  it('has no annotations of marked operators, nor anything empty because of that', () => {
    const annotations = { 'op.example.com/kopf-managed': 'yes', 'op.example.com/fn': '{}' };
    expect(storage.build({ body: { metadata: { annotations } } })).toEqual({});
  });

  it('has empty stanzas of the user', () => {
    expect(storage.build({ body: { spec: {}, data: {}, metadata: { labels: {} }, status: {} } })).toEqual({
      spec: {},
      data: {},
    });
  });

  it('survives scalars where a field is asked for', () => {
    const body: Body = { spec: {}, status: 'text' };
    expect(storage.build({ body, extraFields: [['status', 'x']] })).toEqual({ spec: {} });
  });

  it('takes extra fields from anything that can be iterated, even once', () => {
    const body: Body = { status: { a: 1, b: 2 } };
    const fields = (function* (): Iterable<FieldPath> {
      yield ['status', 'a'];
    })();
    expect(storage.build({ body, extraFields: fields })).toEqual({ status: { a: 1 } });
  });
});

describe.each<[string, typeof annotationsDiffBaseStorage | typeof statusDiffBaseStorage]>([
  ['annotations', annotationsDiffBaseStorage],
  ['the status', statusDiffBaseStorage],
])('ignored fields of a state in %s', (_, create) => {
  it('are not in the essence; neither are their emptied parents; those that cannot be are ignored', () => {
    const storage = create({ ignoredFields: ['a.b', 'h', 'a.e.f.g', 'k.l.m', ['x', 'y.z'], null] });
    const body: Body = { a: { b: 1, c: 2, e: { f: 'text' } }, h: { i: 3 }, x: { 'y.z': 4 } };
    expect(storage.build({ body })).toEqual({ a: { c: 2, e: { f: 'text' } } });
  });

  it('are ignored even if handlers look at them', () => {
    const storage = create({ ignoredFields: ['status.x'] });
    expect(storage.build({ body: { status: { x: 1, y: 2 } }, extraFields: [['status']] })).toEqual({
      status: { y: 2 },
    });
  });
});

describe('the state in annotations', () => {
  const storage = annotationsDiffBaseStorage();

  it.each(['{"spec":1}', '\n{"spec":1}\n', '  {"spec":1}\n\n'])('is read with any spaces around: %j', async (text) => {
    expect(await storage.fetch({ body: { metadata: { annotations: { [KEY]: text } } } })).toEqual({ spec: 1 });
  });

  it('is under the key of choice, in both formats, and read from either', async () => {
    const long = annotationsDiffBaseStorage({ prefix: 'op.example.com', key: 'x'.repeat(64) });
    const patch = new Patch();
    await long.store({ essence: { spec: 1 }, body: {}, patch });
    const names = [`${'x'.repeat(56)}-SItAqA`, `${'x'.repeat(41)}-SItAqA`].map((name) => `op.example.com/${name}`);
    expect(patch.merge).toEqual({
      metadata: {
        annotations: {
          ...Object.fromEntries(names.map((name) => [name, '{"spec":1}\n'])),
          'op.example.com/kopf-managed': 'yes',
        },
      },
    });
    for (const name of names) {
      expect(await long.fetch({ body: { metadata: { annotations: { [name]: '{"spec":2}' } } } })).toEqual({ spec: 2 });
    }
  });

  it('is not taken over by a ReplicaSet from its Deployment', async () => {
    const body: Body = {
      kind: 'ReplicaSet',
      metadata: { ownerReferences: [{ kind: 'Deployment' }], annotations: { [KEY]: '{"spec":1}' } },
    };
    expect(await storage.fetch({ body })).toBeUndefined();
    const patch = new Patch();
    await storage.store({ essence: { spec: 2 }, body, patch });
    expect(patch.merge).toEqual({ metadata: { annotations: { [`${KEY}-ofDRS`]: '{"spec":2}\n' } } });
  });

  it('drops its own annotations from essences where nobody else would: with a prefix that is never marked', () => {
    const own = annotationsDiffBaseStorage({ prefix: 'kopf.dev', key: 'state' });
    const names = ['state', 'state-gzip', 'state-digest', 'other'];
    const annotations = Object.fromEntries(names.map((name) => [`kopf.dev/${name}`, '{}']));
    expect(own.build({ body: { metadata: { annotations } } })).toEqual({
      metadata: { annotations: { 'kopf.dev/other': '{}' } },
    });
  });
});

describe('the state in the status', () => {
  it.each<[string, Parameters<typeof statusDiffBaseStorage>[0], object]>([
    ['by default', {}, { status: { kopf: { 'last-handled-configuration': '{"spec":1}' } } }],
    ['by the name', { name: 'op' }, { status: { op: { 'last-handled-configuration': '{"spec":1}' } } }],
    ['by the field', { name: 'op', field: 'x.{name}.y' }, { x: { op: { y: '{"spec":1}' } } }],
    ['by the field with dots', { field: ['status', 'x.y'] }, { status: { 'x.y': '{"spec":1}' } }],
  ])('is where it is told to be: %s', async (_, options, expected) => {
    const storage = statusDiffBaseStorage(options);
    const patch = new Patch();
    await storage.store({ essence: { spec: 1 }, body: {}, patch });
    expect(patch.merge).toEqual(expected);
    expect(await storage.fetch({ body: patch.merge as Body })).toEqual({ spec: 1 });
    const [stanza = ''] = Object.keys(expected);
    expect(storage.build({ body: patch.merge as Body, extraFields: [[stanza]] })).toEqual({});
  });

  it('is not overwritten with a mere digest', async () => {
    const patch = new Patch();
    await statusDiffBaseStorage().store({ essence: digestOnly('a'.repeat(64)), body: {}, patch });
    expect(patch.merge).toEqual({});
  });
});

describe('the state in several storages', () => {
  const both = multiDiffBaseStorage([annotationsDiffBaseStorage(), statusDiffBaseStorage()]);

  it('is written to all, and read from the first that has it', async () => {
    const patch = new Patch();
    await both.store({ essence: { spec: 1 }, body: {}, patch });
    expect(patch.merge).toEqual({
      metadata: { annotations: { [KEY]: '{"spec":1}\n' } },
      status: { kopf: { 'last-handled-configuration': '{"spec":1}' } },
    });
    const status = { kopf: { 'last-handled-configuration': '{"spec":2}' } };
    expect(await both.fetch({ body: { status, metadata: { annotations: { [KEY]: '{"spec":1}' } } } })).toEqual({
      spec: 1,
    });
    expect(await both.fetch({ body: { status } })).toEqual({ spec: 2 });
    expect(await both.fetch({ body: {} })).toBeUndefined();
  });

  it('is rather read in whole from a later storage than as a digest from an earlier one', async () => {
    const annotations = { [`${KEY}-digest`]: `{"digest":"${'a'.repeat(64)}"}` };
    const status = { kopf: { 'last-handled-configuration': '{"spec":2}' } };
    expect(await both.fetch({ body: { status, metadata: { annotations } } })).toEqual({ spec: 2 });
    const remains = await both.fetch({ body: { metadata: { annotations } } });
    expect(remains && isDigestOnly(remains)).toBe(true);
  });

  it('knows the annotations of ReplicaSets from those of their Deployments, also when building', () => {
    const body: Body = {
      kind: 'ReplicaSet',
      metadata: {
        ownerReferences: [{ kind: 'Deployment' }],
        annotations: { 'kopf.dev/last-handled-configuration-ofDRS': '{}', x: 'y' },
      },
    };
    const storage = multiDiffBaseStorage([annotationsDiffBaseStorage({ prefix: 'kopf.dev' })]);
    expect(storage.build({ body })).toEqual({ metadata: { annotations: { x: 'y' } } });
  });
});

describe('the traces of a state', () => {
  const others = { 'kopf.zalando.org/fn': '{}', 'other.example.com/last-handled-configuration': '{}', x: 'y' };
  const mine = { 'my.example.com/last-handled-configuration': '{}', 'my.example.com/kopf-managed': 'yes' };
  const status = { kopf: { 'last-handled-configuration': '{}', progress: {} }, phase: 'ok' };

  it.each<[string, DiffBaseStorage, object]>([
    [
      'annotations',
      annotationsDiffBaseStorage({ prefix: 'my.example.com' }),
      { metadata: { name: 'n', annotations: others }, status },
    ],
    [
      'the status',
      statusDiffBaseStorage(),
      { metadata: { name: 'n', annotations: { ...others, ...mine } }, status: { kopf: { progress: {} }, phase: 'ok' } },
    ],
    [
      'several storages',
      multiDiffBaseStorage([annotationsDiffBaseStorage({ prefix: 'my.example.com' }), statusDiffBaseStorage()]),
      { metadata: { name: 'n', annotations: others }, status: { kopf: { progress: {} }, phase: 'ok' } },
    ],
  ])('in %s can be removed from a body: these, and nothing else', (_, storage, cleared) => {
    const body = { kind: 'X', metadata: { name: 'n', annotations: { ...others, ...mine } }, spec: { a: 1 }, status };
    expect(storage.clear?.(body)).toEqual({ kind: 'X', spec: { a: 1 }, ...cleared });
    expect(body.metadata.annotations).toEqual({ ...others, ...mine });
  });

  it('leave nothing empty behind them', () => {
    const storage = annotationsDiffBaseStorage({ prefix: 'my.example.com' });
    expect(storage.clear?.({ metadata: { name: 'n', annotations: mine } })).toEqual({ metadata: { name: 'n' } });
    expect(statusDiffBaseStorage().clear?.({ status: { kopf: { 'last-handled-configuration': '{}' } } })).toEqual({});
  });

  it('of several storages are removed also if some of the storages leave none', () => {
    const { clear: _, ...traceless } = annotationsDiffBaseStorage();
    const storage = multiDiffBaseStorage([traceless, annotationsDiffBaseStorage({ prefix: 'my.example.com' })]);
    expect(storage.clear?.({ metadata: { annotations: { ...mine, x: 'y' } } })).toEqual({
      metadata: { annotations: { x: 'y' } },
    });
  });
});
