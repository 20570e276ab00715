/** The metrics of one operator: an observer that counts, and a page that shows. */
import type {
  Clock,
  Fact,
  FactKind,
  HandlerId,
  HttpEndpoint,
  HttpPage,
  Indices,
  KubeClient,
  Logger,
  Observer,
  Seconds,
  Service,
} from '@kopf-ts/core';
import { type LagMeter, lagMeter } from '@kopf-ts/core/engine';
import { callMetrics } from './facts/calls.js';
import { type Collector, type CollectorParts, namesOf } from './facts/collector.js';
import { admissionMetrics, daemonMetrics, indexMetrics, operatorStateMetrics } from './facts/neighbours.js';
import { objectMetrics } from './facts/objects.js';
import { requestMetrics } from './facts/requests.js';
import { streamMetrics } from './facts/streams.js';
import { defaultMetricRegistry } from './registry/default-registry.js';
import type { Family } from './registry/instruments.js';
import { type MetricRegistry, ownRegistry } from './registry/registry.js';
import { formatFor } from './scraping/negotiation.js';
import { processMetrics } from './scraping/process-metrics.js';
import { CONTENT_TYPES, type Format, textOf } from './scraping/text.js';

/**
 * Where the metrics of an operator are, and what else is there.
 *
 * ```ts
 * const metrics: kopf.metrics.MetricsOptions = { endpoint: 'http://:8081/metrics' };
 * await kopf.run({ metrics });
 * ```
 */
export interface MetricsOptions {
  /** `http://[host][:port][/path]`; at the same address as the probes, if these are there. */
  readonly endpoint: string;
  /** Your own metrics, shown together with those of the operator. Default: those of the process. */
  readonly registry?: MetricRegistry | undefined;
}

/**
 * What the metrics are made of.
 *
 * ```ts
 * const options: kopf.metrics.OperatorMetricsOptions = { clock: kopf.reactor.systemClock, logger };
 * const metrics = kopf.metrics.operatorMetrics(options);
 * ```
 */
export interface OperatorMetricsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Your own metrics. Default: those of the process. */
  readonly registry?: MetricRegistry | undefined;
  /** To ask how far the streams are behind. Without it, that is not measured. */
  readonly client?: KubeClient | undefined;
  /** Where that is measured, if others want to know it, too. Default: by the client. */
  readonly lag?: LagMeter | undefined;
  /** To tell their sizes. */
  readonly indices?: Indices | undefined;
  /** The ids of the handlers that are declared: all others are those that handlers make for themselves. */
  readonly declared?: (() => Iterable<HandlerId>) | undefined;
  /** How many objects of one kind are worked on at once. */
  readonly workerLimit?: (() => number | undefined) | undefined;
  /** Of the framework: for `kopf_build_info`. */
  readonly version?: string | undefined;
}

/**
 * Metrics of one operator.
 *
 * ```ts
 * const metrics: kopf.metrics.OperatorMetrics = kopf.metrics.operatorMetrics({ clock: kopf.reactor.systemClock, logger });
 * await kopf.run({ observers: [metrics.observer] });
 * ```
 */
export interface OperatorMetrics {
  /** To be among the observers of the operator: of one, and no other. */
  readonly observer: Observer;
  /** For an HTTP endpoint. */
  readonly page: HttpPage;
  /** All metrics, those of users as well. */
  families(): readonly Family[];
  /** The text of all metrics. */
  text(format?: 'prometheus' | 'openmetrics'): Promise<string>;
  /** Serves the page. Throws if there can never be such an address. */
  service(at: { readonly endpoint: string; readonly httpEndpoint: HttpEndpoint }): Service;
}

/** Readers that come at the same time get the same text: there may be many of them, and making it takes time. */
const SHARED_FOR: Seconds = 1;

