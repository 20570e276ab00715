/** The arguments of a handler: the kwargs of its cause, and those of the current call. */
import { KopfError } from '../errors.js';
import type { Cause } from '../intents/causes.js';
import type { AnyHandler } from '../intents/handlers.js';
import { causeKwargs, fieldOf, type Kwargs } from '../intents/kwargs.js';
import type { Progress } from '../intents/progress.js';
import type { Relation } from '../intents/relations.js';
import type { Seconds } from '../seams/clock.js';
import { reduceDiff } from '../values/diff.js';
import { resolveField } from '../values/fields.js';
import type { Body } from '../values/objects/body.js';
import type { SelectorSpec } from '../values/resources/selector.js';

/** The history of attempts; `HandlerState` implements it. */
export interface AttemptState {
  readonly retries: number;
  readonly started: Date;
  readonly runtime: Seconds;
}

/** The cause as the handler sees it: a change handler with a field sees the changes of that field. */
export function causeFor<C extends Cause>(cause: C, handler: AnyHandler): C {
  if (cause.kind !== 'changing' || handler.kind !== 'change') return cause;
  const field = fieldOf(handler);
  if (field === undefined) return cause;
  const [old, new_] = [resolveField(cause.old, field), resolveField(cause.new, field)];
  return {
    ...cause,
    old: old ?? undefined,
    new: new_ ?? undefined,
    diff: reduceDiff(cause.diff, field),
  };
}

const SOURCE: unique symbol = Symbol('kopf-ts.call');

/** Provides the data of the call, only on demand. */
interface CallSource {
  readonly signal: AbortSignal;
  /** As the handler sees it. */
  readonly cause?: Cause;
  readonly handler?: AnyHandler;
  readonly attempt?: AttemptState;
  readonly progress?: Progress | undefined;
}

type OfCall = ThisType<{ readonly [SOURCE]: CallSource }>;

/** One for all kwargs: with a getter of its own in each of them, the engine would take them for dictionaries. */
const SIGNAL: PropertyDescriptor & OfCall = {
  get() {
    return this[SOURCE].signal;
  },
  enumerable: true,
  configurable: true,
};
/** The families of handlers whose changes of the object are watched by the breaker. */
const PACED: Partial<Record<AnyHandler['kind'], 'change' | 'watch'>> = {
  change: 'change',
  reconcile: 'change',
  child: 'change',
  watch: 'watch',
};

const API: PropertyDescriptor & OfCall = {
  get() {
    const { cause, signal, handler, attempt } = this[SOURCE];
    const namespace = cause === undefined || cause.kind === 'activity' ? undefined : cause.body.metadata?.namespace;
    // Retries are paced by the handlers themselves.
    const kind = handler === undefined ? undefined : PACED[handler.kind];
    const by =
      handler !== undefined && kind !== undefined && attempt?.retries === 0 ? { kind, id: handler.id } : undefined;
    const dryRun = cause?.kind === 'webhook' && cause.dryrun;
    return cause?.apiFor?.({ namespace, signal, by, dryRun });
  },
  enumerable: true,
  configurable: true,
};

/** The newest known children of the object. */
const CHILDREN: PropertyDescriptor & OfCall = {
  get() {
    const { cause } = this[SOURCE];
    if (cause === undefined || !('resource' in cause)) return undefined;
    const own = cause.kind === 'related' ? cause.relation : undefined;
    return (kind: SelectorSpec | Relation | undefined = own): readonly Body[] => {
      if (kind === undefined) throw new KopfError('Of which kind are the children to be? Name it: children(…).');
      return cause.children?.(cause, kind) ?? [];
    };
  },
  enumerable: true,
  configurable: true,
};

const PROGRESS: PropertyDescriptor & OfCall = {
  get() {
    return this[SOURCE].progress;
  },
  enumerable: true,
  configurable: true,
};

/**
 * The kwargs of a call. An index wins over all of them, and those of the cause win over those of the attempt. The
 * signal, the verbs and the progress are created on demand: creating them is expensive.
 */
export function callKwargs(cause: Cause, handler: AnyHandler, attempt: AttemptState, source: CallSource): Kwargs {
  const kwargs: Kwargs & { [SOURCE]?: CallSource } = causeKwargs(cause);
  kwargs[SOURCE] = source;
  // Added one by one, not spread: those of daemons stay for long, and the engine keeps more of what is spread.
  if (!Object.hasOwn(kwargs, 'param')) kwargs['param'] = handler.param;
  if (!Object.hasOwn(kwargs, 'retry')) kwargs['retry'] = attempt.retries;
  if (!Object.hasOwn(kwargs, 'started')) kwargs['started'] = attempt.started;
  if (!Object.hasOwn(kwargs, 'runtime')) kwargs['runtime'] = attempt.runtime;
  if (!Object.hasOwn(kwargs, 'signal')) Object.defineProperty(kwargs, 'signal', SIGNAL);
  if (cause.apiFor !== undefined && !Object.hasOwn(kwargs, 'api')) Object.defineProperty(kwargs, 'api', API);
  if ('children' in cause && cause.children !== undefined && !Object.hasOwn(kwargs, 'children')) {
    Object.defineProperty(kwargs, 'children', CHILDREN);
  }
  if (cause.kind === 'changing' && !Object.hasOwn(kwargs, 'progress')) {
    Object.defineProperty(kwargs, 'progress', PROGRESS);
  }
  if (cause.kind === 'daemon' && !Object.hasOwn(kwargs, 'stopped')) kwargs['stopped'] = cause.stopped;
  return kwargs;
}

/** The kwargs of filters, lifecycles, and delays of daemons: for the whole object rather than for a call. */
export function filterKwargs(cause: Cause): Kwargs {
  return causeKwargs(cause);
}
