/** Wrong values of settings. They are reported when an operator starts; later, they would go unnoticed. */
import { settings as makeSettings, type Settings } from '@kopf-ts/core';
import { didYouMean, fieldSelectorOf, labelSelectorOf, parseSelector } from '@kopf-ts/core/engine';

/** Settings whose type does not follow from their defaults. */
const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  'process.onStray': ['exit', 'log'],
  'posting.level': ['debug', 'info', 'warn', 'error'],
  'persistence.compat': ['kopf', undefined],
};
/** Settings that can be switched off. */
const OPTIONAL: ReadonlySet<string> = new Set([
  ...['process.ultimateExitingTimeout', 'watching.serverTimeout', 'watching.clientTimeout', 'watching.connectTimeout'],
  ...['watching.maxLineSize', 'queueing.workerLimit', 'background.instantExitTimeout'],
  ...['background.instantExitZeroTimeCycles', 'networking.requestTimeout', 'networking.connectTimeout'],
  ...['networking.headersTimeout', 'networking.maxAnswerSize'],
]);
/** Numbers without a default. */
const UNSET_NUMBERS: ReadonlySet<string> = new Set(['watching.clientTimeout', 'background.instantExitTimeout']);
/** Settings where numbers below zero are meaningful. */
const SIGNED: ReadonlySet<string> = new Set(['peering.priority']);
/** One number or several. */
const SERIES: ReadonlySet<string> = new Set(['queueing.errorDelays', 'networking.errorBackoffs']);

/** One sentence per mistake. */
export function settingMistakes(settings: Settings): readonly string[] {
  const ofTypes = Object.entries(makeSettings()).flatMap(([group, fields]) =>
    Object.entries(fields as Readonly<Record<string, unknown>>).flatMap(([field, usual]) => {
      const name = `${group}.${field}`;
      const value = (settings[group as keyof Settings] as unknown as Readonly<Record<string, unknown>>)[field];
      const wanted = value === usual ? undefined : whatIsWanted(name, usual, value);
      return wanted === undefined ? [] : [`The setting "${name}" must be ${wanted}, not ${shown(value)}.`];
    }),
  );
  return ofTypes.length > 0 ? ofTypes : selectorMistakes(settings.watching.selectors);
}

/** Mistakes in the selectors of kinds. */
function selectorMistakes(selectors: Settings['watching']['selectors']): readonly string[] {
  return Object.entries(selectors).flatMap(([kind, served]) => {
    try {
      parseSelector(kind);
      const isMapping = typeof served === 'object' && served !== null;
      const unknown = isMapping ? Object.keys(served).find((key) => key !== 'labels' && key !== 'fields') : kind;
      if (!isMapping || unknown !== undefined) throw new TypeError('it must be { labels, fields }, or one of them.');
      labelSelectorOf(served.labels);
      fieldSelectorOf(served.fields);
      return [];
    } catch (error) {
      return [`The setting "watching.selectors" is wrong for "${kind}": ${(error as Error).message}`];
    }
  });
}

/** The expected value in words; `undefined` if the value is right. */
function whatIsWanted(name: string, usual: unknown, value: unknown): string | undefined {
  const choices = CHOICES[name];
  if (choices !== undefined) {
    if (choices.includes(value)) return undefined;
    const texts = choices.map(String);
    return `one of ${texts.join(', ')}${typeof value === 'string' ? didYouMean(value, texts).replace(/^ (.*)\?$/, ' ($1?)') : ''}`;
  }
  if (value === undefined) return OPTIONAL.has(name) || usual === undefined ? undefined : 'set';
  if (SERIES.has(name)) return isSeries(value) ? undefined : 'a list of seconds';
  if (name === 'watching.serverTimeout') return isRange(value) ? undefined : 'a number of seconds, or { min, max }';
  if (typeof usual === 'number' || UNSET_NUMBERS.has(name))
    return isNumber(value, name) ? undefined : SIGNED.has(name) ? 'a number' : 'a number from 0 on';
  if (usual === undefined || typeof value === typeof usual) return undefined;
  return typeof usual === 'boolean' ? 'true or false' : `a ${typeof usual}`;
}

function isNumber(value: unknown, name = ''): value is number {
  return typeof value === 'number' && !Number.isNaN(value) && (value >= 0 || SIGNED.has(name));
}

function isSeries(value: unknown): boolean {
  // Iterables may be endless, so they are not checked.
  return Array.isArray(value) ? value.every((item) => isNumber(item)) : isNumber(value) || isIterable(value);
}

function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function isRange(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isNumber(value);
  const { min, max } = value as Readonly<Record<string, unknown>>;
  return isNumber(min) && isNumber(max) && min <= max;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
