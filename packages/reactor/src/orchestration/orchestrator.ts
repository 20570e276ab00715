/** Service: one watcher per target, one peering per namespace; they follow the served kinds and namespaces. */
import type { Peering, Seconds, Service, WatchTarget } from '@kopf-ts/core';
import { container, formatResource, type ToggleView, toggle, watchTarget, watchTargetKey } from '@kopf-ts/core/engine';
import { servedOf } from '../served.js';
import { settlesWithin } from '../settles-within.js';
import { streamLife } from '../stream-life.js';
import { taskGroup } from '../task-group.js';
import { type JoinedPeers, joinPeers, type PeersParts } from './peers.js';
import { type RestartingTask, restartingTask, whenEnded } from './restarting-task.js';

/** Watches the target and handles its events until aborted. */
export type RunWatcher = (at: {
  readonly target: WatchTarget;
  /** On if anything pauses the operator. */
  readonly paused: ToggleView;
  readonly signal: AbortSignal;
  /** Asked at the end: whether the objects are not ours any more, though they may still exist, and we go on without them. */
  readonly hasLeft: () => boolean;
}) => Promise<void>;

export interface OrchestratorParts extends PeersParts {
  /** Without it, the operator is alone. */
  readonly peering?: Peering | undefined;
  readonly runWatcher: RunWatcher;
  /** Resolves when nobody else works on the objects any more, or does not end in time. Asked at the exit. */
  readonly whenQuiet?: (() => Promise<void>) | undefined;
}

export interface Orchestrator extends Service {
  /** Resolves when the targets known from the beginning are watched. */
  working(signal: AbortSignal): Promise<void>;
}

export function orchestrator(parts: OrchestratorParts): Orchestrator {
  const { insights } = parts;
  const isWorking = toggle();
  return {
    name: 'orchestrator',
    working: (signal) => isWorking.whenOn(signal),
    async run(signal) {
      const occasions = container<void>();
      const ensemble = newEnsemble(parts, { signal, onVacancy: () => occasions.put(undefined) });
      try {
        await taskGroup(
          signal,
          async (ofTask) => {
            for await (const _ of insights.revisions(ofTask)) occasions.put(undefined);
          },
          async (ofTask) => {
            for await (const _ of occasions.values(ofTask)) {
              if (!insights.isReady) continue;
              await ensemble.adjust();
              isWorking.turn(true);
            }
          },
        );
      } finally {
        await ensemble.end();
      }
    },
  };
}

/** How long the new tasks wait for the ones being stopped: normally that is a moment, or else for ever. */
const STOPPING_PATIENCE: Seconds = 10;

interface Watcher {
  readonly target: WatchTarget;
  readonly task: RestartingTask;
  /** Its objects are not ours any more. */
  leave(): void;
}

interface Ensemble {
  /** Starts and stops tasks according to present knowledge. */
  adjust(): Promise<void>;
  /** Stops everything and waits for the end. */
  end(): Promise<void>;
}

interface EnsembleOptions {
  readonly signal: AbortSignal;
  /** A stopped task has ended at last: another one may take its place. */
  readonly onVacancy: () => void;
}

