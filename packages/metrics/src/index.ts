/**
 * Prometheus metrics of operators, counted from the facts that observers see, and metrics of your own beside them.
 * It leaves serving to an `HttpEndpoint`, and storing, alerting and drawing to Prometheus and Grafana.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading

// Your own metrics.
export { counter, defaultMetricRegistry, gauge, histogram } from './registry/default-registry.js';
export {
  type GaugeOptions,
  type HistogramOptions,
  type Metric,
  type MetricOptions,
  type MetricRegistry,
  metricRegistry,
} from './registry/registry.js';
export type { CounterSeries, Family, GaugeSeries, HistogramSeries, Labelled, Sample } from './registry/instruments.js';
export type { LabelValues } from './registry/series.js';

// Those of an operator.
export {
  type MetricsOptions,
  type OperatorMetrics,
  operatorMetrics,
  type OperatorMetricsOptions,
} from './operator-metrics.js';
