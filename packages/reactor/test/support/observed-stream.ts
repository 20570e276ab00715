/** A stream as the health observes it, with the facts told by a test. */
import type { Clock, FactOf } from '@kopf-ts/core';
import { makeResource, watchTarget } from '@kopf-ts/core/engine';
import type { Health } from '../../src/probing/health.js';

type Told = Partial<Pick<FactOf<'stream.phase'>, 'since' | 'lastEventAt' | 'lastGoodAt' | 'error'>>;

export interface ObservedStream {
  enter(phase: FactOf<'stream.phase'>['phase'], rest?: Told): void;
}

/** It is starting. In the reports, its name is like `pods.v1 cluster-wide`. */
export function observedStream(health: Health, clock: Pick<Clock, 'now'>, plural: string): ObservedStream {
  const stream = watchTarget(makeResource({ group: '', version: 'v1', plural }));
  const enter: ObservedStream['enter'] = (phase, rest) => {
    const times = { since: clock.now(), lastEventAt: undefined, lastGoodAt: undefined };
    const fact = { kind: 'stream.phase', stream, phase, error: undefined, ...times, ...rest } as const;
    health.observer.observe({ ...fact, operator: 'me', at: clock.now() });
  };
  enter('starting');
  return { enter };
}
