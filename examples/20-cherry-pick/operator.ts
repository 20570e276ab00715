/**
 * An operator put together by hand: from the packages that it needs, and nothing else. There are no indices, no peers,
 * no admission and no command line in it; and none of their packages are installed.
 */
import { kubeClient, loginWithKubeconfig, loginWithServiceAccount } from '@kopf-ts/client';
import {
  type Clock,
  type KubeClient,
  type Logger,
  settings as makeSettings,
  type Peering,
  type Registry,
} from '@kopf-ts/core';
import { aborted, createMemo } from '@kopf-ts/core/engine';
import {
  activities,
  allObjects,
  eventPoster,
  liveInsights,
  health as makeHealth,
  vault as makeVault,
  type Operator,
  reactor,
  strayErrors,
  supervise,
  systemClock,
} from '@kopf-ts/reactor';
import { annotationsDiffBaseStorage, annotationsProgressStorage } from '@kopf-ts/storage';

export interface SmallOperatorOptions {
  readonly registry: Registry;
  readonly namespaces: readonly string[];
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Default: as kubectl or as a pod would. */
  readonly client?: KubeClient;
}

/** There is nobody else, and so nothing to agree on. */
const alone: Peering = {
  async join({ paused, signal }) {
    // Operators wait for the first verdict of their peers.
    paused.turn(false);
    await aborted(signal);
  },
};

export function smallOperator(options: SmallOperatorOptions): Operator {
  const { registry, namespaces, logger, clock = systemClock } = options;
  const prefix = 'small.example.com';
  const settings = makeSettings({
    persistence: {
      finalizer: `${prefix}/finalizer`,
      progressStorage: annotationsProgressStorage({ prefix }),
      diffbaseStorage: annotationsDiffBaseStorage({ prefix }),
    },
  });
  const vault = makeVault({ clock, logger });
  const ownClient = options.client ? undefined : kubeClient({ credentials: vault, settings, clock, logger });
  const client = options.client ?? (ownClient as KubeClient);
  const events = eventPoster({ settings, clock, logger, client });
  const strays = strayErrors({ settings, logger });
  const memo = createMemo();
  const shared = {
    registry,
    settings,
    clock,
    logger,
    client,
    memo,
    poster: events.poster,
    health: makeHealth({ clock, settings }),
    insights: liveInsights(),
    objects: allObjects({ memo, now: () => clock.now(), logger }),
  };
  const fallbackLogins = [
    { id: 'pod', login: () => loginWithServiceAccount() },
    { id: 'person', login: () => loginWithKubeconfig() },
  ];
  const life = activities({ ...shared, vault: ownClient && vault, fallbackLogins });
  const work = reactor({ ...shared, peering: alone, scope: { namespaces } });

  registry.verify({ logger });
  return supervise(
    {
      lifelong: [strays.service],
      startup: life.startup,
      underlying: life.services,
      services: [events.service, ...life.probes, ...work.services],
      working: work.working,
      cleanup: life.cleanup,
      async dispose() {
        vault.close();
        await ownClient?.close();
      },
    },
    { logger, settings, clock },
  );
}
