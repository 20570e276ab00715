/** What an operator can be given, and what of it goes to the settings. */
import type {
  Clock,
  Credentials,
  HttpEndpoint,
  Indexer,
  KubeClient,
  LifeCycle,
  Logger,
  Observer,
  Peering,
  Registry,
  Scheduler,
  Settings,
  Tracing,
} from '@kopf-ts/core';
import type { MetricsOptions } from '@kopf-ts/metrics';
import type { NamespacesByLabels } from '@kopf-ts/reactor';

/**
 * Everything that an operator can be given; whatever is absent is as by default.
 *
 * ```ts
 * const options: kopf.OperatorOptions = {
 *   namespaces: ['shop', 'billing-*'],
 *   liveness: 'http://0.0.0.0:8080/healthz',
 *   settings: kopf.settings({ queueing: { workerLimit: 20 } }),
 * };
 * await kopf.run(options);
 * ```
 */
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
  /**
   * Serve these namespaces only: names, globs (`myapp-*,!myapp-pr-*`), or regular expressions; or those with some labels at the
   * moment, `{ labels: { tenant: true } }`, which come and go as they are labelled.
   */
  readonly namespaces?: readonly (string | RegExp)[] | NamespacesByLabels | undefined;
  /** Where to tell how the operator is doing: `http://:8080/healthz`. */
  readonly liveness?: string | undefined;
  /** Where to serve metrics for Prometheus: `http://:8081/metrics`; at the same address as the above, if they agree. */
  readonly metrics?: string | MetricsOptions | undefined;
  /**
   * Where `kopf why` and its like ask the operator about its objects: `http://127.0.0.1:8083`. On other addresses than those of
   * the machine itself, it needs tokens: `{ endpoint, tokenFile }`, as in `settings.insight`.
   */
  readonly admin?: string | AdminAddress | undefined;
  /**
   * Where to serve the console, for browsers: `http://127.0.0.1:8082`. It needs tokens in the same cases, and has the same ones.
   */
  readonly console?: string | AdminAddress | undefined;
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
  /** Where the default client takes its credentials from, instead of the logins. */
  readonly credentials?: Credentials | undefined;
  readonly indexer?: Indexer | undefined;
  readonly peering?: Peering | undefined;
  readonly scheduler?: (() => Scheduler) | undefined;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Serves the pages of the operator about itself, such as probes. Default: over HTTP; one socket for each address. */
  readonly httpEndpoint?: HttpEndpoint | undefined;
  /** Told what happens in the operator: for metrics, journals, tests. */
  readonly observers?: readonly Observer[] | undefined;
  /** Puts spans around cycles, calls, requests and reviews: `otel.openTelemetry()`, or one of your own. */
  readonly tracing?: Tracing | undefined;
}

/**
 * Where an operator is asked about its objects, and who may ask.
 *
 * ```ts
 * const admin: kopf.AdminAddress = { endpoint: 'http://0.0.0.0:8083', tokenFile: '/etc/admin/tokens' };
 * await kopf.run({ admin });
 * ```
 */
export interface AdminAddress {
  readonly endpoint?: string | undefined;
  /** One token in each line; after it, `read` if it is not for actions. */
  readonly tokenFile?: string | undefined;
}

/** The arguments are settings, too; startup handlers still have the last word on them. */
export function withArguments(settings: Settings, options: OperatorOptions): Settings {
  const { peering } = settings;
  const { namespaces = [] } = options;
  peering.clusterwide = !('labels' in namespaces) && namespaces.length === 0;
  if (options.standalone !== undefined) peering.standalone = options.standalone;
  if (options.priority !== undefined) peering.priority = options.priority;
  if (options.peeringName !== undefined) {
    peering.name = options.peeringName;
    peering.mandatory = true;
  }
  const endpoint = typeof options.metrics === 'string' ? options.metrics : options.metrics?.endpoint;
  if (endpoint !== undefined) settings.metrics.endpoint = endpoint;
  for (const name of ['admin', 'console'] as const) {
    const given = options[name];
    const address = typeof given === 'string' ? { endpoint: given } : given;
    if (address?.endpoint !== undefined) settings.insight[name] = address.endpoint;
    if (address?.tokenFile !== undefined) settings.insight.tokenFile = address.tokenFile;
  }
  return settings;
}
