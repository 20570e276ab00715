/**
 * Cycles of objects inside of spans, if there is a tracing. Cycles and daemons are begun from the midst of other cycles,
 * which have nothing to do with them: so they are taken out of the asynchronous context of those.
 */
import { AsyncResource } from 'node:async_hooks';
import type { Awaitable, Tracing } from '@kopf-ts/core';
import { observedBody } from '@kopf-ts/core/engine';
import type { CycleOptions, CycleResult } from '../cycle/scene.js';

type Run = (options: CycleOptions) => Awaitable<CycleResult>;

/** The same cycle, if there is none. */
export function tracedCycles(tracing: Tracing | undefined, run: Run): Run {
  if (tracing === undefined) return run;
  const outside = apart();
  return (options) => {
    const body = options.state?.body ?? options.events.at(-1)?.object;
    if (body === undefined) return run(options);
    const object = observedBody(options.resource, body);
    return outside(() => tracing.around({ kind: 'cycle', object }, () => run(options)));
  };
}

/** Runs functions in the asynchronous context of this very moment, whatever is around them then. */
export function apart(): <R>(fn: () => R) => R {
  const resource = new AsyncResource('kopf-ts');
  return (fn) => resource.runInAsyncScope(fn);
}
