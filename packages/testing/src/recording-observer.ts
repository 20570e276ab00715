/** An observer that remembers what it was told. */
import type { Fact, FactKind, FactOf, Observer } from '@kopf-ts/core';

export interface RecordingObserver extends Observer {
  /** All facts so far, in the order of their coming. */
  readonly told: readonly Fact[];
  /** Those of one kind. */
  of<K extends FactKind>(kind: K): readonly FactOf<K>[];
}

/**
 * Remembers the facts of these kinds; by default, all of them.
 *
 * ```ts
 * const observer = recordingObserver(['call.ended']);
 * await using operator = await runOperator({ cluster, handlers, observers: [observer] });
 * await operator.eventually(() => expect(observer.of('call.ended')).toHaveLength(1));
 * ```
 */
export function recordingObserver(wants: Observer['wants'] = 'all'): RecordingObserver {
  const told: Fact[] = [];
  return {
    wants,
    told,
    observe: (fact) => void told.push(fact),
    of: <K extends FactKind>(kind: K) => told.filter((fact): fact is FactOf<K> => fact.kind === kind),
  };
}
