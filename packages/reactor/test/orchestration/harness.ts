/** An orchestrator with watchers and peerings that do what the test tells them. */
import {
  createRegistry,
  type Observer,
  type Peering,
  type PeeringScope,
  type Resource,
  type SettingsOverrides,
  settings,
} from '@kopf-ts/core';
import {
  facts,
  formatResource,
  makeResource,
  onAbort,
  type ResourceFields,
  type ToggleSet,
  toggleSet,
} from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { onTestFinished } from 'vitest';
import { type LiveInsights, liveInsights } from '../../src/discovery/insights.js';
import { type Orchestrator, orchestrator, type RunWatcher } from '../../src/orchestration/orchestrator.js';
import { type Health, health } from '../../src/probing/health.js';
import { type WriteGuards, writeGuards } from '../../src/write-guards.js';

/** What was started, and is under control of the test. */
interface Started<At> {
  readonly name: string;
  readonly at: At;
  readonly isStopped: boolean;
  fail(error: unknown): void;
  end(): void;
}

export interface OrchestrationOptions {
  readonly settings?: SettingsOverrides;
  readonly withPeering?: boolean;
  /** Those which do not end when aborted, by name. */
  readonly stubborn?: readonly string[];
  /** How many times the watchers throw instead of beginning. */
  readonly crashes?: number;
  /** In place of one under control of the test. */
  readonly peering?: Peering;
  readonly observers?: readonly Observer[];
}

export interface Orchestration {
  readonly insights: LiveInsights;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly health: Health;
  /** Tells that the watcher's stream works. */
  watches(watcher: Started<Parameters<RunWatcher>[0]> | undefined): void;
  readonly paused: ToggleSet;
  readonly writeGuards: WriteGuards;
  readonly service: Orchestrator;
  /** All watchers ever started, in order. */
  readonly watchers: Started<Parameters<RunWatcher>[0]>[];
  readonly peers: Started<PeeringScope>[];
  /** What happened: `+ones.v1.g1@ns1`, `-ones.v1.g1@ns1`, `+peers@ns1`. */
  readonly story: string[];
  /** The names of those running now. */
  readonly running: () => string[];
  readonly isOver: () => boolean;
  readonly error: () => unknown;
  /** Makes it known what to serve, and lets the orchestrator react. */
  serve(watched: readonly Resource[], namespaces?: readonly (string | null)[]): Promise<void>;
  stop(): Promise<void>;
}

export function resource(plural: string, extra: Partial<ResourceFields> = {}): Resource {
  return makeResource({ group: 'g1', version: 'v1', plural, namespaced: true, ...extra });
}

export async function orchestrate(options: OrchestrationOptions = {}): Promise<Orchestration> {
  const clock = manualClock();
  const logger = recordingLogger();
  const insights = liveInsights();
  const operatorSettings = settings(options.settings);
  const ofHealth = health({ clock, settings: operatorSettings });
  const ofOperator = facts({
    observers: [ofHealth.observer, ...(options.observers ?? [])],
    operator: 'me',
    clock,
    logger,
  });
  const paused = toggleSet('any');
  const allGuards = writeGuards();
  const story: string[] = [];
  const watchers: Started<Parameters<RunWatcher>[0]>[] = [];
  const peers: Started<PeeringScope>[] = [];
  const release: (() => void)[] = [];

  const start = <At extends { readonly signal: AbortSignal }>(
    list: Started<At>[],
    name: string,
    at: At,
  ): Promise<void> => {
    let isStopped = false;
    story.push(`+${name}`);
    return new Promise<void>((resolve, reject) => {
      const finish = (how: () => void) => (): void => {
        if (isStopped) return;
        isStopped = true;
        story.push(`-${name}`);
        how();
      };
      list.push({
        name,
        at,
        get isStopped() {
          return isStopped;
        },
        fail: (error) => finish(() => reject(error))(),
        end: finish(resolve),
      });
      const isStubborn = options.stubborn?.includes(name) ?? false;
      if (isStubborn) release.push(finish(resolve));
      else
        onAbort(
          at.signal,
          finish(() => reject(at.signal.reason)),
        );
    });
  };
  let crashes = options.crashes ?? 0;
  const runWatcher: RunWatcher = (at) => {
    crashes -= 1;
    if (crashes >= 0) throw new Error('crashed at once');
    return start(watchers, `${formatResource(at.target.resource)}@${at.target.namespace ?? 'none'}`, at);
  };
  const peering: Peering = { join: (scope) => start(peers, `peers@${scope.namespace ?? 'none'}`, scope) };

  const service = orchestrator({
    registry: createRegistry(),
    settings: operatorSettings,
    clock,
    logger,
    client: { request: () => Promise.reject(new Error('unexpected')), stream: () => neverEnding() },
    poster: { post: () => {} },
    random: () => 1,
    insights,
    health: ofHealth,
    paused,
    writeGuards: allGuards,
    facts: ofOperator,
    runWatcher,
    ...(options.withPeering ? { peering: options.peering ?? peering } : {}),
  });
  const controller = new AbortController();
  let isOver = false;
  let error: unknown;
  void service
    .run(controller.signal)
    .catch((thrown: unknown) => {
      error = thrown;
    })
    .finally(() => {
      isOver = true;
    });
  const stop = async (): Promise<void> => {
    controller.abort(new Error('the end of the test'));
    await clock.settle();
  };
  onTestFinished(async () => {
    await stop();
    for (const finish of release) finish();
    await clock.settle();
  });
  await clock.settle();
  return {
    insights,
    clock,
    logger,
    health: ofHealth,
    watches(watcher) {
      if (watcher === undefined) throw new Error('There is no such watcher.');
      const times = { since: clock.now(), lastEventAt: undefined, lastGoodAt: undefined };
      const stream = watcher.at.target;
      ofOperator.tell({ kind: 'stream.phase', stream, phase: 'watching', ...times, error: undefined });
    },
    paused,
    writeGuards: allGuards,
    service,
    watchers,
    peers,
    story,
    running: () =>
      [...watchers, ...peers]
        .filter((one) => !one.isStopped)
        .map(({ name }) => name)
        .sort(),
    isOver: () => isOver,
    error: () => error,
    async serve(watched, namespaces) {
      insights.revise({
        all: watched,
        watched: new Set(watched),
        indexed: new Set(),
        webhook: new Set(),
        ...(namespaces === undefined ? {} : { namespaces: new Set(namespaces) }),
      });
      await clock.settle();
    },
    stop,
  };
}

async function* neverEnding(): AsyncGenerator<never> {
  await new Promise(() => {});
}
