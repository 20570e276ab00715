/**
 * Conditions in the status of an object. They go into the patch as a function: lists cannot be merged, and the conditions
 * of others must not be lost, whoever else writes them meanwhile.
 */
import { ContextError, KopfError } from '../../errors.js';
import type { Clock } from '../../seams/clock.js';
import { deepCopy, deepFreeze, getOwn, isMapping, type Mapping } from '../../values/json.js';
import type { AnyObject } from '../../values/objects/body.js';
import {
  type Condition,
  conditionsIn,
  putCondition,
  type WantedCondition,
} from '../../values/objects/status-conditions.js';
import type { PatchFn } from '../../values/patches/patch.js';
import { currentContext } from '../context.js';

/**
 * What a condition is told with.
 *
 * ```ts
 * const options: kopf.ConditionOptions = { reason: 'PodsMissing', message: '1 of 3 pods is running.' };
 * ```
 */
export interface ConditionOptions<Reason extends string = string> {
  /** A word in CamelCase, for programs. By default, `Ready` for `true`, `NotReady` for `false`, `Unknown`. */
  readonly reason?: Reason | undefined;
  /** A text for people. By default, there is none. */
  readonly message?: string | undefined;
  /** By default, the generation of the body. `null` where the schema of the kind does not permit it. */
  readonly observedGeneration?: number | null | undefined;
}

/**
 * Conditions of one object, to be read and set. What is read is what the object will have when the patch is sent.
 *
 * ```ts
 * const isUsable = (all: kopf.Conditions): boolean => all.is('Ready') && !all.is('Degraded');
 * ```
 */
export interface Conditions<C extends object = Condition> extends Iterable<Readonly<C>> {
  /** The condition, if the object has it. */
  get(type: TypeOf<C>): Readonly<C> | undefined;
  /** Whether the condition is there and has this status; `true` if none is given. */
  is(type: TypeOf<C>, status?: boolean | 'Unknown'): boolean;
  /**
   * Says how it is now. The time of the transition changes only with the status; and if all is as it was, nothing is
   * written. That is decided when the patch is sent, by the newest state of the object.
   */
  set(type: TypeOf<C>, status: boolean | 'Unknown', options?: ConditionOptions<ReasonOf<C>>): this;
  remove(type: TypeOf<C>): this;
}

/** What conditions are written into: the `patch` of any handler. */
interface PatchWithFns {
  readonly merge: Mapping;
  // biome-ignore lint/suspicious/noExplicitAny: a patch is of any type of objects
  readonly fns: PatchFn<any>[];
}

type IsAny<T> = 0 extends 1 & T ? true : false;
type ItemOf<List> = IsAny<List> extends true ? Condition : List extends readonly (infer C)[] ? Known<C> : Condition;
type Known<C> = IsAny<C> extends true ? Condition : C extends { readonly type: string } ? C : Condition;
type InStatus<S> =
  IsAny<S> extends true
    ? Condition
    : S extends { readonly conditions?: infer List }
      ? ItemOf<NonNullable<List>>
      : Condition;

/** The type of the conditions in an object of that type. */
type ConditionIn<B> = B extends { readonly status?: infer S } ? InStatus<NonNullable<S>> : Condition;
type TypeOf<C> = C extends { readonly type: infer Type extends string } ? Type : string;
type ReasonOf<C> = C extends { readonly reason?: infer Reason } ? Extract<Reason, string> : string;

/** As Kubernetes limits it. */
const LONGEST_MESSAGE = 32_768;

/**
 * Conditions of the object in `status.conditions`: as they are, and as they are to be. It works in all handlers of
 * objects, by their `patch` and `body`. The types of the conditions are known if the type of the status tells them.
 *
 * ```ts
 * kopf.on.update('kopfexamples', async ({ patch, body }) => {
 *   const ready = kopf.conditions(patch, body);
 *   const { ok } = await fetch('https://example.com/health');
 *   if (ok) ready.set('Ready', true);
 *   else ready.set('Ready', false, { reason: 'Unhealthy', message: 'The health check has failed.' });
 * });
 * ```
 *
 * @param options the clock to use, where it is called outside of handlers.
 */
export function conditions<B extends object>(
  patch: PatchWithFns,
  body: B,
  options: { readonly clock?: Pick<Clock, 'utc'> | undefined } = {},
): Conditions<ConditionIn<B>> {
  refuseOthers(patch, body);
  const writer: Conditions<Mapping> = {
    [Symbol.iterator]: () => conditionsAfter(patch, body)[Symbol.iterator](),
    get: (type) => conditionsAfter(patch, body).find((each) => each['type'] === type),
    is: (type, status = true) => writer.get(type)?.['status'] === statusText(type, status),
    set(type, status, given = {}) {
      const { reason, message = '', observedGeneration = generationOf(body) } = checked(type, given);
      const clock = options.clock ?? clockOfContext();
      put(patch, type, {
        status: statusText(type, status),
        reason: reason ?? defaultReason(type, status),
        message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message,
        observedGeneration,
        time: `${clock.utc().toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`,
      });
      return writer;
    },
    remove(type) {
      put(patch, type, undefined);
      return writer;
    },
  };
  return writer as unknown as Conditions<ConditionIn<B>>;
}

