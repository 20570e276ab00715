/** The options of an operator, and which of them override settings. */
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
 * The options of an operator. All of them have defaults.
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
  /** The handlers. Default: the registry of the process, to which `on.*` of this package adds them. */
  // biome-ignore lint/suspicious/noExplicitAny: an operator runs handlers of any environment alike
  readonly registry?: Registry<any> | undefined;
  /** One object per operator: startup handlers may change it. */
  readonly settings?: Settings | undefined;
  /** Passed to activities; the memo of each object starts as a copy of it. */
  readonly memo?: object | undefined;
  /** Serve the whole cluster. */
  readonly clusterwide?: boolean | undefined;
  /**
   * Serve these namespaces only: names, globs (`myapp-*,!myapp-pr-*`), or regular expressions; or those that
   * currently have certain labels: `{ labels: { tenant: true } }`.
   */
  readonly namespaces?: readonly (string | RegExp)[] | NamespacesByLabels | undefined;
  /** Where to serve the liveness probe: `http://:8080/healthz`. */
  readonly liveness?: string | undefined;
  /** Where to serve metrics for Prometheus: `http://:8081/metrics`. It may share a port with the liveness probe. */
  readonly metrics?: string | MetricsOptions | undefined;
  /**
   * Where to serve the admin endpoint for `kopf why` and similar commands: `http://127.0.0.1:8083`. On any address but
   * loopback, it needs tokens: `{ endpoint, tokenFile }`, as in `settings.insight`.
   */
  readonly admin?: string | AdminAddress | undefined;
  /**
   * Where to serve the console for browsers: `http://127.0.0.1:8082`. It needs tokens in the same cases, and uses the same ones.
   */
  readonly console?: string | AdminAddress | undefined;
  /** Stops the operator when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** The order of calling change handlers. Default: the default lifecycle of the process. */
  readonly lifecycle?: LifeCycle | undefined;
  /** The name of this operator among its peers. */
  readonly identity?: string | undefined;
  /** Ignore other operators: no peering. */
  readonly standalone?: boolean | undefined;
  readonly priority?: number | undefined;
  /** The peering object to join; the operator stays paused while it is absent. */
  readonly peeringName?: string | undefined;

  // The seams: each replaces the default implementation of the same name.
  readonly client?: KubeClient | undefined;
  /** The credentials of the default client, instead of those from login handlers. */
  readonly credentials?: Credentials | undefined;
  readonly indexer?: Indexer | undefined;
  readonly peering?: Peering | undefined;
  readonly scheduler?: (() => Scheduler) | undefined;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Serves the operator's own pages, such as probes. Default: over HTTP, with one socket per address. */
  readonly httpEndpoint?: HttpEndpoint | undefined;
  /** Receive the facts about what happens in the operator: for metrics, journals, tests. */
  readonly observers?: readonly Observer[] | undefined;
  /** Puts spans around cycles, calls, requests and reviews: `otel.openTelemetry()`, or one of your own. */
  readonly tracing?: Tracing | undefined;
}

/**
 * The address of the admin endpoint or the console, and its tokens.
 *
 * ```ts
 * const admin: kopf.AdminAddress = { endpoint: 'http://0.0.0.0:8083', tokenFile: '/etc/admin/tokens' };
 * await kopf.run({ admin });
 * ```
 */
export interface AdminAddress {
  readonly endpoint?: string | undefined;
  /** One token per line, followed by `read` if it must not allow actions. */
  readonly tokenFile?: string | undefined;
}

/** Some options override settings; startup handlers still have the last word. */
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
