/** Everything around the objects: daemons, indices, admission, peers, logins, discovery, stray errors. */
import { type Collector, type CollectorParts, LIMIT } from './collector.js';

export function daemonMetrics({ registry, names }: CollectorParts): Collector {
  const running = registry.gauge({
    name: 'kopf_daemons_running',
    help: 'Running daemons and timers of objects.',
    labels: ['handler', 'type', 'resource'],
    limit: LIMIT,
  });
  return {
    'daemon.started': ({ handler, object }) =>
      running.with({ handler: names.handler(handler), type: handler.kind, resource: names.kindOf(object) }).inc(),
    'daemon.stopped': ({ handler, object }) =>
      running.with({ handler: names.handler(handler), type: handler.kind, resource: names.kindOf(object) }).dec(),
  };
}

export function indexMetrics({ registry, indices }: CollectorParts): void {
  if (indices === undefined) return;
  registry.asked({ name: 'kopf_index_keys', help: 'Keys in the indices.', labels: ['index'], limit: LIMIT }, () =>
    [...indices].map(([id, { size }]) => [[id], size]),
  );
}

export function admissionMetrics({ registry, names }: CollectorParts): Collector {
  const reviews = registry.counter({
    name: 'kopf_admission_reviews_total',
    help: 'Answered admission reviews.',
    labels: ['resource', 'operation', 'allowed'],
    limit: LIMIT,
  });
  const durations = registry.histogram({
    name: 'kopf_admission_review_duration_seconds',
    help: 'Duration of admission reviews.',
    labels: ['resource', 'operation'],
    limit: LIMIT,
  });
  const refusals = registry.counter({
    name: 'kopf_admission_refusals_total',
    help: 'Requests refused by the admission server: invalid reviews, and requests that are no reviews at all.',
    labels: ['what'],
    limit: LIMIT,
  });
  let until: Date | undefined;
  registry.asked(
    {
      name: 'kopf_admission_certificate_expiry_timestamp_seconds',
      help: 'Expiry time of the certificate of the admission server.',
    },
    () => (until === undefined ? [] : [[[], until.getTime() / 1000]]),
  );
  return {
    'review.answered'({ object, operation, allowed, duration }) {
      const resource = names.kindOf(object);
      reviews.with({ resource, operation, allowed }).inc();
      durations.with({ resource, operation }).observe(duration);
    },
    'review.refused': () => refusals.with({ what: 'review' }).inc(),
    'webhook.refused': () => refusals.with({ what: 'request' }).inc(),
    'webhook.certified'(fact) {
      until = fact.until;
    },
  };
}

export function operatorStateMetrics({ registry, names }: CollectorParts): Collector {
  /** Of namespaces, or of the whole cluster. */
  const scopes = new Map<string | null, boolean>();
  registry.asked(
    {
      name: 'kopf_peering_scopes',
      help: 'Namespaces (or 1 for the whole cluster) in which this operator works or is paused by its peers.',
      labels: ['state'],
    },
    () => [...scopes.values()].map((isPaused) => [[isPaused ? 'paused' : 'working'], 1]),
  );
  const rulings = registry.counter({
    name: 'kopf_peering_rulings_total',
    help: 'How often peering started or paused this operator.',
    labels: ['ruling'],
  });
  const logins = registry.counter({ name: 'kopf_logins_total', help: 'Logins to the cluster.', labels: ['outcome'] });
  const failures = registry.counter({
    name: 'kopf_discovery_failures_total',
    help: 'Failed attempts to discover the resources of the cluster.',
  });
  let served: readonly string[] = [];
  registry.asked({ name: 'kopf_served_resources', help: 'Kinds of objects served by the operator.' }, () => [
    [[], served.length],
  ]);
  const strays = registry.counter({
    name: 'kopf_stray_errors_total',
    help: 'Uncaught errors and unhandled rejections, by origin.',
    labels: ['origin'],
  });
  return {
    'peering.ruled'({ namespace, isPaused }) {
      scopes.set(namespace, isPaused);
      rulings.with({ ruling: isPaused ? 'pause' : 'work' }).inc();
    },
    'peering.left': ({ namespace }) => void scopes.delete(namespace),
    'login.ended': ({ outcome }) => logins.with({ outcome }).inc(),
    'discovery.revised'({ resources }) {
      served = [...new Set(resources.map((resource) => names.resource(resource)))];
    },
    'discovery.failed': () => failures.inc(),
    'error.stray': ({ origin }) => strays.with({ origin: String(origin) }).inc(),
  };
}
