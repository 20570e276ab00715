/** Metrics as a part of an operator. Until an address is set, they cost nothing. */
import type { Clock, HttpEndpoint, Indices, Logger, Registry, Service, Settings } from '@kopf-ts/core';
import { type LagMeter, type ObservedFacts, untilAborted } from '@kopf-ts/core/engine';
import { type MetricsOptions, type OperatorMetrics, operatorMetrics } from '@kopf-ts/metrics';
import { ownVersion } from './own-version.js';

interface MetricsParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Settings;
  // biome-ignore lint/suspicious/noExplicitAny: an operator runs handlers of any environment alike
  readonly registry: Registry<any>;
  readonly lag: LagMeter;
  readonly indices: Indices;
  readonly facts: ObservedFacts;
  readonly httpEndpoint: HttpEndpoint;
  /** The `metrics` option of the operator. */
  readonly users: string | MetricsOptions | undefined;
}

export interface WiredMetrics {
  /** Starts counting if an address is set. Throws if the address is impossible. */
  begin(): void;
  readonly service: Service;
}

export function wiredMetrics(parts: MetricsParts): WiredMetrics {
  const { clock, logger, settings, registry, lag, indices, facts, httpEndpoint, users } = parts;
  let metrics: OperatorMetrics | undefined;
  return {
    begin() {
      const { endpoint } = settings.metrics;
      if (endpoint === undefined) return;
      httpEndpoint.check({ name: 'metrics', url: endpoint });
      if (metrics !== undefined) return;
      metrics = operatorMetrics({
        clock,
        logger,
        lag,
        indices,
        registry: typeof users === 'object' ? users.registry : undefined,
        declared: () => Object.values(registry.handlers).flatMap((handlers) => [...handlers].map(({ id }) => id)),
        workerLimit: () => settings.queueing.workerLimit,
        version: ownVersion(),
      });
      facts.add(metrics.observer);
    },
    service: {
      name: 'metrics',
      async run(signal) {
        const { endpoint } = settings.metrics;
        if (endpoint === undefined || metrics === undefined) return await untilAborted(signal);
        await metrics.service({ endpoint, httpEndpoint }).run(signal);
      },
    },
  };
}
