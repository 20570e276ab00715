import type { AnyObject } from '@kopf-ts/core';
import { makeResource, parseSelector, type Relation, type WatchedEvent } from '@kopf-ts/core/engine';
import { beforeEach, describe, expect, it } from 'vitest';
import { RelatedObjects } from '../../src/relations/related-objects.js';

const PODS = makeResource({ group: '', version: 'v1', plural: 'pods', namespaced: true });
const OTHER_VERSION = makeResource({ group: '', version: 'v2', plural: 'pods', namespaced: true });
const relation: Relation = {
  key: 'x',
  parent: parseSelector('x'),
  child: parseSelector('pods'),
  by: { kind: 'owner' },
};

const pod = (name: string, version: number, owner = 'one'): AnyObject => ({
  metadata: { name, uid: name, namespace: 'shop', resourceVersion: String(version), ownerReferences: [{ uid: owner }] },
});
const event = (type: WatchedEvent['type'], object: AnyObject): WatchedEvent => ({ type, object });

let related: RelatedObjects;
let woken: string[];
let isParentKnown: boolean;

beforeEach(() => {
  woken = [];
  isParentKnown = true;
  related = new RelatedObjects({
    relationsOfChild: () => [relation],
    parentsOf: (_relation, _resource, { metadata }) => metadata?.ownerReferences?.map(({ uid }) => String(uid)) ?? [],
    isKnown: () => isParentKnown,
    onChanged: (_relation, key) => void woken.push(key),
  });
  related.begin(PODS, 'shop');
});

const accept = (type: WatchedEvent['type'], object: AnyObject): void =>
  related.accept(PODS, 'shop', event(type, object));
const names = (parent = 'one'): string[] =>
  related.children(relation, parent).map(({ metadata }) => String(metadata?.name));

