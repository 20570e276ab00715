import { afterEach, describe, expect, it } from 'vitest';
import { KopfError } from '../../src/errors.js';
import { ensureField } from '../../src/values/fields.js';
import { deepFreeze, type Mapping } from '../../src/values/json.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { makeLiveBody } from '../../src/values/objects/views.js';
import { asJsonPatch, Patch, type PatchFn } from '../../src/values/patches/patch.js';

/** As a variable, it is a key like any other for the linter, too. */
const PROTO: string = '__proto__';

afterEach(() => {
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  expect(Object.hasOwn(Patch.prototype, 'polluted')).toBe(false);
});

const fn1: PatchFn = (body) => {
  body.spec.a = 1;
};
const fn2: PatchFn = (body) => {
  body.spec.a += 1;
};

describe('a new patch', () => {
  it('is a patch, and is empty', () => {
    const patch = new Patch();
    expect(patch).toBeInstanceOf(Patch);
    expect(patch.isEmpty).toBe(true);
    expect(patch.merge).toEqual({});
    expect(patch.fns).toEqual([]);
    expect(patch.body).toBe(undefined);
  });

  it('has the fields of the source, as copies', () => {
    const source = { spec: { list: [1] } };
    const patch = new Patch(source);
    (patch.spec.list as number[]).push(2);
    expect(patch.merge).toEqual({ spec: { list: [1, 2] } });
    expect(source).toEqual({ spec: { list: [1] } });
  });

  it('has the functions of the source, then its own ones', () => {
    const first = new Patch({ spec: { x: 1 } }, { fns: [fn1] });
    const second = new Patch(first, { fns: [fn2] });
    expect(second.fns).toEqual([fn1, fn2]);
    expect(second.merge).toEqual({ spec: { x: 1 } });
    expect(first.fns).toEqual([fn1]);
  });

  it('remembers the body', () => {
    const body = { metadata: { name: 'x' } };
    expect(new Patch(undefined, { body }).body).toBe(body);
  });

  it.each<[string, (patch: Patch) => void]>([
    ['a field', (patch) => Object.assign(patch.status, { x: 1 })],
    ['a null', (patch) => Object.assign(patch, { status: null })],
    ['an empty stanza', (patch) => Object.assign(patch, { status: {} })],
    ['a function alone', (patch) => patch.fns.push(fn1)],
  ])('is not empty with %s; cleared, it is', (_, change) => {
    const patch = new Patch();
    change(patch);
    expect(patch.isEmpty).toBe(false);
    const { merge } = patch;
    patch.clear();
    expect(patch.isEmpty).toBe(true);
    expect(patch.fns).toEqual([]);
    expect(patch.merge).toBe(merge);
    expect(merge).toEqual({});
  });
});

/** All stanzas, with where they are in the merge-patch. */
const stanzas: [name: string, view: (patch: Patch) => Mapping, path: string[]][] = [
  ['spec', (patch) => patch.spec, ['spec']],
  ['status', (patch) => patch.status, ['status']],
  ['metadata', (patch) => patch.metadata as Mapping, ['metadata']],
  ['meta', (patch) => patch.meta as Mapping, ['metadata']],
  ['metadata.labels', (patch) => patch.metadata.labels, ['metadata', 'labels']],
  ['metadata.annotations', (patch) => patch.meta.annotations, ['metadata', 'annotations']],
];

const nested = (path: readonly string[], value: unknown): Mapping => {
  const root: Mapping = {};
  ensureField(root, path, value);
  return root;
};

