/**
 * The settings of an operator: groups and names as in Kopf, in camelCase. Mutable at any time, normally in a startup
 * handler. Durations are in seconds. The storages and the webhook server are parts behind their seams; this file knows
 * only their interfaces, and the assembling package provides the defaults.
 */
import { type KopfError, PermanentError } from './errors.js';
import type { SelectedValue } from './seams/api.js';
import type { Seconds } from './seams/clock.js';
import type { LogLevel } from './seams/logger.js';
import type { DiffBaseStorage, ProgressStorage } from './seams/memory/storage.js';
import type { WebhookServer } from './seams/webhooks.js';
import { didYouMean } from './values/suggestions.js';

/**
 * How the process ends, gracefully or by force.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.process.ultimateExitingTimeout = 50;
 * });
 * ```
 */
export interface ProcessSettings {
  /**
   * How long a graceful stop may take before the process is ended by force; `undefined` waits for ever. Default: 25
   * (Kopf: 600), to fit into the 30 seconds that a pod is given.
   */
  ultimateExitingTimeout: Seconds | undefined;
  /**
   * What to do on a stray error: a floating rejection, or a throw in a timer that a handler has started. It is always
   * attributed and logged; then `'exit'` ends the process with code 1, and `'log'` goes on. Default: `'exit'`.
   */
  onStray: 'exit' | 'log';
}

/**
 * Kubernetes events, as `kubectl describe` shows them.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.posting.loggers = true;
 *   settings.posting.level = 'warn';
 * });
 * ```
 */
export interface PostingSettings {
  /** Whether to post Kubernetes events at all. Default: true. */
  enabled: boolean;
  /** Whether to post the lines of the handlers' loggers as events. Default: false. */
  loggers: boolean;
  /** The lowest level that is posted. Default: `'info'`. */
  level: LogLevel;
  /**
   * The name of the operator in the cluster: `reportingComponent` and `source.component` of the events, and the field
   * manager of what handlers write by `api`. Default: `kopf`.
   */
  reportingComponent: string;
  /** `reportingInstance` of the events. Default: `dev`. */
  reportingInstance: string;
  /** `metadata.generateName` of the events. Default: `kopf-event-`. */
  eventNamePrefix: string;
}

/**
 * Which other operators or replicas there are, and which of them works.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.peering.name = 'kopfexamples';
 *   settings.peering.mandatory = true;
 * });
 * ```
 */
export interface PeeringSettings {
  /** The name of the peering object. Default: `default`. */
  name: string;
  /** Whether to omit successful keep-alives from the logs. Default: false. */
  stealth: boolean;
  /** The priority: operators pause in favour of peers with a higher one. Default: 0. */
  priority: number;
  /** How long our record counts as alive without renewal. Default: 60. */
  lifetime: Seconds;
  /** Whether to stay paused while the peering object or its CRD is absent. Default: false. */
  mandatory: boolean;
  /** Whether to ignore all peers. Default: false. */
  standalone: boolean;
  /** Whether the peering is cluster-wide or namespaced; set from the operator's scope. Default: false. */
  clusterwide: boolean;
  /** The inverse of `clusterwide`, readable and writable. */
  namespaced: boolean;
}

/**
 * How watch streams are kept open, and when they count as broken.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.watching.serverTimeout = { min: 240, max: 300 };
 *   settings.watching.inactivityTimeout = 60;
 * });
 * ```
 */