/**
 * Metrics of an operator, to be wired by hand. Usually, `run({ metrics: 'http://:8081/metrics' })` is all that is needed.
 *
 * ```ts
 * const metrics = kopf.metrics.operatorMetrics({ clock: kopf.reactor.systemClock, logger });
 * const operator = kopf.operator({ observers: [metrics.observer] });
 * await operator.ready;
 * logger.info(await metrics.text());
 * ```
 */
export function operatorMetrics(options: OperatorMetricsOptions): OperatorMetrics {
  const { clock, logger, client, registry: users = defaultMetricRegistry(), declared = () => [] } = options;
  const own = ownRegistry();
  const lag = options.lag ?? (client && lagMeter({ client, clock }));
  const parts: CollectorParts = {
    registry: own,
    names: namesOf(declared),
    now: () => clock.now(),
    indices: options.indices,
    workerLimit: options.workerLimit ?? (() => undefined),
    lagOf: (stream) => lag?.lagOf(stream),
  };
  const info = { version: options.version ?? 'unknown', node: process.version };
  own
    .gauge({ name: 'kopf_build_info', help: 'Versions of kopf-ts and Node.js.', labels: ['version', 'node'] })
    .with(info)
    .set(1);
  const streams = streamMetrics(parts);
  indexMetrics(parts);
  const observer = observerOf([
    callMetrics(parts),
    objectMetrics(parts),
    streams.collector,
    requestMetrics(parts),
    daemonMetrics(parts),
    admissionMetrics(parts),
    operatorStateMetrics(parts),
  ]);
  const ofProcess = processMetrics(own, clock);
  own.asked(
    {
      name: 'kopf_metrics_overflows_total',
      help: 'How often a metric had too many label values, so that a sample was counted as `other`.',
      labels: ['metric'],
    },
    () =>
      [...own.families(), ...users.families()]
        .map(({ name, overflows }) => [[name], overflows] as const)
        .filter(([, count]) => count > 0),
    'counter',
  );
  // The own ones count if both have the same name, which takes some effort.
  const all = (): readonly Family[] => {
    const byName = new Map(users.families().map((family) => [family.name, family]));
    for (const family of own.families()) byName.set(family.name, family);
    return [...byName.values()].sort((one, two) => (one.name < two.name ? -1 : 1));
  };

  const shared = new Map<Format, { readonly text: Promise<string>; readonly at: Seconds }>();
  const text = (format: Format = 'prometheus'): Promise<string> => {
    const made = shared.get(format);
    if (made !== undefined && clock.now() - made.at < SHARED_FOR) return made.text;
    const making = { text: textOf(all(), format, logger), at: clock.now() };
    shared.set(format, making);
    return making.text;
  };
  const closing = new AbortController();
  const page: HttpPage = {
    async answer({ headers }) {
      ofProcess.look();
      await lag?.measure(streams.streams, closing.signal);
      const format = formatFor(headers['accept']);
      return { headers: { 'content-type': CONTENT_TYPES[format], vary: 'accept' }, body: await text(format) };
    },
  };
  return {
    observer,
    page,
    families: all,
    text,
    service({ endpoint: url, httpEndpoint }) {
      httpEndpoint.check({ name: 'metrics', url });
      return {
        name: 'metrics',
        async run(signal) {
          try {
            await httpEndpoint.serve({ name: 'metrics', url, page, signal });
          } finally {
            closing.abort(signal.reason);
            ofProcess.close();
          }
        },
      };
    },
  };
}

/** One observer of what all of them want. */
function observerOf(collectors: readonly Collector[]): Observer {
  type Collect = (fact: Fact) => void;
  const byKind: Record<string, Collect> = {};
  for (const collector of collectors) {
    for (const [kind, added] of Object.entries(collector)) {
      const [collect, before] = [added as Collect, byKind[kind]];
      byKind[kind] =
        before === undefined
          ? collect
          : (fact) => {
              before(fact);
              collect(fact);
            };
    }
  }
  return {
    wants: Object.keys(byKind) as FactKind[],
    observe: (fact) => byKind[fact.kind]?.(fact),
  };
}
