/** The series of one metric, by the values of their labels: never more of them than the limit. */

/**
 * Texts by the names of labels; numbers and booleans become texts.
 *
 * ```ts
 * const labels: kopf.metrics.LabelValues<'region' | 'size'> = { region: 'eu', size: 5 };
 * ```
 */
export type LabelValues<L extends string> = Readonly<Record<L, string | number | boolean>>;

/** Longer ones are cut: a label is for grouping, and not for telling stories. */
const MAX_LENGTH = 200;
/** What stands for all that is beyond the limit. */
const OTHER = 'other';
/** Of what comes from outside: readers of the text may take these for its end, or for something worse. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;

export interface SeriesOptions<S> {
  readonly labels: readonly string[];
  /** How many there may be. What is beyond goes into one more, whose labels are all `other`. */
  readonly limit: number;
  /** Makes one with these labels, as they are in the text: `region="eu",size="1"`. */
  readonly make: (labels: string) => S;
}

export class Series<S> implements Iterable<S> {
  readonly #options: SeriesOptions<S>;
  readonly #all = new Map<string, S>();
  /** The same by the values as they were given: most are given again and again. */
  readonly #given = new Map<string, S>();
  #other: S | undefined;
  #overflows = 0;

  constructor(options: SeriesOptions<S>) {
    this.#options = options;
  }

  /** How often something had to go into the series for everything else. */
  get overflows(): number {
    return this.#overflows;
  }

  *[Symbol.iterator](): Iterator<S> {
    yield* this.#all.values();
    if (this.#other !== undefined) yield this.#other;
  }

  /** In the order of the labels. */
  of(values: readonly string[]): S {
    // With their lengths: whatever is in them, others never give the same.
    let key = '';
    for (const value of values) key += `${value.length}:${value}`;
    const given = this.#given.get(key);
    if (given !== undefined) return given;
    const series = this.#byText(values);
    if (series !== this.#other && this.#given.size < this.#options.limit && key.length < MAX_LENGTH) {
      this.#given.set(key, series);
    }
    return series;
  }

  #byText(values: readonly string[]): S {
    const { labels, limit, make } = this.#options;
    const text = labels.map((label, index) => `${label}="${escaped(values[index] ?? '')}"`).join(',');
    let series = this.#all.get(text);
    if (series !== undefined) return series;
    if (this.#all.size >= limit) {
      this.#overflows += 1;
      this.#other ??= make(labels.map((label) => `${label}="${OTHER}"`).join(','));
      return this.#other;
    }
    series = make(text);
    this.#all.set(text, series);
    return series;
  }
}

/** The same text for the same value, in both formats. */
function escaped(value: string): string {
  const cut = value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH)}…` : value;
  const clean = (cut as string & { toWellFormed(): string }).toWellFormed().replace(CONTROLS, '\uFFFD');
  return clean.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