export interface WatchingSettings {
  /**
   * How long the server is asked to keep one watch request (`timeoutSeconds`): a number, a range from which each
   * request takes a random value, or `undefined` for the server's own choice. Default: 300 to 600 (Kopf: unset), so
   * that a silently dead stream is noticed even if the server sends no bookmarks.
   */
  serverTimeout: Seconds | { readonly min: Seconds; readonly max: Seconds } | undefined;
  /** How long one watch request may take in total on our side. Default: unset. */
  clientTimeout: Seconds | undefined;
  /** How long connecting a watch may take. Default: 5 (Kopf: unset). */
  connectTimeout: Seconds | undefined;
  /** The first pause before listing or watching again after a failure; it grows with consecutive failures. Default: 0.1. */
  reconnectBackoff: Seconds;
  /**
   * How long a stream may be silent (not a single byte) before it is reopened from its last version. API servers
   * usually send a bookmark every minute. Some have nothing to send for quiet kinds, if their etcd does not report its
   * progress (`--watch-progress-notify-interval`, which kubeadm and most providers set). There, a stream is reopened
   * after its first silence, with one request for the current version. Default: 70.
   */
  inactivityTimeout: Seconds;
  /**
   * How long one event may take to arrive while its bytes keep coming, however slowly; beyond that, the stream counts
   * as down, and everything is listed again. Default: 300.
   */
  lineTimeout: Seconds;
  /** How long a stream may be down before liveness fails; readiness fails at once. Default: 300. */
  unhealthyAfter: Seconds;
  /**
   * The maximum number of bytes in one line of a stream; beyond that, the stream fails and is reopened. `undefined` for
   * no limit. A line is one object, and API servers accept at most 3 MiB by default. Default: 32 MiB (Kopf: no limit).
   */
  maxLineSize: number | undefined;
  /**
   * Whether to request only those objects from the server that some handler can want, if all handlers of a kind agree
   * on some of the labels or on the name. This excludes kinds with daemons, timers, handlers of events or of resuming,
   * and handlers that hold the deletion. Default: true (Kopf: no such setting).
   */
  selectsByHandlers: boolean;
  /**
   * Which objects of a kind are served at all, whatever their handlers want: by the kind, as in handler declarations.
   * The server sends no others. An object that leaves the selection is no longer ours: its daemons end, it is no longer
   * indexed, and our finalizer is removed. Default: all objects of all kinds.
   */
  selectors: Readonly<Record<string, ServedObjects>>;
}

/**
 * Selects the served objects of a kind. Only fields that the server can select by are possible: mostly,
 * `metadata.name`.
 *
 * ```ts
 * const mine: kopf.ServedObjects = { labels: { shard: ['a', 'b'], canary: false } };
 * kopf.on.startup(({ settings }) => {
 *   settings.watching.selectors = { 'kopfexamples.kopf.dev': mine };
 * });
 * ```
 */
export interface ServedObjects {
  readonly labels?: Readonly<Record<string, SelectedValue>>;
  readonly fields?: Readonly<Record<string, SelectedValue>>;
}

/**
 * How many objects are handled at once, and how they wait.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.queueing.workerLimit = 20;
 * });
 * ```
 */
export interface QueueingSettings {
  /**
   * How many objects of one stream are processed at once, in fair order; `undefined` for no limit. From 20 on, a
   * twentieth is reserved for deletions, and as many for new objects. A warning is logged if objects wait for longer
   * than some seconds. Default: 100 (Kopf: unset).
   */
  workerLimit: number | undefined;
  /**
   * How many events of one object may wait for slow `on.event` handlers; beyond that, the oldest are dropped with a
   * warning. All other handlers need only the newest state. Default: 100 (Kopf: no limit).
   */
  eventsLimit: number;
  /** Has no effect: an object with nothing to do has no worker that could idle. Kopf's default: 5. */
  idleTimeout: Seconds;
  /** How long workers may continue with queued work when the operator stops. Default: 2. */
  exitTimeout: Seconds;
  /** The pauses of one object after consecutive errors of the framework itself; the last one repeats. */
  errorDelays: Iterable<Seconds>;
}

/**
 * How the operator discovers kinds and namespaces.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.scanning.disabled = true; // CRDs and namespaces of tomorrow are not served until a restart
 * });
 * ```
 */
export interface ScanningSettings {
  /** Whether to discover kinds and namespaces only at startup, and not watch for new ones. Default: false. */
  disabled: boolean;
}

/**
 * Where admission reviews arrive, and who registers that address in the cluster.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.autoServer();
 *   settings.admission.managed = 'kopfexamples.example.com';
 * });
 * ```
 */
