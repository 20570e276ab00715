import { describe, expect, it } from 'vitest';
import type { Body, ObjectMeta } from '../../src/values/objects/body.js';
import { buildObjectReference, buildOwnerReference } from '../../src/values/objects/references.js';

const body: Body = {
  apiVersion: 'kopf.dev/v1',
  kind: 'KopfExample',
  metadata: { name: 'name1', namespace: 'ns1', uid: 'uid1', labels: { app: 'x' } },
  spec: { field: 1 },
};

describe('an object reference', () => {
  it('identifies the object', () => {
    expect(buildObjectReference(body)).toStrictEqual({
      apiVersion: 'kopf.dev/v1',
      kind: 'KopfExample',
      name: 'name1',
      uid: 'uid1',
      namespace: 'ns1',
    });
  });

  it('has nothing that is absent or empty in the object', () => {
    const nulls = { name: null, namespace: '', uid: 'uid1' } as unknown as ObjectMeta;
    expect(buildObjectReference({ kind: '', metadata: nulls })).toStrictEqual({ uid: 'uid1' });
    expect(buildObjectReference({})).toStrictEqual({});
  });
});

describe('an owner reference', () => {
  it('identifies the owner without its namespace, and controls and blocks by default', () => {
    expect(buildOwnerReference(body)).toStrictEqual({
      controller: true,
      blockOwnerDeletion: true,
      apiVersion: 'kopf.dev/v1',
      kind: 'KopfExample',
      name: 'name1',
      uid: 'uid1',
    });
  });

  it('keeps the flags that are off, and drops the parts that are absent', () => {
    const nulls = { name: null, uid: 'uid1' } as unknown as ObjectMeta;
    expect(buildOwnerReference({ metadata: nulls }, { controller: false, blockOwnerDeletion: false })).toStrictEqual({
      controller: false,
      blockOwnerDeletion: false,
      uid: 'uid1',
    });
  });

  it.each([
    [{ controller: null }, { blockOwnerDeletion: true }],
    [{ blockOwnerDeletion: null }, { controller: true }],
    [{ controller: null, blockOwnerDeletion: null }, {}],
    [{ controller: null, blockOwnerDeletion: false }, { blockOwnerDeletion: false }],
    [
      { controller: undefined, blockOwnerDeletion: undefined },
      { controller: true, blockOwnerDeletion: true },
    ],
  ])('with %j has the flags %j', (options, flags) => {
    const { apiVersion, kind, name, uid, ...rest } = buildOwnerReference(body, options);
    expect(rest).toStrictEqual(flags);
    expect({ apiVersion, kind, name, uid }).toEqual({
      apiVersion: 'kopf.dev/v1',
      kind: 'KopfExample',
      name: 'name1',
      uid: 'uid1',
    });
  });
});
