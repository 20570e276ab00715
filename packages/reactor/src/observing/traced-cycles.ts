/** Cycles of objects inside of spans, if there is a tracing. */
import type { Tracing } from '@kopf-ts/core';
import { observedBody } from '@kopf-ts/core/engine';
import type { CycleOptions, CycleResult } from '../cycle/scene.js';

type Run = (options: CycleOptions) => Promise<CycleResult>;

/** The same cycle, if there is none. */
export function tracedCycles(tracing: Tracing | undefined, run: Run): Run {
  if (tracing === undefined) return run;
  return (options) => {
    const body = options.state?.body ?? options.events.at(-1)?.object;
    if (body === undefined) return run(options);
    return tracing.around({ kind: 'cycle', object: observedBody(options.resource, body) }, () => run(options));
  };
}
