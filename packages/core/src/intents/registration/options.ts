/** The options that registrars accept: as types for the compiler, and as checks at run time. */
import { RegistrationError } from '../../errors.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { Seconds } from '../../seams/clock.js';
import { type FieldPath, type FieldSpec, parseField, type ValueAt } from '../../values/fields.js';
import { isStorableId } from '../../values/ids.js';
import { isMapping } from '../../values/json.js';
import type { AnyObject } from '../../values/objects/body.js';
import type { SelectorSpec } from '../../values/resources/selector.js';
import type { Operation } from '../../values/review.js';
import { didYouMean } from '../../values/suggestions.js';
import { ABSENT, type MetaFilter, PRESENT, type ValueFilter } from '../filters.js';
import type { Backoff, ErrorsMode, WhenFn } from '../handlers.js';
import type { DefaultEnv, ObjectFilterKwargs } from '../kwargs.js';
import type { RelatedNames } from '../relations.js';
import { neverReturns } from './source-texts.js';

export interface IdentityOptions<P> {
  /** The id under which progress and results are stored. By default, the function's name. */
  readonly id?: string | undefined;
  /** Passed to the handler as is. */
  readonly param?: P | undefined;
}

export interface ExecutionOptions {
  /** What an arbitrary error means. The default depends on the kind of handler. */
  readonly errors?: ErrorsMode | undefined;
  /** Counted from the first attempt, across all attempts. */
  readonly timeout?: Seconds | undefined;
  /** The maximum number of attempts. */
  readonly retries?: number | undefined;
  /** The pause after an arbitrary error. By default, `settings.execution.defaultBackoff`. */
  readonly backoff?: Backoff | undefined;
}

export type EventExecutionOptions = CalledOnceOptions | CalledAgainOptions;

interface CalledOnceOptions {
  /**
   * What an arbitrary error means: by default, it is ignored, since there may be many events; `'retry'` requests
   * another attempt.
   */
  readonly errors?: 'ignored' | undefined;
  readonly timeout?: undefined;
  readonly retries?: undefined;
  readonly backoff?: undefined;
}

interface CalledAgainOptions {
  /**
   * An arbitrary error means another attempt for the same event, which is remembered only in memory. A newer event of
   * the object replaces it: the handler is called for that one and no longer for the older one. `PermanentError` ends
   * the attempts.
   *
   * ```ts
   * kopf.on.event('pods', { errors: 'retry', backoff: 5, retries: 10 }, async ({ name, type }) => {
   *   await fetch(`https://example.com/pods/${name}`, { method: 'POST', body: type });
   * });
   * ```
   */
  readonly errors: 'retry';
  /** Counted from the first attempt for the event, across all attempts. */
  readonly timeout?: Seconds | undefined;
  /** The maximum number of attempts for one event. */
  readonly retries?: number | undefined;
  /** The pause after an arbitrary error. By default, `settings.execution.defaultBackoff`. */
  readonly backoff?: Backoff | undefined;
}

type ValueFilterOf<V, K> =
  | typeof PRESENT
  | typeof ABSENT
  | ((value: V | undefined, kwargs: K) => boolean)
  | (unknown extends V ? AnyData : V)
  | undefined;
/** The type of unknown values. Unlike `unknown`, it does not hide the callbacks' types. */
type AnyData = string | number | boolean | null | readonly unknown[] | { readonly [key: string]: unknown };
/** Filter values must not influence the inferred type of the objects: otherwise, a string would pass for an object. */
type FieldFilterOf<T, F extends string, K> = NoInfer<ValueFilterOf<FieldValue<T, F>, K>>;
type MetaFilterOf<K> = Readonly<
  Record<string, typeof PRESENT | typeof ABSENT | string | ((value: string | undefined, kwargs: K) => boolean)>
>;

/**
 * A field that the type cannot have must match a type that no string matches; compilers quote it, so it is a sentence.
 */
