/** What the registrars accept of the user, as types for the compiler and as checks for everyone else. */
import { RegistrationError } from '../../errors.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { Seconds } from '../../seams/clock.js';
import { type FieldPath, type FieldSpec, parseField, type ValueAt } from '../../values/fields.js';
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
  /** Under which the progress and the result are stored. By default, the function's name. */
  readonly id?: string | undefined;
  /** Passed to the handler as it is. */
  readonly param?: P | undefined;
}

export interface ExecutionOptions {
  /** What an arbitrary error means. By default, it depends on the kind of the handler. */
  readonly errors?: ErrorsMode | undefined;
  /** Since the first attempt, all attempts together. */
  readonly timeout?: Seconds | undefined;
  /** How many attempts at most. */
  readonly retries?: number | undefined;
  /** The pause after an arbitrary error. By default, `settings.execution.defaultBackoff`. */
  readonly backoff?: Backoff | undefined;
}

export type EventExecutionOptions = CalledOnceOptions | CalledAgainOptions;

interface CalledOnceOptions {
  /** What an arbitrary error means: nothing, since there may be many events; or `'retry'`, for another attempt. */
  readonly errors?: 'ignored' | undefined;
  readonly timeout?: undefined;
  readonly retries?: undefined;
  readonly backoff?: undefined;
}

interface CalledAgainOptions {
  /**
   * An arbitrary error means another attempt for the same event, which is remembered in memory alone. A newer event of the
   * object takes its place: the handler is called for that one, and not for the older one any more. `PermanentError` ends
   * the attempts.
   *
   * ```ts
   * kopf.on.event('pods', { errors: 'retry', backoff: 5, retries: 10 }, async ({ name, type }) => {
   *   await fetch(`https://example.com/pods/${name}`, { method: 'POST', body: type });
   * });
   * ```
   */
  readonly errors: 'retry';
  /** Since the first attempt for the event, all attempts together. */
  readonly timeout?: Seconds | undefined;
  /** How many attempts for one event at most. */
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
/** Of what type a value can be if nothing is known of it. Unlike `unknown`, it does not hide the callbacks' types. */
type AnyData = string | number | boolean | null | readonly unknown[] | { readonly [key: string]: unknown };
/** The values tell nothing of the objects' type: they are to fit it. Taken for a hint, a text would pass for an object. */
type FieldFilterOf<T, F extends string, K> = NoInfer<ValueFilterOf<FieldValue<T, F>, K>>;
type MetaFilterOf<K> = Readonly<
  Record<string, typeof PRESENT | typeof ABSENT | string | ((value: string | undefined, kwargs: K) => boolean)>
>;

/** A field that the type cannot have is demanded to be what no text is; compilers quote that, so it is a sentence. */
type KnownField<T, F extends string> = [ValueAt<T, F>] extends [never] ? NoSuchField<F> : unknown;
interface NoSuchField<F extends string> {
  readonly mistake: `There is no field "${F}" in objects of this type`;
}
/** Without a literal field, nothing is known of its values. */
type FieldValue<T, F extends string> = [F] extends [never] ? unknown : ValueAt<T, F>;

export interface FilterOptions<T extends object, F extends string, K> {
  readonly labels?: MetaFilterOf<K> | undefined;
  readonly annotations?: MetaFilterOf<K> | undefined;
  /** Anything else to decide by. */
  readonly when?: ((kwargs: K) => boolean) | undefined;
  /** `'spec.size'`, or a list of keys where the keys themselves have dots. */
  readonly field?: (F & KnownField<T, F>) | FieldPath | undefined;
  /** By default, the field must be present: before or after the change, for change handlers. */
  readonly value?: FieldFilterOf<T, F, K>;
}

export interface ChangeFilterOptions<T extends object, F extends string, K> {
  /** What the field was before the change. */
  readonly old?: FieldFilterOf<T, F, K>;
  /** What the field is after the change. */
  readonly new?: FieldFilterOf<T, F, K>;
}

export interface DeleteOnlyOptions {
  /** Whether the deletion does not have to wait for this handler. */
  readonly optional?: boolean | undefined;
}

export interface ResumeOnlyOptions {
  /** Whether to resume also the objects that are being deleted. */
  readonly deleted?: boolean | undefined;
  /**
   * `'unmodified'`: only for objects that nobody has changed since they were handled last. By default, the handler is
   * called together with those of the update as well, if the object was changed while there was no operator.
   */
  readonly only?: 'unmodified' | undefined;
}

/**
 * How the parents of a child are found: by its owners, as Kubernetes knows them (default); by a label with the name of the
 * parent; or by a function that returns the names of its parents, for which it gets the child as filters get objects.
 */
export interface RelatingOptions<C extends object = AnyObject> {
  readonly by?: 'owner' | { readonly label: string } | ((kwargs: RelatingKwargs<C>) => RelatedNames) | undefined;
}

/** What a function is given that tells whose children an object is. */
type RelatingKwargs<C extends object> = ObjectFilterKwargs<C, DefaultEnv>;

/** A kind that an object owns, and how that is told if not by owners. */
type Owned<C extends object> = SelectorSpec | (RelatingOptions<C> & { readonly kind: SelectorSpec });

export interface ReconcileOnlyOptions<K> {
  /** The kinds that belong to the object: it is called for their changes, and can ask for them by `children()`. */
  // biome-ignore lint/suspicious/noExplicitAny: a list may have kinds of any type
  readonly owns?: readonly Owned<any>[] | undefined;
  /** Other kinds that matter, with functions that return the names of the objects which they matter to. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly watches?: readonly Watched<any>[] | undefined;
  /**
   * Called instead when the object is being deleted. The object is held until it succeeds, by the finalizer of the operator.
   * After a restart, it may be called once more.
   */
  readonly cleanup?: ((kwargs: K) => Awaitable<unknown>) | undefined;
}

/**
 * A kind that matters to objects which do not own it.
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
  /** How long the daemon may take to exit on its own after `stopped`, before `signal` fires. */
  readonly cancellationBackoff?: Seconds | undefined;
  /** How long it may take after `signal`, before it is abandoned. */
  readonly cancellationTimeout?: Seconds | undefined;
  readonly cancellationPolling?: Seconds | undefined;
}

