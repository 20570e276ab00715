/**
 * The settings of an operator: groups and names as in Kopf, in camelCase. Mutable at any time, normally from a
 * startup handler. Durations are in seconds. The storages and the webhook server are parts behind their seams;
 * this file knows only their interfaces, and the assembling package puts in the defaults.
 */
import { type KopfError, PermanentError } from './errors.js';
import type { SelectedValue } from './seams/api.js';
import type { Seconds } from './seams/clock.js';
import type { LogLevel } from './seams/logger.js';
import type { DiffBaseStorage, ProgressStorage } from './seams/memory/storage.js';
import type { WebhookServer } from './seams/webhooks.js';
import { didYouMean } from './values/suggestions.js';

/**
 * How the process ends, in peace or by force.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.process.ultimateExitingTimeout = 50;
 * });
 * ```
 */
export interface ProcessSettings {
  /**
   * How long a graceful stop may take before the process is ended by force; `undefined` waits for ever.
   * Default: 25 (Kopf: 600), so that it fits into the 30 seconds that a pod is given.
   */
  ultimateExitingTimeout: Seconds | undefined;
  /**
   * What a stray error means: a floating rejection, or a throw in a timer that a handler has started. It is always
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
  /** Whether Kubernetes events are posted at all. Default: true. */
  enabled: boolean;
  /** Whether the lines of the handlers' loggers are posted as events. Default: false. */
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
 * Who else runs this operator, and which of them works.
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
  /** Whether to keep silent in the logs about successful keep-alives. Default: false. */
  stealth: boolean;
  /** Operators pause in favour of peers of a higher priority. Default: 0. */
  priority: number;
  /** How long our record counts as alive without a renewal. Default: 60. */
  lifetime: Seconds;
  /** Whether to stay paused while the peering object or its CRD is absent. Default: false. */
  mandatory: boolean;
  /** Whether to ignore the peers altogether. Default: false. */
  standalone: boolean;
  /** Whether the peering is of the cluster or of a namespace; set from the operator's scope. Default: false. */
  clusterwide: boolean;
  /** The inverse of `clusterwide`, readable and writable. */
  namespaced: boolean;
}

/**
 * How streams of events are kept open, and when they count as broken.
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
   * request takes a random value, or `undefined` for the server's own choice. Default: 300 to 600 (Kopf: unset),
   * so that a stream that died in silence is noticed even if the server sends no bookmarks.
   */
  serverTimeout: Seconds | { readonly min: Seconds; readonly max: Seconds } | undefined;
  /** How long one watch request may take in total on our side. Default: unset. */
  clientTimeout: Seconds | undefined;
  /** How long it may take to connect a watch. Default: 5 (Kopf: unset). */
  connectTimeout: Seconds | undefined;
  /** The first pause before listing or watching again after a failure; it grows with consecutive failures. Default: 0.1. */
  reconnectBackoff: Seconds;
  /**
   * The silence (not a single byte) after which a stream is reopened from its last version. API servers break it by a
   * bookmark every minute, except that some have nothing to say of quiet kinds: those whose etcd does not tell its
   * progress (`--watch-progress-notify-interval`), which kubeadm and most providers set. There, a stream is reopened
   * after its first silence, with one request for the current version. Default: 70.
   */
  inactivityTimeout: Seconds;
  /**
   * How long one event may be on its way while its bytes keep coming, however slowly; beyond that, the stream is down,
   * and everything is listed anew. Default: 300.
   */
  lineTimeout: Seconds;
  /** How long a stream may be down before liveness turns red; readiness tells at once. Default: 300. */
  unhealthyAfter: Seconds;
  /**
   * How many bytes one line of a stream may have; then the stream fails and is reopened. `undefined` for no limit. A line
   * is one object, and API servers take none of more than 3 MiB, by default. Default: 32 MiB (Kopf: no limit).
   */
  maxLineSize: number | undefined;
  /**
   * Whether the server is asked only for those objects that some handler can want, where all handlers of a kind agree on
   * some of the labels, or on the name. Only for kinds without daemons, timers, handlers of events, of resuming, and those
   * that hold the deletion. Default: true (Kopf: there is no such thing).
   */
  selectsByHandlers: boolean;
  /**
   * Which objects of a kind are served at all, whatever their handlers want: by the kind, as where handlers are declared.
   * The server sends no others. An object that leaves the selection is none of ours any more: its daemons end, it is no
   * longer indexed, and our finalizer is taken off. Default: all objects of all kinds.
   */
  selectors: Readonly<Record<string, ServedObjects>>;
}

/**
 * Which objects of a kind are served. Fields are those that the server can select by: mostly, only `metadata.name`.
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
   * How many objects of one stream are processed at once, in fair order; `undefined` for all. From 20 on, a twentieth is
   * kept for deletions, and as many for objects that nobody has looked at yet. It is told if objects wait
   * for longer than some seconds. Default: 100 (Kopf: unset).
   */
  workerLimit: number | undefined;
  /**
   * How many events of one object may wait for slow `on.event` handlers; beyond that, the oldest are dropped, and it
   * is told. All other handlers need only the newest state, whatever has happened before. Default: 100 (Kopf: no limit).
   */
  eventsLimit: number;
  /** Has no effect, as there is nothing that could idle: an object with nothing to do has no worker. Kopf's default: 5. */
  idleTimeout: Seconds;
  /** How long the workers may go on with what is queued when the operator stops. Default: 2. */
  exitTimeout: Seconds;
  /** Pauses of one object after consecutive errors of the framework itself; the last one repeats. */
  errorDelays: Iterable<Seconds>;
}

/**
 * How the operator learns which kinds and namespaces there are.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.scanning.disabled = true; // CRDs and namespaces of tomorrow are not served until a restart
 * });
 * ```
 */
