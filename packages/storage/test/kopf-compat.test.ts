/** Bytes as Kopf 1.44 writes them: the expected texts here were printed by Kopf itself. */
import { type Body, type Essence, type FieldPath, Patch, type ProgressRecord } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import {
  annotationsDiffBaseStorage,
  annotationsProgressStorage,
  multiDiffBaseStorage,
  smartProgressStorage,
  statusDiffBaseStorage,
  statusProgressStorage,
} from '../src/index.js';

const full: ProgressRecord = {
  // Not in the order of Kopf, to see that the order does not come from here.
  subrefs: ['fn/a', 'fn/b'],
  message: '"é"\n\\ 漢😀/\u007f',
  started: '2020-12-31T23:59:59.123456+00:00',
  stopped: '2021-01-01T00:00:00.000000+00:00',
  delayed: '2021-01-01T00:01:00.000000+00:00',
  failure: true,
  success: false,
  retries: 3,
  purpose: 'create',
};
const fullText =
  '{"started":"2020-12-31T23:59:59.123456+00:00","stopped":"2021-01-01T00:00:00.000000+00:00",' +
  '"delayed":"2021-01-01T00:01:00.000000+00:00","purpose":"create","retries":3,"success":false,"failure":true,' +
  '"message":"\\"\\u00e9\\"\\n\\\\ \\u6f22\\ud83d\\ude00/\\u007f","subrefs":["fn/a","fn/b"]}';

describe('a progress record in an annotation', () => {
  it.each<[string, boolean, ProgressRecord, string]>([
    ['full', false, full, fullText],
    ['full', true, full, fullText],
    ['fresh', false, { retries: 0, success: false, failure: false }, '{"retries":0,"success":false,"failure":false}'],
    [
      'fresh',
      true,
      { retries: 0, success: false, failure: false },
      '{"started":null,"stopped":null,"delayed":null,"purpose":null,"retries":0,"success":false,"failure":false,"message":null,"subrefs":null}',
    ],
    ['empty', false, {}, '{}'],
    ['of nulls', false, { started: null, retries: null, subrefs: null }, '{}'],
    [
      'of nulls',
      true,
      { started: null, retries: null, subrefs: null },
      '{"started":null,"stopped":null,"delayed":null,"purpose":null,"retries":null,"success":null,"failure":null,"message":null,"subrefs":null}',
    ],
  ])('%s, verbose=%s', async (_, verbose, record, text) => {
    const patch = new Patch();
    await annotationsProgressStorage({ verbose }).store({ key: 'fn/x', record, body: {}, patch });
    expect(patch.merge).toEqual({ metadata: { annotations: { 'kopf.zalando.org/fn.x': text } } });
  });

  it('is under all keys of a long id, and the mark comes after them', async () => {
    const patch = new Patch();
    const key = 'x'.repeat(64);
    await annotationsProgressStorage({ prefix: 'op.example.com' }).store({
      key,
      record: { retries: 1 },
      body: {},
      patch,
    });
    expect(JSON.stringify(patch.merge)).toBe(
      `{"metadata":{"annotations":{"op.example.com/${'x'.repeat(56)}-SItAqA":"{\\"retries\\":1}",` +
        `"op.example.com/${'x'.repeat(41)}-SItAqA":"{\\"retries\\":1}","op.example.com/kopf-managed":"yes"}}}`,
    );
  });

  it('has what we add at the end, where Kopf ignores it; or not at all', async () => {
    const record = { digest: 'abc', retries: 1 };
    const [ours, kopfs] = [new Patch(), new Patch()];
    await annotationsProgressStorage().store({ key: 'fn', record, body: {}, patch: ours });
    await annotationsProgressStorage({ compat: 'kopf' }).store({ key: 'fn', record, body: {}, patch: kopfs });
    expect(ours.merge).toEqual({
      metadata: { annotations: { 'kopf.zalando.org/fn': '{"retries":1,"digest":"abc"}' } },
    });
    expect(kopfs.merge).toEqual({ metadata: { annotations: { 'kopf.zalando.org/fn': '{"retries":1}' } } });
  });
});

