/** What a handler is given: the kwargs of its cause, and those of this very call. */
import type { Cause } from '../intents/causes.js';
import type { AnyHandler } from '../intents/handlers.js';
import { causeKwargs, fieldOf, type Kwargs } from '../intents/kwargs.js';
import type { Seconds } from '../seams/clock.js';
import { reduceDiff } from '../values/diff.js';
import { resolveField } from '../values/fields.js';

/** What is known of the attempts made so far; a `HandlerState` is that. */
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

const SOURCE: unique symbol = Symbol('kopf-ts.signal');

/** One for all kwargs: with a getter of its own in each of them, the engine would take them for dictionaries. */
const SIGNAL: PropertyDescriptor & ThisType<{ readonly [SOURCE]: { readonly signal: AbortSignal } }> = {
  get() {
    return this[SOURCE].signal;
  },
  enumerable: true,
  configurable: true,
};

/**
 * Kwargs of a call. An index wins over all of them, and those of the cause win over those of the attempt. The signal
 * comes to be when it is asked for: making signals is dear.
 */
export function callKwargs(
  cause: Cause,
  handler: AnyHandler,
  attempt: AttemptState,
  source: { readonly signal: AbortSignal },
): Kwargs {
  const kwargs: Kwargs & { [SOURCE]?: typeof source } = causeKwargs(cause);
  // Added one by one, not spread: those of daemons stay for long, and the engine keeps more of what is spread.
  if (!Object.hasOwn(kwargs, 'param')) kwargs['param'] = handler.param;
  if (!Object.hasOwn(kwargs, 'retry')) kwargs['retry'] = attempt.retries;
  if (!Object.hasOwn(kwargs, 'started')) kwargs['started'] = attempt.started;
  if (!Object.hasOwn(kwargs, 'runtime')) kwargs['runtime'] = attempt.runtime;
  if (!Object.hasOwn(kwargs, 'signal')) {
    kwargs[SOURCE] = source;
    Object.defineProperty(kwargs, 'signal', SIGNAL);
  }
  if (cause.kind === 'daemon' && !Object.hasOwn(kwargs, 'stopped')) kwargs['stopped'] = cause.stopped;
  return kwargs;
}

/** Kwargs of filters, lifecycles, and delays of daemons: of the whole object, and not of any call. */
export function filterKwargs(cause: Cause): Kwargs {
  return causeKwargs(cause);
}
