import type { FactOf, Observer } from '@kopf-ts/core';

/** Collects the phases of streams. */
export function phasesInto(phases: FactOf<'stream.phase'>[]): Observer {
  return {
    wants: ['stream.phase'],
    observe(fact) {
      if (fact.kind === 'stream.phase') phases.push(fact);
    },
  };
}