export interface AdmissionSettings {
  /** The server or tunnel that receives admission reviews. Mandatory if there are admission handlers. */
  server: WebhookServer | undefined;
  /** The name of the webhook configurations to manage; `undefined` leaves them to the user. */
  managed: string | undefined;
}

/**
 * How handlers are retried.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.execution.defaultBackoff = 10;
 * });
 * ```
 */
export interface ExecutionSettings {
  /** The pause before the next attempt after an arbitrary error, for handlers without `backoff`. Default: 60. */
  defaultBackoff: Seconds;
  /**
   * The longest delay before the next attempt of a change handler, unless its own `backoff` is longer: a
   * `TemporaryError` that asks for more is retried after this time. A stored delay that is further ahead must come from
   * a wrong clock or from a stranger, and is ignored. Default: 86400, a day (Kopf: unlimited).
   */
  maxDelay: Seconds;
}

/**
 * How daemons and timers are stopped.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.background.instantExitTimeout = 1;
 * });
 * ```
 */
export interface BackgroundSettings {
  /** How often to check a daemon that was asked to exit and has no cancellation timeout. Default: 60. */
  cancellationPolling: Seconds;
  /** How long to wait for a daemon to exit before checking again later. Default: unset. */
  instantExitTimeout: Seconds | undefined;
  /** How many turns of the event loop an exiting daemon gets if the timeout above is unset. Default: 10. */
  instantExitZeroTimeCycles: number | undefined;
}

/**
 * Timeouts, retries and limits of requests.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.networking.connectTimeout = 10;
 *   settings.networking.errorBackoffs = [1, 3, 9];
 * });
 * ```
 */
export interface NetworkingSettings {
  /**
   * How long one attempt of an ordinary request may take in total, including pauses that the server has asked for, but
   * not the time in the queue behind other requests. Default: 300.
   */
  requestTimeout: Seconds | undefined;
  /** How long connecting an ordinary request may take. Default: 5 (Kopf: unset). */
  connectTimeout: Seconds | undefined;
  /** How long the response headers may take. Default: 30 (Kopf: unset). */
  headersTimeout: Seconds | undefined;
  /** The pauses between the attempts of one request; one number is one pause; empty for no retries. */
  errorBackoffs: Iterable<Seconds> | Seconds;
  /**
   * Whether to obey `Retry-After` of HTTP 429 always, or only if it is longer than the planned pause. Default: false.
   */
  enforceRetryAfter: boolean;
  /**
   * The longest `Retry-After` to obey, whatever the server says: longer ones are mistakes more often than not, and
   * requests of the same kind would wait all that time. Default: 60 (Kopf: no limit).
   */
  maxRetryAfter: Seconds;
  /**
   * The maximum size of one response body in bytes; beyond that, the request fails. `undefined` for no limit. The
   * largest ones are pages of 500 objects, and whole lists where pages have expired; Node cannot hold a text of more
   * than 512 MiB. Default: 256 MiB (Kopf: no limit).
   */
  maxAnswerSize: number | undefined;
  /**
   * How long all writes to objects of one kind may keep failing before readiness fails with the reason. Default: 30.
   */
  failingWritesTimeout: Seconds;
  /** Whether to use the proxies of the environment. Default: false. */
  trustEnv: boolean;
}

/**
 * The traces that the operator leaves on objects.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.persistence.finalizer = 'example.com/finalizer';
 *   settings.persistence.progressStorage = kopf.storage.annotationsProgressStorage({ prefix: 'example.com' });
 * });
 * ```
 */
