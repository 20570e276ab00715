/** Causes for tests: of one ordinary object, with only what matters to the test being told. */
import { recordingLogger } from '@kopf-ts/testing';
import type {
  ActivityCause,
  ChangingCause,
  DaemonCause,
  IndexingCause,
  SpawningCause,
  WatchingCause,
  WebhookCause,
} from '../../src/intents/causes.js';
import type { KubeClient } from '../../src/seams/client.js';
import type { Index, Indices } from '../../src/seams/memory/indexing.js';
import { settings } from '../../src/settings.js';
import { diff } from '../../src/values/diff.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { buildEssence } from '../../src/values/objects/essence.js';
import { makeLiveBody } from '../../src/values/objects/views.js';
import { Patch } from '../../src/values/patches/patch.js';
import { makeResource } from '../../src/values/resources/resource.js';

export const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';

export const kopfexamples = makeResource({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  kind: 'KopfExample',
  singular: 'kopfexample',
  shortcuts: ['kex'],
});
export const pods = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', singular: 'pod' });

export const client: KubeClient = {
  request: () => Promise.reject(new Error('No requests are expected.')),
  stream: () => {
    throw new Error('No streams are expected.');
  },
};

/** Indices by their names, with nothing in them. */
export function makeIndices(...names: string[]): Indices {
  const index: Index = {
    size: 0,
    get: () => undefined,
    has: () => false,
    keys: () => [],
    [Symbol.iterator]: () => [].values(),
  };
  const byName = new Map(names.map((name) => [name, { ...index }]));
  return { get: ((name: string) => byName.get(name)) as Indices['get'], [Symbol.iterator]: () => byName.entries() };
}

export const someBody: AnyObject = {
  apiVersion: 'kopf.dev/v1',
  kind: 'KopfExample',
  metadata: {
    uid: 'uid-1',
    name: 'one',
    namespace: 'ns',
    labels: { app: 'web' },
    annotations: { note: 'x' },
  },
  spec: { field: 'value' },
  status: { phase: 'ready' },
};

function common(body: AnyObject) {
  return { ...ofOperator(), resource: kopfexamples, body: structuredClone(body), patch: new Patch() };
}

function ofOperator() {
  return { logger: recordingLogger(), memo: { any: 'thing' }, indices: makeIndices(), client };
}

export function activityCause(overrides: Partial<ActivityCause> = {}): ActivityCause {
  return { kind: 'activity', ...ofOperator(), activity: 'startup', settings: settings(), ...overrides };
}

export function indexingCause(body = someBody, overrides: Partial<IndexingCause> = {}): IndexingCause {
  return { kind: 'indexing', ...common(body), ...overrides };
}

export function watchingCause(body = someBody, overrides: Partial<WatchingCause> = {}): WatchingCause {
  return { kind: 'watching', ...common(body), event: { type: 'ADDED', object: body }, ...overrides };
}

export function spawningCause(body = someBody, overrides: Partial<SpawningCause> = {}): SpawningCause {
  return { kind: 'spawning', ...common(body), reset: false, ...overrides };
}

export function daemonCause(body = someBody, overrides: Partial<DaemonCause> = {}): DaemonCause {
  const { signal } = new AbortController();
  return { kind: 'daemon', ...common(body), live: makeLiveBody(structuredClone(body)), stopped: signal, ...overrides };
}

/** With the essence of the body as `new`, and the same as `old`, unless told otherwise. */
export function changingCause(body = someBody, overrides: Partial<ChangingCause> = {}): ChangingCause {
  const essence = buildEssence(body);
  const { old, new: new_ } = { old: essence, new: essence, ...overrides };
  const made = { old, new: new_, diff: diff(old, new_) };
  return { kind: 'changing', ...common(body), reason: 'update', initial: false, ...made, ...overrides };
}

export function webhookCause(body = someBody, overrides: Partial<WebhookCause> = {}): WebhookCause {
  return {
    kind: 'webhook',
    ...common(body),
    reason: undefined,
    webhook: undefined,
    operation: 'CREATE',
    subresource: undefined,
    dryrun: false,
    headers: {},
    sslpeer: {},
    userinfo: { username: 'someone' },
    warnings: [],
    old: undefined,
    new: body,
    diff: [],
    ...overrides,
  };
}