describe.each(stanzas)('the stanza %s', (_name, view, path) => {
  it('is empty when absent, and is not created by looking at it', () => {
    const patch = new Patch();
    const stanza = view(patch);
    expect(Object.keys(stanza)).toEqual([]);
    expect('x' in stanza).toBe(false);
    expect(stanza.x).toBe(undefined);
    expect({ ...stanza }).toEqual({});
    expect(JSON.stringify(stanza)).toBe('{}');
    delete stanza.x;
    stanza.x = undefined;
    expect(patch.isEmpty).toBe(true);
  });

  it('is created by writing into it', () => {
    const patch = new Patch();
    view(patch).x = 'y';
    expect(patch.merge).toEqual(nested(path, { x: 'y' }));
  });

  it('shows what comes later, however it comes', () => {
    const patch = new Patch();
    const stanza = view(patch);
    ensureField(patch.merge, [...path, 'x'], 'y');
    expect(stanza.x).toBe('y');
    expect('x' in stanza).toBe(true);
    expect(Object.keys(stanza)).toEqual(['x']);
    expect(Object.entries(stanza)).toEqual([['x', 'y']]);
    expect({ ...stanza }).toEqual({ x: 'y' });
    expect(JSON.stringify(stanza)).toBe('{"x":"y"}');
    expect(`${stanza}`).toBe('{"x":"y"}');
  });

  it('stays, empty, when its last key is deleted', () => {
    const patch = new Patch();
    const stanza = view(patch);
    stanza.x = 'y';
    delete stanza.x;
    expect(patch.merge).toEqual(nested(path, {}));
  });

  it('keeps null as the value, which removes the field', () => {
    const patch = new Patch();
    view(patch).x = null;
    expect(patch.merge).toEqual(nested(path, { x: null }));
  });

  it('takes hostile keys as data', () => {
    const patch = new Patch();
    const stanza = view(patch);
    expect(stanza[PROTO]).toBe(undefined);
    expect(stanza.constructor).toBe(undefined);
    stanza[PROTO] = { polluted: true };
    expect(JSON.stringify(patch)).toBe(JSON.stringify(nested([...path, '__proto__', 'polluted'], true)));
    expect(Object.keys(stanza)).toEqual(['__proto__']);
    expect('polluted' in stanza).toBe(false);
  });

  it('can be filled by Object.assign and Object.defineProperty, but not frozen or given a prototype', () => {
    const patch = new Patch();
    const stanza = view(patch);
    Object.assign(stanza, { x: 1 });
    Object.defineProperty(stanza, 'y', { value: 2, configurable: true });
    expect(patch.merge).toEqual(nested(path, { x: 1, y: 2 }));
    expect(() => Object.freeze(stanza)).toThrow(TypeError);
    expect(() => Object.setPrototypeOf(stanza, { polluted: true })).toThrow(TypeError);
    expect(() => Object.assign(stanza, { [Symbol('x')]: 1 })).toThrow(TypeError);
  });
});

