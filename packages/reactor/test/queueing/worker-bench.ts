/** One worker whose cycles are ended by hand, by the manual clock. */
import { type AnyObject, settings as makeSettings, type Scheduler, type SettingsOverrides } from '@kopf-ts/core';
import { makeResource, NO_FACTS, type WatchedEvent } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import type { CycleResult, Work } from '../../src/cycle/scene.js';
import { HandledObject, type Surroundings } from '../../src/objects/object.js';
import { boundedScheduler } from '../../src/queueing/scheduler.js';

const resource = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });

const reference = { kind: 'KopfExample', namespace: undefined, name: 'name1', uid: 'uid1' };

export interface RunningCycle {
  readonly work: Work;
  readonly signal: AbortSignal;
  end(result?: CycleResult): Promise<void>;
  fail(error?: unknown): Promise<void>;
}

export interface BenchOptions {
  readonly settings?: SettingsOverrides;
  readonly keepsEvents?: boolean;
  readonly scheduler?: Scheduler;
  readonly mayBegin?: () => boolean;
  readonly onIdle?: () => void;
}

export function objectOf(version: string | number | undefined, fields: object = {}): AnyObject {
  const resourceVersion = version === undefined ? {} : { resourceVersion: String(version) };
  return { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { uid: 'uid1', ...resourceVersion }, ...fields };
}

export function eventOf(type: WatchedEvent['type'], version: string | number | undefined): WatchedEvent {
  return { type, object: objectOf(version) } as WatchedEvent;
}

/** What a cycle is for, in short: `MODIFIED 3`, `null 3`, `touching`, … */
export function stateIn({ state }: Work): string | undefined {
  return state && `${state.type} ${state.body.metadata?.resourceVersion}`;
}

export function versionsIn(work: Work): (string | undefined)[] {
  return work.events.map(({ object }) => object.metadata?.resourceVersion);
}

export function bench(options: BenchOptions = {}) {
  const clock = manualClock();
  const logger = recordingLogger();
  const settings = makeSettings(options.settings);
  const scheduler = options.scheduler ?? boundedScheduler({ limit: () => undefined, logger });
  const control = new AbortController();
  const cycles: RunningCycle[] = [];
  const flags = { isPaused: false, running: 0, mostAtOnce: 0, idle: 0 };
  const surroundings: Surroundings = {
    resource,
    facts: NO_FACTS,
    settings,
    clock,
    scheduler,
    signal: control.signal,
    keepsEvents: () => options.keepsEvents ?? false,
    isGuarded: () => false,
    mayWrite: () => true,
    isPaused: () => flags.isPaused,
    mayBegin: options.mayBegin ?? (() => true),
    process: (work) => {
      flags.running += 1;
      flags.mostAtOnce = Math.max(flags.mostAtOnce, flags.running);
      return new Promise<CycleResult>((resolve, reject) => {
        cycles.push({
          work,
          signal: work.signal,
          end(result = {}) {
            flags.running -= 1;
            resolve(result);
            return clock.settle();
          },
          fail(error = new Error('boo!')) {
            flags.running -= 1;
            reject(error);
            return clock.settle();
          },
        });
      });
    },
    onBusy: () => {},
    onIdle: () => {
      flags.idle += 1;
      options.onIdle?.();
    },
  };
  const passOn = () => {};
  const noticedAt = clock.now();
  const identity = { key: 'uid1', reference, memo: {}, isNoticedByListing: false, noticedAt, logger, passOn };
  const made = new HandledObject(identity).join(surroundings);
  return {
    worker: made,
    /** The same one: an object has one owner for as long as it lives. */
    make: () => made,
    clock,
    logger,
    settings,
    scheduler,
    control,
    cycles,
    flags,
    push: (type: WatchedEvent['type'], version?: string | number, to: HandledObject = made) =>
      to.push(eventOf(type, version)),
    states: () => cycles.map(({ work }) => stateIn(work)),
    /** The cycle that runs now. */
    get cycle(): RunningCycle {
      const latest = cycles.at(-1);
      if (latest === undefined || flags.running === 0) throw new Error('there is no cycle now');
      return latest;
    },
  };
}
