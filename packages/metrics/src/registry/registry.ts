/** Where metrics are declared, and from where they are read. */
import {
  askedFamily,
  type CounterSeries,
  counterFamily,
  type Family,
  type GaugeSeries,
  gaugeFamily,
  type HistogramSeries,
  histogramFamily,
  type Labelled,
} from './instruments.js';
import { badMetric, type Declared, refuseBadMetric } from './mistakes.js';
import type { LabelValues } from './series.js';

/**
 * What a metric is called, and what it means.
 *
 * ```ts
 * const options: kopf.metrics.MetricOptions<'region'> = {
 *   name: 'shop_orders_total',
 *   help: 'Orders that were placed.',
 *   labels: ['region'],
 * };
 * ```
 */
export interface MetricOptions<L extends string = never> {
  /** By the conventions of Prometheus: `shop_orders_total`, `shop_order_duration_seconds`. Counters end with `_total`. */
  readonly name: string;
  readonly help: string;
  /** Only for what has few different values: never for names of objects. */
  readonly labels?: readonly L[] | undefined;
  /** How many combinations of values there may be; all others are counted as `other`. Default: 1000. */
  readonly limit?: number | undefined;
}

/**
 * A gauge can be asked instead of being set.
 *
 * ```ts
 * const queue: string[] = [];
 * const options: kopf.metrics.GaugeOptions = {
 *   name: 'shop_queue_length',
 *   help: 'Orders that wait.',
 *   ask: () => queue.length,
 * };
 * ```
 */
export interface GaugeOptions<L extends string = never> extends MetricOptions<L> {
  /** Called when somebody looks, without labels. It must be quick. If it throws, the gauge is left out. */
  readonly ask?: (() => number) | undefined;
}

/**
 * A histogram counts values up to these bounds.
 *
 * ```ts
 * const options: kopf.metrics.HistogramOptions = {
 *   name: 'shop_order_size_bytes',
 *   help: 'How large orders are.',
 *   buckets: [100, 1000, 10_000],
 * };
 * ```
 */
export interface HistogramOptions<L extends string = never> extends MetricOptions<L> {
  /** In ascending order. Default: for durations in seconds, from 5 ms to 5 minutes. */
  readonly buckets?: readonly number[] | undefined;
}

/**
 * With its methods, if there are no labels; else by `with()`.
 *
 * ```ts
 * const orders: kopf.metrics.Metric<kopf.metrics.CounterSeries, never> = kopf.metrics.counter({
 *   name: 'shop_refunds_total',
 *   help: 'Refunds.',
 * });
 * orders.inc();
 * ```
 */
export type Metric<S, L extends string> = Labelled<S, L> & ([L] extends [never] ? S : unknown);

/**
 * A set of metrics. Each operator has one of its own, and serves those of one more: of the default one, or of what it is
 * given in its options.
 *
 * ```ts
 * const registry: kopf.metrics.MetricRegistry = kopf.metrics.metricRegistry();
 * const orders = registry.counter({ name: 'shop_orders_total', help: 'Orders that were placed.' });
 * orders.inc();
 * await kopf.run({ metrics: { endpoint: 'http://:8081/metrics', registry } });
 * ```
 */
export interface MetricRegistry {
  counter<const L extends string = never>(options: MetricOptions<L>): Metric<CounterSeries, L>;
  gauge<const L extends string = never>(options: GaugeOptions<L>): Metric<GaugeSeries, L>;
  histogram<const L extends string = never>(options: HistogramOptions<L>): Metric<HistogramSeries, L>;
  /** All that are declared, as they are at the moment. */
  families(): readonly Family[];
}

const DEFAULT_LIMIT = 1000;
const DURATIONS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * An empty set of metrics.
 *
 * ```ts
 * const registry = kopf.metrics.metricRegistry();
 * const size = registry.gauge({ name: 'shop_stock_size', help: 'What is in stock.', labels: ['kind'] });
 * size.with({ kind: 'books' }).set(5);
 * ```
 */
export function metricRegistry(): MetricRegistry {
  return new Registry(false);
}

/** One whose metrics may have the names of the operator, and can be asked for several series at once. */
export function ownRegistry(): Registry {
  return new Registry(true);
}

type Values = readonly string[];

/** One of the operator's own: what it counts again and again is looked up once. */
export type OwnMetric<S, L extends string> = Metric<S, L> & {
  /** The way to the series of these labels. There is no such series until the way is gone for the first time. */
  kept(labels: LabelValues<L>): () => S;
};

export class Registry implements MetricRegistry {
  readonly #families = new Map<string, Family>();
  readonly #isOfOperator: boolean;

  constructor(isOfOperator: boolean) {
    this.#isOfOperator = isOfOperator;
  }

