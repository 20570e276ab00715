/**
 * The reactor from the stream to the patches, for one kind: the only file of these tests that knows how it is wired.
 */
import type { Clock, KubeClient, LifeCycle, Logger, Registry, Resource, Settings } from '@kopf-ts/core';
import { handlersApi, toggle, toggleSet, watchTarget } from '@kopf-ts/core/engine';
import { cycleOf } from '../../src/cycle/cycle.js';
import { runningDaemons } from '../../src/daemons/daemons.js';
import { allObjects } from '../../src/objects/all-objects.js';
import { boundedScheduler } from '../../src/queueing/scheduler.js';
import { watcherOf } from '../../src/queueing/watcher.js';
import { applier } from '../../src/sending/apply.js';
import { writeGuards } from '../../src/write-guards.js';

export interface EngineOptions {
  readonly client: KubeClient;
  readonly registry: Registry;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lifecycle: LifeCycle | undefined;
  readonly random: () => number;
  readonly resource: Resource;
}

export interface Engine {
  /** Asks it to end; resolves when it has ended, for which the clock may have to move. */
  stop(): Promise<void>;
}

export function startEngine(options: EngineOptions): Engine {
  const { resource, ...parts } = options;
  const paused = toggle(false);
  const { client, clock, random, logger } = parts;
  const objects = allObjects({ memo: undefined, now: () => clock.now(), logger });
  const kinds = { resourceOf: () => Promise.resolve(resource) };
  const fieldManager = (): string => 'model';
  const apiFor = handlersApi({ client, clock, random, kinds, fieldManager, ownerOf: objects.ownerOf });
  const all = { ...parts, apiFor, poster: { post: () => {} } };
  const apply = applier({ ...all, writeGuards: writeGuards() });
  const run = watcherOf({
    ...all,
    objects,
    indexed: toggleSet('all'),
    capabilities: { streamingLists: false },
    scheduler: () => boundedScheduler({ limit: () => parts.settings.queueing.workerLimit, logger }),
    process: cycleOf({ ...all, apply, paused, daemons: runningDaemons() }),
  });
  const control = new AbortController();
  const running = run({ target: watchTarget(resource), paused, signal: control.signal });
  running.catch(() => {});
  return {
    async stop() {
      control.abort(new Error('stopped'));
      await running;
    },
  };
}
