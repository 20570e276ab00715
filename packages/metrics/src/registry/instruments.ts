/** Counters, gauges and histograms: what they remember of each series, and how they show it. */
import { badMetric } from './mistakes.js';
import { type LabelValues, Series } from './series.js';

/**
 * Only ever grows: calls, bytes, errors.
 *
 * ```ts
 * const count = (counter: kopf.metrics.CounterSeries): void => counter.inc();
 * ```
 */
export interface CounterSeries {
  inc(by?: number): void;
}

/**
 * Goes up and down: a size, a temperature.
 *
 * ```ts
 * const remember = (gauge: kopf.metrics.GaugeSeries, size: number): void => gauge.set(size);
 * ```
 */
export interface GaugeSeries {
  set(value: number): void;
  inc(by?: number): void;
  dec(by?: number): void;
}

/**
 * Many values, counted by how large they are: durations, sizes.
 *
 * ```ts
 * const remember = (histogram: kopf.metrics.HistogramSeries, seconds: number): void => histogram.observe(seconds);
 * ```
 */
export interface HistogramSeries {
  observe(value: number): void;
}

/**
 * A metric with labels: `with()` gives the series of these values. Without labels, the metric is its only series.
 *
 * ```ts
 * const orders: kopf.metrics.Labelled<kopf.metrics.CounterSeries, 'region'> = kopf.metrics.counter({
 *   name: 'shop_parcels_total',
 *   help: 'Parcels that were sent.',
 *   labels: ['region'],
 * });
 * orders.with({ region: 'eu' }).inc();
 * ```
 */
export interface Labelled<S, L extends string> {
  /** Cheap, but not for nothing: where it is called very often, keep what it returns. */
  with(labels: LabelValues<L>): S;
}

/**
 * One line of the text of a metric.
 *
 * ```ts
 * const shown = ({ labels, value }: kopf.metrics.Sample): string => `{${labels}} ${value}`;
 * ```
 */
export interface Sample {
  /** After the name of the metric: `_bucket`, `_sum`. */
  readonly suffix: string;
  readonly labels: string;
  readonly value: number;
}

type MetricType = 'counter' | 'gauge' | 'histogram';

/**
 * One metric with all its series.
 *
 * ```ts
 * const title = ({ name, type }: kopf.metrics.Family): string => `${name} (${type})`;
 * ```
 */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly labels: readonly string[];
  readonly overflows: number;
  /** The samples of each series in one piece: they belong to the same moment. */
  series(): Iterable<readonly Sample[]>;
}

export interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly limit: number;
}

interface Shown {
  samples(): readonly Sample[];
}

/** A family of series of that class; and the way to them by the values of the labels. */
function familyOf<S extends Shown>(
  type: MetricType,
  { name, help, labels, limit }: FamilyOptions,
  make: (labels: string) => S,
): Family & { of(values: readonly string[]): S } {
  const all = new Series<S>({ labels, limit, make });
  // Rates can only be computed of what was there before it has changed.
  if (labels.length === 0) all.of([]);
  return {
    name,
    help,
    type,
    labels,
    get overflows() {
      return all.overflows;
    },
    *series() {
      for (const one of all) yield one.samples();
    },
    of: (values) => all.of(values),
  };
}

class CounterValue implements CounterSeries, Shown {
  readonly #labels: string;
  #value = 0;

  constructor(labels: string) {
    this.#labels = labels;
  }

  inc(by = 1): void {
    if (!(by >= 0)) throw badMetric(`A counter only ever grows: it cannot be increased by ${by}`);
    this.#value += by;
  }

  samples(): readonly Sample[] {
    return [{ suffix: '', labels: this.#labels, value: this.#value }];
  }
}

class GaugeValue implements GaugeSeries, Shown {
  readonly #labels: string;
  #value = 0;

  constructor(labels: string) {
    this.#labels = labels;
  }

  set(value: number): void {
    this.#value = Number(value);
  }

  inc(by = 1): void {
    this.#value += by;
  }

  dec(by = 1): void {
    this.#value -= by;
  }

  samples(): readonly Sample[] {
    return [{ suffix: '', labels: this.#labels, value: this.#value }];
  }
}

class HistogramValue implements HistogramSeries, Shown {
  readonly #labels: string;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: string, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    if (Number.isNaN(value)) throw badMetric('A histogram takes numbers only, not NaN');
    let index = 0;
    while (index < this.#bounds.length && value > (this.#bounds[index] as number)) index += 1;
    this.#counts[index] = (this.#counts[index] as number) + 1;
    this.#sum += value;
  }

  samples(): readonly Sample[] {
    const prefix = this.#labels === '' ? '' : `${this.#labels},`;
    let total = 0;
    const buckets = this.#counts.map((count, index) => {
      total += count;
      return { suffix: '_bucket', labels: `${prefix}le="${boundText(this.#bounds[index])}"`, value: total };
    });
    return [
      ...buckets,
      { suffix: '_sum', labels: this.#labels, value: this.#sum },
      { suffix: '_count', labels: this.#labels, value: total },
    ];
  }
}

/** As OpenMetrics wants it, with a point: and so in the other format, lest the series change with the reader. */
function boundText(bound: number | undefined): string {
  if (bound === undefined) return '+Inf';
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

export const counterFamily = (options: FamilyOptions) =>
  familyOf('counter', options, (labels) => new CounterValue(labels));
export const gaugeFamily = (options: FamilyOptions) => familyOf('gauge', options, (labels) => new GaugeValue(labels));
export const histogramFamily = (options: FamilyOptions, bounds: readonly number[]) =>
  familyOf('histogram', options, (labels) => new HistogramValue(labels, bounds));

/** A gauge that asks when it is looked at; what it has said before is forgotten. */
export function askedFamily(
  options: FamilyOptions,
  ask: () => Iterable<readonly [values: readonly string[], value: number]>,
  type: 'counter' | 'gauge' = 'gauge',
): Family {
  const { name, help, labels, limit } = options;
  let overflows = 0;
  return {
    name,
    help,
    type,
    labels,
    get overflows() {
      return overflows;
    },
    *series() {
      const all = new Series<GaugeValue>({ labels, limit, make: (text) => new GaugeValue(text) });
      for (const [values, value] of ask()) all.of(values).inc(value);
      overflows += all.overflows;
      for (const one of all) yield one.samples();
    },
  };
}
