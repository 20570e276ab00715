/** Everything around the objects: daemons, indices, admission, peers, logins, discovery, stray errors. */
import { type Collector, type CollectorParts, LIMIT } from './collector.js';

export function daemonMetrics({ registry, names }: CollectorParts): Collector {
  const running = registry.gauge({
    name: 'kopf_daemons_running',
    help: 'Daemons and timers of objects that are running.',
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
    help: 'Admission reviews that were answered.',
    labels: ['resource', 'operation', 'allowed'],
    limit: LIMIT,
  });
  const durations = registry.histogram({
    name: 'kopf_admission_review_duration_seconds',
    help: 'How long it takes to answer admission reviews.',
    labels: ['resource', 'operation'],
    limit: LIMIT,
  });
  const refusals = registry.counter({
    name: 'kopf_admission_refusals_total',
    help: 'Requests to the admission server that were refused: reviews that make no sense, and what is no review at all.',
    labels: ['what'],
    limit: LIMIT,
  });
  let until: Date | undefined;
  registry.asked(
    {
      name: 'kopf_admission_certificate_expiry_timestamp_seconds',
      help: 'When the certificate of the admission server expires.',
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
      help: 'Namespaces (or 1 for the whole cluster) in which this operator works, or has left the work to others.',
      labels: ['state'],
    },
    () => [...scopes.values()].map((isPaused) => [[isPaused ? 'paused' : 'working'], 1]),
  );
  const rulings = registry.counter({
    name: 'kopf_peering_rulings_total',
    help: 'How often this operator has begun or ceased to work, as agreed with others.',
    labels: ['ruling'],
  });
  const logins = registry.counter({ name: 'kopf_logins_total', help: 'Logins to the cluster.', labels: ['outcome'] });
  const failures = registry.counter({
    name: 'kopf_discovery_failures_total',
    help: 'How often it could not be found out what the cluster serves.',
  });
  let served: readonly string[] = [];
  registry.asked({ name: 'kopf_served_resources', help: 'Kinds of objects that the operator serves.' }, () => [
    [[], served.length],
  ]);
  const strays = registry.counter({
    name: 'kopf_stray_errors_total',
    help: 'Errors that nobody awaits, by where they come from.',
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
