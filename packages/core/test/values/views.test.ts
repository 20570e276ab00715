import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { deepCopy } from '../../src/values/json.js';
import type { Body } from '../../src/values/objects/body.js';
import { bodyViews, makeLiveBody } from '../../src/values/objects/views.js';

const make = (size: number): Body => ({
  apiVersion: 'v1',
  metadata: { name: 'n', namespace: 'ns', uid: 'u', labels: { l: `${size}` }, annotations: { a: `${size}` } },
  spec: { size, nested: { items: [size] } },
  status: { phase: `phase-${size}` },
});

const NAMES = ['spec', 'meta', 'status', 'labels', 'annotations'] as const;

/** Assigns as a handler that disregards the types would do. */
function assign(target: object, key: string, value: unknown): void {
  (target as Record<string, unknown>)[key] = value;
}

describe('the views of an object', () => {
  it('show its stanzas and its identity', () => {
    const body = make(1);
    expect(bodyViews(body)).toStrictEqual({
      spec: body.spec,
      meta: body.metadata,
      status: body.status,
      labels: { l: '1' },
      annotations: { a: '1' },
      uid: 'u',
      name: 'n',
      namespace: 'ns',
    });
  });

  it.each<[string, Body]>([
    ['absent', {}],
    ['null', { metadata: null, spec: null, status: null } as unknown as Body],
    ['scalars', { metadata: 'text', spec: 5, status: 'text' } as unknown as Body],
    ['lists', { metadata: { labels: [], annotations: 'text' }, spec: [1], status: [2] } as unknown as Body],
  ])('are empty where the stanzas are %s, and add nothing to the object', (_, body) => {
    const before = JSON.stringify(body);
    const { uid, name, namespace, ...views } = bodyViews(body);
    expect([uid, name, namespace]).toStrictEqual([undefined, undefined, undefined]);
    for (const view of [views.spec, views.status, views.labels, views.annotations]) expect(view).toStrictEqual({});
    expect(JSON.stringify(body)).toBe(before);
  });

  it('cannot be changed at any depth, absent ones included', () => {
    const body = make(1);
    const views = bodyViews(body);
    for (const name of NAMES) expect(() => assign(views[name], 'x', 1)).toThrow(TypeError);
    expect(() => assign(views.spec.nested, 'x', 1)).toThrow(TypeError);
    expect(() => views.spec.nested.items.push(1)).toThrow(TypeError);
    expect(() => assign(body, 'x', 1)).toThrow(TypeError);
    expect(() => assign(bodyViews({}).spec, 'x', 1)).toThrow(TypeError);
    expect(body).toStrictEqual(make(1));
  });

  it('never show what is inherited from a prototype', () => {
    const body = JSON.parse('{"__proto__": {"spec": {"x": 1}}, "metadata": {"__proto__": {"name": "x"}}}') as Body;
    expect(bodyViews(body).spec).toStrictEqual({});
    expect(bodyViews(body).name).toBeUndefined();
  });
});

describe('the live views of an object', () => {
  it('show the newest state, whenever they were taken', () => {
    const live = makeLiveBody(make(1));
    const { body, spec, meta, status, labels, annotations } = live;
    expect([body.spec.size, spec.size, status.phase]).toStrictEqual([1, 1, 'phase-1']);
    live.replace(make(2));
    expect([body.spec.size, spec.size, status.phase]).toStrictEqual([2, 2, 'phase-2']);
    expect([labels.l, annotations.a, meta.labels?.l]).toStrictEqual(['2', '2', '2']);
    expect(live.newest).toStrictEqual(make(2));
  });

  it('look like ordinary mappings', () => {
    const live = makeLiveBody(make(1));
    live.replace(make(2));
    const expected = make(2);
    expect(live.body).toEqual(expected);
    expect({ ...live.spec }).toStrictEqual(expected.spec);
    expect(Object.entries(live.labels)).toStrictEqual([['l', '2']]);
    expect(JSON.parse(JSON.stringify(live.body))).toStrictEqual(expected);
    expect(deepCopy(live.body)).toStrictEqual(expected);
    expect(inspect(live.spec)).toBe(inspect(expected.spec));
    expect('size' in live.spec).toBe(true);
    expect('sise' in live.spec).toBe(false);
    expect(Object.hasOwn(live.spec, 'toString')).toBe(false);
    expect(String(live.spec)).toBe('[object Object]');
    const keys: string[] = [];
    for (const key in live.body) keys.push(key);
    expect(keys).toStrictEqual(['apiVersion', 'metadata', 'spec', 'status']);
  });

  it('become empty when the stanzas vanish, and full again when they appear', () => {
    const live = makeLiveBody(make(1));
    live.replace({ status: 'text' });
    for (const name of NAMES) {
      expect(Object.keys(live[name])).toStrictEqual([]);
      expect(JSON.stringify(live[name])).toBe('{}');
    }
    expect(live.body.status).toBe('text');
    expect(live.body.spec).toBeUndefined();
    live.replace(make(3));
    expect(live.spec.size).toBe(3);
  });

  it('cannot be changed by any means, and name the way to change the object', () => {
    const live = makeLiveBody(make(1));
    for (const view of [live.body, ...NAMES.map((name) => live[name])]) {
      const attempts = [
        () => assign(view, 'size', 9),
        () => assign(view, 'new', 9),
        () => Reflect.deleteProperty(view, 'size'),
        () => Object.defineProperty(view, 'size', { value: 9 }),
        () => Object.setPrototypeOf(view, null),
        () => Object.freeze(view),
      ];
      for (const attempt of attempts) {
        expect(attempt).toThrow(TypeError);
        expect(attempt).toThrow(/read-only.*change it through the patch/);
      }
    }
    expect(() => assign(live.spec, 'size', 9)).toThrow(/^'size' of the spec is read-only/);
    expect(live.newest).toStrictEqual(make(1));
  });

  it('are read-only in depth, also after the object is replaced', () => {
    const live = makeLiveBody(make(1));
    expect(() => assign(live.spec.nested, 'x', 1)).toThrow(TypeError);
    live.replace(make(2));
    expect(() => live.spec.nested.items.push(1)).toThrow(TypeError);
    expect(live.newest).toStrictEqual(make(2));
  });
});
