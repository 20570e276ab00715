import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../src/values/json.js';
import { buildEssence, removeEmptyStanzas } from '../../src/values/objects/essence.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

describe('what is not of users', () => {
  it('the identity of the kind is dropped', () => {
    expect(buildEssence({ apiVersion: 'v1', kind: 'Pod' })).toEqual({});
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
    'managedFields',
    'anything',
  ])('metadata.%s is dropped, unless asked for', (field) => {
    const body = { metadata: { [field]: 'x' }, spec: {} };
    expect(buildEssence(body)).toEqual({ spec: {} });
    expect(buildEssence(body, { extraFields: [['metadata', field]] })).toEqual(body);
  });

  it('the status is dropped; of it, only the fields asked for are kept', () => {
    const body = { status: { kopf: { progress: 'x' }, other: 'y' } };
    expect(buildEssence(body)).toEqual({});
    expect(buildEssence(body, { extraFields: [['status', 'other']] })).toEqual({ status: { other: 'y' } });
    expect(buildEssence(body, { extraFields: [['status', 'absent']] })).toEqual({});
  });

  it('the last configuration applied by kubectl is dropped, other annotations are kept', () => {
    const annotations = { [LAST_APPLIED]: '{}', note: 'x' };
    expect(buildEssence({ metadata: { annotations } })).toEqual({ metadata: { annotations: { note: 'x' } } });
  });

  it('annotations that the storage recognises are dropped, others are kept', () => {
    const annotations = { 'a/1': 'x', 'b/1': 'x', 'a/2': 'x', plain: 'x' };
    const seen: string[] = [];
    const dropAnnotations = (keys: readonly string[]) => {
      seen.push(...keys);
      return keys.filter((key) => key.startsWith('a/'));
    };
    expect(buildEssence({ metadata: { annotations } }, { dropAnnotations })).toEqual({
      metadata: { annotations: { 'b/1': 'x', plain: 'x' } },
    });
    expect(seen).toEqual(['a/1', 'b/1', 'a/2', 'plain']);
  });

  it('what was dropped comes back if asked for', () => {
    const annotations = { [LAST_APPLIED]: '{}', 'a/1': 'x' };
    const essence = buildEssence(
      { metadata: { annotations } },
      { dropAnnotations: (keys) => keys, extraFields: [['metadata', 'annotations']] },
    );
    expect(essence).toEqual({ metadata: { annotations } });
  });
});

describe('what is of users', () => {
  it('labels, annotations and all top-level fields are kept', () => {
    const body = {
      spec: { a: 1 },
      data: { b: 2 },
      type: 'Opaque',
      metadata: { labels: { c: 'd' }, annotations: { e: 'f' } },
    };
    expect(buildEssence(body)).toEqual(body);
  });

  it('an empty spec is kept, while empty stanzas of the system are not', () => {
    expect(buildEssence({ spec: {}, metadata: { labels: {}, annotations: {} }, status: {} })).toEqual({ spec: {} });
  });

  it.each([
    [{ metadata: { labels: null, annotations: null } }, {}],
    [{ metadata: null }, {}],
    [{ metadata: 'text' }, {}],
    [{ metadata: { labels: 'text', annotations: 'text' } }, { metadata: { labels: 'text', annotations: 'text' } }],
  ])('strange metadata are no obstacle: of %j there is %j', (body, essence) => {
    expect(buildEssence({ spec: {}, ...body })).toEqual({ spec: {}, ...essence });
  });

  it('is copied, also from frozen bodies', () => {
    const body = deepFreeze({ spec: { list: [{ a: 1 }] }, metadata: { labels: { a: 'b' } }, status: { x: { y: 1 } } });
    const essence = buildEssence(body, { extraFields: [['status', 'x']] }) as {
      spec: { list: unknown[] };
      metadata: { labels: Record<string, string> };
      status: { x: Record<string, number> };
    };
    essence.spec.list.push(2);
    essence.metadata.labels.c = 'd';
    essence.status.x.z = 2;
    expect(body).toEqual({ spec: { list: [{ a: 1 }] }, metadata: { labels: { a: 'b' } }, status: { x: { y: 1 } } });
  });

  it('keys of prototypes are data', () => {
    const body = JSON.parse('{"__proto__":{"polluted":1},"metadata":{"labels":{"__proto__":"x"}}}') as object;
    expect(JSON.stringify(buildEssence(body))).toBe(JSON.stringify(body));
    expect('polluted' in {}).toBe(false);
  });
});

