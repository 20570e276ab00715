/** What metrics cannot be called, and what they cannot take. */
import { KopfError } from '@kopf-ts/core';

const NAME = /^[a-z_][a-z0-9_]*$/;
const LABEL = /^[a-z][a-z0-9_]*$/;
/** What the formats say themselves, or add to the names. */
const RESERVED_LABELS: ReadonlySet<string> = new Set(['le', 'quantile']);
const RESERVED_SUFFIXES = ['_bucket', '_count', '_sum', '_created', '_info'];
/** Of the operator itself. */
const RESERVED_PREFIXES = ['kopf_', 'process_', 'nodejs_'];

export interface Declared {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly type: 'counter' | 'gauge' | 'histogram';
}

/** Throws if there cannot be such a metric. The operator may use names that are refused to others. */
export function refuseBadMetric({ name, help, labels, type }: Declared, isOfOperator: boolean): void {
  const title = `The metric "${name}"`;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw badMetric(
      `${title} needs another name: of lower-case letters, digits and underscores, not beginning with a digit`,
    );
  }
  const prefix = RESERVED_PREFIXES.find((each) => name.startsWith(each));
  if (prefix !== undefined && !isOfOperator) {
    throw badMetric(`${title} needs another name: those with ${prefix} are of the operator itself`);
  }
  const isCounter = type === 'counter';
  if (isCounter !== name.endsWith('_total')) {
    throw badMetric(
      isCounter
        ? `${title} is a counter: its name must end with _total`
        : `${title} is no counter: its name must not end with _total`,
    );
  }
  const suffix = RESERVED_SUFFIXES.find((each) => name.endsWith(each));
  if (suffix !== undefined && !isOfOperator)
    throw badMetric(`${title} needs another name: ${suffix} at the end has a meaning of its own`);
  if (typeof help !== 'string' || help.trim() === '') throw badMetric(`${title} needs a text that explains it: help`);
  for (const label of labels) {
    if (!LABEL.test(label) || RESERVED_LABELS.has(label)) throw badMetric(`${title} cannot have a label "${label}"`);
  }
  if (new Set(labels).size < labels.length) throw badMetric(`${title} has a label twice`);
}

export function badMetric(message: string): KopfError {
  return new KopfError(`${message}.`, { code: 'KOPF_BAD_METRIC' });
}
