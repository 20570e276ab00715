/**
 * Cycles of objects inside of spans, if there is a tracing. Cycles and daemons are begun from the midst of other cycles,
 * which have nothing to do with them: so they are taken out of the asynchronous context of those.
 */
import { AsyncResource } from 'node:async_hooks';
import type { Awaitable, Body, Clock, TracedWork, Tracing } from '@kopf-ts/core';
import { observedBody, traceMarkOf } from '@kopf-ts/core/engine';
import type { CycleOptions, CycleResult } from '../cycle/scene.js';

interface TracingParts {
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
}

type Run = (options: CycleOptions) => Awaitable<CycleResult>;

/** The same cycle, if there is none. */
export function tracedCycles({ tracing, clock }: TracingParts, run: Run): Run {
  if (tracing === undefined) return run;
  const outside = apart();
  return (options) => {
    const body = options.state?.body ?? options.events.at(-1)?.object;
    if (body === undefined) return run(options);
    const object = observedBody(options.resource, body);
    const mark = traceMarkOf(body);
    const origin = mark === undefined ? undefined : originOf(mark, body, clock);
    return outside(() => tracing.around({ kind: 'cycle', object, origin }, () => run(options)));
  };
}

/** The age is by two clocks; but never less than nothing. */
function originOf(mark: string, { metadata }: Body, clock: Clock): (TracedWork & { readonly kind: 'cycle' })['origin'] {
  const created = Date.parse(metadata?.creationTimestamp ?? '');
  const age = (clock.utc().getTime() - created) / 1000;
  return Number.isNaN(age) ? undefined : Object.freeze({ mark, age: Math.max(0, age) });
}

/** Runs functions in the asynchronous context of this very moment, whatever is around them then. */
export function apart(): <R>(fn: () => R) => R {
  const resource = new AsyncResource('kopf-ts');
  return (fn) => resource.runInAsyncScope(fn);
}