type KnownField<T, F extends string> = [ValueAt<T, F>] extends [never] ? NoSuchField<F> : unknown;
interface NoSuchField<F extends string> {
  readonly mistake: `There is no field "${F}" in objects of this type`;
}
/** Without a literal field, the type of its values is unknown. */
type FieldValue<T, F extends string> = [F] extends [never] ? unknown : ValueAt<T, F>;

export interface FilterOptions<T extends object, F extends string, K> {
  readonly labels?: MetaFilterOf<K> | undefined;
  readonly annotations?: MetaFilterOf<K> | undefined;
  /** Any other condition. */
  readonly when?: ((kwargs: K) => boolean) | undefined;
  /** `'spec.size'`, or a list of keys if the keys contain dots. */
  readonly field?: (F & KnownField<T, F>) | FieldPath | undefined;
  /** By default, the field must be present: before or after the change, for change handlers. */
  readonly value?: FieldFilterOf<T, F, K>;
}

export interface ChangeFilterOptions<T extends object, F extends string, K> {
  /** The value of the field before the change. */
  readonly old?: FieldFilterOf<T, F, K>;
  /** The value of the field after the change. */
  readonly new?: FieldFilterOf<T, F, K>;
}

export interface DeleteOnlyOptions {
  /** Whether deletion may proceed without waiting for this handler. */
  readonly optional?: boolean | undefined;
}

export interface ResumeOnlyOptions {
  /** Whether to resume objects that are being deleted, too. */
  readonly deleted?: boolean | undefined;
  /**
   * `'unmodified'`: only for objects without changes since they were last handled. By default, if the object was
   * changed while there was no operator, the handler is called along with those of the update.
   */
  readonly only?: 'unmodified' | undefined;
}

/**
 * How to find the parents of a child: by its owner references (default); by a label with the name of the parent; or by
 * a function that returns the names of its parents, and gets the child as filters get objects.
 */
export interface RelatingOptions<C extends object = AnyObject> {
  readonly by?: 'owner' | { readonly label: string } | ((kwargs: RelatingKwargs<C>) => RelatedNames) | undefined;
}

/** The arguments of a function that finds the parents of an object. */
type RelatingKwargs<C extends object> = ObjectFilterKwargs<C, DefaultEnv>;

/** A kind that an object owns, and how to find the parents if not by owner references. */
type Owned<C extends object> = SelectorSpec | (RelatingOptions<C> & { readonly kind: SelectorSpec });

export interface ReconcileOnlyOptions<K> {
  /**
   * The kinds that belong to the object: the handler is called for their changes, and can list them by `children()`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a list may have kinds of any type
  readonly owns?: readonly Owned<any>[] | undefined;
  /** Other relevant kinds, with functions that return the names of the affected objects. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly watches?: readonly Watched<any>[] | undefined;
  /**
   * Called instead when the object is being deleted. The operator's finalizer holds the object until it succeeds. After
   * a restart, it may be called once more.
   */
  readonly cleanup?: ((kwargs: K) => Awaitable<unknown>) | undefined;
}

/**
 * A kind that affects objects without being owned by them.
 *
 * ```ts
 * const secrets: kopf.Watched = { kind: 'secrets', map: ({ labels }) => labels['example.com/used-by'] };
 * kopf.on.reconcile('kopfexamples', { watches: [secrets] }, ({ children, logger }) => {
 *   logger.info(`${children('secrets').length} secrets are in use.`);
 * });
 * ```
 */
export interface Watched<C extends object = AnyObject> {
  readonly kind: SelectorSpec;
  readonly map: (kwargs: RelatingKwargs<C>) => RelatedNames;
}

export interface DaemonOnlyOptions<K> {
  readonly initialDelay?: Seconds | ((kwargs: K) => Seconds) | undefined;
  /** How long the daemon may take to exit on its own after `stopped` before `signal` is aborted. */
  readonly cancellationBackoff?: Seconds | undefined;
  /** How long it may take after `signal` before it is abandoned. */
  readonly cancellationTimeout?: Seconds | undefined;
  readonly cancellationPolling?: Seconds | undefined;
}