export interface ScanningSettings {
  /** Whether to take the kinds and the namespaces as they are at the start, and not watch for new ones. Default: false. */
  disabled: boolean;
}

/**
 * Where admission reviews come in, and who registers that place in the cluster.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.autoServer();
 *   settings.admission.managed = 'kopfexamples.example.com';
 * });
 * ```
 */
export interface AdmissionSettings {
  /** Where the admission reviews come in: a server or a tunnel. Mandatory if there are admission handlers. */
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
   * `TemporaryError` that asks for more is retried after this time. So a stored delay that is further ahead comes from
   * a wrong clock or from a stranger, and is not waited for. Default: 86400, a day (Kopf: unlimited).
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
  /** How often to look at a daemon that is asked to exit and has no cancellation timeout. Default: 60. */
  cancellationPolling: Seconds;
  /** How long to wait at once for a daemon to exit before looking again later. Default: unset. */
  instantExitTimeout: Seconds | undefined;
  /** How many turns of the event loop to grant to an exiting daemon, if the timeout above is unset. Default: 10. */
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
   * How long an ordinary request may take in total, per attempt; with pauses that the server has asked for, but
   * without the waiting for one's turn among other requests. Default: 300.
   */
  requestTimeout: Seconds | undefined;
  /** How long it may take to connect an ordinary request. Default: 5 (Kopf: unset). */
  connectTimeout: Seconds | undefined;
  /** How long it may take until the headers of the answer come. Default: 30 (Kopf: unset). */
  headersTimeout: Seconds | undefined;
  /** Pauses between the attempts of one request; one number is one pause; empty for no retries. */
  errorBackoffs: Iterable<Seconds> | Seconds;
  /** Whether `Retry-After` of HTTP 429 is obeyed always, or only where it is longer than the planned pause. Default: false. */
  enforceRetryAfter: boolean;
  /**
   * How long `Retry-After` is obeyed at most, whatever the server says: longer ones are mistakes more often than not,
   * and nothing would happen until then. Requests of the same kind wait all that time. Default: 60 (Kopf: no limit).
   */
  maxRetryAfter: Seconds;
  /**
   * How many bytes the body of one answer may have; then the request fails. `undefined` for no limit. The largest ones
   * are pages of 500 objects, and whole lists where pages have expired; 512 MiB is what Node can hold as one text.
   * Default: 256 MiB (Kopf: no limit).
   */
  maxAnswerSize: number | undefined;
  /**
   * How long writes to objects of one kind may keep failing, without a single success, until readiness turns red and
   * tells why. Default: 30.
   */
  failingWritesTimeout: Seconds;
  /** Whether the proxies of the environment are used. Default: false. */
  trustEnv: boolean;
}

/**
 * What the operator leaves on objects, and where.
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
   * The annotation by which anybody who may annotate an object can pause its handlers until a time in ISO 8601. It should be
   * under a prefix of Kopf or of the storages, so that it is nobody's change. Default: `kopf.zalando.org/paused-until`.
   */
  pauseAnnotation: string;
  /** Where the progress of handlers is kept. */
  progressStorage: ProgressStorage | undefined;
  /** Where the last handled state of objects is kept. */
  diffbaseStorage: DiffBaseStorage | undefined;
  /**
   * How long to wait for our own patch to come back through the watch-stream, where versions of objects are not numbers,
   * so that it cannot be told what is newer; 0 does not wait. Usually they are, and nothing is waited for. Default: 5.
   */
  consistencyTimeout: Seconds;
  /**
   * `'kopf'` writes exactly what Kopf would: no extra keys in records, no uid in patches, touches as Kopf makes them.
   * For fleets that run both for long. Default: unset; what we write is readable by Kopf all the same.
   */
  compat: 'kopf' | undefined;
  /** Whether values of Secrets are kept in their last handled state as they are, as Kopf does. Default: false (digests). */
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
   * Where they are served: `http://[host][:port][/path]`; at the same address as the probes, they share the port. Without
   * it, nothing is counted. Read after the startup handlers. Default: unset.
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
 * Looking into the operator from outside: the journal of its objects, and who may ask for it.
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
   * Where `kopf why` and its like ask the operator: `http://127.0.0.1:8083`. Without it, no journal is kept. On other
   * addresses than those of the machine itself, it needs tokens. Read after the startup handlers. Default: unset.
   */
  admin: string | undefined;
  /**
   * Where the console is served, for browsers: `http://127.0.0.1:8082`; all that the above answers is answered there, too.
   * On other addresses than those of the machine itself, it needs tokens. Read after the startup handlers. Default: unset.
   */
  console: string | undefined;
  /**
   * A file with one token in each line, and its scope after it: `read`, or else `write`. It is read at each request, so it may
   * be from a Secret. Default: unset, and everybody on the machine may ask and act.
   */
  tokenFile: string | undefined;
  /** How many bytes the journal may take, for all objects together. Default: 16 MB. */
  journalSize: number;
  /**
   * Fields whose values are never kept in the journal, of any kind: `spec.password`; nor are messages of errors that name
   * them. Those of Secrets never are.
   */
  sensitiveFields: readonly string[];
}

/**
 * What is to differ from the defaults: any groups, any of their fields.
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
 * Settings with the defaults, and with what is given instead of them.
 * A group or a field that does not exist is refused.
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
  // Startup handlers assign fields of the groups: those that do not exist are refused there, too, and not ignored.
  for (const [group, fields] of Object.entries(result)) refusingUnknown(fields, `${group}.`);
  return refusingUnknown(result, '');
}

/** The prototype is asked to set only what the object itself does not have; so known fields cost nothing. */
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