describe('assigning a stanza', () => {
  it('replaces what was there', () => {
    const patch = new Patch({ spec: { x: 1 } });
    patch.spec = { y: 2 };
    patch.meta = { labels: { a: 'b' } };
    patch.metadata.annotations = { c: 'd' };
    expect(patch.merge).toEqual({ spec: { y: 2 }, metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } });
    expect(patch.metadata.labels.a).toBe('b');
  });

  it('of null is kept, and means the removal of the stanza', () => {
    const patch = new Patch();
    patch.status = null;
    patch.metadata.labels = null;
    expect(patch.merge).toEqual({ status: null, metadata: { labels: null } });
    expect(patch.isEmpty).toBe(false);
    expect(patch.status.phase).toBe(undefined);
    expect(Object.keys(patch.metadata.labels)).toEqual([]);
  });

  it('of null is overridden by a later write into it', () => {
    const patch = new Patch();
    patch.status = null;
    patch.status.phase = 'x';
    expect(patch.merge).toEqual({ status: { phase: 'x' } });
  });

  it('keeps the object of the handler, so that it can be filled further', () => {
    const status: Mapping = {};
    const patch = new Patch();
    patch.status = status;
    status.phase = 'x';
    patch.status.other = 'y';
    expect(patch.merge).toEqual({ status: { phase: 'x', other: 'y' } });
    expect(status).toEqual({ phase: 'x', other: 'y' });
  });

  it('copies parts of a frozen body, so that the patch can be written to', () => {
    const body = deepFreeze({ spec: { a: 1 }, metadata: { labels: { b: 'c' } } });
    const patch = new Patch({}, { body });
    patch.spec = body.spec;
    patch.spec.more = 1;
    patch.metadata = { labels: body.metadata.labels };
    patch.metadata.labels.more = 'x';
    expect(patch.merge).toEqual({ spec: { a: 1, more: 1 }, metadata: { labels: { b: 'c', more: 'x' } } });
    expect(body.spec).toEqual({ a: 1 });
  });

  it('copies live views of a body, as they are at the moment', () => {
    const live = makeLiveBody({ spec: { a: 1, nested: { x: 1 } }, metadata: { labels: { b: 'c' } } });
    const patch = new Patch();
    patch.status = live.spec;
    patch.status.more = 1;
    patch.metadata = { labels: live.labels };
    patch.metadata.labels.more = 'x';
    patch.copies = { body: live.body, list: [live.spec] };
    live.replace({ spec: { a: 2, nested: { x: 2 } }, metadata: { labels: {} } } as never);
    const spec = { a: 1, nested: { x: 1 } };
    const labels = { b: 'c' };
    expect(patch.merge).toStrictEqual({
      status: { ...spec, more: 1 },
      metadata: { labels: { b: 'c', more: 'x' } },
      copies: { body: { spec, metadata: { labels } }, list: [spec] },
    });
  });

  it('copies stanzas of patches, be it the same one', () => {
    const patch = new Patch({ spec: { a: 1 } });
    const { spec } = patch;
    patch.status = spec;
    patch.spec = spec;
    patch.status.b = 2;
    expect(patch.merge).toEqual({ spec: { a: 1 }, status: { a: 1, b: 2 } });
  });
});

describe('other fields', () => {
  it('are those of the merge-patch', () => {
    const patch = new Patch();
    patch.data = { key: 'value' };
    patch.gone = null;
    expect(patch.merge).toEqual({ data: { key: 'value' }, gone: null });
    expect(patch.data).toEqual({ key: 'value' });
    expect('data' in patch).toBe(true);
    delete patch.data;
    patch.gone = undefined;
    expect('data' in patch).toBe(false);
    expect(patch.isEmpty).toBe(true);
  });

  it('are all that is seen by listing, spreading and stringifying', () => {
    const patch = new Patch({ data: 1, status: { x: 2 } }, { fns: [fn1], body: {} });
    expect(Object.keys(patch)).toEqual(['data', 'status']);
    expect({ ...patch }).toEqual({ data: 1, status: { x: 2 } });
    expect(JSON.stringify(patch)).toBe('{"data":1,"status":{"x":2}}');
    expect(`${patch}`).toBe('{"data":1,"status":{"x":2}}');
    expect('spec' in patch).toBe(false);
    expect('status' in patch).toBe(true);
  });

  it('with the names of members are only reachable in the merge-patch; members cannot be overridden', () => {
    const patch = new Patch({ body: 'text', fns: 'text', merge: 'text' });
    expect(patch.body).toBe(undefined);
    expect(patch.fns).toEqual([]);
    expect(patch.merge).toEqual({ body: 'text', fns: 'text', merge: 'text' });
    expect(JSON.stringify(patch)).toBe('{"body":"text","fns":"text","merge":"text"}');
    for (const member of ['merge', 'fns', 'body', 'isEmpty', 'clear', 'toJSON']) {
      expect(() => Object.assign(patch, { [member]: 1 })).toThrow(TypeError);
      expect(Reflect.deleteProperty(patch, member)).toBe(false);
      expect(member in patch).toBe(true);
    }
  });

  it('with hostile names are data', () => {
    const patch = new Patch(JSON.parse('{"__proto__": {"polluted": 1}}') as Mapping);
    Reflect.set(patch, 'constructor', { polluted: true });
    expect(JSON.stringify(patch)).toBe('{"__proto__":{"polluted":1},"constructor":{"polluted":true}}');
    expect(patch).toBeInstanceOf(Patch);
    expect(new Patch()[PROTO]).toBe(undefined);
    expect(new Patch().constructor).toBe(undefined);
    expect(() => Object.setPrototypeOf(patch, {})).toThrow(TypeError);
    expect(() => Object.freeze(patch)).toThrow(TypeError);
  });

  it('can be defined as properties, too', () => {
    const patch = new Patch();
    Object.defineProperty(patch, 'data', { value: 1, configurable: true });
    expect(patch.merge).toEqual({ data: 1 });
  });
});