export interface TimerOnlyOptions<K> {
  readonly initialDelay?: Seconds | ((kwargs: K) => Seconds) | undefined;
  /** From the end of one call to the start of the next. */
  readonly interval?: Seconds | undefined;
  /** Only while the object has not changed for that long. */
  readonly idle?: Seconds | undefined;
  /** Whether the interval runs from start to start instead. */
  readonly sharp?: boolean | undefined;
  /**
   * At these times instead of the interval, in the notation of cron: minute, hour, day, month, weekday; with seconds first
   * if there are six fields; or `@hourly`, `@daily` and so on.
   *
   * ```ts
   * kopf.timer('kopfexamples', { schedule: '30 2 * * MON-FRI', timeZone: 'Europe/Berlin' }, ({ logger }) => {
   *   logger.info('Half past two in Berlin, and nobody is at work yet.');
   * });
   * ```
   *
   * When clocks go forward, a skipped time comes at the end of the gap; when they go back, a repeated time comes once.
   */
  readonly schedule?: string | undefined;
  /** The time zone of the schedule, such as `Europe/Berlin`. Default: UTC, wherever the operator runs. */
  readonly timeZone?: string | undefined;
  /**
   * What to do about missed times, because the previous call took too long or the process was suspended. `'skip'`
   * (default): wait for the next time of the schedule. `'once'`: call it at once, for all missed times together. Times
   * before the operator started or before the object existed do not count.
   */
  readonly missed?: 'skip' | 'once' | undefined;
}

/**
 * A label selector, as in Kubernetes: all of the requirements must hold.
 *
 * ```ts
 * const namespaceSelector: kopf.LabelSelector = { matchLabels: { team: 'storage' } };
 * kopf.on.validate('kopfexamples', { namespaceSelector }, ({ spec }) => {
 *   if (spec.size === undefined) throw new kopf.AdmissionError('The size is missing.', { code: 400 });
 * });
 * ```
 */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelRequirement[] | undefined;
}

/**
 * One requirement on the labels of objects.
 *
 * ```ts
 * const notForTests: kopf.LabelRequirement = { key: 'stage', operator: 'NotIn', values: ['test', 'dev'] };
 * ```
 */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** For `In` and `NotIn`. */
  readonly values?: readonly string[] | undefined;
}

/**
 * A condition in CEL, which the API server checks before it calls a webhook.
 *
 * ```ts
 * const byPeople: kopf.MatchCondition = {
 *   name: 'by-people',
 *   expression: '!("system:nodes" in request.userInfo.groups)',
 * };
 * kopf.on.validate('kopfexamples', { matchConditions: [byPeople] }, () => undefined);
 * ```
 */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface AdmissionOnlyOptions {
  /** Default: all operations. Handlers are not called for others, whatever the configurations in the cluster say. */
  readonly operations?: readonly Operation[] | undefined;
  /** `'*'` for the object and all its subresources; by default, only the object itself. */
  readonly subresource?: string | undefined;
  /** Whether the webhook stays in the cluster after the operator exits. */
  readonly persistent?: boolean | undefined;
  /** Whether the handler has side effects other than its response; it must have none in dry runs. Default: false. */
  readonly sideEffects?: boolean | undefined;
  /** Whether to allow all requests while the handler cannot be reached. Its own errors still deny. Default: false. */
  readonly ignoreFailures?: boolean | undefined;
  /** How long the API server waits for the response: from 1 to 30. The handler has slightly less. Default: 30. */
  readonly timeoutSeconds?: Seconds | undefined;
  /** Only in namespaces with these labels. The API server checks it, and everything below. */
  readonly namespaceSelector?: LabelSelector | undefined;
  /** Only for objects with these labels, in addition to `labels`. */
  readonly objectSelector?: LabelSelector | undefined;
  readonly matchConditions?: readonly MatchCondition[] | undefined;
}

