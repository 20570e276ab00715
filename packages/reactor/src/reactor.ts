/** The services of an operator that bring events to handlers and patches back, in the order of the flow. */
import type { Control, Indexer, Peering, Scheduler, Service } from '@kopf-ts/core';
import { aborted, connectionLimiter, NO_FACTS, type ServerCapabilities, toggleSet } from '@kopf-ts/core/engine';
import { reactorControl } from './control/reactor-control.js';
import { cycleOf } from './cycle/cycle.js';
import { runningDaemons } from './daemons/daemons.js';
import { daemonKiller } from './daemons/killer.js';
import { letGo } from './daemons/leading.js';
import { scheduleCheck } from './daemons/schedules.js';
import { discoveryServices, type Scope } from './discovery/discovery.js';
import type { LiveInsights } from './discovery/insights.js';
import { statusSchemas } from './discovery/status-schemas.js';
import type { AllObjects } from './objects/all-objects.js';
import { orchestrator } from './orchestration/orchestrator.js';
import type { OperatorParts } from './parts.js';
import type { Health } from './probing/health.js';
import { boundedScheduler } from './queueing/scheduler.js';
import { watcherOf } from './queueing/watcher.js';
import type { Relations } from './relations/relations.js';
import { applier } from './sending/apply.js';
import { writeGuards } from './write-guards.js';

/**
 * What the loops need of an operator.
 *
 * ```ts
 * const inTheWholeCluster = (options: kopf.reactor.ReactorOptions): kopf.reactor.ReactorOptions => ({
 *   ...options,
 *   scope: { clusterwide: true },
 * });
 * ```
 */
export interface ReactorOptions extends OperatorParts {
  readonly objects: AllObjects;
  readonly insights: LiveInsights;
  readonly health: Health;
  readonly peering: Peering;
  readonly indexer?: Indexer | undefined;
  /** Without it, nothing belongs to anything. */
  readonly relations?: Relations | undefined;
  /** Runs the objects of one stream; a new one for each stream. Default: as many at once as the settings permit. */
  readonly scheduler?: ((of: { readonly title: string }) => Scheduler) | undefined;
  readonly scope: Scope;
}

/**
 * The loops of an operator.
 *
 * ```ts
 * const untilWorking = ({ working }: kopf.reactor.Reactor): Promise<void> => working(AbortSignal.timeout(30_000));
 * ```
 */
export interface Reactor {
  readonly services: readonly Service[];
  readonly control: Control;
  /** Resolves when the streams of all kinds and namespaces known at the start are begun. */
  working(signal: AbortSignal): Promise<void>;
}

/** All streams together make no more connections than this: a server that comes back must not be stormed. */
const CONNECTIONS = { perSecond: 20, burst: 100 };

/**
 * The loops of an operator, as services for {@link supervise}.
 *
 * ```ts
 * function servicesOf(options: kopf.reactor.ReactorOptions): readonly kopf.Service[] {
 *   return kopf.reactor.reactor(options).services;
 * }
 * ```
 */
export function reactor(options: ReactorOptions): Reactor {
  const { registry, settings, clock, logger, indexer, health, facts = NO_FACTS } = options;
  const shared = {
    ...options,
    indices: options.indices ?? indexer?.indices,
    children: options.relations?.children,
    capabilities: {} as ServerCapabilities,
    limiter: connectionLimiter(clock, CONNECTIONS),
    statusSchemas: statusSchemas(),
    paused: toggleSet('any'),
    writeGuards: writeGuards(),
    daemons: runningDaemons(),
  };
  // Closed until it is known what to index; then the streams that index hold it by themselves.
  const indexed = toggleSet('all');
  const gate = indexed.make(false, { name: 'the first look at the cluster' });
  const isPopulated = registry.handlers.indexing.size > 0 ? health.demand('indices are populated') : undefined;

  const fieldManager = (): string => settings.posting.reportingComponent;
  const runWatcher = watcherOf({
    ...shared,
    indexed,
    scheduler:
      options.scheduler ??
      (({ title }) => boundedScheduler({ limit: () => settings.queueing.workerLimit, logger, clock, title })),
    letGo: (subject, reason) => letGo({ subject, parts: shared, daemons: shared.daemons }, reason),
    process: cycleOf({ ...shared, apply: applier({ ...shared, fieldManager }) }),
  });
  const killer = daemonKiller(shared);
  let killing: Promise<void> | undefined;
  const killingDaemons: Service = {
    name: killer.name,
    run(signal) {
      killing = killer.run(signal);
      return killing;
    },
  };
  const orchestration = orchestrator({ ...shared, runWatcher, whenQuiet: async () => await killing });

  const opening: Service = {
    name: 'indexing gate',
    async run(signal) {
      const tellMissing = (missing: readonly string[]): void => {
        if (facts.wants['indexing.ready'])
          facts.tell({ kind: 'indexing.ready', isReady: missing.length === 0, missing });
      };
      tellMissing(['the first look at the cluster']);
      await orchestration.working(signal);
      gate.turn(true);
      if (!indexed.isOn) tellMissing([...options.insights.indexed].map(({ plural }) => plural));
      await indexed.whenOn(signal);
      tellMissing([]);
      isPopulated?.turn(true);
      await aborted(signal);
    },
  };
  return {
    services: [killingDaemons, scheduleCheck(shared), ...discoveryServices(shared), opening, orchestration],
    working: (signal) => orchestration.working(signal),
    control: reactorControl({ objects: options.objects, pausing: shared.paused.make(false, { name: 'control' }) }),
  };
}