  counter<const L extends string = never>(options: MetricOptions<L>): OwnMetric<CounterSeries, L> {
    const family = this.#add(counterFamily(this.#checked('counter', options)));
    const only = onlyOf(family, options);
    return {
      with: byLabels(family, options),
      kept: keptByLabels(family, options),
      inc: (by?: number) => only().inc(by),
    } as unknown as OwnMetric<CounterSeries, L>;
  }

  gauge<const L extends string = never>(options: GaugeOptions<L>): OwnMetric<GaugeSeries, L> {
    const checked = this.#checked('gauge', options);
    const { ask } = options;
    if (ask !== undefined) {
      if (checked.labels.length > 0) throw badMetric(`The metric "${options.name}" is asked, so it cannot have labels`);
      this.#add(askedFamily(checked, () => [[[], Number(ask())]]));
    }
    const family = ask === undefined ? this.#add(gaugeFamily(checked)) : gaugeFamily(checked);
    const only = onlyOf(family, options);
    return {
      with: byLabels(family, options),
      kept: keptByLabels(family, options),
      set: (value: number) => only().set(value),
      inc: (by?: number) => only().inc(by),
      dec: (by?: number) => only().dec(by),
    } as unknown as OwnMetric<GaugeSeries, L>;
  }

  histogram<const L extends string = never>(options: HistogramOptions<L>): OwnMetric<HistogramSeries, L> {
    const { buckets = DURATIONS, name } = options;
    const isAscending = buckets.every(
      (bound, index) => Number.isFinite(bound) && bound > (buckets[index - 1] ?? -Infinity),
    );
    if (!isAscending) throw badMetric(`The buckets of the metric "${name}" must be numbers in ascending order`);
    const family = this.#add(histogramFamily(this.#checked('histogram', options), buckets));
    const only = onlyOf(family, options);
    return {
      with: byLabels(family, options),
      kept: keptByLabels(family, options),
      observe: (value: number) => only().observe(value),
    } as unknown as OwnMetric<HistogramSeries, L>;
  }

  /** Several series at once, whenever somebody looks. */
  asked(
    options: MetricOptions<string>,
    ask: () => Iterable<readonly [Values, number]>,
    type: 'counter' | 'gauge' = 'gauge',
  ): void {
    this.#add(askedFamily(this.#checked(type, options), ask, type));
  }

  families(): readonly Family[] {
    return [...this.#families.values()];
  }

  #checked(type: Declared['type'], { name, help, labels = [], limit = DEFAULT_LIMIT }: MetricOptions<string>) {
    refuseBadMetric({ name, help, labels, type }, this.#isOfOperator);
    if (!(limit >= 1)) throw badMetric(`The limit of the metric "${name}" must be a number from 1 on`);
    if (this.#families.has(name)) throw badMetric(`There is a metric "${name}" already`);
    return { name, help, labels, limit };
  }

  #add<F extends Family>(family: F): F {
    this.#families.set(family.name, family);
    return family;
  }
}

type Found<S> = Pick<Family, 'overflows'> & { of(values: Values): S };

/** The labels by their names, in whatever order. */
function byLabels<S>(family: Found<S>, options: MetricOptions<string>) {
  return (values: LabelValues<string>): S => family.of(textsOf(options, values));
}

/** The same, but looked up once. What goes to `other` is looked up each time, since it is counted each time. */
function keptByLabels<S>(family: Found<S>, options: MetricOptions<string>) {
  return (values: LabelValues<string>): (() => S) => {
    const texts = textsOf(options, values);
    let kept: S | undefined;
    return () => {
      if (kept !== undefined) return kept;
      const { overflows } = family;
      const found = family.of(texts);
      if (family.overflows === overflows) kept = found;
      return found;
    };
  };
}

function textsOf({ name, labels = [] }: MetricOptions<string>, values: LabelValues<string>): Values {
  const count = labels.length;
  const texts = new Array<string>(count);
  let missing = 0;
  // Without closures and copies: it is called for much of what happens.
  for (let index = 0; index < count; index++) {
    const value = values[labels[index] as string];
    if (value === undefined) missing += 1;
    texts[index] = typeof value === 'string' ? value : String(value);
  }
  let given = 0;
  for (const _ in values) given += 1;
  if (missing === 0 && given === count) return texts;
  throw badMetric(
    `The metric "${name}" has the labels ${labels.join(', ') || 'none'}, but it is given ` +
      `${Object.keys(values).join(', ') || 'none'}`,
  );
}

/** The only series of a metric without labels. */
function onlyOf<S>(family: Found<S>, { name, labels = [] }: MetricOptions<string>): () => S {
  if (labels.length === 0) {
    const only = family.of([]);
    return () => only;
  }
  return () => {
    throw badMetric(`The metric "${name}" has labels: give them by with({ ${labels.join(', ')} })`);
  };
}
