/** A whole cluster in this process: everything put together, started and stopped. */
import type { Clock, KubeClient } from '@kopf-ts/core';
import { accessReviews } from './access-reviews/access-reviews.js';
import type { ServiceResolver } from './admission/calling.js';
import { webhookAdmission } from './admission/webhooks.js';
import type { RunningController } from './contracts/controller.js';
import type { UserInfo } from './contracts/objects.js';
import type { ResourceInfo } from './contracts/resource.js';
import { controllers } from './controllers/controllers.js';
import { schemaCompiler } from './crd/schemas/compiled-schema.js';
import { serveDefinitions } from './crd/serving-definitions.js';
import { Faults } from './faults/fault-plan.js';
import { type ObjectHelpers, objectHelpers } from './helpers/object-helpers.js';
import { makeGateway } from './http/gateway.js';
import { type HttpListener, openListener } from './http/http-listener.js';
import { inProcessClient } from './http/in-process-client.js';
import { convertedTo } from './http/object-encoding.js';
import { serveBuiltin } from './kinds/builtin.js';
import { builtinKinds } from './kinds/builtin-kinds.js';
import { makeCatalog } from './kinds/catalog.js';
import type { Served } from './kinds/served.js';
import type { Backend } from './routing/backend.js';
import { makeDiscovery } from './routing/discovery.js';
import { makePipeline } from './routing/pipeline.js';
import { type ClusterSecurity, createSecurity } from './server/security.js';
import type { HistoryLimits } from './store/history.js';
import { makeStore } from './store/object-store.js';
import { systemClock } from './system-clock.js';
import { typedDecoder } from './typed/decode.js';
import { openWatches } from './watching/open-watches.js';

/**
 * How a cluster is served, and what it does by itself.
 *
 * ```ts
 * import type { LocalClusterOptions } from 'kopf-ts/testing';
 * const options: LocalClusterOptions = { tls: true, port: 6443, history: { events: 100, characters: 1_000_000 } };
 * ```
 */
export interface LocalClusterOptions {
  /** Default: the real time. */
  readonly clock?: Clock;
  /** Speak HTTPS, with an authority of its own. Default: plain HTTP. */
  readonly tls?: boolean;
  /** Default: any free one. */
  readonly port?: number;
  /** The administrator's token. Default: a random one. */
  readonly token?: string;
  /** Default: yes. Without it, there is only the in-process client, and no port is opened. */
  readonly listen?: boolean;
  /** Terminate namespaces and collect garbage. Default: yes. */
  readonly controllers?: boolean;
  /** Where services really listen, for webhooks that are given by services: there is no network in the cluster. */
  readonly resolveService?: ServiceResolver;
  /** How much of the past is kept for watches and pages. */
  readonly history?: HistoryLimits;
}

/**
 * A cluster in this process: an API server with its controllers, without nodes.
 *
 * ```ts
 * import { type LocalCluster, localCluster } from 'kopf-ts/testing';
 * await using cluster: LocalCluster = await localCluster();
 * await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
 * console.log(cluster.list('namespaces').length, cluster.url);
 * ```
 */
