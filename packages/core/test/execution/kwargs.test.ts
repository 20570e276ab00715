import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { callKwargs, filterKwargs } from '../../src/execution/call-kwargs.js';
import type { Cause, WebhookCause } from '../../src/intents/causes.js';
import type { Indices } from '../../src/seams/memory/indexing.js';
import { settings } from '../../src/settings.js';
import { makeLiveBody } from '../../src/values/objects/views.js';
import { Patch } from '../../src/values/patches/patch.js';
import { BODY, changeHandler, changingCause, RESOURCE, watchingCause } from './helpers.js';

const OPERATOR = ['logger', 'memo', 'indices', 'client'];
const OBJECT = [
  ...['resource', 'patch', 'body', 'spec', 'meta', 'status', 'uid', 'name', 'namespace', 'labels', 'annotations'],
];
const CALL = ['param', 'retry', 'started', 'runtime', 'signal'];

const ofObject = { logger: recordingLogger(), memo: {}, resource: RESOURCE, body: BODY, patch: new Patch() };
const stopper = { stopped: new AbortController().signal };
const webhook: WebhookCause = {
  kind: 'webhook',
  ...ofObject,
  reason: 'validating',
  webhook: 'fn',
  operation: 'CREATE',
  subresource: undefined,
  dryrun: true,
  headers: {},
  sslpeer: {},
  userinfo: {},
  warnings: [],
  old: undefined,
  new: BODY,
  diff: [],
};

const CAUSES: readonly {
  readonly cause: Cause;
  readonly own: readonly string[];
  readonly calls?: readonly string[];
}[] = [
  {
    cause: { kind: 'activity', activity: 'startup', settings: settings(), logger: recordingLogger(), memo: {} },
    own: ['activity', 'settings'],
  },
  { cause: watchingCause(), own: [...OBJECT, 'event', 'type'] },
  { cause: changingCause(), own: [...OBJECT, 'reason', 'initial', 'diff', 'old', 'new'], calls: ['progress'] },
  { cause: { kind: 'indexing', ...ofObject }, own: OBJECT },
  { cause: { kind: 'spawning', ...ofObject, reset: true }, own: OBJECT },
  {
    cause: { kind: 'daemon', ...ofObject, live: makeLiveBody(BODY), stopped: stopper.stopped },
    own: OBJECT,
    calls: ['stopped'],
  },
  {
    cause: webhook,
    own: [
      ...OBJECT,
      ...['dryrun', 'headers', 'sslpeer', 'userinfo', 'warnings', 'operation', 'subresource', 'old', 'new', 'diff'],
    ],
  },
];

const state = { retries: 3, started: new Date(0), runtime: 4 };
const signal = new AbortController().signal;

/** As a handler of the cause gets them. */
const kwargsOf = (cause: Cause, handler = changeHandler()) => callKwargs(cause, handler, state, { signal });

describe.each(CAUSES)('Kwargs of the kind "$cause.kind"', ({ cause, own, calls = [] }) => {
  it('for handlers are exactly those of the kind and those of the call', () => {
    const kwargs = kwargsOf(cause, changeHandler({ param: 'p' }));
    expect(Object.keys(kwargs).sort()).toEqual([...OPERATOR, ...own, ...calls, ...CALL].sort());
    expect(kwargs).toMatchObject({ param: 'p', retry: 3, started: new Date(0), runtime: 4, signal });
  });

  it('for filters have nothing of the call', () => {
    expect(Object.keys(filterKwargs(cause)).sort()).toEqual([...OPERATOR, ...own].sort());
  });

  it('are replaced by indices of the same names, whatever they are', () => {
    const names = [...OPERATOR, ...own, ...calls, ...CALL, '__proto__', 'an-index'];
    const indices = names.map((name) => [name, { name }] as const) as unknown as Indices;
    const kwargs = kwargsOf({ ...cause, indices });
    for (const name of names) expect(Object.getOwnPropertyDescriptor(kwargs, name)?.value).toEqual({ name });
  });
});

describe('Kwargs of an object', () => {
  it('are the stanzas and the identity of its body', () => {
    expect(kwargsOf(watchingCause())).toMatchObject({
      body: BODY,
      spec: { field: 'value' },
      status: { info: 'payload' },
      meta: BODY.metadata,
      labels: { l: 'lv' },
      annotations: { a: 'av' },
      name: 'name1',
      namespace: 'ns1',
      uid: 'uid1',
    });
  });

  it('of a daemon follow the object', () => {
    const live = makeLiveBody(BODY);
    const kwargs = kwargsOf({ kind: 'daemon', ...ofObject, live, stopped: stopper.stopped });
    live.replace({ ...BODY, spec: { field: 'newer' } });
    expect(kwargs['spec']).toMatchObject({ field: 'newer' });
  });

  it('for filters are of the whole change, even for handlers with fields', () => {
    const cause = changingCause({ diff: [['change', ['spec', 'other'], 1, 2]] });
    expect(filterKwargs(cause)).toMatchObject({ new: { spec: { field: 'value' } }, diff: cause.diff });
  });
});