export interface TimerOnlyOptions<K> {
  readonly initialDelay?: Seconds | ((kwargs: K) => Seconds) | undefined;
  /** From the end of one call to the beginning of the next. */
  readonly interval?: Seconds | undefined;
  /** Only while the object is not changed for that long. */
  readonly idle?: Seconds | undefined;
  /** Whether the interval goes from beginning to beginning instead. */
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
   * A time that does not exist on the day when clocks are put forward comes at the end of the gap; one that exists twice when
   * they are put back comes once.
   */
  readonly schedule?: string | undefined;
  /** Of the schedule, such as `Europe/Berlin`. Default: UTC, wherever the operator runs. */
  readonly timeZone?: string | undefined;
  /**
   * What becomes of times at which the timer could not be called: the call before took too long, or the process was
   * suspended. `'skip'` (default): the next one is by the schedule. `'once'`: it is called at once, for all of them together.
   * What was missed while there was no operator, or before the object was there, is not known to anybody.
   */
  readonly missed?: 'skip' | 'once' | undefined;
}

/**
 * Labels of objects, as Kubernetes selects by them: all of the requirements must hold.
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
  /** All of them by default. Handlers are not called for others, whatever the configurations in the cluster say. */
  readonly operations?: readonly Operation[] | undefined;
  /** `'*'` for the object and all its subresources; by default, for the object alone. */
  readonly subresource?: string | undefined;
  /** Whether the webhook stays in the cluster after the operator exits. */
  readonly persistent?: boolean | undefined;
  /** Whether the handler changes anything besides its answer; it must not do so in dry runs. Default: false. */
  readonly sideEffects?: boolean | undefined;
  /** Whether to allow everything while the handler cannot be reached. Its own errors deny all the same. Default: false. */
  readonly ignoreFailures?: boolean | undefined;
  /** How long the API server waits for the answer: from 1 to 30. The handler has a bit less. Default: 30. */
  readonly timeoutSeconds?: Seconds | undefined;
  /** Only in the namespaces with these labels. It is the API server who checks it, as all below. */
  readonly namespaceSelector?: LabelSelector | undefined;
  /** Only for the objects with these labels, besides those in `labels`. */
  readonly objectSelector?: LabelSelector | undefined;
  readonly matchConditions?: readonly MatchCondition[] | undefined;
}

/** Options as they come at run time: the compiler has checked them, or nobody has. */
export type RawOptions = Readonly<Record<string, unknown>>;

export const IDENTITY = ['id', 'param'] as const;
export const EXECUTION = ['errors', 'timeout', 'retries', 'backoff'] as const;
export const FILTERS = ['labels', 'annotations', 'when', 'field', 'value'] as const;
export const CHANGE_FILTERS = ['old', 'new'] as const;

/** A handler under construction, in messages: `on.create('kopfexamples') of createFn`. */
export type Title = string;

/** Misspelt options do not pass in silence: a handler without the retries it asked for is worse than an error. */
export function refuseUnknown(title: Title, options: RawOptions, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw mistake(title, `there is no option "${name}"; known here: ${known.join(', ')}`, didYouMean(name, known));
  }
}

/** Ids are stored on the objects: neither an empty one, nor one that is not a text, would be found there again. */
export function requireId(title: Title, { id }: RawOptions): void {
  if (id !== undefined && (typeof id !== 'string' || id === '')) {
    throw mistake(title, `id must be a non-empty string, not ${shown(id)}; leave it out to use the function's name`);
  }
}

export interface ParsedExecution {
  readonly errors?: ErrorsMode;
  readonly timeout?: Seconds;
  readonly retries?: number;
  readonly backoff?: Backoff;
}

/** What the words for errors mean. */
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

/** Only those options that are given: the absent ones must not become keys with `undefined`. */
export function definedOnly(options: RawOptions, names: readonly string[]): Record<string, never> {
  return Object.fromEntries(
    names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
  ) as never;
}

/**
 * Decisions are made at once: a promise is not an answer, and would pass for a "yes" whatever it promises. And a function
 * that returns nothing has forgotten to.
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

/** Endless ones are not: no date is that far, so that they could not be stored. */
function isDuration(value: unknown): value is Seconds {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** A wrong value in a message; some values cannot be converted to texts at all. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return isMapping(value) ? 'an object' : String(value);
}

export function mistake(title: Title, problem: string, advice = ''): RegistrationError {
  return new RegistrationError(`${title}: ${problem}.${advice}`);
}
