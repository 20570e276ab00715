import { subhandler, TemporaryError } from '@kopf-ts/core';
import { annotationsDiffBaseStorage, smartProgressStorage, statusProgressStorage } from '@kopf-ts/storage';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const PREFIX = 'kopf.zalando.org';
const T0 = '2026-11-16T01:41:20.000000+00:00';
const START = '2026-11-16T01:41:20Z';
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

/** What was sent since the last look; the path and its prefix are the same everywhere. */
function sent(operator: Operated): [type: string, body: unknown][] {
  return operator.patches
    .splice(0)
    .map(({ contentType, path, body }) => [
      (contentType === MERGE ? 'merge' : contentType === JSON_PATCH ? 'json' : contentType) +
        (path.endsWith('/status') ? ' status' : ''),
      body,
    ]);
}

function keysOf(patch: readonly unknown[] | undefined): string[] {
  const body = patch?.[1] as ReturnType<typeof annotations> | undefined;
  return Object.keys(body?.metadata.annotations ?? {});
}

const annotations = (values: object) => ({ metadata: { annotations: values } });
const untried = `{"started":"${T0}","purpose":"create","retries":0,"success":false,"failure":false}`;

describe('What is sent with the compatibility mode is what Kopf sends:', () => {
  it('two creation handlers, a handler of a field, a deletion handler', async () => {
    await using operator = await operated({ start: START, settings: { persistence: { compat: 'kopf' } } });
    const calls: unknown[] = [];
    const { on } = operator.registry;
    on.create('kopfexamples', function c1() {
      return { r: 1 };
    });
    on.create('kopfexamples', function c2({ retry }) {
      if (retry === 0) throw new TemporaryError('not yet', { delay: 0.2 });
      return 'done';
    });
    on.field('kopfexamples', { field: 'spec.field' }, function f({ old, new: value, diff, reason }) {
      calls.push({ old, new: value, diff, reason });
    });
    on.delete('kopfexamples', function d({ reason }) {
      calls.push({ reason });
    });
    await operator.start();

    const created = await operator.create('name1', { spec: { field: 'v', é: 'ü' } });
    const done = `{"started":"${T0}","stopped":"${T0}","purpose":"create","retries":1,"success":true,"failure":false}`;
    expect(sent(operator)).toEqual([
      [
        'json',
        [
          { op: 'test', path: '/metadata/resourceVersion', value: created.metadata?.resourceVersion },
          { op: 'add', path: '/metadata/finalizers', value: [`${PREFIX}/KopfFinalizerMarker`] },
        ],
      ],
      [
        'merge',
        {
          ...annotations({
            [`${PREFIX}/c1`]: done,
            [`${PREFIX}/c2`]: untried,
            [`${PREFIX}/f.spec.field`]: untried,
          }),
          status: { c1: { r: 1 } },
        },
      ],
      [
        'merge',
        annotations({
          [`${PREFIX}/c2`]:
            `{"started":"${T0}","delayed":"2026-11-16T01:41:20.200000+00:00","purpose":"create",` +
            '"retries":1,"success":false,"failure":false,"message":"not yet"}',
        }),
      ],
      ['merge', annotations({ [`${PREFIX}/f.spec.field`]: done })],
    ]);
    expect(calls.splice(0)).toEqual([
      { old: undefined, new: 'v', diff: [['add', [], undefined, 'v']], reason: 'create' },
    ]);

    await operator.advance(0.2);
    const [touch, final, ...others] = sent(operator);
    expect(touch).toEqual(['merge', annotations({ [`${PREFIX}/touch-dummy`]: '2026-11-16T01:41:20.200000+00:00' })]);
    expect(final).toEqual([
      'merge',
      {
        ...annotations({
          [`${PREFIX}/c2`]: null,
          [`${PREFIX}/c1`]: null,
          [`${PREFIX}/f.spec.field`]: null,
          [`${PREFIX}/last-handled-configuration`]: '{"spec":{"field":"v","\\u00e9":"\\u00fc"}}\n',
          [`${PREFIX}/touch-dummy`]: null,
        }),
        status: { c2: 'done' },
      },
    ]);
    expect(others).toEqual([]);

    await operator.edit('name1', { spec: { field: 'w' } });
    expect(sent(operator)).toEqual([
      [
        'merge',
        annotations({ [`${PREFIX}/last-handled-configuration`]: '{"spec":{"field":"w","\\u00e9":"\\u00fc"}}\n' }),
      ],
    ]);
    expect(calls.splice(0)).toEqual([{ old: 'v', new: 'w', diff: [['change', [], 'v', 'w']], reason: 'update' }]);

    await operator.remove('name1');
    expect(sent(operator)).toEqual([
      [
        'json',
        [
          { op: 'test', path: '/metadata/resourceVersion', value: expect.stringMatching(/^\d+$/) },
          { op: 'remove', path: '/metadata/finalizers' },
        ],
      ],
    ]);
    expect(calls.splice(0)).toEqual([{ reason: 'delete' }]);
    await expect(operator.get('name1')).rejects.toMatchObject({ status: 404 });

    // Nothing comes after the end, neither by the events of it, nor later.
    await operator.advance(1000);
    expect(sent(operator)).toEqual([]);
    expect(calls).toEqual([]);
    expect(operator.logger.messages('debug')).toContain('Deleted, really deleted, and we are notified.');
    expect(operator.memories.size).toBe(0);
  });

  it('sub-handlers', async () => {
    await using operator = await operated({ start: START, settings: { persistence: { compat: 'kopf' } } });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', function p() {
      calls.push('p');
      subhandler('s1', () => {
        calls.push('s1');
        return 11;
      });
      subhandler('s2', { field: 'spec.field' }, ({ retry }) => {
        calls.push('s2');
        if (retry === 0) throw new TemporaryError('once', { delay: 0 });
      });
      return 'parent';
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1);

    const parent = (retries: number) =>
      `{"started":"${T0}","delayed":"${T0}","purpose":"create","retries":${retries},"success":false,"failure":false,` +
      '"message":"None","subrefs":["p/s1","p/s2"]}';
    const [first, second, third, ...others] = sent(operator);
    expect(first).toEqual([
      'merge',
      {
        ...annotations({
          [`${PREFIX}/p.s1`]: expect.stringContaining('"success":true'),
          [`${PREFIX}/p.s2`]: untried,
          [`${PREFIX}/p`]: parent(1),
        }),
        status: { 'p/s1': 11 },
      },
    ]);
    expect(keysOf(first)).toEqual([`${PREFIX}/p.s1`, `${PREFIX}/p.s2`, `${PREFIX}/p`]);
    expect(second).toEqual([
      'merge',
      annotations({
        [`${PREFIX}/p.s2`]: expect.stringContaining('"message":"once"'),
        [`${PREFIX}/p`]: parent(2),
      }),
    ]);
    expect(third).toEqual([
      'merge',
      {
        ...annotations({
          [`${PREFIX}/p`]: null,
          [`${PREFIX}/p.s1`]: null,
          [`${PREFIX}/p.s2`]: null,
          [`${PREFIX}/last-handled-configuration`]: '{"spec":{"field":"v"}}\n',
        }),
        status: { p: 'parent' },
      },
    ]);
    expect(others).toEqual([]);
    expect(calls).toEqual(['p', 's1', 'p', 's2', 'p', 's2']);
    expect(operator.logger.messages('info')).toContain('Creation is processed: 1 succeeded; 0 failed.');
  });

  it('a prefix of its own, with the mark beside it', async () => {
    const prefix = 'op.example.com';
    await using operator = await operated({
      start: START,
      settings: {
        persistence: {
          compat: 'kopf',
          progressStorage: smartProgressStorage({ prefix, compat: 'kopf' }),
          diffbaseStorage: annotationsDiffBaseStorage({ prefix, compat: 'kopf' }),
        },
      },
    });
    operator.registry.on.create('kopfexamples', function c1() {});
    operator.registry.on.create('kopfexamples', function c2() {});
    await operator.start();
    await operator.create('name1');
    const [first, second, ...others] = sent(operator);
    expect(keysOf(first)).toEqual([`${prefix}/c1`, `${prefix}/kopf-managed`, `${prefix}/c2`]);
    expect(first?.[1]).toMatchObject(annotations({ [`${prefix}/kopf-managed`]: 'yes' }));
    expect(keysOf(second).sort()).toEqual([`${prefix}/c1`, `${prefix}/c2`, `${prefix}/last-handled-configuration`]);
    expect(others).toEqual([]);
  });

  it('the progress in the status, which is a subresource', async () => {
    await using operator = await operated({
      start: START,
      status: true,
      settings: { persistence: { compat: 'kopf', progressStorage: statusProgressStorage() } },
    });
    operator.registry.on.create('kopfexamples', function c({ retry }) {
      if (retry === 0) throw new TemporaryError(undefined, { delay: 1 });
    });
    await operator.start();
    await operator.create('name1');
    expect(sent(operator)).toEqual([
      [
        'merge status',
        {
          status: {
            kopf: {
              progress: {
                c: {
                  started: T0,
                  stopped: null,
                  delayed: '2026-11-16T01:41:21.000000+00:00',
                  purpose: 'create',
                  retries: 1,
                  success: false,
                  failure: false,
                  message: 'None',
                  subrefs: null,
                },
              },
            },
          },
        },
      ],
    ]);
    await operator.advance(1);
    expect(sent(operator)).toEqual([
      ['merge status', { status: { kopf: { dummy: '2026-11-16T01:41:21.000000+00:00' } } }],
      ['merge', annotations({ [`${PREFIX}/last-handled-configuration`]: '{"spec":{"field":"v"}}\n' })],
      ['merge status', { status: { kopf: { progress: { c: null }, dummy: null } } }],
    ]);
  });
});
