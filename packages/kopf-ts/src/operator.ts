/** The wiring of an operator, and nothing else: the given parts, and the defaults for all others. */
import { hostname } from 'node:os';
import { kubeClient } from '@kopf-ts/client';
import {
  type Control,
  getDefaultRegistry,
  type Indexer,
  type KubeClient,
  type Registry,
  type Toggle,
} from '@kopf-ts/core';
import {
  createMemo,
  handlersApi,
  lagMeter,
  facts as makeFacts,
  markingClient,
  safeTracing,
  toggle,
  type VerbWrite,
} from '@kopf-ts/core/engine';
import { memoryIndexer } from '@kopf-ts/indexing';
import { objectLogs } from '@kopf-ts/insight';
import { kopfPeering } from '@kopf-ts/peering';
import {
  activities,
  allObjects,
  blockingMonitor,
  eventPoster,
  type Health,
  httpEndpoint,
  liveInsights,
  health as makeHealth,
  relations as makeRelations,
  vault as makeVault,
  reactor,
  type Operator as SupervisedOperator,
  strayErrors,
  supervise,
  systemClock,
} from '@kopf-ts/reactor';
import { admission } from '@kopf-ts/webhooks';
import { defaultSettings, fallbackLogins, withStorages } from './defaults.js';
import { defaultLogger } from './logging/default-logger.js';
import { refuseBadSettings, refuseMistakes, warnOfIdleness } from './option-mistakes.js';
import { type OperatorOptions, withArguments } from './options.js';
import { wiredInsight } from './wired-insight.js';
import { wiredMetrics } from './wired-metrics.js';

/**
 * A running operator.
 *
 * ```ts
 * const operator: kopf.Operator = kopf.operator({ namespaces: ['shop'] });
 * operator.control.pause({ resource: 'kopfexamples', name: 'one' });
 * ```
 */
export interface Operator extends SupervisedOperator {
  /** Lists its objects; retries, pauses and resumes them. */
  readonly control: Control;
}

/**
 * Starts an operator. It runs until it is stopped, its signal aborts, or it fails.
 *
 * ```ts
 * const operator = kopf.operator({ namespaces: ['shop'] });
 * await operator.ready;
 * await operator.stop();
 * ```
 */
export function operator(options: OperatorOptions = {}): Operator {
  refuseMistakes(options);
  const registry = options.registry ?? getDefaultRegistry();
  const settings = withArguments(withStorages(options.settings ?? defaultSettings()), options);
  const clock = options.clock ?? systemClock;
  const logs = objectLogs({ clock });
  const logger = logs.through(options.logger ?? defaultLogger());
  const memo = options.memo ?? createMemo();
  registry.verify({ logger });
  warnOfIdleness(registry, logger);

  const health = makeHealth({ clock, settings });
  const blocking = blockingMonitor({ clock, logger });
  const facts = makeFacts({
    observers: [health.observer, blocking.observer, ...(options.observers ?? [])],
    operator: options.identity ?? process.env.POD_ID ?? `${hostname()}/${process.pid}`,
    clock,
    logger,
  });
  const tracing = options.tracing && safeTracing({ tracing: options.tracing, logger });
  const vault = makeVault({ clock, logger });
  const credentials = options.credentials ?? vault;
  const ownClient =
    options.client === undefined ? kubeClient({ credentials, settings, clock, logger, facts, tracing }) : undefined;
  const plainClient = options.client ?? (ownClient as KubeClient);
  const client = tracing?.mark === undefined ? plainClient : markingClient(plainClient, tracing);
  const isCompat = (): boolean => settings.persistence.compat === 'kopf';
  const objects = allObjects({ memo, now: () => clock.now(), logger, isCompat });
  const insights = liveInsights(facts);
  const fieldManager = (): string => settings.posting.reportingComponent;
  const { ownerOf } = objects;
  const onWritten = (write: VerbWrite): void => relations.written(write);
  const apiFor = handlersApi({ client, clock, logger, settings, fieldManager, ownerOf, onWritten });
  const ownIndexer =
    options.indexer === undefined
      ? memoryIndexer({ registry, settings, clock, client, apiFor, facts, tracing })
      : undefined;
  const indexer = options.indexer ?? (ownIndexer as Indexer);
  const relations = makeRelations({ registry, settings, logger, client, indices: indexer.indices, objects, insights });
  const peering = options.peering ?? kopfPeering({ settings, identity: options.identity });
  const events = eventPoster({ settings, clock, logger, client });
  const pages = options.httpEndpoint ?? httpEndpoint({ clock, logger });
  const strays = strayErrors({ settings, logger, facts });

  const shared = {
    registry,
    settings,
    clock,
    logger,
    client,
    apiFor,
    health,
    memo,
    poster: events.poster,
    facts,
    tracing,
    indexer,
    indices: indexer.indices,
    lifecycle: options.lifecycle,
    objects,
    insights,
    relations,
  };
  const isLoggingIn = ownClient !== undefined && options.credentials === undefined;
  const logins = { vault: isLoggingIn ? vault : undefined, fallbackLogins: fallbackLogins(clock) };
  const life = activities({ ...shared, ...logins, liveness: options.liveness, httpEndpoint: pages });
  const work = reactor({ ...shared, peering, scheduler: options.scheduler, scope: options });
  const lag = lagMeter({ client, clock });
  const metrics = wiredMetrics({ ...shared, lag, httpEndpoint: pages, users: options.metrics });
  metrics.begin();
  const insight = wiredInsight({ ...shared, lag, logs, httpEndpoint: pages, control: work.control });
  insight.begin();
  const served = servedAdmission(registry, health);
  const webhooks = admission({
    ...shared,
    memos: shared.objects,
    connection: ownClient && (() => credentials.current()),
    served,
  });

  let endServing = (): void => {};
  const supervised = supervise(
    {
      lifelong: [strays.service, blocking.service],
      async startup(signal) {
        await life.startup(signal);
        refuseBadSettings(settings);
        metrics.begin();
        insight.begin();
        endServing = registry.serve({ logger });
      },
      underlying: life.services,
      services: [events.service, ...life.probes, metrics.service, ...insight.services, ...work.services, ...webhooks],
      async working(signal) {
        await work.working(signal);
        await served.whenOn(signal);
      },
      cleanup: life.cleanup,
      async dispose() {
        endServing();
        ownIndexer?.close();
        vault.close();
        await ownClient?.close();
      },
    },
    { logger, settings, clock, signal: options.signal },
  );
  return { ...supervised, control: work.control };
}

/** Whether admission reviews can come in. Without admission handlers, there is nothing to wait for. */
function servedAdmission({ handlers }: Pick<Registry, 'handlers'>, health: Health): Toggle {
  if (handlers.webhooks.size === 0) return toggle(true);
  const requirement = health.demand('admission webhooks are served');
  const served = toggle(false);
  return {
    ...served,
    get isOn() {
      return served.isOn;
    },
    turn(isOn) {
      served.turn(isOn);
      requirement.turn(isOn);
    },
  };
}
