/** One worker whose cycles are ended by hand, by the manual clock. */
import { type AnyObject, settings as makeSettings, type Scheduler, type SettingsOverrides } from '@kopf-ts/core';
import type { WatchedEvent } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import type { CycleResult, Work } from '../../src/handling/work.js';
import { memories, type ObjectMemory } from '../../src/memories.js';
import { boundedScheduler } from '../../src/queueing/scheduler.js';
import { ObjectWorker } from '../../src/queueing/worker.js';
import type { Worker, WorkerSurroundings } from '../../src/queueing/worker-contract.js';

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
  readonly memory?: ObjectMemory;
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
  const memory =
    options.memory ?? memories({ now: () => clock.now() }).of(objectOf(undefined), { isListed: false, logger });
  const control = new AbortController();
  const cycles: RunningCycle[] = [];
  const flags = { isPaused: false, running: 0, mostAtOnce: 0, idle: 0 };
  const surroundings: WorkerSurroundings = {
    settings,
    clock,
    scheduler,
    signal: control.signal,
    keepsEvents: () => options.keepsEvents ?? false,
    isPaused: () => flags.isPaused,
    mayBegin: options.mayBegin ?? (() => true),
    process: (_memory, work, signal) => {
      flags.running += 1;
      flags.mostAtOnce = Math.max(flags.mostAtOnce, flags.running);
      return new Promise<CycleResult>((resolve, reject) => {
        cycles.push({
          work,
          signal,
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
    onIdle: () => {
      flags.idle += 1;
      options.onIdle?.();
    },
  };
  const make = (): Worker => new ObjectWorker(surroundings, { memory, logger });
  const made = make();
  return {
    worker: made,
    /** Another one for the same object, as after the first one was forgotten. */
    make,
    clock,
    logger,
    settings,
    scheduler,
    memory,
    control,
    cycles,
    flags,
    push: (type: WatchedEvent['type'], version?: string | number, to: Worker = made) => to.push(eventOf(type, version)),
    states: () => cycles.map(({ work }) => stateIn(work)),
    /** The cycle that runs now. */
    get cycle(): RunningCycle {
      const latest = cycles.at(-1);
      if (latest === undefined || flags.running === 0) throw new Error('there is no cycle now');
      return latest;
    },
  };
}
