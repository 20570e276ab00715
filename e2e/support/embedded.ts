/** Streams of `watch()` over the real client and real sockets, from a cluster that can be made to fail. */
import { type FaultMatch, type LocalCluster, type LocalClusterOptions, localCluster } from '@kopf-ts/apiserver';
import { kubeClient } from '@kopf-ts/client';
import { type AnyObject, type FactOf, type SettingsOverrides, settings } from '@kopf-ts/core';
import {
  type ConnectionLimiter,
  facts,
  makeResource,
  type ServerCapabilities,
  type ToggleView,
  type WatchSignal,
  watch,
  watchTarget,
} from '@kopf-ts/core/engine';
import { type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { realClock } from './client.js';
import { phasesInto } from './phases.js';
import { isVersionCheck } from './version-checks.js';

const examples = makeResource({ group: 'example.com', version: 'v1', plural: 'examples', namespaced: true });

const PATH = '/apis/example.com/v1/namespaces/default/examples';
const USER_AGENT = 'watcher';

/** Faults for those who watch, and not for the tests themselves. */
export const ofWatchers: FaultMatch = { where: ({ headers }) => headers['user-agent'] === USER_AGENT };

/** What the server was asked for. */
interface SeenRequest {
  readonly query: URLSearchParams;
  readonly isWatch: boolean;
  /** A list, be it in pages or as a stream. */
  readonly isList: boolean;
  /** Of a watch. */
  readonly from: string | null;
}

export interface WatchedCluster extends AsyncDisposable {
  readonly cluster: LocalCluster;
  /** By those who watch, in order, whatever the answers were. */
  readonly requests: SeenRequest[];
  /** How many times the current version was asked for; these are not among the requests. */
  readonly versionChecks: number;
  /** The kind itself comes and goes. */
  define(): Promise<void>;
  undefine(): Promise<void>;
  create(name: string): Promise<AnyObject>;
  remove(name: string): Promise<void>;
  /** Starts a stream; it is ended with the cluster at the latest. */
  watch(options?: WatchingOptions): Watching;
}

interface WatchingOptions {
  /** Where the cluster is to be reached instead. */
  readonly url?: string;
  readonly overrides?: SettingsOverrides;
  readonly capabilities?: ServerCapabilities;
  readonly paused?: ToggleView;
  readonly limiter?: ConnectionLimiter;
}

export interface Watching {
  /** As `ADDED name`, in the order of coming; `- name` in a listing, `DELETED name (vanished)` after one. */
  readonly seen: string[];
  readonly phases: FactOf<'stream.phase'>[];
  readonly logger: RecordingLogger;
  /** Waits until this has been seen for so many times. */
  saw(what: string, times?: number): Promise<void>;
  /** All that was seen after the first listing. */
  sinceListed(): string[];
  end(): Promise<void>;
}

/** A cluster with a kind to watch. */
export async function watchedCluster(options: LocalClusterOptions = {}): Promise<WatchedCluster> {
  const cluster = await localCluster(options);
  const define = () => cluster.define({ group: 'example.com', version: 'v1', kind: 'Example', plural: 'examples' });
  await define();
  const requests: SeenRequest[] = [];
  let versionChecks = 0;
  // It matches nothing, and so changes nothing; but it sees everything, as it is the first to be asked.
  cluster.faults.add({
    match: {
      where({ url, headers }) {
        const [path, query = ''] = url.split('?', 2);
        if (path !== PATH || headers['user-agent'] !== USER_AGENT) return false;
        if (isVersionCheck(url)) versionChecks += 1;
        else requests.push(described(query));
        return false;
      },
    },
  });
  const running: Watching[] = [];
  return {
    cluster,
    requests,
    get versionChecks() {
      return versionChecks;
    },
    define,
    async undefine() {
      await cluster.delete('customresourcedefinitions/examples.example.com');
      await cluster.settled();
    },
    create: (name) =>
      cluster.create({ apiVersion: 'example.com/v1', kind: 'Example', metadata: { name, namespace: 'default' } }),
    remove: (name) => cluster.delete(`examples/default/${name}`),
    watch(watching = {}) {
      const started = startWatching(cluster, watching);
      running.push(started);
      return started;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((watching) => watching.end()));
      await cluster.stop();
    },
  };
}

function described(text: string): SeenRequest {
  const query = new URLSearchParams(text);
  const isWatch = query.get('watch') === 'true';
  return { query, isWatch, isList: !isWatch || query.has('sendInitialEvents'), from: query.get('resourceVersion') };
}

function startWatching(cluster: LocalCluster, options: WatchingOptions): Watching {
  const { url = cluster.url, overrides = {}, capabilities = {}, paused, limiter } = options;
  const [logger, stopping] = [recordingLogger(), new AbortController()];
  const [seen, phases]: [string[], FactOf<'stream.phase'>[]] = [[], []];
  const config = settings(overrides);
  const client = kubeClient({
    connection: { server: url, token: cluster.token },
    clock: realClock,
    logger,
    settings: config,
    userAgent: USER_AGENT,
  });
  const running = (async () => {
    const signals = watch(client, watchTarget(examples, { namespace: 'default' }), {
      settings: config,
      clock: realClock,
      logger,
      signal: stopping.signal,
      capabilities,
      paused,
      limiter,
      facts: facts({ observers: [phasesInto(phases)], operator: 'me', clock: realClock, logger }),
    });
    for await (const signal of signals) seen.push(titleOf(signal));
  })();
  return {
    seen,
    phases,
    logger,
    saw: (what, times = 1) =>
      until(
        () => seen.filter((line) => line === what).length >= times,
        () => `There is no ${JSON.stringify(what)} in ${JSON.stringify(seen)}.`,
      ),
    sinceListed: () => seen.slice(seen.indexOf('LISTED') + 1),
    async end() {
      stopping.abort();
      await running;
      await client.close();
    },
  };
}

function titleOf(signal: WatchSignal): string {
  if (signal.type === 'LISTED' || signal.type === 'REWOUND') return signal.type;
  return `${signal.type ?? '-'} ${signal.object.metadata?.name}${signal.vanished ? ' (vanished)' : ''}`;
}

/** Waits for what comes true by itself. */
export async function until(condition: () => boolean, complaint: () => string, withinSeconds = 15): Promise<void> {
  const deadline = realClock.now() + withinSeconds;
  while (!condition()) {
    if (realClock.now() > deadline) throw new Error(complaint());
    await realClock.sleep(0.01);
  }
}
