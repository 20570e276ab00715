/** One object, its daemons and timers, and an operator that is just enough for them: no cluster, no real time. */
import {
  type AnyObject,
  type Body,
  createRegistry,
  Patch,
  type Registry,
  type Seconds,
  type SettingsOverrides,
  settings,
} from '@kopf-ts/core';
import { makeResource, type PatchOutcome, toggle } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { runningDaemons } from '../../src/daemons/daemons.js';
import { daemonKiller } from '../../src/daemons/killer.js';
import { type LeadingOptions, leadDaemons } from '../../src/daemons/leading.js';
import { allObjects } from '../../src/objects/all-objects.js';
import type { HandledObject } from '../../src/objects/object.js';
import type { ApplyOptions } from '../../src/sending/apply.js';

export const RESOURCE = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });

export const BODY: AnyObject = {
  apiVersion: 'kopf.dev/v1',
  kind: 'KopfExample',
  metadata: { name: 'name1', namespace: 'ns1', uid: 'uid1', resourceVersion: '100', labels: { wanted: 'yes' } },
  spec: { field: 'value' },
};

/** What was sent to the cluster, and when. */
interface SentPatch {
  readonly at: Seconds;
  readonly merge: unknown;
  readonly fns: number;
  readonly body: Body;
}

export interface EventOptions extends Partial<Pick<LeadingOptions, 'eventType' | 'onExit'>> {
  readonly body?: AnyObject;
  readonly reset?: boolean;
  readonly memory?: HandledObject;
}

export interface HarnessOptions {
  readonly mayAct?: () => boolean;
  readonly settings?: SettingsOverrides;
  /** Answers to the patches; by default, they change nothing that can be seen. */
  readonly answer?: (sent: SentPatch, options: ApplyOptions) => PatchOutcome | Promise<PatchOutcome>;
}

export function harness(options: HarnessOptions = {}) {
  const clock = manualClock();
  const logger = recordingLogger();
  const registry: Registry = createRegistry();
  const paused = toggle();
  const daemons = runningDaemons();
  const all = allObjects({ now: clock.now, logger });
  const sent: SentPatch[] = [];
  const posted: unknown[] = [];
  const parts = {
    registry,
    settings: settings(options.settings),
    clock,
    logger,
    client: { request: () => Promise.reject(new Error('There is no cluster.')) } as never,
    poster: { post: (event: unknown) => void posted.push(event) },
  };
  const apply = async (sending: ApplyOptions): Promise<PatchOutcome> => {
    const { patch, body } = sending;
    if (patch.isEmpty) return {};
    const one = { at: clock.now(), merge: structuredClone(patch.merge), fns: patch.fns.length, body };
    sent.push(one);
    return (await options.answer?.(one, sending)) ?? {};
  };
  const memoryOf = (body: AnyObject): HandledObject => all.of(body, { isListed: false });
  const memory = memoryOf(BODY);

  /** As if an event of the object has come: as far as daemons are concerned. */
  const begin = (at: EventOptions = {}): Promise<readonly Seconds[]> => {
    const { body = BODY, reset = false, eventType = 'MODIFIED', onExit } = at;
    const own = at.memory ?? memory;
    own.daemons.see(body);
    const of = { resource: RESOURCE, body, patch: new Patch(), memo: own.memo, logger, client: parts.client };
    const cause = { kind: 'spawning' as const, ...of, reset };
    const { mayAct } = options;
    return leadDaemons({ cause, subject: own, eventType, paused, daemons, parts, apply, mayAct, onExit });
  };

  /** The same, until it is processed, and all is quiet again. */
  const event = async (at: EventOptions = {}): Promise<readonly Seconds[]> => {
    const delays = await begin(at);
    await clock.settle();
    return delays;
  };

  const killer = daemonKiller({ clock, settings: parts.settings, logger, paused, daemons });
  return {
    clock,
    logger,
    registry,
    paused,
    daemons,
    memories: all,
    memory,
    memoryOf,
    parts,
    apply,
    sent,
    posted,
    begin,
    event,
    killer,
  };
}

export type Harness = ReturnType<typeof harness>;

/** The object as it is when its deletion was requested. */
export const DELETED_BODY: AnyObject = {
  ...BODY,
  metadata: { ...BODY.metadata, deletionTimestamp: '2020-01-01T00:00:00Z' },
};

/** The object as it does not fit to those who want its label. */
export const UNWANTED_BODY: AnyObject = { ...BODY, metadata: { ...BODY.metadata, labels: {} } };

/** A promise to be settled from outside. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onResolved, onRejected) => {
    resolve = onResolved;
    reject = onRejected;
  });
  return { promise, resolve, reject };
}

/** Whoever does not care: runs for ever, whatever it is told. */
export const forEver = (): Promise<never> => new Promise(() => {});