describe('as a JSON-patch', () => {
  const body = deepFreeze<AnyObject>({ metadata: { labels: { a: 'b' } }, spec: { a: 5, 'x/y~z': 1 } });

  it.each<[string, Mapping, ReturnType<typeof asJsonPatch>]>([
    ['setting what is set is nothing', { spec: { a: 5 } }, []],
    ['removing what is absent is nothing', { spec: { other: null }, status: { x: null } }, []],
    ['an empty mapping is nothing', { status: {} }, []],
    ['a new field is added', { spec: { b: 1 } }, [{ op: 'add', path: '/spec/b', value: 1 }]],
    ['a new stanza is added', { status: { x: 1 } }, [{ op: 'add', path: '/status', value: { x: 1 } }]],
    ['a field is replaced', { spec: { a: 1 } }, [{ op: 'replace', path: '/spec/a', value: 1 }]],
    ['a field is removed', { spec: { a: null } }, [{ op: 'remove', path: '/spec/a' }]],
    ['emptied parents are removed', { metadata: { labels: { a: null } } }, [{ op: 'remove', path: '/metadata' }]],
    ['keys are escaped', { spec: { 'x/y~z': 2 } }, [{ op: 'replace', path: '/spec/x~1y~0z', value: 2 }]],
  ])('%s', (_, merge, ops) => {
    const patch = new Patch(merge, { body });
    expect(asJsonPatch(patch)).toEqual(ops);
    expect(patch.merge).toEqual(merge);
  });

  it('the functions go after the merge-patch, in their order', () => {
    const patch = new Patch({ spec: { a: 100 } }, { body, fns: [fn2, fn2] });
    expect(asJsonPatch(patch)).toEqual([{ op: 'replace', path: '/spec/a', value: 102 }]);
    expect(asJsonPatch(new Patch({}, { body, fns: [fn1, fn2] }))).toEqual([
      { op: 'replace', path: '/spec/a', value: 2 },
    ]);
    expect(body.spec.a).toBe(5);
  });

  it('functions that change nothing give nothing', () => {
    expect(asJsonPatch(new Patch({}, { body, fns: [() => undefined] }))).toEqual([]);
  });

  it('the given body is preferred to the own one', () => {
    const patch = new Patch({ spec: { a: 5 } }, { body });
    expect(asJsonPatch(patch, { spec: { a: 6 } })).toEqual([{ op: 'replace', path: '/spec/a', value: 5 }]);
  });

  it('needs a body, unless there is nothing to do', () => {
    expect(asJsonPatch(new Patch())).toEqual([]);
    expect(() => asJsonPatch(new Patch({ a: 1 }))).toThrow(expect.objectContaining({ code: 'KOPF_NO_BODY' }));
    expect(() => asJsonPatch(new Patch({}, { fns: [fn1] }))).toThrow(KopfError);
  });

  it('has dates as texts', () => {
    expect(asJsonPatch(new Patch({ at: new Date(0) }), {})).toEqual([
      { op: 'add', path: '/at', value: '1970-01-01T00:00:00.000Z' },
    ]);
  });
});
