/** A whole cluster in this process: everything put together, started and stopped. */
import { createHmac } from 'node:crypto';
import { type Api, api, type Clock, KopfError, type KubeClient } from '@kopf-ts/core';
import { accessReviews } from './access-reviews/access-reviews.js';
import type { ServiceResolver } from './admission/calling.js';
import { ownAdmission } from './admission/own/own-admission.js';
import { webhookAdmission } from './admission/webhooks.js';
import { allowAll } from './authorization/allow-all.js';
import { makeGatekeeper } from './authorization/gatekeeper.js';
import { rbacAuthorizer } from './authorization/rbac.js';
import { completed, MASTERS } from './authorization/users.js';
import type { RunningController } from './contracts/controller.js';
import type { UserInfo } from './contracts/objects.js';
import type { ResourceInfo } from './contracts/resource.js';
import { controllersOf } from './controllers/controllers.js';
import { schemaCompiler } from './crd/schemas/compiled-schema.js';
import { serveDefinitions } from './crd/serving-definitions.js';
import type { DataFolder } from './data/data-folder.js';
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
import { makeProxy } from './proxy/proxying.js';
import type { Backend } from './routing/backend.js';
import { makeDiscovery } from './routing/discovery.js';
import { openIdDocuments } from './routing/open-id.js';
import { makePipeline } from './routing/pipeline.js';
import { createNamespaces, createOwnService, createPriorities } from './server/first-objects.js';
import { ADMINISTRATOR, type ClusterSecurity, createSecurity } from './server/security.js';
import { serviceAccountTokens } from './server/service-account-tokens.js';
import type { PodBehaviour } from './simulation/pods/behaviour.js';
import type { RunningSimulation, Simulation } from './simulation/simulation.js';
import type { HistoryLimits } from './store/history.js';
import { makeStore } from './store/object-store.js';
import { systemClock } from './system-clock.js';
import { typedDecoder } from './typed/decode.js';
import { trackOwnManager } from './verbs/write/field-managers.js';
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
  /**
   * Who may do what. Default: everybody with credentials may do everything. With `rbac`, what roles and bindings allow,
   * as on a real cluster: it begins with the same ones, `cluster-admin`, `edit`, `view` and so on.
   */
  readonly authorize?: 'rbac';
  /** Default: yes. Without it, there is only the in-process client, and no port is opened. */
  readonly listen?: boolean;
  /**
   * Terminate namespaces, collect garbage, keep default accounts and aggregated roles. Default: yes. With `simulated`,
   * workloads come to life as well, on the clock of the cluster: pods are scheduled, run and end, as far as their
   * statuses tell; deployments roll out, jobs complete, services have endpoints, claims are bound.
   */
  readonly controllers?: boolean | 'simulated';
  /** How simulated pods behave, unless rules or their annotations say otherwise. */
  readonly pods?: PodBehaviour;
  /** Where services really listen, for webhooks and for proxies: there is no network in the cluster. */
  readonly resolveService?: ServiceResolver;
  /** How much of the past is kept for watches and pages. */
  readonly history?: HistoryLimits;
  /**
   * A folder in which everything is kept: objects with their versions, the certificate authority, tokens and keys. The
   * next cluster with this folder goes on from there, also if the process was killed: what was answered is kept.
   * Default: nothing is kept.
   */
  readonly data?: string;
}

type SomeUser = Partial<UserInfo> & Pick<UserInfo, 'username'>;

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
  /**
   * Verbs of the administrator, typed by kinds, in the namespace `default` unless told otherwise:
   * `await cluster.api(Database).get('main')`.
   */
  readonly api: Api;
  /** The clock that it was given, if any: for others to live by the same one. */
  readonly clock: Clock | undefined;
  /** Tokens and certificates of others than the administrator. */
  readonly security: ClusterSecurity;
  /** What should go wrong. */
  readonly faults: Faults;
  /** What pods are told to do. Only with `controllers: 'simulated'`. */
  readonly simulation: Simulation;
  /** A client of somebody else. Service accounts (`system:serviceaccount:…`) have their groups without a word. */
  clientAs(user: SomeUser): KubeClient;
  /** A kubeconfig of the administrator, or of somebody else, as text. */
  kubeconfig(user?: SomeUser): string;
  /** The same as a file that only its owner can read, in a folder of ours; removed when the cluster stops. */
  kubeconfigFile(user?: SomeUser): Promise<string>;
  /** Waits until nothing happens any more: no requests, no undelivered events, no work for the controllers. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
/** What the server does by itself. */
const SERVER: UserInfo = { username: 'system:apiserver', groups: [MASTERS] };
const HTTPS = 443;
/** Who manages the fields that are written by clients in the process. */
const PROGRAM = 'kopf-ts';

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
  const kept = options.data === undefined ? undefined : await openKept(options.data, options.history);
  try {
    return await startCluster(options, kept);
  } catch (error) {
    await kept?.close();
    throw error;
  }
}

