/**
 * A kind that is watched and handled, on the embedded server and by the manual clock: all of the reactor from the
 * stream to the patches, without discovery, startup and supervision around it.
 */
import { type LocalCluster, type LocalClusterOptions, localCluster } from '@kopf-ts/apiserver';
import {
  type AnyObject,
  type Control,
  createRegistry,
  type KubeClient,
  type KubeEvent,
  type KubeRequest,
  type LifeCycle,
  settings as makeSettings,
  type Observer,
  type Registry,
  type Settings,
  type SettingsOverrides,
  type Tracing,
} from '@kopf-ts/core';
import { facts, makeResource, toggle, toggleSet, watchTarget } from '@kopf-ts/core/engine';
import { annotationsDiffBaseStorage, smartProgressStorage } from '@kopf-ts/storage';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { reactorControl } from '../../src/control/reactor-control.js';
import { cycleOf } from '../../src/cycle/cycle.js';
import { runningDaemons } from '../../src/daemons/daemons.js';
import { type AllObjects, allObjects } from '../../src/objects/all-objects.js';
import { boundedScheduler } from '../../src/queueing/scheduler.js';
import { type WatcherParts, watcherOf } from '../../src/queueing/watcher.js';
import { applier } from '../../src/sending/apply.js';
import { writeGuards } from '../../src/write-guards.js';

const EXAMPLES = makeResource({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  kind: 'KopfExample',
  singular: 'kopfexample',
  shortcuts: ['kex'],
  namespaced: true,
  verbs: ['list', 'watch', 'patch'],
});

const EXAMPLES_WITH_STATUS = makeResource({ ...EXAMPLES, subresources: ['status'] });

const HUNG_GRACE = 5;

/** A request that changes something. */
interface SentPatch {
  readonly path: string;
  readonly contentType: string;
  // biome-ignore lint/suspicious/noExplicitAny: looked into by the tests
  readonly body: any;
}

export interface OperatedOptions {
  readonly settings?: SettingsOverrides;
  readonly start?: string;
  /** Whether the status of the kind is a subresource. */
  readonly status?: boolean;
  readonly lifecycle?: LifeCycle;
  readonly memo?: object;
  readonly random?: () => number;
  readonly observers?: readonly Observer[];
  readonly tracing?: Tracing;
  readonly cluster?: Omit<LocalClusterOptions, 'clock'>;
  /** Another operator process on the same cluster and by the same clock, e.g. after the first one has ended. */
  readonly after?: Pick<Operated, 'cluster' | 'clock'>;
  /** What goes between the operator and the cluster. */
  readonly through?: (client: KubeClient) => KubeClient;
  readonly parts?: Partial<WatcherParts>;
  /** How far the time of day is from what it should be, in seconds; it may change at any time. */
  readonly skew?: () => number;
  /** How the patches are sent, if not as usual. */
  readonly applier?: typeof applier;
}

export interface Operated extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly cluster: LocalCluster;
  readonly logger: RecordingLogger;
  readonly registry: Registry;
  readonly settings: Settings;
  readonly memories: AllObjects;
  readonly paused: ReturnType<typeof toggle>;
  readonly control: Control;
  /** All that was sent to the objects by the operator, in order. */
  readonly patches: SentPatch[];
  readonly events: KubeEvent[];
  /** Begins to watch and handle; returns when there is nothing to do at the moment. */
  start(): Promise<void>;
  /** Everything that can happen without the time moving, happens. */
  settle(): Promise<void>;
  advance(seconds: number): Promise<void>;
  create(name: string, fields?: object): Promise<AnyObject>;
  get(name: string): Promise<AnyObject>;
  edit(name: string, changes: object): Promise<AnyObject>;
  remove(name: string): Promise<void>;
  /** The watching ends, and with it the operator. */
  stop(): Promise<void>;
}