export interface PersistenceSettings {
  /** The finalizer by which the operator blocks deletions. Default: `kopf.zalando.org/KopfFinalizerMarker`. */
  finalizer: string;
  /**
   * The annotation that pauses the handlers of an object until an ISO 8601 time; anyone who may annotate the object can
   * set it. It should be under a prefix of Kopf or of the storages, so that setting it does not count as a change.
   * Default: `kopf.zalando.org/paused-until`.
   */
  pauseAnnotation: string;
  /** Stores the progress of handlers. */
  progressStorage: ProgressStorage | undefined;
  /** Stores the last handled state of objects. */
  diffbaseStorage: DiffBaseStorage | undefined;
  /**
   * How long to wait for our own patch to come back through the watch stream if versions of objects are not numbers, so
   * that they cannot be compared; 0 does not wait. Usually they are numbers, and no waiting is needed. Default: 5.
   */
  consistencyTimeout: Seconds;
  /**
   * `'kopf'` writes exactly what Kopf would: no extra keys in records, no uid in patches, touches as in Kopf. For
   * fleets that run both for a long time. Default: unset; Kopf can read what we write either way.
   */
  compat: 'kopf' | undefined;
  /**
   * Whether the last handled state keeps the values of Secrets in clear text, as Kopf does. Default: false (digests).
   */
  secretsInDiffBase: boolean;
}

/**
 * Metrics for Prometheus.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.metrics.endpoint = 'http://:8081/metrics';
 * });
 * ```
 */
export interface MetricsSettings {
  /**
   * The address of the metrics: `http://[host][:port][/path]`; at the same address as the probes, they share the port.
   * Without it, there are no metrics. Read after the startup handlers. Default: unset.
   */
  endpoint: string | undefined;
}

/**
 * All settings of one operator.
 *
 * ```ts
 * const patient: kopf.Settings = kopf.settings({ watching: { inactivityTimeout: 120 } });
 * ```
 */
export interface Settings {
  process: ProcessSettings;
  posting: PostingSettings;
  peering: PeeringSettings;
  watching: WatchingSettings;
  queueing: QueueingSettings;
  scanning: ScanningSettings;
  admission: AdmissionSettings;
  execution: ExecutionSettings;
  background: BackgroundSettings;
  networking: NetworkingSettings;
  persistence: PersistenceSettings;
  metrics: MetricsSettings;
  insight: InsightSettings;
}

/**
 * Inspecting the operator from outside: the journal of its objects, and access to it.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.insight.admin = 'http://127.0.0.1:8083';
 *   settings.insight.sensitiveFields = ['spec.password'];
 * });
 * ```
 */
export interface InsightSettings {
  /**
   * The address for `kopf why` and similar commands: `http://127.0.0.1:8083`. Without it, no journal is kept. Addresses
   * other than loopback require tokens. Read after the startup handlers. Default: unset.
   */
  admin: string | undefined;
  /**
   * The address of the console for browsers: `http://127.0.0.1:8082`; it also answers everything that the address above
   * does. Addresses other than loopback require tokens. Read after the startup handlers. Default: unset.
   */
  console: string | undefined;
  /**
   * A file with one token per line, each optionally followed by its scope: `read` or `write` (default). It is read at
   * each request, so it may come from a Secret. Default: unset; then every process on the machine has full access.
   */
  tokenFile: string | undefined;
  /** The maximum size of the journal in bytes, for all objects together. Default: 16 MB. */
  journalSize: number;
  /**
   * Fields whose values are never kept in the journal, of any kind: `spec.password`; nor are messages of errors that name
   * them. Those of Secrets never are.
   */
  sensitiveFields: readonly string[];
}

/**
 * Overrides of the defaults: any groups, any of their fields.
 *
 * ```ts
 * const forTests: kopf.SettingsOverrides = { posting: { enabled: false }, peering: { standalone: true } };
 * await kopf.run({ settings: kopf.settings(forTests) });
 * ```
 */
export type SettingsOverrides = { readonly [Group in keyof Settings]?: Partial<Settings[Group]> };

function peeringDefaults(): PeeringSettings {
  return {
    name: 'default',
    stealth: false,
    priority: 0,
    lifetime: 60,
    mandatory: false,
    standalone: false,
    clusterwide: false,
    get namespaced() {
      return !this.clusterwide;
    },
    set namespaced(value: boolean) {
      this.clusterwide = !value;
    },
  };
}