async function startCluster(options: LocalClusterOptions, kept: DataFolder | undefined): Promise<LocalCluster> {
  const clock = options.clock ?? systemClock();
  const store = kept?.store ?? makeStore(options.history);
  const serviceAccounts = serviceAccountTokens(store, clock, kept?.identity.accountsKey);
  const authorizer = options.authorize === 'rbac' ? rbacAuthorizer(store) : allowAll;
  const security = await createSecurity({
    serviceAccounts,
    tls: options.tls ?? false,
    hosts: [HOST, 'localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    ...kept?.identity,
    ...(options.token === undefined ? {} : { token: options.token }),
  });
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
  const backend: Backend = {
    store,
    catalog,
    clock,
    admission: [admission],
    ownAdmission: ownAdmission(store, (object, live) => {
      const served = catalog.find('', 'v1', 'resourcequotas') as Served;
      trackOwnManager(backend, { served, subresource: 'status' }, { object, live });
    }),
    watches: openWatches(),
    decode,
    authorizer,
    serviceAccounts,
    containers: () => simulation?.containers,
  };
  let simulation: RunningSimulation | undefined;
  const stopDefinitions = serveDefinitions(backend, { decode, compiler: schemaCompiler });
  const discovery = makeDiscovery(catalog, accessReviews, () =>
    listener === undefined ? HOST : `${HOST}:${listener.port}`,
  );
  const pipeline = makePipeline(backend, {
    discovery,
    openId: openIdDocuments(serviceAccounts, () => listener?.url ?? ''),
    reviewing: {
      decode,
      authenticator: security,
      authorizer,
      now: () => clock.utc(),
      isKnown: (...type) => catalog.findKind(...type)?.isCustom === false,
    },
  });
  const gatekeeper = makeGatekeeper(authorizer);
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
  const behind = { pipeline, proxy: makeProxy(store, options.resolveService) };
  const gateway = makeGateway(behind, gatekeeper, faults, clock);
  const clientAs = (user: SomeUser): KubeClient => inProcessClient(() => gateway, completed(user), PROGRAM);
  const tokens = new Map<string, string>();
  const tokenOf = (user: SomeUser | undefined): string | undefined => {
    if (user === undefined) return undefined;
    const key = JSON.stringify(completed(user));
    // The same in each life of the cluster.
    const token =
      tokens.get(key) ?? security.addUser(user, createHmac('sha256', security.token).update(key).digest('base64url'));
    tokens.set(key, token);
    return token;
  };
  const client = inProcessClient(() => gateway, ADMINISTRATOR, PROGRAM);
  const short = objectHelpers(backend, client);
  // Faults are for the clients of the cluster, not for the cluster itself.
  const noFaults = { beforeRequest: () => undefined, onStream: () => undefined };
  const backstage = makeGateway(behind, gatekeeper, noFaults, clock);
  const own = inProcessClient(() => backstage, SERVER, 'kube-apiserver');
  const controllerClient = (username: string): KubeClient =>
    inProcessClient(() => backstage, completed({ username }), 'kube-controller-manager');
  const running: RunningController[] = [];
  const simulate = async (): Promise<void> => {
    const { startSimulation } = await import('./simulation/simulation.js');
    // What they do is what they may do: roles are for others.
    const unrestricted = makeGateway(behind, makeGatekeeper(allowAll), noFaults, clock);
    const started = startSimulation({
      store,
      catalog,
      clock,
      pods: options.pods ?? {},
      clientAs: (username, program) => inProcessClient(() => unrestricted, completed({ username }), program),
    });
    running.push(started);
    simulation = started;
  };
  const start = async (): Promise<void> => {
    await createNamespaces(own, store);
    await createPriorities(own, store);
    if (authorizer.isEnforcing) {
      const { bootstrapRbac } = await import('./authorization/bootstrap.js');
      await bootstrapRbac(own, store);
    }
    if (options.controllers !== false) {
      for (const controller of controllersOf(security.tls?.ca)) {
        running.push(controller.start({ store, catalog, clock, clientAs: controllerClient }));
      }
    }
    if (options.controllers === 'simulated') await simulate();
    if (options.listen !== false) {
      listener = await openListener({ gateway: () => gateway, security, host: HOST, port: options.port ?? 0 });
    }
    await createOwnService(own, store, listener?.port ?? options.port ?? HTTPS);
  };
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
    await kept?.close();
  };
  const stopOnce = (): Promise<void> => {
    stopping ??= stop();
    return stopping;
  };

  try {
    await start();
  } catch (error) {
    await stopOnce();
    throw error;
  }
  return {
    ...short,
    get url() {
      return listener?.url ?? '';
    },
    token: security.token,
    client,
    api: api(client, { namespace: 'default', fieldManager: PROGRAM, clock }),
    clock: options.clock,
    security,
    faults,
    get simulation() {
      if (simulation !== undefined) return simulation;
      const text = "Nothing is simulated in this cluster: start it with { controllers: 'simulated' }.";
      throw new KopfError(text, { code: 'KOPF_NO_SIMULATION' });
    },
    clientAs,
    kubeconfig: (user) => security.kubeconfig(listener?.url ?? '', tokenOf(user)),
    kubeconfigFile: (user) => security.kubeconfigFile(listener?.url ?? '', tokenOf(user)),
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

/** Nobody else has to load what it needs. */
async function openKept(folder: string, history: HistoryLimits | undefined): Promise<DataFolder> {
  const { openDataFolder } = await import('./data/data-folder.js');
  return await openDataFolder(folder, history);
}