export async function operated(options: OperatedOptions = {}): Promise<Operated> {
  const clock = options.after?.clock ?? manualClock(options.start === undefined ? {} : { start: options.start });
  const cluster = options.after?.cluster ?? (await newCluster(clock, options));

  const logger = recordingLogger();
  const registry = createRegistry();
  const settings = makeSettings(options.settings);
  const { persistence } = settings;
  const live = {
    get compat() {
      return persistence.compat;
    },
  };
  persistence.progressStorage ??= smartProgressStorage(live);
  persistence.diffbaseStorage ??= annotationsDiffBaseStorage(live);

  const patches: SentPatch[] = [];
  const events: KubeEvent[] = [];
  const client = (options.through ?? ((same: KubeClient) => same))(recording(cluster.client, patches));
  const resource = options.status ? EXAMPLES_WITH_STATUS : EXAMPLES;
  const all = allObjects({ memo: options.memo, now: () => clock.now(), logger });
  const paused = toggle(false);
  const parts = {
    registry,
    settings,
    clock: options.skew === undefined ? clock : skewed(clock, options.skew),
    logger,
    client,
    poster: { post: (event: KubeEvent) => void events.push(event) },
    lifecycle: options.lifecycle,
    random: options.random,
    facts: facts({ observers: options.observers ?? [], operator: 'me', clock, logger }),
    tracing: options.tracing,
  };
  const apply = (options.applier ?? applier)({ ...parts, writeGuards: writeGuards() });
  const run = watcherOf({
    ...parts,
    objects: all,
    indexed: toggleSet('all'),
    capabilities: { streamingLists: false },
    scheduler: () => boundedScheduler({ limit: () => settings.queueing.workerLimit, logger }),
    process: cycleOf({ ...parts, apply, paused, daemons: runningDaemons() }),
    ...options.parts,
  });

  const control = new AbortController();
  let running: Promise<void> | undefined;
  let isEnded = false;
  const settle = async (): Promise<void> => {
    // Each can give work to the other.
    for (let turn = 0; turn < 3; turn++) {
      await cluster.settled();
      await clock.settle();
    }
  };
  const at = (name: string) => ({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', namespace: 'default', name });
  const url = (name: string) => `/apis/kopf.dev/v1/namespaces/default/kopfexamples/${name}`;
  const stop = async (): Promise<void> => {
    control.abort(new Error('stopped'));
    await settle();
    await clock.advance(settings.queueing.exitTimeout);
    // Handlers that hang have some more time to end.
    if (running !== undefined && !isEnded) await clock.advance(HUNG_GRACE);
    await running;
  };
  return {
    clock,
    cluster,
    logger,
    registry,
    settings,
    memories: all,
    paused,
    control: reactorControl({ objects: all, pausing: paused }),
    patches,
    events,
    settle,
    stop,
    async start() {
      running = run({ target: watchTarget(resource), paused, signal: control.signal });
      running
        .catch(() => {})
        .finally(() => {
          isEnded = true;
        });
      await settle();
    },
    async advance(seconds) {
      await settle();
      await clock.advance(seconds);
      await settle();
    },
    async create(name, fields = { spec: { field: 'v' } }) {
      const { namespace, ...head } = at(name);
      const object = { ...head, ...fields, metadata: { name, namespace, ...(fields as AnyObject).metadata } };
      delete (object as { name?: string }).name;
      const created = await cluster.create(object);
      await settle();
      return created as AnyObject;
    },
    async get(name) {
      return await cluster.client.request<AnyObject>({ method: 'GET', path: url(name) });
    },
    async edit(name, changes) {
      const contentType = 'application/merge-patch+json';
      const edited = await cluster.client.request<AnyObject>({
        method: 'PATCH',
        path: url(name),
        contentType,
        body: changes,
      });
      await settle();
      return edited;
    },
    async remove(name) {
      await cluster.client.request({ method: 'DELETE', path: url(name) });
      await settle();
    },
    async [Symbol.asyncDispose]() {
      await stop().catch(() => {});
      if (options.after === undefined) await cluster.stop();
    },
  };
}

/** The monotonic time is right; only the time of day jumps. */
function skewed(clock: ManualClock, skew: () => number): ManualClock {
  return { ...clock, utc: () => new Date(clock.utc().getTime() + skew() * 1000) };
}

async function newCluster(clock: ManualClock, options: OperatedOptions): Promise<LocalCluster> {
  const cluster = await localCluster({ ...options.cluster, clock, listen: false });
  await cluster.define({
    group: 'kopf.dev',
    plural: 'kopfexamples',
    kind: 'KopfExample',
    shortNames: ['kex'],
    subresources: options.status ? ['status'] : [],
  });
  return cluster;
}

function recording(client: KubeClient, patches: SentPatch[]): KubeClient {
  return {
    request<T>(request: KubeRequest) {
      if (request.method === 'PATCH') {
        patches.push({
          path: request.path,
          contentType: request.contentType ?? '',
          body: structuredClone(request.body),
        });
      }
      return client.request<T>(request);
    },
    stream: (request) => client.stream(request),
  };
}
