/** Calls of handlers: how many, how long, how they ended, what is still to come. */
import type { FactOf, ObservedObject, Seconds } from '@kopf-ts/core';
import { byName, type Collector, type CollectorParts, keyOf, LIMIT } from './collector.js';

type Ended = FactOf<'call.ended'>;

export function callMetrics({ registry, names }: CollectorParts): Collector {
  const calls = registry.counter({
    name: 'kopf_handler_calls_total',
    help: 'Finished handler calls, by outcome.',
    labels: ['handler', 'type', 'resource', 'reason', 'outcome'],
    limit: LIMIT,
  });
  const durations = registry.histogram({
    name: 'kopf_handler_duration_seconds',
    help: 'Duration of handler calls, sub-handlers included.',
    labels: ['handler', 'resource'],
    limit: LIMIT,
  });
  const retries = registry.counter({
    name: 'kopf_handler_retries_total',
    help: 'Handler calls that were not first attempts.',
    labels: ['handler', 'resource'],
    limit: LIMIT,
  });
  const running = registry.gauge({
    name: 'kopf_handler_calls_running',
    help: 'Handler calls in progress.',
    labels: ['handler', 'resource'],
    limit: LIMIT,
  });
  const blocking = registry.counter({
    name: 'kopf_handler_blocking_seconds_total',
    help: 'Time for which synchronous parts of handlers blocked everything else.',
    labels: ['handler'],
    limit: LIMIT,
  });
  const waiting = pendingCalls({ registry, names });
  const ofHandler = byName((handler) => ({
    blocking: blocking.kept({ handler }),
    ofKind: byName((resource) => ({
      running: running.kept({ handler, resource }),
      durations: durations.kept({ handler, resource }),
      retries: retries.kept({ handler, resource }),
      calls: byName((type) =>
        byName((reason) => byName((outcome) => calls.kept({ handler, type, resource, reason, outcome }))),
      ),
    })),
  }));
  type OfHandler = ReturnType<typeof ofHandler>;
  /** By the numbers of the calls. */
  const begun = new Map<number, { readonly of: OfHandler; readonly at: Seconds }>();

  return {
    ...waiting.collector,
    'call.began'({ call, handler, object, at }) {
      const of = ofHandler(names.handler(handler));
      begun.set(call, { of, at });
      of.ofKind(names.kindOf(object)).running().inc();
    },
    'call.returned'({ call, at }) {
      const began = begun.get(call);
      if (began !== undefined) began.of.blocking().inc(Math.max(0, at - began.at));
    },
    'call.ended'(fact) {
      const { call, handler, object, reason = '', outcome, retry, duration } = fact;
      const series = ofHandler(names.handler(handler)).ofKind(names.kindOf(object));
      // Some end without having begun: their time was over, or their attempts.
      if (begun.delete(call)) {
        series.running().dec();
        series.durations().observe(duration);
        if (retry > 0) series.retries().inc();
      }
      series.calls(handler.kind)(reasonOf(fact, reason))(outcome)().inc();
      waiting.ended(fact);
    },
  };
}

/** Of the types of events and of activities, there are few; but anything may be told. */
function reasonOf({ handler }: Ended, reason: string): string {
  return handler.kind === 'watch' ? reason.toLowerCase() || 'listed' : reason;
}

/** Change handlers that wait for their next attempts, by their objects. */
function pendingCalls({ registry, names }: Pick<CollectorParts, 'registry' | 'names'>) {
  const gauge = registry.gauge({
    name: 'kopf_handler_pending',
    help: 'Change handlers waiting for their next attempts.',
    labels: ['handler', 'resource', 'reason'],
    limit: LIMIT,
  });
  const objects = new Map<string, Map<string, { readonly reason: string; over(): void }>>();

  const forget = (object: ObservedObject, isOver: (reason: string) => boolean): void => {
    if (objects.size === 0) return;
    const key = keyOf(object);
    const calls = objects.get(key);
    if (calls === undefined) return;
    for (const [id, call] of calls) {
      if (!isOver(call.reason)) continue;
      call.over();
      calls.delete(id);
    }
    if (calls.size === 0) objects.delete(key);
  };
  const everything = (): boolean => true;

  const collector: Collector = {
    'object.gone': ({ object }) => forget(object, everything),
    'object.phase'({ object, phase }) {
      if (phase === 'idle') forget(object, everything);
    },
    // What was begun for another reason is given up.
    'object.cause': ({ object, reason: current }) => forget(object, (reason) => reason !== current),
  };
  return {
    collector,
    ended({ handler, object, reason = '', outcome }: Ended): void {
      if (handler.kind !== 'change' || object === undefined) return;
      if (outcome !== 'retried' && objects.size === 0) return;
      const key = keyOf(object);
      const calls = objects.get(key);
      calls?.get(handler.id)?.over();
      calls?.delete(handler.id);
      if (outcome !== 'retried') {
        if (calls?.size === 0) objects.delete(key);
        return;
      }
      const series = gauge.with({ handler: names.handler(handler), resource: names.kindOf(object), reason });
      series.inc();
      objects.set(key, (calls ?? new Map()).set(handler.id, { reason, over: () => series.dec() }));
    },
  };
}