export interface LocalCluster extends ObjectHelpers, AsyncDisposable {
  /** Where it listens: `http://127.0.0.1:12345`. */
  readonly url: string;
  /** The administrator's token, for the `Authorization: Bearer` header. */
  readonly token: string;
  /** A client without sockets: the same requests, the same answers. */
  readonly client: KubeClient;
  /** The clock that it was given, if any: for others to live by the same one. */
  readonly clock: Clock | undefined;
  /** Tokens and certificates of others than the administrator. */
  readonly security: ClusterSecurity;
  /** What should go wrong. */
  readonly faults: Faults;
  /** A client of somebody else. */
  clientAs(user: Partial<UserInfo> & Pick<UserInfo, 'username'>): KubeClient;
  /** A kubeconfig of the administrator, as text. */
  kubeconfig(): string;
  /** The same as a file that only its owner can read, in a folder of ours; removed when the cluster stops. */
  kubeconfigFile(): Promise<string>;
  /** Waits until nothing happens any more: no requests, no undelivered events, no work for the controllers. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const ADMINISTRATOR: UserInfo = {
  username: 'kubernetes-admin',
  groups: ['system:masters', 'system:authenticated'],
};
const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** As many quiet turns of the event loop count as the end of all activity. */
const QUIET_TURNS = 16;

/**
 * Starts a cluster. It lives until it is stopped, or until the end of the scope by `await using`.
 *
 * ```ts
 * import { localCluster } from 'kopf-ts/testing';
 * await using cluster = await localCluster({ listen: false });
 * await cluster.define({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });
 * await kopf.run({ client: cluster.client });
 * ```
 */
export async function localCluster(options: LocalClusterOptions = {}): Promise<LocalCluster> {
  const clock = options.clock ?? systemClock();
  const security = await createSecurity({
    tls: options.tls ?? false,
    hosts: [HOST, 'localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    ...(options.token === undefined ? {} : { token: options.token }),
  });
  const store = makeStore(options.history);
  const decode = typedDecoder();
  const catalog = makeCatalog(builtinKinds.map((kind) => serveBuiltin(kind, decode)));
  const servedAs = ({ group, version, plural }: ResourceInfo): Served => catalog.find(group, version, plural) as Served;
  const admission = webhookAdmission({
    store,
    catalog,
    clock,
    convert: (object, from, to) => convertedTo(object, servedAs(from), servedAs(to)),
    ...(options.resolveService === undefined ? {} : { resolveService: options.resolveService }),
  });
  const backend: Backend = { store, catalog, clock, admission: [admission], watches: openWatches(), decode };
  const stopDefinitions = serveDefinitions(backend, { decode, compiler: schemaCompiler });
  const discovery = makeDiscovery(catalog, accessReviews, () =>
    listener === undefined ? HOST : `${HOST}:${listener.port}`,
  );
  const pipeline = makePipeline(backend, discovery, { decode, authenticator: security, now: () => clock.utc() });
  let listener: HttpListener | undefined;

  const faults = new Faults(clock, {
    async restart({ downFor = 0 } = {}) {
      backend.watches.end();
      await listener?.close();
      await clock.sleep(downFor);
      await listener?.open();
    },
    dropConnections: () => listener?.dropConnections(),
    compact: () => store.compact(),
    refuseConnections: (refuse) => listener?.refuseConnections(refuse),
  });
  const gateway = makeGateway(pipeline, faults);
  const clientAs = (user: Partial<UserInfo> & Pick<UserInfo, 'username'>): KubeClient =>
    inProcessClient(() => gateway, { groups: ['system:authenticated'], ...user });
  const client = inProcessClient(() => gateway, ADMINISTRATOR);
  const short = objectHelpers(backend, client);
  for (const name of NAMESPACES) await short.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

  // Faults are for the clients of the cluster, not for the cluster itself.
  const backstage = makeGateway(pipeline, { beforeRequest: () => undefined, onStream: () => undefined });
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
  const controllerClient = (username: string): KubeClient => inProcessClient(() => backstage, { username, groups });
  const running: RunningController[] =
    options.controllers === false
      ? []
      : controllers.map((controller) => controller.start({ store, catalog, clock, clientAs: controllerClient }));
  if (options.listen !== false) {
    listener = await openListener({ gateway: () => gateway, security, host: HOST, port: options.port ?? 0 });
  }

  const isQuiet = (): boolean =>
    gateway.inFlight === 0 && backend.watches.areDelivered && running.every(({ isIdle }) => isIdle);
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    for (const controller of running) await controller.stop();
    stopDefinitions();
    admission.close();
    faults.clear();
    backend.watches.end();
    await listener?.close();
    await security.dispose();
  };
  const stopOnce = (): Promise<void> => {
    stopping ??= stop();
    return stopping;
  };

  return {
    ...short,
    get url() {
      return listener?.url ?? '';
    },
    token: security.token,
    client,
    clock: options.clock,
    security,
    faults,
    clientAs,
    kubeconfig: () => security.kubeconfig(listener?.url ?? ''),
    kubeconfigFile: () => security.kubeconfigFile(listener?.url ?? ''),
    async settled() {
      for (let quietTurns = 0; quietTurns < QUIET_TURNS; quietTurns++) {
        const before = `${gateway.activity}/${store.version}`;
        await new Promise((resolve) => setImmediate(resolve));
        if (!isQuiet() || `${gateway.activity}/${store.version}` !== before) quietTurns = 0;
      }
    },
    stop: stopOnce,
    [Symbol.asyncDispose]: stopOnce,
  };
}
