/** The metrics of the process: one set of them for all copies of this package, as with handlers. */
import type { CounterSeries, GaugeSeries, HistogramSeries } from './instruments.js';
import {
  type GaugeOptions,
  type HistogramOptions,
  type Metric,
  type MetricOptions,
  type MetricRegistry,
  metricRegistry,
} from './registry.js';

const KEY = Symbol.for('kopf-ts.metrics');

/**
 * Where `counter()`, `gauge()` and `histogram()` declare metrics; served by every operator that is given no other one.
 *
 * ```ts
 * const names = kopf.metrics.defaultMetricRegistry().families().map(({ name }) => name);
 * ```
 */
export function defaultMetricRegistry(): MetricRegistry {
  const place = globalThis as { [KEY]?: MetricRegistry };
  place[KEY] ??= metricRegistry();
  return place[KEY];
}

/**
 * Declares a counter of your own, at the same endpoint as those of the operator.
 *
 * ```ts
 * const resizes = kopf.metrics.counter({ name: 'shop_resizes_total', help: 'Volumes resized.', labels: ['outcome'] });
 * kopf.on.update('volumes', () => resizes.with({ outcome: 'grown' }).inc());
 * ```
 */
export function counter<const L extends string = never>(options: MetricOptions<L>): Metric<CounterSeries, L> {
  return defaultMetricRegistry().counter(options);
}

/**
 * Declares a gauge of your own.
 *
 * ```ts
 * const free = kopf.metrics.gauge({ name: 'shop_free_bytes', help: 'What is left.' });
 * kopf.timer('pools', { interval: 60 }, ({ status }) => free.set(Number(status.free)));
 * ```
 */
export function gauge<const L extends string = never>(options: GaugeOptions<L>): Metric<GaugeSeries, L> {
  return defaultMetricRegistry().gauge(options);
}

/**
 * Declares a histogram of your own.
 *
 * ```ts
 * const waited = kopf.metrics.histogram({ name: 'shop_wait_seconds', help: 'How long orders wait.' });
 * waited.observe(1.5);
 * ```
 */
export function histogram<const L extends string = never>(options: HistogramOptions<L>): Metric<HistogramSeries, L> {
  return defaultMetricRegistry().histogram(options);
}
