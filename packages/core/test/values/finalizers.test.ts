import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../src/values/json.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import {
  allowDeletion,
  blockDeletion,
  isDeletionBlocked,
  isDeletionOngoing,
} from '../../src/values/objects/finalizers.js';
import type { JsonPatchOp } from '../../src/values/patches/json-patch.js';
import { asJsonPatch, Patch, type PatchFn } from '../../src/values/patches/patch.js';

const FIN = 'example.com/fin';

/** What is sent to the cluster because of the transformation. */
function opsOf(fn: PatchFn, body: AnyObject): JsonPatchOp[] {
  return asJsonPatch(new Patch({}, { body: deepFreeze(body), fns: [fn] }));
}

describe('the deletion', () => {
  it.each<[AnyObject, boolean]>([
    [{}, false],
    [{ metadata: {} }, false],
    [{ metadata: { deletionTimestamp: null } }, false],
    [{ metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }, true],
  ])('of %j is ongoing: %s', (body, expected) => {
    expect(isDeletionOngoing(body)).toBe(expected);
  });

  it.each<[AnyObject, boolean]>([
    [{}, false],
    [{ metadata: {} }, false],
    [{ metadata: { finalizers: [] } }, false],
    [{ metadata: { finalizers: ['other', `${FIN}2`] } }, false],
    [{ metadata: { finalizers: ['other', FIN] } }, true],
    [JSON.parse('{"metadata": {"finalizers": null}}') as AnyObject, false],
  ])('of %j is blocked: %s', (body, expected) => {
    expect(isDeletionBlocked(body, FIN)).toBe(expected);
  });
});

describe('blocking', () => {
  it.each<[string, AnyObject, JsonPatchOp[]]>([
    ['starts the list', { metadata: {} }, [{ op: 'add', path: '/metadata/finalizers', value: [FIN] }]],
    ['starts the metadata', {}, [{ op: 'add', path: '/metadata', value: { finalizers: [FIN] } }]],
    [
      'appends to those of the others',
      { metadata: { finalizers: ['fin1', 'fin2'] } },
      [{ op: 'add', path: '/metadata/finalizers/2', value: FIN }],
    ],
    ['does nothing if blocked', { metadata: { finalizers: ['fin1', FIN, 'fin2'] } }, []],
  ])('%s', (_, body, ops) => {
    expect(opsOf(blockDeletion(FIN), body)).toEqual(ops);
  });
});

describe('allowing', () => {
  it.each<[string, AnyObject, JsonPatchOp[]]>([
    [
      'leaves those of the others',
      { metadata: { finalizers: ['fin1', FIN, 'fin2'] } },
      [{ op: 'remove', path: '/metadata/finalizers/1' }],
    ],
    [
      'removes all of ours',
      { metadata: { finalizers: [FIN, 'fin1', FIN] } },
      [
        { op: 'remove', path: '/metadata/finalizers/0' },
        { op: 'remove', path: '/metadata/finalizers/1' },
      ],
    ],
    [
      'leaves no empty list',
      { metadata: { finalizers: [FIN], name: 'x' } },
      [{ op: 'remove', path: '/metadata/finalizers' }],
    ],
    ['leaves no empty metadata', { metadata: { finalizers: [FIN] }, spec: {} }, [{ op: 'remove', path: '/metadata' }]],
    ['does nothing if not blocked', { metadata: { finalizers: ['fin1'] } }, []],
    ['does nothing if there are none', { spec: {} }, []],
  ])('%s', (_, body, ops) => {
    expect(opsOf(allowDeletion(FIN), body)).toEqual(ops);
  });
});

it('both can be repeated on what they have done', () => {
  const body: AnyObject = { metadata: { name: 'x' } };
  blockDeletion(FIN)(body);
  blockDeletion(FIN)(body);
  expect(body).toEqual({ metadata: { name: 'x', finalizers: [FIN] } });
  allowDeletion(FIN)(body);
  allowDeletion(FIN)(body);
  expect(body).toEqual({ metadata: { name: 'x' } });
});

it('A finalizer is not put on what is being deleted: nobody can do that', () => {
  const metadata = { deletionTimestamp: '2020-01-01T00:00:00Z', finalizers: ['other'] };
  const body = { metadata };
  blockDeletion(FIN)(body);
  expect(body).toEqual({ metadata: { deletionTimestamp: '2020-01-01T00:00:00Z', finalizers: ['other'] } });
});