function defaults(): Settings {
  return {
    process: { ultimateExitingTimeout: 25, onStray: 'exit' },
    posting: {
      enabled: true,
      loggers: false,
      level: 'info',
      reportingComponent: 'kopf',
      reportingInstance: 'dev',
      eventNamePrefix: 'kopf-event-',
    },
    peering: peeringDefaults(),
    watching: {
      serverTimeout: { min: 300, max: 600 },
      clientTimeout: undefined,
      connectTimeout: 5,
      reconnectBackoff: 0.1,
      inactivityTimeout: 70,
      lineTimeout: 300,
      unhealthyAfter: 300,
      maxLineSize: 32 * 1024 ** 2,
      selectsByHandlers: true,
      selectors: {},
    },
    queueing: {
      workerLimit: 100,
      eventsLimit: 100,
      idleTimeout: 5,
      exitTimeout: 2,
      errorDelays: [1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610],
    },
    scanning: { disabled: false },
    admission: { server: undefined, managed: undefined },
    execution: { defaultBackoff: 60, maxDelay: 24 * 60 * 60 },
    background: { cancellationPolling: 60, instantExitTimeout: undefined, instantExitZeroTimeCycles: 10 },
    networking: {
      requestTimeout: 300,
      connectTimeout: 5,
      headersTimeout: 30,
      errorBackoffs: [1, 1, 2, 3, 5, 8, 13, 21],
      enforceRetryAfter: false,
      maxRetryAfter: 60,
      maxAnswerSize: 256 * 1024 ** 2,
      failingWritesTimeout: 30,
      trustEnv: false,
    },
    persistence: {
      finalizer: 'kopf.zalando.org/KopfFinalizerMarker',
      pauseAnnotation: 'kopf.zalando.org/paused-until',
      progressStorage: undefined,
      diffbaseStorage: undefined,
      consistencyTimeout: 5,
      compat: undefined,
      secretsInDiffBase: false,
    },
    metrics: { endpoint: undefined },
    insight: {
      admin: undefined,
      console: undefined,
      tokenFile: undefined,
      journalSize: 16_000_000,
      sensitiveFields: [],
    },
  };
}

/**
 * Settings with the defaults and the given overrides. Unknown groups and fields are refused.
 *
 * ```ts
 * await kopf.run({ settings: kopf.settings({ peering: { standalone: true }, queueing: { workerLimit: 5 } }) });
 * ```
 */
export function settings(overrides: SettingsOverrides = {}): Settings {
  const result = defaults();
  for (const [group, fields] of Object.entries(overrides)) {
    if (!Object.hasOwn(result, group)) throw unknownSetting(group, Object.keys(result));
    const target = result[group as keyof Settings] as object;
    for (const [field, value] of Object.entries(fields ?? {})) {
      if (!Object.hasOwn(target, field)) throw unknownSetting(`${group}.${field}`, Object.keys(target));
      (target as Record<string, unknown>)[field] = value;
    }
  }
  // Startup handlers assign fields of the groups: unknown ones are refused there, too, rather than ignored.
  for (const [group, fields] of Object.entries(result)) refusingUnknown(fields, `${group}.`);
  return refusingUnknown(result, '');
}

/** The prototype's setter is called only for fields that the object itself lacks; so known fields cost nothing. */
function refusingUnknown<T extends object>(fields: T, prefix: string): T {
  const refusal: ProxyHandler<object> = {
    set(_target, field) {
      throw unknownSetting(`${prefix}${String(field)}`, Object.keys(fields));
    },
  };
  return Object.seal(Object.setPrototypeOf(fields, new Proxy({}, refusal)));
}

/** Permanent: in a startup handler, another attempt would only repeat the mistake. */
function unknownSetting(name: string, known: readonly string[]): KopfError {
  const field = name.slice(name.indexOf('.') + 1);
  return new PermanentError(
    `There is no setting "${name}". Known here: ${known.join(', ')}.${didYouMean(field, known)}`,
    { code: 'KOPF_UNKNOWN_SETTING' },
  );
}
