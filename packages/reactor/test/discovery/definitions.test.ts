import type { AnyObject } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { groupOf, isKept, nothingOf, promisedBy } from '../../src/discovery/definitions.js';

const ESTABLISHED = [{ type: 'Established', status: 'True' }];

function definition(extra: { metadata?: object; spec?: object; status?: object } = {}): AnyObject {
  return {
    metadata: { name: 'kopfexamples.kopf.dev', ...extra.metadata },
    spec: {
      group: 'kopf.dev',
      scope: 'Namespaced',
      names: { plural: 'kopfexamples', kind: 'KopfExample', shortNames: ['kex'], categories: ['all'] },
      versions: [
        { name: 'v1', served: true, subresources: { status: {} } },
        { name: 'v0', served: false },
      ],
      ...extra.spec,
    },
    status: { conditions: ESTABLISHED, ...extra.status },
  };
}

const KEX = {
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  kind: 'KopfExample',
  shortcuts: ['kex'],
  categories: ['all'],
  subresources: ['status'],
  namespaced: true,
};
const OTHER = makeResource({ ...KEX, plural: 'others' });

function isServed(served: AnyObject, ...resources: object[]): boolean | undefined {
  const promised = promisedBy(served);
  return promised && isKept(promised, [OTHER, ...resources.map((extra) => makeResource({ ...KEX, ...extra }))]);
}

describe('a definition', () => {
  it('is of the group that it has in its name, since there may be nothing else', () => {
    expect(groupOf({ metadata: { name: 'kopfexamples.kopf.dev' } })).toBe('kopf.dev');
  });

  it('is served when all of it is discovered', () => {
    expect(isServed(definition(), {})).toBe(true);
  });

  it.each([
    ['there is nothing of it', []],
    ['a version is there that should not be', [{}, { version: 'v0' }]],
    ['another version is there', [{ version: 'v2' }]],
    ['the kind is another', [{ kind: 'Another' }]],
    ['the scope is another', [{ namespaced: false }]],
    ['the subresources are others', [{ subresources: [] }]],
    ['the shortcuts are others', [{ shortcuts: [] }]],
    ['the categories are others', [{ categories: ['none'] }]],
  ])('is not served yet while %s', (_title, resources) => {
    expect(isServed(definition(), ...resources)).toBe(false);
  });

  it('is served by the names that are accepted, not by those that are asked for', () => {
    const contested = definition({ status: { acceptedNames: { kind: 'KopfExample', shortNames: null } } });
    expect(isServed(contested, { shortcuts: [] })).toBe(true);
    expect(isServed(contested, {})).toBe(false);
  });

  it.each([
    ['is not established', definition({ status: { conditions: [{ type: 'Established', status: 'False' }] } })],
    ['has no conditions yet', definition({ status: { conditions: undefined } })],
    ['is being deleted', definition({ metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } })],
  ])('promises nothing certain while it %s', (_title, uncertain) => {
    expect(promisedBy(uncertain)).toBeUndefined();
  });

  it('that is gone is waited for until nothing of it is discovered', () => {
    const gone = nothingOf({ metadata: { name: 'kopfexamples.kopf.dev' } });
    expect(isKept(gone, [makeResource(KEX)])).toBe(false);
    expect(isKept(gone, [OTHER])).toBe(true);
  });
});
