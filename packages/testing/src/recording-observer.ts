/** An observer that remembers what it was told. */
import type { Fact, FactKind, FactOf, Observer } from '@kopf-ts/core';

/**
 * An observer that can be asked what it was told.
 *
 * ```ts
 * import { type RecordingObserver, recordingObserver } from 'kopf-ts/testing';
 * const observer: RecordingObserver = recordingObserver();
 * expect(observer.of('call.ended').map((fact) => fact.handler.id)).toEqual(['create_fn']);
 * ```
 */
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
 * import { operatorRunner, recordingObserver, testCluster } from 'kopf-ts/testing';
 * await using cluster = await testCluster();
 * const observer = recordingObserver(['call.ended']);
 * await using runner = await operatorRunner({ cluster, observers: [observer] });
 * await runner.eventually(() => expect(observer.of('call.ended')).toHaveLength(1));
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
