/** Discovery at work on an embedded cluster, with time that stands still until told to move. */
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import {
  createRegistry,
  type Fact,
  type KubeClient,
  type KubeRequest,
  type Observer,
  type Registry,
  type Service,
  type SettingsOverrides,
  settings,
} from '@kopf-ts/core';
import { facts, formatResource } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { onTestFinished } from 'vitest';
import { discoveryServices, type Scope } from '../../src/discovery/discovery.js';
import { type LiveInsights, liveInsights } from '../../src/discovery/insights.js';
import { type LearnedStatusSchemas, statusSchemas } from '../../src/discovery/status-schemas.js';
import { type Health, health } from '../../src/probing/health.js';

export interface DiscoveryOptions {
  readonly scope?: Scope;
  readonly settings?: SettingsOverrides;
  /** Declares the handlers. */
  readonly handlers?: (registry: Registry) => void;
  /** What the cluster has from the beginning. */
  readonly cluster?: (cluster: LocalCluster) => Promise<void>;
  /** In place of the cluster's own. */
  readonly client?: (client: KubeClient) => KubeClient;
}

export interface DiscoveryUnderTest {
  readonly cluster: LocalCluster;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly insights: LiveInsights;
  readonly health: Health;
  /** All facts of the discovery. */
  readonly told: Fact[];
  readonly statusSchemas: LearnedStatusSchemas;
  /** All requests of the discovery: `GET /api`, `WATCH /api/v1/namespaces`. */
  readonly requests: string[];
  /** The warnings only. */
  readonly warnings: () => string[];
  /** In short: `kopfexamples.v1.kopf.dev`. */
  readonly watched: () => string[];
  readonly namespaces: () => (string | null)[];
  /** How many times those who follow the insights were told. */
  readonly revisions: () => number;
  /** What the services have ended with, by name; `undefined` for those that ended well. */
  readonly endings: Map<string, unknown>;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  advance(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

export const KEX = { group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' } as const;

export function noop(): void {}

/** Starts the discovery, and lets it do what it can without waiting. */
export async function discover(options: DiscoveryOptions = {}): Promise<DiscoveryUnderTest> {
  const clock = manualClock();
  const cluster = await localCluster({ clock, listen: false });
  onTestFinished(() => cluster.stop());
  const logger = recordingLogger();
  const schemas = statusSchemas();
  const operatorSettings = settings(options.settings);
  const registry = createRegistry();
  const ofHealth = health({ clock, settings: operatorSettings });
  const told: Fact[] = [];
  const collecting: Observer = {
    wants: ['discovery.revised', 'discovery.failed'],
    observe: (fact) => void told.push(fact),
  };
  const ofOperator = facts({ observers: [ofHealth.observer, collecting], operator: 'me', clock, logger });
  const insights = liveInsights(ofOperator);
  options.handlers?.(registry);
  await options.cluster?.(cluster);

  const requests: string[] = [];
  const client = logged(options.client?.(cluster.client) ?? cluster.client, requests);
  const controller = new AbortController();
  const endings = new Map<string, unknown>();
  const services: readonly Service[] = discoveryServices({
    registry,
    settings: operatorSettings,
    clock,
    logger,
    client,
    poster: { post: noop },
    insights,
    statusSchemas: schemas,
    health: ofHealth,
    facts: ofOperator,
    random: () => 1,
    scope: options.scope ?? { clusterwide: true },
  });
  for (const service of services) {
    void service.run(controller.signal).then(
      () => endings.set(service.name, undefined),
      (error: unknown) => endings.set(service.name, error),
    );
  }
  let revisions = 0;
  void (async () => {
    for await (const _ of insights.revisions(controller.signal)) revisions += 1;
  })();

  // Not of the cluster: it would wait for the requests that are held back by its faults.
  const settle = (): Promise<void> => clock.settle();
  const stop = async (): Promise<void> => {
    controller.abort(new Error('the end of the test'));
    await settle();
  };
  onTestFinished(stop);
  await settle();
  return {
    cluster,
    clock,
    logger,
    insights,
    health: ofHealth,
    told,
    statusSchemas: schemas,
    requests,
    endings,
    warnings: () => logger.messages('warn'),
    watched: () => [...insights.watched].map((resource) => formatResource(resource)).sort(),
    namespaces: () => [...insights.namespaces].sort(),
    revisions: () => revisions,
    settle,
    async advance(seconds) {
      await clock.advance(seconds);
      await settle();
    },
    stop,
  };
}

function logged(client: KubeClient, requests: string[]): KubeClient {
  const log = (verb: string, { path }: KubeRequest): void => {
    requests.push(`${verb} ${path.replace(/\?.*/, '')}`);
  };
  return {
    request: (request) => {
      log(request.method, request);
      return client.request(request);
    },
    stream: (request) => {
      log('WATCH', request);
      return client.stream(request);
    },
  };
}
