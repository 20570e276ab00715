/** The wiring of an operator, and nothing else: what is given is used; for what is not, there is a default here. */
import { kubeClient, loginWithKubeconfig, loginWithServiceAccount } from '@kopf-ts/client';
import {
  type Clock,
  getDefaultRegistry,
  type Indexer,
  type KubeClient,
  type LifeCycle,
  type Logger,
  type Peering,
  type Registry,
  type Scheduler,
  type Settings,
  type Toggle,
} from '@kopf-ts/core';
import { bothMonitors, createMemo, type ExecutionMonitor, toggle } from '@kopf-ts/core/engine';
import { memoryIndexer } from '@kopf-ts/indexing';
import { kopfPeering } from '@kopf-ts/peering';
import {
  activities,
  blockingMonitor,
  eventPoster,
  type FallbackLogin,
  type Health,
  liveInsights,
  health as makeHealth,
  vault as makeVault,
  memories,
  type Operator,
  reactor,
  strayErrors,
  supervise,
  systemClock,
} from '@kopf-ts/reactor';
import { admission } from '@kopf-ts/webhooks';
import { defaultSettings, withStorages } from './defaults.js';
import { defaultLogger } from './logging.js';
import { refuseMistakes, warnOfIdleness } from './mistakes.js';

export interface OperatorOptions {
  /** Where the handlers are. Default: the registry of the process, where `on.*` of this package declare them. */
  // biome-ignore lint/suspicious/noExplicitAny: an operator runs handlers of any environment alike
  readonly registry?: Registry<any> | undefined;
  /** One object per operator: startup handlers may change it. */
  readonly settings?: Settings | undefined;
  /** Given to the activities; each object begins with a copy of it. */
  readonly memo?: object | undefined;
  /** Serve the whole cluster. */
  readonly clusterwide?: boolean | undefined;
  /** Serve these namespaces only: names, globs (`myapp-*,!myapp-pr-*`), or regular expressions. */
  readonly namespaces?: readonly (string | RegExp)[] | undefined;
  /** Where to tell how the operator is doing: `http://:8080/healthz`. */
  readonly liveness?: string | undefined;
  /** Stops the operator when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** In which order change handlers are called. Default: the default one of the process. */
  readonly lifecycle?: LifeCycle | undefined;
  /** The name of this operator among its peers. */
  readonly identity?: string | undefined;
  /** Ignore the peers. */
  readonly standalone?: boolean | undefined;
  readonly priority?: number | undefined;
  /** The peering object to join; the operator stays paused while it is absent. */
  readonly peeringName?: string | undefined;

  // The seams. Whatever is given replaces the default of the same name.
  readonly client?: KubeClient | undefined;
  readonly indexer?: Indexer | undefined;
  readonly peering?: Peering | undefined;
  readonly scheduler?: (() => Scheduler) | undefined;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Is told of each call of each handler, and of what became of it: for tests and for metrics. */
  readonly monitor?: ExecutionMonitor | undefined;
}

/** Starts an operator. It runs until stopped, until its signal aborts, or until it fails. */
export function operator(options: OperatorOptions = {}): Operator {
  refuseMistakes(options);
  const registry = options.registry ?? getDefaultRegistry();
  const settings = withArguments(withStorages(options.settings ?? defaultSettings()), options);
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? defaultLogger();
  const memo = options.memo ?? createMemo();
  registry.verify({ logger });
  warnOfIdleness(registry, logger);

  const health = makeHealth({ clock, settings });
  const vault = makeVault({ clock, logger });
  const ownClient =
    options.client === undefined ? kubeClient({ credentials: vault, settings, clock, logger }) : undefined;
  const client = options.client ?? (ownClient as KubeClient);
  const ownIndexer =
    options.indexer === undefined
      ? memoryIndexer({ registry, settings, clock, client, monitor: options.monitor })
      : undefined;
  const indexer = options.indexer ?? (ownIndexer as Indexer);
  const peering = options.peering ?? kopfPeering({ settings, identity: options.identity });
  const events = eventPoster({ settings, clock, logger, client });
  const blocking = blockingMonitor({ clock, logger });
  const monitor = options.monitor === undefined ? blocking.monitor : bothMonitors(blocking.monitor, options.monitor);
  const strays = strayErrors({ settings, logger });

  const shared = {
    registry,
    settings,
    clock,
    logger,
    client,
    health,
    memo,
    poster: events.poster,
    monitor,
    indexer,
    indices: indexer.indices,
    lifecycle: options.lifecycle,
    memories: memories({ memo, now: () => clock.now() }),
    insights: liveInsights(),
  };
  const logins = { vault: ownClient && vault, fallbackLogins: fallbackLogins(clock) };
  const life = activities({ ...shared, ...logins, liveness: options.liveness });
  const work = reactor({ ...shared, peering, scheduler: options.scheduler, scope: options });
  const served = servedAdmission(registry, health);
  const webhooks = admission({
    ...shared,
    memos: shared.memories,
    connection: ownClient && (() => vault.current()),
    served,
  });

  return supervise(
    {
      lifelong: [strays.service, blocking.service],
      startup: life.startup,
      underlying: life.services,
      services: [events.service, ...life.probes, ...work.services, ...webhooks],
      async working(signal) {
        await work.working(signal);
        await served.whenOn(signal);
      },
      cleanup: life.cleanup,
      async dispose() {
        ownIndexer?.close();
        vault.close();
        await ownClient?.close();
      },
    },
    { logger, settings, clock, signal: options.signal },
  );
}

/** Whether reviews can come in; there is nothing to wait for if there is nobody to review. */
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

/** What a pod or a person usually has; in this order, as in a pod the service account is what is meant. */
function fallbackLogins(clock: Clock): readonly FallbackLogin[] {
  return [
    { id: 'loginWithServiceAccount', login: loginWithServiceAccount },
    { id: 'loginWithKubeconfig', login: loginWithKubeconfig },
  ].map(({ id, login }) => ({ id, login: ({ settings }) => login({ clock, trustEnv: settings.networking.trustEnv }) }));
}

/** The arguments are settings, too; startup handlers still have the last word on them. */
function withArguments(settings: Settings, options: OperatorOptions): Settings {
  const { peering } = settings;
  peering.clusterwide = options.namespaces === undefined || options.namespaces.length === 0;
  if (options.standalone !== undefined) peering.standalone = options.standalone;
  if (options.priority !== undefined) peering.priority = options.priority;
  if (options.peeringName !== undefined) {
    peering.name = options.peeringName;
    peering.mandatory = true;
  }
  return settings;
}
