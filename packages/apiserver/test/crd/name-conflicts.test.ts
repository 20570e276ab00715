import { describe, expect, it } from 'vitest';
import type { ServedObject } from '../../src/contracts/objects.js';
import { advanceDefinition, CLEANUP_FINALIZER, isConditionTrue, markForCleanup } from '../../src/crd/name-conflicts.js';

const definition = (plural: string, kind: string, shortNames?: string[]): ServedObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    names: {
      plural,
      singular: kind.toLowerCase(),
      kind,
      listKind: `${kind}List`,
      ...(shortNames === undefined ? {} : { shortNames }),
    },
  },
});

function established(plural: string, kind: string, shortNames?: string[]): ServedObject {
  const made = definition(plural, kind, shortNames);
  while (advanceDefinition(made, [], 'then'));
  return made;
}

const conditions = (of: ServedObject): Record<string, string> =>
  Object.fromEntries(
    (of['status'].conditions as { type: string; status: string; reason: string; message: string }[]).map((row) => [
      row.type,
      `${row.status} ${row.reason}: ${row.message}`,
    ]),
  );

describe('a definition without rivals', () => {
  it('gets its names first, and is established then', () => {
    const made = definition('foos', 'Foo', ['fo']);
    expect(advanceDefinition(made, [], 'now')).toBe(true);
    expect(conditions(made)).toEqual({
      NamesAccepted: 'True NoConflicts: no conflicts found',
      Established: 'False Installing: the initial names have been accepted',
    });
    expect(advanceDefinition(made, [], 'later')).toBe(true);
    expect(conditions(made)['Established']).toBe('True InitialNamesAccepted: the initial names have been accepted');
    expect(made['status'].acceptedNames).toEqual(made['spec'].names);
    expect(advanceDefinition(made, [], 'never')).toBe(false);
  });
});

describe('a definition with rivals', () => {
  it.each([
    ['the kind', definition('bars', 'Foo'), 'ListKindConflict: "FooList" is already in use'],
    ['a short name', definition('bars', 'Bar', ['fo', 'ba']), 'ShortNamesConflict: "fo" is already in use'],
    ['a plural as a short name', definition('bars', 'Bar', ['foos']), 'ShortNamesConflict: "foos" is already in use'],
  ])('is not established because of %s', (_title, made, expected) => {
    while (advanceDefinition(made, [established('foos', 'Foo', ['fo'])], 'now'));
    expect(conditions(made)).toEqual({
      NamesAccepted: `False ${expected}`,
      Established: 'False NotAccepted: not all names are accepted',
    });
  });

  it('is established once the rival has gone', () => {
    const made = definition('bars', 'Bar', ['fo']);
    while (advanceDefinition(made, [established('foos', 'Foo', ['fo'])], 'now'));
    expect(isConditionTrue(made, 'Established')).toBe(false);
    while (advanceDefinition(made, [], 'now'));
    expect(isConditionTrue(made, 'Established')).toBe(true);
  });

  it('has no rivals in other groups', () => {
    const rival = established('foos', 'Foo');
    rival['spec'].group = 'other.com';
    const made = definition('foos', 'Foo');
    while (advanceDefinition(made, [rival], 'now'));
    expect(isConditionTrue(made, 'Established')).toBe(true);
  });
});

it('a definition marked for cleanup has the finalizer once, and tells that it is terminating', () => {
  const made = established('foos', 'Foo');
  markForCleanup(made, 'now');
  markForCleanup(made, 'later');
  expect(made.metadata.finalizers).toEqual([CLEANUP_FINALIZER]);
  expect(conditions(made)['Terminating']).toBe(
    'True InstanceDeletionPending: CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  );
  expect(made['status'].conditions.at(-1).lastTransitionTime).toBe('now');
});
