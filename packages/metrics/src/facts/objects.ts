/** Objects: what happens to them, how long they wait for their turn, how long they are worked on. */
import type { Seconds } from '@kopf-ts/core';
import { byName, type Collector, type CollectorParts, keyOf, LIMIT } from './collector.js';

interface Scheduled {
  readonly resource: string;
  readonly since: Seconds;
}

export function objectMetrics({ registry, names, now, workerLimit }: CollectorParts): Collector {
  const labels = ['resource'] as const;
  const causes = registry.counter({
    name: 'kopf_causes_total',
    help: 'Detected causes of change handlers: creations, updates, deletions and so on.',
    labels: ['resource', 'reason'],
    limit: LIMIT,
  });
  const waits = registry.histogram({
    name: 'kopf_queue_wait_seconds',
    help: 'Time that objects spent in the queue.',
    labels,
    limit: LIMIT,
  });
  const cycles = registry.histogram({
    name: 'kopf_cycle_duration_seconds',
    help: 'Duration of processing an object, from reading it to the last write.',
    labels,
    limit: LIMIT,
  });
  const waiting = registry.gauge({
    name: 'kopf_objects_waiting',
    help: 'Objects waiting for a later time, usually for the next attempts of their handlers.',
    labels,
    limit: LIMIT,
  });
  const errors = registry.counter({
    name: 'kopf_object_errors_total',
    help: 'Failures in processing objects outside of handlers.',
    labels,
    limit: LIMIT,
  });
  const trips = registry.counter({
    name: 'kopf_breaker_trips_total',
    help: 'How often handlers were slowed down because they kept changing the same fields.',
    labels,
    limit: LIMIT,
  });
  /** In the order of their coming, so that the first is the oldest. */
  const queued = new Map<string, Scheduled>();
  const running = new Map<string, Scheduled>();
  /** Kinds stay in sight when there is nothing to do for them: nothing is a number, too. */
  const kinds = new Set<string>();
  const counted = (all: ReadonlyMap<string, Scheduled>) => () => {
    const counts = new Map([...kinds].map((kind) => [kind, 0]));
    for (const { resource } of all.values()) counts.set(resource, (counts.get(resource) ?? 0) + 1);
    return [...counts].map(([kind, count]) => [[kind], count] as const);
  };

  registry.asked({ name: 'kopf_queue_depth', help: 'Objects in the queue.', labels, limit: LIMIT }, counted(queued));
  registry.asked(
    { name: 'kopf_workers_busy', help: 'Objects being processed.', labels, limit: LIMIT },
    counted(running),
  );
  registry.asked(
    {
      name: 'kopf_workers_limit',
      help: 'Maximum number of objects of one kind processed at once; +Inf without a limit.',
    },
    () => [[[], workerLimit() ?? Number.POSITIVE_INFINITY]],
  );
  registry.asked(
    {
      name: 'kopf_queue_oldest_seconds',
      help: 'Age of the oldest entry in the queue.',
      labels,
      limit: LIMIT,
    },
    () => {
      const oldest = new Map([...kinds].map((kind) => [kind, 0]));
      for (const { resource, since } of queued.values()) {
        if (oldest.get(resource) === 0) oldest.set(resource, Math.max(0, now() - since));
        if (kinds.size === 1) break;
      }
      return [...oldest].map(([kind, age]) => [[kind], age] as const);
    },
  );

  const ofKind = byName((resource) => ({
    resource,
    cause: byName((reason) => causes.kept({ resource, reason })),
    wait: waits.kept({ resource }),
    cycle: cycles.kept({ resource }),
    waiting: waiting.kept({ resource }),
  }));

  return {
    'object.cause': ({ object, reason }) => ofKind(names.kindOf(object)).cause(reason)().inc(),
    'object.failed': ({ object }) => errors.with({ resource: names.kindOf(object) }).inc(),
    'breaker.tripped': ({ object }) => trips.with({ resource: names.kindOf(object) }).inc(),
    'object.phase'({ object, phase, before, at }) {
      const kind = ofKind(names.kindOf(object));
      const { resource } = kind;
      kinds.add(resource);
      if (before === 'waiting') kind.waiting().dec();
      if (phase === 'waiting') kind.waiting().inc();
      if (before !== 'queued' && before !== 'running' && phase !== 'queued' && phase !== 'running') return;
      const key = keyOf(object);
      if (before === 'queued') {
        const since = queued.get(key)?.since;
        queued.delete(key);
        if (since !== undefined && phase === 'running') kind.wait().observe(at - since);
      } else if (before === 'running') {
        const since = running.get(key)?.since;
        running.delete(key);
        if (since !== undefined) kind.cycle().observe(at - since);
      }
      if (phase === 'queued') queued.set(key, { resource, since: at });
      if (phase === 'running') running.set(key, { resource, since: at });
    },
  };
}
