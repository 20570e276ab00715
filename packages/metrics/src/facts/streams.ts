/** Streams: what comes by them, how often they break, whether they work. */
import type { FactOf, ObservedStream } from '@kopf-ts/core';
import { compareVersions } from '@kopf-ts/core/engine';
import { byName, type Collector, type CollectorParts, LIMIT } from './collector.js';

type Phase = FactOf<'stream.phase'>;

/** What is known of a stream, for measuring how far behind it is. */
interface StreamState {
  /** The newest version that has come by it. */
  seen: string | undefined;
  phase: Phase | undefined;
  readonly isWatching: boolean;
}

export interface StreamMetrics {
  readonly collector: Collector;
  readonly streams: ReadonlyMap<ObservedStream, StreamState>;
}

export function streamMetrics({ registry, names, now, lagOf }: CollectorParts): StreamMetrics {
  const labels = ['resource'] as const;
  const counter = (name: string, help: string) => registry.counter({ name, help, labels, limit: LIMIT });
  const events = registry.counter({
    name: 'kopf_stream_events_total',
    help: 'Objects from listings and changes from watch streams.',
    labels: ['resource', 'type'],
    limit: LIMIT,
  });
  const restarts = counter('kopf_stream_restarts_total', 'How often streams were reopened for any reason.');
  const lists = counter('kopf_stream_lists_total', 'Listings, initial ones included.');
  const relists = counter('kopf_stream_relists_total', 'Listings because a stream could not be resumed.');
  const failures = counter('kopf_stream_failures_total', 'Failures of watch streams and listings.');
  const silences = counter('kopf_stream_silences_total', 'How often a stream was abandoned after too long a silence.');
  const streams = new Map<ObservedStream, StreamState>();

  const stateOf = (stream: ObservedStream): StreamState => {
    let state = streams.get(stream);
    if (state === undefined) {
      state = {
        seen: undefined,
        phase: undefined,
        get isWatching() {
          return this.phase?.phase === 'watching';
        },
      };
      streams.set(stream, state);
    }
    return state;
  };
  const see = (stream: ObservedStream, version: string | undefined): void => {
    const state = stateOf(stream);
    const order = compareVersions(version, state.seen);
    if (state.seen === undefined || (order !== undefined && order > 0)) state.seen = version;
  };
  const opened = new WeakSet<ObservedStream>();
  const eventOf = byName((resource) =>
    byName((type) => events.kept({ resource, type: type === '' ? 'listed' : type.toLowerCase() })),
  );

  registry.asked(
    { name: 'kopf_streams', help: 'Watch streams, by phase.', labels: ['resource', 'phase'], limit: LIMIT },
    () => [...streams].map(([{ resource }, { phase }]) => [[names.resource(resource), phase?.phase ?? 'starting'], 1]),
  );
  registry.asked(
    {
      name: 'kopf_stream_silence_seconds',
      help: 'Time since the last sign of life of a stream; the worst stream of each kind.',
      labels,
      limit: LIMIT,
    },
    () =>
      worst(({ phase }) => {
        if (phase === undefined || phase.phase === 'paused') return undefined;
        return Math.max(0, now() - Math.max(phase.since, phase.lastEventAt ?? 0, phase.lastGoodAt ?? 0));
      }),
  );
  registry.asked(
    {
      name: 'kopf_stream_lag_versions',
      help: 'Resource versions of the cluster not yet seen by a stream, measured at most once a minute; the worst stream of each kind.',
      labels,
      limit: LIMIT,
    },
    () => worst((_, stream) => lagOf(stream)),
  );
  const worst = (lookAt: (state: StreamState, stream: ObservedStream) => number | undefined) => {
    const values = new Map<string, number>();
    for (const [stream, state] of streams) {
      const value = lookAt(state, stream);
      const name = names.resource(stream.resource);
      if (value !== undefined) values.set(name, Math.max(values.get(name) ?? 0, value));
    }
    return [...values].map(([name, value]) => [[name], value] as const);
  };

  const collector: Collector = {
    'stream.event'({ stream, type, version }) {
      see(stream, version);
      eventOf(names.resource(stream.resource))(type ?? '')().inc();
    },
    'stream.bookmark': ({ stream, version }) => see(stream, version),
    'stream.opened'({ stream, version }) {
      see(stream, version);
      if (opened.has(stream)) restarts.with({ resource: names.resource(stream.resource) }).inc();
      opened.add(stream);
    },
    'stream.listed'({ stream, isFirst }) {
      const resource = names.resource(stream.resource);
      lists.with({ resource }).inc();
      if (!isFirst) relists.with({ resource }).inc();
    },
    'stream.failed': ({ stream }) => failures.with({ resource: names.resource(stream.resource) }).inc(),
    'stream.lagging': ({ stream }) => silences.with({ resource: names.resource(stream.resource) }).inc(),
    'stream.phase'(fact) {
      if (fact.phase === 'ended') streams.delete(fact.stream);
      else stateOf(fact.stream).phase = fact;
    },
  };
  return { collector, streams };
}
