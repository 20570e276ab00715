/** A journal of an operator that is not there: its facts are told by the tests. */
import type { ObservedHandler, ObservedObject } from '@kopf-ts/core';
import { type Facts, facts, makeResource } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, recordingLogger } from '@kopf-ts/testing';
import {
  type Explanation,
  explain,
  type Journal,
  type JournalOptions,
  journal,
  type WhyInput,
} from '../../src/index.js';

export const KIND = makeResource({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  singular: 'kopfexample',
  kind: 'KopfExample',
  shortcuts: ['kex'],
  namespaced: true,
});
export const SECRETS = makeResource({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });

export function objectOf(name: string, resource = KIND): ObservedObject {
  return { resource, kind: resource.kind, namespace: 'default', name, uid: `uid-${name}` };
}

export const HANDLER: ObservedHandler = { id: 'fn', kind: 'change' };

export type UntoldFact = Parameters<Facts['tell']>[0];

export interface Told {
  readonly journal: Journal;
  readonly clock: ManualClock;
  tell(fact: UntoldFact): void;
  /** Of the object `one`. */
  why(more?: Partial<WhyInput>): Explanation;
}

export function told(options: Partial<JournalOptions> = {}): Told {
  const clock = manualClock();
  const own = journal({ clock, ...options });
  const { tell } = facts({ observers: [own.observer], operator: 'op', clock, logger: recordingLogger() });
  return {
    journal: own,
    clock,
    tell,
    why: (more) =>
      explain({
        object: { resource: 'kopfexamples.kopf.dev', kind: 'KopfExample', namespace: 'default', name: 'one' },
        journal: own.find({ name: 'one' }),
        operator: own.operator(),
        ...more,
      }),
  };
}