it('the order of keys is: those of the body, the metadata, the extra fields', () => {
  const body = {
    apiVersion: 'v1',
    kind: 'K',
    metadata: { name: 'n', annotations: { a: 'b' }, labels: { c: 'd' } },
    status: { z: {} },
    spec: { x: 1 },
    data: {},
  };
  const essence = buildEssence(body, { extraFields: [['status', 'z'], ['kind'], ['spec', 'x'], ['metadata', 'name']] });
  expect(JSON.stringify(essence)).toBe(
    '{"spec":{"x":1},"data":{},"metadata":{"labels":{"c":"d"},"annotations":{"a":"b"},"name":"n"},"status":{"z":{}},"kind":"K"}',
  );
});

it('annotations keep their place, even if all were dropped and then asked for', () => {
  const body = { metadata: { name: 'n', labels: {}, annotations: { [LAST_APPLIED]: '{}' } } };
  const essence = buildEssence(body, {
    extraFields: [
      ['metadata', 'name'],
      ['metadata', 'annotations'],
    ],
  });
  expect(JSON.stringify(essence)).toBe(`{"metadata":{"annotations":{"${LAST_APPLIED}":"{}"},"name":"n"}}`);
});

describe('extra fields', () => {
  it.each([['text'], [5], [[1]], [null]])('under %j are absent', (status) => {
    expect(buildEssence({ spec: {}, status }, { extraFields: [['status', 'x']] })).toEqual({ spec: {} });
  });

  it.each([[null], [[]], [''], [{}]])('that are a whole status of %j leave no trace', (status) => {
    expect(buildEssence({ status }, { extraFields: [['status']] })).toEqual({});
  });

  it('of null are kept', () => {
    expect(buildEssence({ status: { x: null } }, { extraFields: [['status', 'x']] })).toEqual({ status: { x: null } });
  });

  it('of the whole object add nothing', () => {
    expect(buildEssence({ kind: 'K', spec: {} }, { extraFields: [[]] })).toEqual({ spec: {} });
  });
});

describe('ignored fields', () => {
  it('are dropped with the parents that they leave empty; those that cannot be there are no error', () => {
    const body = { a: { b: 1, c: 2, e: 'text' }, h: 3, only: { child: 1 }, kept: 1 };
    const ignoredFields = [['a', 'b'], ['h'], ['a', 'e', 'f', 'g'], ['k', 'l', 'm'], ['only', 'child'], []];
    expect(buildEssence(body, { ignoredFields })).toEqual({ a: { c: 2, e: 'text' }, kept: 1 });
  });

  it('are dropped even if asked for', () => {
    const options = { extraFields: [['status', 'x']], ignoredFields: [['status', 'x']] };
    expect(buildEssence({ status: { x: 1 } }, options)).toEqual({});
  });
});

it('empty stanzas are removed in place', () => {
  const essence = { spec: {}, metadata: { labels: {}, annotations: {} }, status: {} };
  removeEmptyStanzas(essence);
  expect(essence).toEqual({ spec: {} });
  const full = { metadata: { labels: { a: 'b' }, annotations: {}, name: '' }, status: { x: {} } };
  removeEmptyStanzas(full);
  expect(full).toEqual({ metadata: { labels: { a: 'b' }, name: '' }, status: { x: {} } });
});
