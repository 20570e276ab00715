/** What is known of the operator as a whole: little, and only what it is like now. */
import type { Fact, FactKind, ObservedStream, Resource, Seconds } from '@kopf-ts/core';
import type { OperatorJournal } from './entries.js';
import { shortText } from './texts.js';

export interface OperatorFacts {
  observe(fact: Fact): void;
  view(now: Seconds, utc: Date): OperatorJournal;
}

export const OPERATOR_FACTS = [
  'discovery.revised',
  'peering.ruled',
  'peering.left',
  'indexing.ready',
  'stream.phase',
] as const satisfies readonly FactKind[];

/** As kubectl names it. */
export function resourceTitle({ plural, group }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

export function operatorFacts(): OperatorFacts {
  let operator: string | undefined;
  let served: Pick<OperatorJournal, 'resources' | 'namespaces'> = { resources: undefined, namespaces: undefined };
  let indexing: OperatorJournal['indexing'] = { isReady: true, missing: [] };
  const pauses = new Map<string | null, OperatorJournal['pauses'][number]>();
  // Held by the operator itself for as long as they are there.
  const streams = new Map<ObservedStream, Fact & { readonly kind: 'stream.phase' }>();

  return {
    observe(fact) {
      operator = fact.operator;
      switch (fact.kind) {
        case 'discovery.revised':
          served = { resources: fact.resources.map(resourceTitle), namespaces: fact.namespaces };
          break;
        case 'peering.ruled': {
          const { namespace, isPaused, why } = fact;
          if (isPaused) pauses.set(namespace, { namespace, kind: why?.kind, by: why?.by && shortText(why.by) });
          else pauses.delete(namespace);
          break;
        }
        case 'peering.left':
          pauses.delete(fact.namespace);
          break;
        case 'indexing.ready':
          indexing = { isReady: fact.isReady, missing: fact.missing };
          break;
        case 'stream.phase':
          if (fact.phase === 'ended') streams.delete(fact.stream);
          else streams.set(fact.stream, fact);
          break;
        default:
          break;
      }
    },
    view: (now, utc) => ({
      operator,
      now,
      utc: utc.toISOString(),
      ...served,
      pauses: [...pauses.values()],
      indexing,
      streams: [...streams.values()].map(({ stream, phase, since, error }) => ({
        resource: resourceTitle(stream.resource),
        namespace: stream.namespace,
        labelSelector: stream.labelSelector && shortText(stream.labelSelector),
        fieldSelector: stream.fieldSelector && shortText(stream.fieldSelector),
        phase,
        since,
        error: error && shortText(error.message),
        status: statusOf(error),
      })),
    }),
  };
}

/** Of an answer of the cluster, if the error is one. */
export function statusOf(error: Error | undefined): number | undefined {
  const status: unknown = (error as { readonly status?: unknown } | undefined)?.status;
  return typeof status === 'number' ? status : undefined;
}
