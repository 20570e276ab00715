/** A keeper under test: in a cluster of its own, with all that it has requested and logged. */
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import {
  type AnyObject,
  createRegistry,
  type KubeClient,
  type KubeRequest,
  settings as makeSettings,
  type Registry,
  type Resource,
  type Settings,
  type SettingsOverrides,
  type WebhookClientConfig,
} from '@kopf-ts/core';
import { type Container, container, makeResource, parseSelector } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { onTestFinished } from 'vitest';
import { type Announcement, configurationKeeper } from '../../src/configurations/keeper.js';

export const NAME = 'auto.kopf.dev';
const GROUP = '/apis/admissionregistration.k8s.io/v1';
export const PATHS = {
  validating: `${GROUP}/validatingwebhookconfigurations`,
  mutating: `${GROUP}/mutatingwebhookconfigurations`,
};
export const KEX = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });

const kindOf = (plural: string) =>
  makeResource({ group: 'admissionregistration.k8s.io', version: 'v1', plural, namespaced: false });
const KINDS = [kindOf('validatingwebhookconfigurations'), kindOf('mutatingwebhookconfigurations')];

export interface KeeperUnderTest {
  readonly cluster: LocalCluster;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly registry: Registry;
  readonly settings: Settings;
  /** The writes: `POST`, `PATCH`, `DELETE` with what was sent. */
  readonly writes: { readonly method: string; readonly path: string; readonly body: unknown }[];
  readonly requests: KubeRequest[];
  /** How many times each address was applied. */
  readonly applied: string[];
  readonly error: unknown;
  readonly isOver: boolean;
  /** The kinds that are there to be reviewed. */
  revise(webhook: readonly Resource[]): Promise<void>;
  start(): Promise<void>;
  /** The server has come up, or has moved. */
  announce(config: WebhookClientConfig): Promise<void>;
  /** Makes requests fail: all for which it returns an error. */
  fault: ((request: KubeRequest) => Error | undefined) | undefined;
  /** The object in the cluster; `undefined` if there is none. */
  stored(): Promise<(AnyObject & { webhooks?: { name: string }[] }) | undefined>;
  /** Changes the object, as somebody else would. */
  edit(merge: object): Promise<void>;
  remove(): Promise<void>;
  put(body: object): Promise<void>;
  stop(): Promise<void>;
}

export interface KeeperOptions {
  readonly reason?: 'validating' | 'mutating';
  readonly settings?: SettingsOverrides;
  readonly managed?: string | undefined;
  readonly kinds?: readonly Resource[];
  readonly declare?: (registry: Registry) => void;
  readonly beside?: KeeperUnderTest;
}

export async function keeperUnderTest(options: KeeperOptions = {}): Promise<KeeperUnderTest> {
  const { reason = 'validating', beside } = options;
  const clock = beside?.clock ?? manualClock();
  const cluster = beside?.cluster ?? (await localCluster({ listen: false, controllers: false, clock }));
  const logger = recordingLogger();
  const registry = createRegistry();
  (options.declare ?? ((to) => to.on.validate('kopfexamples', { id: 'id' }, () => {})))(registry);
  const managed = 'managed' in options ? options.managed : NAME;
  const settings = makeSettings({ ...options.settings, admission: { managed } });
  const requests: KubeRequest[] = [];
  const controller = new AbortController();
  const configs: Container<Announcement> = container();
  const revision = container<void>(undefined);
  const path = `${PATHS[reason]}/${managed}`;
  let webhook: ReadonlySet<Resource> = new Set(options.kinds ?? [KEX]);
  let isOver = false;
  let error: unknown;
  let running: Promise<void> | undefined;

  const client: KubeClient = {
    async request<T>(request: KubeRequest) {
      requests.push(request);
      const fault = tested.fault?.(request);
      if (fault !== undefined) throw fault;
      return await cluster.client.request<T>(request);
    },
    async *stream<T>(request: KubeRequest) {
      requests.push(request);
      const fault = tested.fault?.(request);
      if (fault !== undefined) throw fault;
      yield* cluster.client.stream<T>(request);
    },
  };
  const insights = {
    get webhook() {
      return webhook;
    },
    find: (selector: Parameters<typeof parseSelector>[0]) => [...parseSelector(selector).select(KINDS)][0],
    revisions: (signal: AbortSignal) => revision.values(signal),
  };
  const settle = async (): Promise<void> => {
    await clock.settle();
    await cluster.settled();
    await clock.settle();
  };

  const tested: KeeperUnderTest = {
    cluster,
    clock,
    logger,
    registry,
    settings,
    requests,
    fault: undefined,
    applied: [],
    get writes() {
      return requests
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path: address, body }) => ({ method, path: address, body }));
    },
    get error() {
      return error;
    },
    get isOver() {
      return isOver;
    },
    async revise(kinds) {
      webhook = new Set(kinds);
      revision.put(undefined);
      await settle();
    },
    async start() {
      const service = configurationKeeper(
        { registry, settings, clock, logger, client, insights, configs, random: () => 1 },
        reason,
      );
      running = service.run(controller.signal).then(
        () => {
          isOver = true;
        },
        (thrown: unknown) => {
          isOver = true;
          error = thrown;
        },
      );
      await settle();
    },
    async announce(config) {
      configs.put({ config, applied: (by) => tested.applied.push(`${by} ${config.url ?? config.service?.name}`) });
      await settle();
    },
    stored: () => cluster.client.request<AnyObject>({ method: 'GET', path }).catch(() => undefined),
    async edit(merge) {
      await cluster.client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body: merge });
      await settle();
    },
    async remove() {
      await cluster.client.request({ method: 'DELETE', path });
      await settle();
    },
    async put(body) {
      await cluster.client.request({ method: 'POST', path: PATHS[reason], contentType: 'application/json', body });
    },
    async stop() {
      controller.abort();
      await settle();
      await running;
    },
  };
  onTestFinished(async () => {
    await tested.stop();
    if (beside === undefined) await cluster.stop();
  });
  return tested;
}