/** In JavaScript, they are easily taken for each other. */
function refuseOthers(patch: unknown, body: unknown): void {
  const isPatch = typeof patch === 'object' && patch !== null && Array.isArray((patch as Partial<PatchWithFns>).fns);
  const isBody = typeof body === 'object' && body !== null && !Array.isArray((body as Partial<PatchWithFns>).fns);
  if (isPatch && isBody) return;
  throw new KopfError(
    'conditions() takes the patch and the body of a handler, in this order: conditions(patch, body).',
    {
      code: CODE,
    },
  );
}

/** As Kubernetes wants it. */
const REASON = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

function checked(type: string, options: ConditionOptions): ConditionOptions {
  const { reason, message = '' }: { reason?: unknown; message?: unknown } = isMapping(options) ? options : {};
  const problem = !isMapping(options)
    ? `is set with { reason, message }, not with ${describe(options)}`
    : reason !== undefined && !(typeof reason === 'string' && REASON.test(reason))
      ? `has the reason ${describe(reason)}, but that must be a word in CamelCase; sentences are for the message`
      : typeof message !== 'string'
        ? `must have a text as its message, not ${describe(message)}`
        : undefined;
  if (problem === undefined) return options;
  throw new KopfError(`The condition '${type}' ${problem}.`, { code: CODE });
}

type Wanted = Map<string, WantedCondition | undefined>;

interface Written {
  readonly wanted: Wanted;
  /** In which call: each handler answers for what it has asked for. */
  readonly by: unknown;
}

const written = new WeakMap<PatchFn, Written>();

/** Whether the function of a patch is one that sets conditions. */
export function setsConditions(fn: PatchFn): boolean {
  return written.has(fn);
}

function put(patch: PatchWithFns, type: string, condition: WantedCondition | undefined): void {
  if (typeof type !== 'string' || type === '') {
    throw new KopfError(`The type of a condition is a word, such as 'Ready', not ${describe(type)}.`, { code: CODE });
  }
  const by = currentContext();
  const last = patch.fns.findLast((fn: PatchFn) => written.has(fn));
  const latest = last && written.get(last);
  if (latest === undefined || latest.by !== by) {
    const wanted: Wanted = new Map([[type, condition]]);
    const setConditions: PatchFn = (object) => putAll(object, wanted);
    written.set(setConditions, { wanted, by });
    patch.fns.push(setConditions);
    return;
  }
  const earlier = latest.wanted.get(type);
  const isSame = earlier !== undefined && condition !== undefined && earlier.status === condition.status;
  latest.wanted.set(type, isSame ? { ...condition, time: earlier.time } : condition);
}

function putAll(object: AnyObject, wanted: Wanted): void {
  for (const [type, condition] of wanted) putCondition(object, type, condition);
}

/** As the patch makes them. Other functions of it are left alone: nobody knows what else they do. */
function conditionsAfter({ merge, fns }: PatchWithFns, body: object): readonly Mapping[] {
  const status = getOwn(merge, 'status');
  const isReplaced = status !== undefined && !isMapping(status);
  const merged = isMapping(status) ? getOwn(status, 'conditions') : undefined;
  const before = isReplaced ? [] : merged === undefined ? conditionsIn(body) : conditionsIn({ status });
  const draft: AnyObject = { status: { conditions: deepCopy(before) } };
  for (const fn of fns) {
    const known = written.get(fn);
    if (known !== undefined) putAll(draft, known.wanted);
  }
  return deepFreeze(conditionsIn(draft).filter(isMapping));
}

function statusText(type: string, status: unknown): Condition['status'] {
  if (status === true) return 'True';
  if (status === false) return 'False';
  if (status === 'Unknown') return 'Unknown';
  throw new KopfError(`The condition '${type}' is true, false or 'Unknown', not ${describe(status)}.`, { code: CODE });
}

const CODE = 'KOPF_CONDITION';

function describe(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Kubernetes wants some reason. */
function defaultReason(type: string, status: unknown): string {
  return status === true ? type : status === false ? `Not${type}` : 'Unknown';
}

function generationOf(body: object): number | undefined {
  const { metadata } = body as AnyObject;
  return typeof metadata?.generation === 'number' ? metadata.generation : undefined;
}

function clockOfContext(): Pick<Clock, 'utc'> {
  const clock = currentContext()?.clock;
  if (clock !== undefined) return clock;
  throw new ContextError(
    'conditions().set() is called outside of any handler, and does not know the time. Call it from a handler, or from ' +
      'what a handler calls or awaits; elsewhere, give it a clock: conditions(patch, body, { clock }).',
  );
}
