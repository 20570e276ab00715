/** Calling the user's function: what it is given, and what is known around it. */
import type { Cause } from '../intents/causes.js';
import type { AnyHandler } from '../intents/handlers.js';
import { causeKwargs, fieldOf, type Kwargs } from '../intents/kwargs.js';
import type { Seconds } from '../seams/clock.js';
import { reduceDiff } from '../values/diff.js';
import { resolveField } from '../values/fields.js';
import { type HandlerContext, runInContext } from './context.js';

/** What is known of the attempts made so far; a `HandlerState` is that. */
export interface AttemptState {
  readonly retries: number;
  readonly started: Date;
  readonly runtime: Seconds;
}

/** The cause as the handler is to see it: a change handler with a field sees the changes of that field. */
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

export interface KwargsSource {
  /** Not yet narrowed down to the handler's field. */
  readonly cause: Cause;
  readonly handler?: AnyHandler | undefined;
  readonly state?: AttemptState | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Kwargs of a call. An index wins over all of them, and those of the cause win over those of the attempt. */
export function kwargsOf({ cause, handler, state, signal }: KwargsSource): Kwargs {
  const seen = handler === undefined ? cause : causeFor(cause, handler);
  const kwargs = causeKwargs(seen);
  // Added one by one, not spread: those of daemons stay for long, and the engine keeps more of what is spread.
  const add = (name: string, value: unknown): void => {
    if (!Object.hasOwn(kwargs, name)) kwargs[name] = value;
  };
  if (handler !== undefined) add('param', handler.param);
  if (state !== undefined) {
    add('retry', state.retries);
    add('started', state.started);
    add('runtime', state.runtime);
  }
  if (signal !== undefined) add('signal', signal);
  if (seen.kind === 'daemon') add('stopped', seen.stopped);
  return kwargs;
}

/** Kwargs of filters, lifecycles, and delays of daemons: of the whole object, and not of any call. */
export function filterKwargs(cause: Cause): Kwargs {
  return causeKwargs(cause);
}

/** Calls the function with its kwargs and in its context. Synchronous functions return, or throw, synchronously. */
export function invoke(context: HandlerContext, handler: AnyHandler, kwargs: Kwargs): unknown {
  return runInContext(context, () => handler.fn(kwargs) as unknown);
}