describe('what is known of children', () => {
  it('is what the stream tells, newest first of all', () => {
    accept(null, pod('a', 5));
    accept('MODIFIED', pod('a', 4));
    accept('MODIFIED', pod('a', 5));
    expect([names(), woken]).toEqual([['a'], ['one']]);
    accept('MODIFIED', pod('a', 6));
    accept('ADDED', pod('b', 7));
    accept('DELETED', pod('a', 8));
    expect([names(), woken]).toEqual([['b'], ['one', 'one', 'one', 'one']]);
  });

  it('is the same list as long as nothing has changed, and frozen', () => {
    accept('ADDED', pod('a', 5));
    expect(related.children(relation, 'one')).toBe(related.children(relation, 'one'));
    expect(Object.isFrozen(related.children(relation, 'one'))).toBe(true);
    expect(related.children(relation, 'nobody')).toEqual([]);
  });

  it('moves with its owners', () => {
    accept('ADDED', pod('a', 5));
    accept('MODIFIED', pod('a', 6, 'two'));
    expect([names(), names('two'), woken]).toEqual([[], ['a'], ['one', 'one', 'two']]);
  });

  it('is what we have written, before the stream tells of it; and the echo wakes nobody', () => {
    related.written(PODS, pod('a', 5));
    expect(names()).toEqual(['a']);
    accept('ADDED', pod('a', 5));
    accept('ADDED', pod('a', 4));
    expect([names(), woken]).toEqual([['a'], ['one']]);
  });

  it('is of nobody else if the stream was faster than the answer', () => {
    accept('ADDED', pod('b', 3));
    const { others } = related.stamp(relation, 'one');
    accept('ADDED', pod('a', 5));
    expect(related.stamp(relation, 'one').others).not.toBe(others);
    related.written(PODS, pod('a', 5));
    expect(related.stamp(relation, 'one').others).toBe(others);
    expect(woken).toHaveLength(2);
  });

  it('stays gone if we have deleted it, whatever the stream still tells', () => {
    accept('ADDED', pod('a', 5));
    related.deleted('a');
    expect(names()).toEqual([]);
    accept('MODIFIED', pod('a', 6));
    related.listed(PODS, 'shop');
    accept('MODIFIED', pod('a', 7));
    related.written(PODS, pod('a', 7));
    expect(names()).toEqual([]);
    accept('DELETED', pod('a', 8));
    accept('ADDED', pod('a2', 9));
    expect(names()).toEqual(['a2']);
  });

  it('stays gone if the stream has told so before the answer to our own request comes', () => {
    accept('ADDED', pod('a', 5));
    accept('DELETED', pod('a', 7));
    related.written(PODS, pod('a', 6));
    expect(names()).toEqual([]);
    // It had only left what the stream is asked for.
    accept('ADDED', pod('a', 8));
    related.written(PODS, pod('a', 9));
    expect(names()).toEqual(['a']);
  });

  it('is gone as soon as we have taken away what has held it', () => {
    const dying = (version: number, more: object): AnyObject => {
      const { metadata } = pod('a', version);
      return { metadata: { ...metadata, deletionTimestamp: '2020-01-01T00:00:00Z', ...more } };
    };
    accept('ADDED', pod('a', 5));
    related.written(PODS, dying(6, { finalizers: ['example.com/x'] }));
    related.written(PODS, dying(7, { deletionGracePeriodSeconds: 30 }));
    expect(names()).toEqual(['a']);
    related.written(PODS, dying(8, { deletionGracePeriodSeconds: 0, finalizers: [] }));
    accept('MODIFIED', dying(8, {}));
    expect(names()).toEqual([]);
    accept('DELETED', dying(9, {}));
    related.written(PODS, dying(8, {}));
    expect(names()).toEqual([]);
  });

  it('is there as long as a namespace is being emptied', () => {
    const NAMESPACES = makeResource({ group: '', version: 'v1', plural: 'namespaces', namespaced: false });
    const { namespace: _, ...metadata } = { ...pod('a', 5).metadata, deletionTimestamp: '2020-01-01T00:00:00Z' };
    related.begin(NAMESPACES, null);
    related.written(NAMESPACES, { metadata, spec: { finalizers: ['kubernetes'] } });
    expect(names()).toEqual(['a']);
    related.written(NAMESPACES, { metadata: { ...metadata, resourceVersion: '6' }, spec: {} });
    expect(names()).toEqual([]);
  });

  it('is not what a new stream does not find', () => {
    accept(null, pod('a', 5));
    accept(null, pod('b', 5));
    related.listed(PODS, 'shop');
    related.begin(PODS, 'shop');
    expect([names(), related.isListed(PODS, 'shop')]).toEqual([['a', 'b'], false]);
    accept(null, pod('b', 5));
    related.listed(PODS, 'shop');
    expect([names(), related.isListed(PODS, 'shop')]).toEqual([['b'], true]);
  });

  it('keeps what we have written for one listing, which may have begun before; and not for two', () => {
    related.listed(PODS, 'shop');
    related.written(PODS, pod('a', 5));
    related.listed(PODS, 'shop');
    expect(names()).toEqual(['a']);
    related.listed(PODS, 'shop');
    expect(names()).toEqual([]);
  });

  it('is not what we have written, if that is not served; and it may come back', () => {
    related.written(PODS, pod('a', 5), { isServed: false });
    expect(names()).toEqual([]);
    related.written(PODS, pod('a', 6));
    related.written(PODS, pod('a', 5), { isServed: false });
    expect(names()).toEqual(['a']);
    related.written(PODS, pod('a', 7), { isServed: false });
    expect(names()).toEqual([]);
    related.written(PODS, pod('a', 8));
    expect(names()).toEqual(['a']);
  });

  it('is nothing of other places, nor of other versions of the kind', () => {
    related.written(OTHER_VERSION, pod('a', 5));
    related.written(PODS, { metadata: { ...pod('b', 5).metadata, namespace: 'other' } });
    expect([names(), related.size]).toEqual([[], 0]);
    accept('ADDED', pod('c', 6));
    related.leave(PODS, 'shop');
    expect([names(), related.size, woken]).toEqual([[], 0, ['one', 'one']]);
  });

  it('may be of lower versions after the cluster was restored', () => {
    accept('ADDED', pod('a', 50));
    related.rewind(PODS, 'shop');
    accept(null, pod('a', 5, 'two'));
    expect([names(), names('two')]).toEqual([[], ['a']]);
  });

  it('keeps no managed fields, and nothing of parents that are gone', () => {
    accept('ADDED', { ...pod('a', 5), metadata: { ...pod('a', 5).metadata, managedFields: [{ manager: 'x' }] } });
    expect(related.children(relation, 'one')[0]?.metadata).not.toHaveProperty('managedFields');
    isParentKnown = false;
    accept('DELETED', pod('a', 6));
    expect(related.stamp(relation, 'one')).toEqual({ any: 0, others: 0 });
  });

  it('remembers when the last child has left a parent that is there', () => {
    accept('ADDED', pod('a', 5));
    const before = related.stamp(relation, 'one');
    accept('DELETED', pod('a', 6));
    expect(related.stamp(relation, 'one').others).toBeGreaterThan(before.others);
    related.forget(relation, 'one');
    expect(related.stamp(relation, 'one').any).toBe(0);
  });
});