describe('a progress record in the status', () => {
  const attempt: ProgressRecord = {
    started: '2020-12-31T23:59:59.123456+00:00',
    delayed: '2021-01-01T00:01:00.000000+00:00',
    purpose: 'create',
    retries: 1,
    success: false,
    failure: false,
    message: 'None',
  };

  it('has all fields, with nulls where there is nothing', async () => {
    const patch = new Patch();
    await statusProgressStorage().store({ key: 'p/c.d', record: attempt, body: {}, patch });
    expect(JSON.stringify(patch.merge)).toBe(
      '{"status":{"kopf":{"progress":{"p/c.d":{"started":"2020-12-31T23:59:59.123456+00:00","stopped":null,' +
        '"delayed":"2021-01-01T00:01:00.000000+00:00","purpose":"create","retries":1,"success":false,"failure":false,' +
        '"message":"None","subrefs":null}}}}}',
    );
  });

  it('is removed together with the touch by nulls', async () => {
    const storage = statusProgressStorage();
    const body: Body = { status: { kopf: { progress: { c: attempt }, dummy: '2021-01-01T00:01:00.000000+00:00' } } };
    const patch = new Patch();
    await storage.purge({ key: 'c', body, patch });
    await storage.touch({ value: null, body, patch });
    expect(patch.merge).toEqual({ status: { kopf: { progress: { c: null }, dummy: null } } });
  });

  it('has what we add at the end; or not at all', async () => {
    const [ours, kopfs] = [new Patch(), new Patch()];
    const record = { ...attempt, digest: 'abc' };
    await statusProgressStorage().store({ key: 'c', record, body: {}, patch: ours });
    await statusProgressStorage({ compat: 'kopf' }).store({ key: 'c', record, body: {}, patch: kopfs });
    expect(JSON.stringify(ours.merge)).toMatch(/"subrefs":null,"digest":"abc"}}}}}$/);
    expect(JSON.stringify(kopfs.merge)).toMatch(/"subrefs":null}}}}}$/);
  });
});

const essences: [Essence, string][] = [
  [{ spec: { field: 'v', é: 'ü' } }, '{"spec":{"field":"v","\\u00e9":"\\u00fc"}}'],
  [
    { z: 1, a: { y: [], x: {} }, b: [null, true, false, 1, -1, 0.5, 1e-5, 1.5e-7, 0.0001, 123456.789, 1e21, 2 ** 53] },
    '{"z":1,"a":{"y":[],"x":{}},"b":[null,true,false,1,-1,0.5,1e-05,1.5e-07,0.0001,123456.789,1e+21,9007199254740992]}',
  ],
  [
    { t: '\u0000\u001f \u007f\u0080\u2028"\\/\b\f\n\r\t😀' },
    '{"t":"\\u0000\\u001f \\u007f\\u0080\\u2028\\"\\\\/\\b\\f\\n\\r\\t\\ud83d\\ude00"}',
  ],
  [{}, '{}'],
];

