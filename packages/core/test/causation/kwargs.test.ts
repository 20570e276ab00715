import { describe, expect, it } from 'vitest';
import type { Cause } from '../../src/intents/causes.js';
import { causeKwargs, kwargNames } from '../../src/intents/kwargs.js';
import {
  activityCause,
  changingCause,
  client,
  daemonCause,
  indexingCause,
  kopfexamples,
  makeIndices,
  someBody,
  spawningCause,
  watchingCause,
  webhookCause,
} from './make-causes.js';

const OPERATOR = ['logger', 'memo', 'indices', 'client'];
const OBJECT = [
  ...['resource', 'patch', 'body', 'spec', 'meta', 'status', 'uid', 'name', 'namespace', 'labels', 'annotations'],
];
const REVIEW = [
  'dryrun',
  'headers',
  'sslpeer',
  'userinfo',
  'warnings',
  'operation',
  'subresource',
  'old',
  'new',
  'diff',
];

const ALL: readonly (readonly [string, () => Cause, readonly string[]])[] = [
  ['an activity', activityCause, [...OPERATOR, 'activity', 'settings']],
  ['indexing', indexingCause, [...OPERATOR, ...OBJECT]],
  ['watching', watchingCause, [...OPERATOR, ...OBJECT, 'event', 'type']],
  ['spawning', spawningCause, [...OPERATOR, ...OBJECT]],
  ['changing', changingCause, [...OPERATOR, ...OBJECT, 'reason', 'initial', 'diff', 'old', 'new']],
  ['daemons, before they are called', daemonCause, [...OPERATOR, ...OBJECT]],
  ['webhooks', webhookCause, [...OPERATOR, ...OBJECT, ...REVIEW]],
];

describe('kwargs of a cause', () => {
  it.each(ALL)('are these and no others: %s', (_title, make, names) => {
    expect(Object.keys(causeKwargs(make())).sort()).toEqual([...names].sort());
  });

  it.each(ALL)('give way to indices of the same names: %s', (_title, make, names) => {
    const indices = makeIndices(...names, 'another');
    const kwargs = causeKwargs({ ...make(), indices });
    expect(Object.keys(kwargs).sort()).toEqual([...names, 'another'].sort());
    for (const name of [...names, 'another']) expect(kwargs[name]).toBe(indices.get(name));
  });

  it.each(ALL)('come from the operator: %s', (_title, make) => {
    const cause = make();
    const kwargs = causeKwargs(cause);
    expect(kwargs['logger']).toBe(cause.logger);
    expect(kwargs['memo']).toBe(cause.memo);
    expect(kwargs['indices']).toBe(cause.indices);
    expect(kwargs['client']).toBe(client);
  });

  it.each(ALL.slice(1))('show the object: %s', (_title, make) => {
    const cause = make();
    if (cause.kind === 'activity') expect.unreachable();
    const kwargs = causeKwargs(cause);
    expect(kwargs).toMatchObject({
      resource: kopfexamples,
      body: someBody,
      spec: { field: 'value' },
      meta: someBody.metadata,
      status: { phase: 'ready' },
      labels: { app: 'web' },
      annotations: { note: 'x' },
      uid: 'uid-1',
      name: 'one',
      namespace: 'ns',
    });
    expect(kwargs['patch']).toBe(cause.patch);
  });

  it('tell of an event as it came', () => {
    const event = { type: null, object: someBody };
    const kwargs = causeKwargs(watchingCause(someBody, { event }));
    expect(kwargs['event']).toBe(event);
    expect(kwargs['type']).toBeNull();
  });

  it('tell of a change', () => {
    const old = { spec: { field: 'was' } };
    const cause = changingCause(someBody, { old, reason: 'update' });
    const kwargs = causeKwargs(cause);
    expect(kwargs).toMatchObject({ reason: 'update', old, new: cause.new });
    expect(kwargs['diff']).toBe(cause.diff);
  });

  it('show daemons the newest state, not the one they were spawned for', () => {
    const cause = daemonCause();
    const kwargs = causeKwargs(cause) as { spec: { field: string }; body: { spec: { field: string } } };
    cause.live.replace({ ...someBody, spec: { field: 'newer' } });
    expect([kwargs.spec.field, kwargs.body.spec.field]).toEqual(['newer', 'newer']);
    expect(cause.body.spec.field).toBe('value');
  });

  it('have the same warnings as the cause, as they are written into', () => {
    const cause = webhookCause();
    (causeKwargs(cause)['warnings'] as string[]).push('beware');
    expect(cause.warnings).toEqual(['beware']);
  });

  it('have no indices at all where there are none', () => {
    const { indices: _indices, ...cause } = indexingCause();
    expect(Object.keys(causeKwargs(cause)).sort()).toEqual([...OPERATOR, ...OBJECT].sort());
    expect(causeKwargs(cause)['indices']).toBeUndefined();
  });

  it('are not harmed by an index with the name of a prototype', () => {
    const kwargs = causeKwargs(indexingCause(someBody, { indices: makeIndices('__proto__') }));
    expect(Object.hasOwn(kwargs, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(kwargs)).toBe(Object.prototype);
  });
});

it.each([
  ['activity', activityCause],
  ['index', indexingCause],
  ['watch', watchingCause],
  ['change', changingCause],
  ['daemon', daemonCause],
  ['timer', daemonCause],
  ['webhook', webhookCause],
] as const)('all of them are known by their names, so that others can be told of: %s', (kind, makeCause) => {
  expect(kwargNames(kind)).toEqual(expect.arrayContaining(Object.keys(causeKwargs(makeCause()))));
});