/** Options as they arrive at run time: possibly never seen by a compiler. */
export type RawOptions = Readonly<Record<string, unknown>>;

export const IDENTITY = ['id', 'param'] as const;
export const EXECUTION = ['errors', 'timeout', 'retries', 'backoff'] as const;
export const FILTERS = ['labels', 'annotations', 'when', 'field', 'value'] as const;
export const CHANGE_FILTERS = ['old', 'new'] as const;

/** A handler under construction, for messages: `on.create('kopfexamples') of createFn`. */
export type Title = string;

/** Misspelt options are refused: a handler without the retries it asked for is worse than an error. */
export function refuseUnknown(title: Title, options: RawOptions, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw mistake(title, `there is no option "${name}"; known here: ${known.join(', ')}`, didYouMean(name, known));
  }
}

/** Ids are stored on the objects: an empty one, or one that is not a string, could not be found there again. */
export function requireId(title: Title, { id }: RawOptions): void {
  if (id !== undefined && (typeof id !== 'string' || id === '')) {
    throw mistake(title, `id must be a non-empty string, not ${shown(id)}; leave it out to use the function's name`);
  }
}

/** The progress of such handlers is stored by their ids. */
export function requireStorableId(title: Title, id: string): void {
  if (isStorableId(id)) return;
  const hint = 'progress is stored by it in annotations, whose names have no spaces, quotes or line breaks';
  throw mistake(title, `the id ${JSON.stringify(id)} must be a word: ${hint}`);
}

export interface ParsedExecution {
  readonly errors?: ErrorsMode;
  readonly timeout?: Seconds;
  readonly retries?: number;
  readonly backoff?: Backoff;
}

/** The meanings of the words for errors. */
export type ErrorWords = Readonly<Record<string, ErrorsMode>>;

const ERRORS: ErrorWords = { ignored: 'ignored', temporary: 'temporary', permanent: 'permanent' };

export function executionFrom(title: Title, options: RawOptions, words = ERRORS): ParsedExecution {
  const { errors, backoff, retries } = options;
  const mode = typeof errors === 'string' && Object.hasOwn(words, errors) ? words[errors] : undefined;
  if (errors !== undefined && mode === undefined) {
    throw mistake(title, `errors must be one of ${Object.keys(words).join(', ')}, not ${shown(errors)}`);
  }
  requireDuration(title, options, 'timeout');
  if (retries !== undefined && !(Number.isInteger(retries) && isDuration(retries))) {
    throw mistake(title, `retries must be a whole number of attempts, not ${shown(retries)}`);
  }
  if (isMapping(backoff)) requireGrowingBackoff(title, backoff);
  else requireDuration(title, options, 'backoff');
  const rest = definedOnly(options, EXECUTION);
  return mode === undefined ? rest : { ...rest, errors: mode };
}

function requireGrowingBackoff(title: Title, backoff: RawOptions): void {
  refuseUnknown(`${title}, backoff`, backoff, ['min', 'max', 'factor', 'jitter']);
  const { min, max, factor = 2, jitter = 0 } = backoff;
  const isGrowing = isDuration(min) && isDuration(max) && min <= max && isDuration(factor) && factor >= 1;
  if (!isGrowing || !isDuration(jitter) || jitter > 1) {
    throw mistake(title, 'backoff must be { min, max } in seconds with min ≤ max, factor ≥ 1, jitter from 0 to 1');
  }
}

export interface ParsedFilters {
  readonly labels?: MetaFilter;
  readonly annotations?: MetaFilter;
  readonly when?: WhenFn;
  readonly field?: FieldPath;
  readonly value?: ValueFilter<unknown>;
  readonly old?: ValueFilter<unknown>;
  readonly new?: ValueFilter<unknown>;
}