describe('the last handled state', () => {
  it.each(essences)('is a line in an annotation: %j', async (essence, text) => {
    const patch = new Patch();
    await annotationsDiffBaseStorage().store({ essence, body: {}, patch });
    expect(patch.merge).toEqual({
      metadata: { annotations: { 'kopf.zalando.org/last-handled-configuration': `${text}\n` } },
    });
  });

  it.each(essences)('is a text in the status: %j', async (essence, text) => {
    const patch = new Patch();
    await statusDiffBaseStorage().store({ essence, body: {}, patch });
    expect(patch.merge).toEqual({ status: { kopf: { 'last-handled-configuration': text } } });
  });

  const body: Body = {
    apiVersion: 'kopf.dev/v1',
    kind: 'X',
    metadata: {
      name: 'n',
      uid: 'u',
      labels: { l: 'v' },
      annotations: {
        'op.example.com/kopf-managed': 'yes',
        'op.example.com/x': 'y',
        'kopf.zalando.org/z': '1',
        'sub.kopf.zalando.org/z': '1',
        'kopf.domain.tld/z': '1',
        'domain.kopf/z': '1',
        plain: '2',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
      },
    },
    status: { a: { b: 1 }, c: 2 },
    data: {},
    spec: {},
  };
  const usual = '"labels":{"l":"v"},"annotations":{"kopf.domain.tld/z":"1","domain.kopf/z":"1","plain":"2"}';

  it.each<[string, FieldPath[], string]>([
    ['nothing extra', [], `{"data":{},"spec":{},"metadata":{${usual}}}`],
    ['a part of the status', [['status', 'a']], `{"data":{},"spec":{},"metadata":{${usual}},"status":{"a":{"b":1}}}`],
    [
      'fields of several stanzas',
      [
        ['metadata', 'name'],
        ['status', 'c'],
      ],
      `{"data":{},"spec":{},"metadata":{${usual},"name":"n"},"status":{"c":2}}`,
    ],
    [
      'all annotations',
      [['metadata', 'annotations']],
      '{"data":{},"spec":{},"metadata":{"labels":{"l":"v"},"annotations":{"op.example.com/kopf-managed":"yes",' +
        '"op.example.com/x":"y","kopf.zalando.org/z":"1","sub.kopf.zalando.org/z":"1","kopf.domain.tld/z":"1",' +
        '"domain.kopf/z":"1","plain":"2","kubectl.kubernetes.io/last-applied-configuration":"{}"}}}',
    ],
  ])('of an object with %s has the keys in the order of Kopf', async (_, extraFields, text) => {
    for (const storage of [annotationsDiffBaseStorage(), statusDiffBaseStorage(), multiDiffBaseStorage([])]) {
      expect(JSON.stringify(storage.build({ body, extraFields }))).toBe(text);
    }
  });

  it('is built by several storages one after another', () => {
    const traces: Body = {
      apiVersion: 'v1',
      kind: 'X',
      spec: { a: 1 },
      metadata: {
        uid: 'u',
        labels: { l: 'v' },
        annotations: {
          'op.example.com/kopf-managed': 'yes',
          'op.example.com/last-handled-configuration': '{}',
          z: 'y',
        },
      },
      status: { kopf: { 'last-handled-configuration': '{}', q: 1 }, r: 2 },
      data: {},
    };
    const storage = multiDiffBaseStorage([
      annotationsDiffBaseStorage({ prefix: 'op.example.com' }),
      statusDiffBaseStorage(),
    ]);
    expect(JSON.stringify(storage.build({ body: traces }))).toBe(
      '{"spec":{"a":1},"data":{},"metadata":{"labels":{"l":"v"},"annotations":{"z":"y"}}}',
    );
    expect(JSON.stringify(storage.build({ body: traces, extraFields: [['status'], ['metadata', 'uid']] }))).toBe(
      '{"spec":{"a":1},"data":{},"metadata":{"labels":{"l":"v"},"annotations":{"z":"y"},"uid":"u"},"status":{"kopf":{"q":1},"r":2}}',
    );
  });
});

describe('a cycle of two handlers, as it goes to the cluster by default', () => {
  it('begins with the records, goes on with a touch, and ends with the state', async () => {
    const progress = smartProgressStorage();
    const diffbase = annotationsDiffBaseStorage();
    const begun = new Patch();
    const fresh: ProgressRecord = { purpose: 'create', retries: 0, success: false, failure: false };
    await progress.store({ key: 'c2', record: fresh, body: {}, patch: begun });
    await progress.store({ key: 'f/spec.field', record: fresh, body: {}, patch: begun });
    const text = '{"purpose":"create","retries":0,"success":false,"failure":false}';
    const annotations = { 'kopf.zalando.org/c2': text, 'kopf.zalando.org/f.spec.field': text };
    expect(begun.merge).toEqual({ metadata: { annotations } });

    const body: Body = {
      metadata: { annotations: { ...annotations, 'kopf.zalando.org/touch-dummy': '2026-11-16T01:41:20.791236+00:00' } },
      spec: { field: 'v', é: 'ü' },
    };
    const ended = new Patch();
    await progress.purge({ key: 'c2', body, patch: ended });
    await progress.purge({ key: 'f/spec.field', body, patch: ended });
    await diffbase.store({ essence: progress.clear(diffbase.build({ body })), body, patch: ended });
    await progress.touch({ value: null, body, patch: ended });
    expect(JSON.stringify(ended.merge)).toBe(
      '{"metadata":{"annotations":{"kopf.zalando.org/c2":null,"kopf.zalando.org/f.spec.field":null,' +
        '"kopf.zalando.org/last-handled-configuration":"{\\"spec\\":{\\"field\\":\\"v\\",\\"\\\\u00e9\\":\\"\\\\u00fc\\"}}\\n",' +
        '"kopf.zalando.org/touch-dummy":null}}}',
    );
  });
});