function newEnsemble(parts: OrchestratorParts, { signal, onVacancy }: EnsembleOptions): Ensemble {
  const { insights, settings, clock, logger } = parts;
  const watchers = new Map<string, Watcher>();
  const peers = new Map<string | null, JoinedPeers>();
  // Not with the operator's signal: the peers are left last.
  const staying = new AbortController().signal;
  /** The stopping tasks. Two tasks of the same key at once would handle the same objects twice. */
  const leaving = new Map<string, RestartingTask>();

  const leave = (key: string, task: RestartingTask): void => {
    leaving.set(key, task);
    void task.ended.then(() => {
      leaving.delete(key);
      onVacancy();
    });
    task.stop();
  };
  /** Cluster-wide tasks do not depend on namespaces: they go on even without any. */
  const isNamespaceGone = (namespace: string | null): boolean =>
    namespace !== null && !insights.namespaces.has(namespace);

  const stopGone = async (): Promise<void> => {
    const gone: JoinedPeers[] = [];
    const tasks: RestartingTask[] = [];
    // What is served of a kind may be told otherwise by now.
    const wanted = new Set(targetsOf(parts).map(watchTargetKey));
    const isTold = insights.namespaces.size > 0;
    for (const [key, watcher] of watchers) {
      const { target, task } = watcher;
      const isServed = insights.watched.has(target.resource) && !isNamespaceGone(target.namespace);
      if (isServed && (wanted.has(key) || !isTold)) continue;
      // A kind that is gone may be back in a moment, described a bit differently; with the same objects.
      if (isNamespaceGone(target.namespace)) watcher.leave();
      watchers.delete(key);
      leave(key, task);
      tasks.push(task);
    }
    for (const [namespace, joined] of peers) {
      if (!isNamespaceGone(namespace)) continue;
      peers.delete(namespace);
      leave(peersKey(namespace), joined.task);
      tasks.push(joined.task);
      gone.push(joined);
    }
    if (tasks.length === 0) return;
    await whenEnded(tasks, { clock, logger, patience: STOPPING_PATIENCE, signal });
    for (const joined of gone) joined.dispose();
  };

  const startMissing = (): void => {
    const { peering } = parts;
    if (peering !== undefined && !settings.peering.standalone) {
      for (const namespace of insights.namespaces) {
        if (peers.has(namespace) || leaving.has(peersKey(namespace))) continue;
        peers.set(namespace, joinPeers(peering, namespace, { ...parts, signal: staying }));
      }
    }
    for (const target of targetsOf(parts)) {
      const key = watchTargetKey(target);
      if (watchers.has(key) || leaving.has(key)) continue;
      watchers.set(key, startWatcher(parts, target, signal));
    }
  };

  return {
    async adjust() {
      await stopGone();
      if (!signal.aborted) startMissing();
    },
    async end() {
      const ending = [...watchers.values()].map(({ task }) => task);
      for (const task of ending) task.stop();
      const joined = [...peers.values()].map(({ task }) => task);
      const all = whenEnded([...ending, ...leaving.values(), ...joined], { clock, logger });
      // The others take over as soon as we leave; so we leave when all is done, or when we do not believe in that.
      const isDone = Promise.all([...ending.map(({ ended }) => ended), parts.whenQuiet?.()]);
      await settlesWithin(clock, STOPPING_PATIENCE, isDone);
      // The write guards of the peers stay where they are: what comes too late must not be written.
      for (const task of joined) task.stop();
      await all;
    },
  };
}

/** Every kind in every namespace; kinds without namespaces, in the whole cluster. */
function targetsOf(parts: OrchestratorParts): WatchTarget[] {
  const { watched, namespaces } = parts.insights;
  if (namespaces.size === 0) return [];
  return [...watched].flatMap((resource) => {
    const places = resource.namespaced === false ? [null] : [...namespaces];
    const { labelSelector, fieldSelector } = servedOf(parts, resource);
    return places.map((namespace) => watchTarget(resource, { namespace, labelSelector, fieldSelector }));
  });
}

function peersKey(namespace: string | null): string {
  return `@${namespace ?? ''}`;
}

function startWatcher(parts: OrchestratorParts, target: WatchTarget, signal: AbortSignal): Watcher {
  const { runWatcher, paused, clock, logger, random = Math.random } = parts;
  const life = streamLife(target, parts);
  let hasLeft = false;
  const task = restartingTask({
    title: `Watcher for ${formatResource(target.resource)}@${target.namespace ?? 'none'}`,
    clock,
    logger,
    random,
    signal,
    run: (ofTask) => runWatcher({ target, paused, signal: ofTask, hasLeft: () => hasLeft }),
    onFailure: (error) => life.crashed(error),
  });
  void task.ended.then(() => life.ended());
  return {
    target,
    task,
    leave() {
      hasLeft = true;
    },
  };
}