export function filtersFrom(title: Title, options: RawOptions): ParsedFilters {
  const { when, value, old, new: new_ } = options;
  requireMetaFilter(title, 'labels', options['labels']);
  requireMetaFilter(title, 'annotations', options['annotations']);
  if (when !== undefined && typeof when !== 'function') {
    throw mistake(title, `when must be a function that returns a boolean, not ${shown(when)}`);
  }
  for (const name of ['when', 'value', 'old', 'new']) requireAnswering(title, name, options[name]);
  const field = fieldFrom(title, options['field']);
  if (field.length === 0 && (value !== undefined || old !== undefined || new_ !== undefined)) {
    throw mistake(title, 'Value/old/new filters are specified without a mandatory field; add the field');
  }
  if (value !== undefined && (old !== undefined || new_ !== undefined)) {
    throw mistake(title, 'Either value or old/new can be defined, not both');
  }
  const rest = definedOnly(options, ['labels', 'annotations', 'when', 'value', 'old', 'new']);
  return field.length === 0 ? rest : { ...rest, field };
}

function requireMetaFilter(title: Title, name: string, filter: unknown): void {
  if (filter === undefined) return;
  if (!isMapping(filter)) throw mistake(title, `${name} must be an object of keys with their filters`);
  for (const [key, wanted] of Object.entries(filter)) {
    const isCallback = typeof wanted === 'function';
    if (!isCallback && typeof wanted !== 'string' && wanted !== PRESENT && wanted !== ABSENT) {
      throw mistake(
        title,
        `the filter of ${name} "${key}" is ${shown(wanted)}; use a string, a function, PRESENT or ABSENT`,
      );
    }
    requireAnswering(title, `the filter of ${name} "${key}"`, wanted);
  }
}

function fieldFrom(title: Title, spec: unknown): FieldPath {
  const isText = typeof spec === 'string';
  const isList = Array.isArray(spec) && spec.every((key) => typeof key === 'string');
  if (spec !== undefined && spec !== null && !isText && !isList) {
    throw mistake(title, `field must be a dotted string or a list of strings, not ${shown(spec)}`);
  }
  const field = parseField(spec as FieldSpec);
  if (isText && field.includes('')) {
    throw mistake(
      title,
      `there is nothing between the dots of the field "${spec}"; if a key has dots, use a list of keys`,
    );
  }
  return field;
}

/** Only the given options: absent ones must not become keys with `undefined`. */
export function definedOnly(options: RawOptions, names: readonly string[]): Record<string, never> {
  return Object.fromEntries(
    names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
  ) as never;
}

/**
 * Filters must be synchronous: a promise would pass for a "yes", whatever it resolves to. A function that never returns
 * anything is a mistake, too.
 */
export function requireAnswering(title: Title, name: string, callback: unknown): void {
  if (typeof callback !== 'function') return;
  if (Object.prototype.toString.call(callback) === '[object AsyncFunction]') {
    throw mistake(title, `${name} must be a synchronous function: it cannot be waited for`);
  }
  if (neverReturns(callback)) {
    throw mistake(title, `${name} never returns anything; with braces, a function needs "return"`);
  }
}

export function requireDuration(title: Title, options: RawOptions, name: string): void {
  const value = options[name];
  if (value !== undefined && !isDuration(value)) {
    throw mistake(title, `${name} must be a number of seconds, not ${shown(value)}`);
  }
}

export function requireFlag(title: Title, options: RawOptions, name: string): void {
  const value = options[name];
  if (value !== undefined && typeof value !== 'boolean') {
    throw mistake(title, `${name} must be true or false, not ${shown(value)}`);
  }
}

/** Infinite durations are refused: no such date could be stored. */
function isDuration(value: unknown): value is Seconds {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** A wrong value in a message; some values cannot be converted to strings at all. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return isMapping(value) ? 'an object' : String(value);
}

export function mistake(title: Title, problem: string, advice = ''): RegistrationError {
  return new RegistrationError(`${title}: ${problem}.${advice}`);
}
