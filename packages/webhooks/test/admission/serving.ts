/** Admission as services, with a server that does what it is told, and a cluster to configure. */
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import {
  type AnyObject,
  type ConnectionInfo,
  createRegistry,
  type KubeClient,
  type KubeRequest,
  settings as makeSettings,
  type Observer,
  type Registry,
  type Service,
  type WebhookClientConfig,
  type WebhookServer,
} from '@kopf-ts/core';
import { facts as makeFacts, makeResource, untilAborted } from '@kopf-ts/core/engine';
import { allObjects, liveInsights } from '@kopf-ts/reactor';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { onTestFinished } from 'vitest';
import { admission } from '../../src/admission.js';
import { EXAMPLES } from '../reviewing/reviewed.js';

export const NAME = 'auto.kopf.dev';

const kindOf = (plural: string) =>
  makeResource({ group: 'admissionregistration.k8s.io', version: 'v1', plural, namespaced: false });
const CONFIGURATIONS = [kindOf('validatingwebhookconfigurations'), kindOf('mutatingwebhookconfigurations')];

type Surroundings = Parameters<WebhookServer['serve']>[0];

/** A server whose announcements are made by the test. */
export interface FakeServer extends WebhookServer {
  /** What it was started with. */
  readonly at: Surroundings | undefined;
  /** All that has happened to it. */
  readonly story: readonly string[];
  /** The next address; taken when it is asked for. */
  announce(config: WebhookClientConfig): void;
  fail(error: Error): void;
  end(): void;
}

export function fakeServer(): FakeServer {
  const story: string[] = [];
  type Step = () => WebhookClientConfig | undefined;
  const steps = new TransformStream<Step, Step>(undefined, undefined, { highWaterMark: Number.POSITIVE_INFINITY });
  const writer = steps.writable.getWriter();
  const push = (step: Step): void => void writer.write(step);
  let started: Surroundings | undefined;
  return {
    story,
    get at() {
      return started;
    },
    announce(config) {
      push(() => config);
    },
    fail(error) {
      push(() => {
        throw error;
      });
    },
    end() {
      push(() => undefined);
    },
    async *serve(at) {
      started = at;
      story.push('entered');
      const stopped = untilAborted(at.signal);
      const reader = steps.readable.getReader();
      try {
        for (;;) {
          story.push('asked');
          const step = await Promise.race([
            reader.read().then(
              ({ value }) => value,
              () => undefined,
            ),
            stopped,
          ]);
          const config = step?.();
          if (config === undefined) return;
          yield config;
        }
      } finally {
        reader.releaseLock();
        story.push('exited');
      }
    },
  };
}

export interface ServedOptions {
  readonly declare?: (registry: Registry) => void;
  readonly server?: WebhookServer | undefined;
  readonly managed?: string;
  readonly isReady?: boolean;
  readonly connection?: () => Promise<ConnectionInfo>;
  readonly exitTimeout?: number;
  readonly observers?: readonly Observer[];
}

export interface Served {
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly cluster: LocalCluster;
  readonly registry: Registry;
  readonly client: KubeClient;
  readonly requests: readonly string[];
  /** Fails those requests for which it gives an error; or lets them wait. */
  fault: ((request: KubeRequest) => Error | Promise<never> | undefined) | undefined;
  /** How each of the services has ended, by its name. */
  readonly endings: ReadonlyMap<string, unknown>;
  readonly isServed: boolean;
  /** The kinds become known. */
  scan(): Promise<void>;
  /** The address in the configuration of validating webhooks, if any. */
  address(): Promise<string | undefined>;
  settle(): Promise<void>;
  /** Tells all services to end; they may need time for that. */
  stop(): Promise<void>;
}

export const SERVER = 'admission webhook server';

/** Starts the services. They end with the test at the latest. */
export async function served(options: ServedOptions): Promise<Served> {
  const { declare = ({ on }) => on.validate('kopfexamples', { id: 'fn' }, () => {}), isReady = true } = options;
  const [clock, logger, registry, insights] = [manualClock(), recordingLogger(), createRegistry(), liveInsights()];
  const cluster = await localCluster({ clock, listen: false, controllers: false });
  onTestFinished(() => cluster.stop());
  declare(registry);
  const settings = makeSettings({
    admission: { server: options.server, managed: options.managed },
    process: { ultimateExitingTimeout: options.exitTimeout ?? 25 },
  });
  const requests: string[] = [];
  const endings = new Map<string, unknown>();
  const controller = new AbortController();
  let isServed = false;

  const client: KubeClient = {
    async request<T>(request: KubeRequest) {
      requests.push(`${request.method} ${request.path}`);
      const fault = await place.fault?.(request);
      if (fault !== undefined) throw fault;
      return await cluster.client.request<T>(request);
    },
    stream: (request) => cluster.client.stream(request),
  };
  const place: Served = {
    ...{ clock, logger, cluster, registry, client, requests, endings, fault: undefined },
    get isServed() {
      return isServed;
    },
    async scan() {
      const webhook = new Set([EXAMPLES]);
      const known = { all: CONFIGURATIONS, watched: new Set<never>(), indexed: new Set<never>(), webhook };
      insights.revise({ ...known, namespaces: new Set([null]) });
      await place.settle();
    },
    async address() {
      const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${NAME}`;
      const { webhooks } = await cluster.client.request<AnyObject>({ method: 'GET', path });
      return webhooks?.[0]?.clientConfig?.url;
    },
    async settle() {
      for (let turn = 0; turn < 3; turn++) {
        await cluster.settled();
        await clock.settle();
      }
    },
    async stop() {
      controller.abort(new DOMException('The operator is stopping.', 'AbortError'));
      await place.settle();
    },
  };
  onTestFinished(async () => {
    await place.stop();
    await clock.advance(30);
  });
  const { connection } = options;
  const memos = allObjects({ now: () => clock.now(), logger });
  const facts = makeFacts({ observers: options.observers ?? [], operator: 'me', clock, logger });
  const parts = { registry, settings, clock, logger, client, insights, memos, facts };
  const turn = (): void => {
    isServed = true;
  };
  const start = ({ name, run }: Service): void => {
    void run(controller.signal).then(
      () => endings.set(name, undefined),
      (error: unknown) => endings.set(name, error),
    );
  };
  for (const service of admission({ ...parts, ...(connection && { connection }), served: { turn } })) start(service);
  if (isReady) await place.scan();
  await place.settle();
  return place;
}
