import { describe, expect, it } from 'vitest';
import { ContextError, FieldError, KopfError } from '../../src/errors.js';
import type { Body } from '../../src/values/objects/body.js';
import {
  adjustNamespaceBy,
  adoptBy,
  appendOwnerReferenceBy,
  harmonizeNamingBy,
  labelBy,
  type NamingOptions,
  type ObjectsToChange,
  removeOwnerReferenceBy,
} from '../../src/values/objects/hierarchy.js';

const owner: Body = {
  apiVersion: 'owner-api/v1',
  kind: 'OwnerKind',
  metadata: { name: 'owner', namespace: 'owner-ns', uid: 'owner-uid', labels: { app: 'x', tier: 'y' } },
};
const reference = {
  controller: true,
  blockOwnerDeletion: true,
  apiVersion: 'owner-api/v1',
  kind: 'OwnerKind',
  name: 'owner',
  uid: 'owner-uid',
};
const nobody: Body = {};

/** As the clients generate them: with all the fields declared, and undefined until set. */
class ModelMeta {
  name: string | undefined = undefined;
  generateName: string | undefined = undefined;
  namespace: string | undefined = undefined;
  labels: Record<string, string> | undefined = undefined;
  ownerReferences: object[] | undefined = undefined;
}
class Model {
  metadata: ModelMeta | undefined = undefined;
  spec: object = {};
}

const functions: [string, (owner: Body | undefined, objects: ObjectsToChange) => void][] = [
  ['adopt', adoptBy],
  ['label', labelBy],
  ['append an owner reference', appendOwnerReferenceBy],
  ['remove an owner reference', removeOwnerReferenceBy],
  ['harmonize the naming', harmonizeNamingBy],
  ['adjust the namespace', adjustNamespaceBy],
];

describe.each(functions)('to %s', (_, change) => {
  it('an owner is needed, even if there is nothing to change', () => {
    expect(() => change(undefined, [])).toThrow(ContextError);
    expect(() => change(undefined, {})).toThrow(/Owner must be set explicitly/);
  });

  it.each([
    ['text'],
    [1],
    [true],
    [Symbol('x')],
    [() => {}],
    [new Date(0)],
    [Promise.resolve({})],
    [/x/],
    [new Map([['a', 1]])],
  ])('unsupported things are refused, before anything is changed: %#', (thing) => {
    const before = {};
    const attempt = () => change(owner, [before, [thing as object]]);
    expect(attempt).toThrow(KopfError);
    expect(attempt).toThrow(/K8s object class is not supported: \w+/);
    expect(attempt).toThrow(expect.objectContaining({ code: 'KOPF_UNSUPPORTED_OBJECT' }));
    expect(before).toStrictEqual({});
  });

  it('metadata must be a mapping, and is checked before anything is changed', () => {
    const before = {};
    expect(() => change(owner, [before, { metadata: 'text' }])).toThrow(FieldError);
    expect(() => change(owner, [before, { metadata: { labels: [] } }])).toThrow(FieldError);
    expect(before).toStrictEqual({});
  });

  it('objects can be in iterables of any depth, with absent ones skipped', () => {
    const objects = [{}, {}, {}, {}] as { metadata?: object }[];
    function* generated() {
      yield objects[2];
      yield null;
    }
    change(owner, [
      objects[0],
      null,
      undefined,
      [new Set([objects[1]]), generated()],
      [[[objects[3]]]],
    ] as ObjectsToChange);
    const [first] = objects;
    expect(first?.metadata).toBeDefined();
    for (const object of objects) expect(object).toStrictEqual(first);
  });
});

describe('an adopted object', () => {
  it('gets the owner, the name, the namespace and the labels', () => {
    const object = {};
    adoptBy(owner, object);
    expect(object).toStrictEqual({
      metadata: {
        ownerReferences: [reference],
        generateName: 'owner-',
        namespace: 'owner-ns',
        labels: { app: 'x', tier: 'y' },
      },
    });
  });

  it('keeps what it has, unless forced', () => {
    const make = () => ({ metadata: { name: 'own', namespace: 'own-ns', labels: { app: 'own' } } });
    const kept = make();
    adoptBy(owner, kept);
    expect(kept.metadata).toStrictEqual({
      name: 'own',
      namespace: 'own-ns',
      labels: { app: 'own', tier: 'y' },
      ownerReferences: [reference],
    });
    const forced = make();
    adoptBy(owner, forced, { forced: true, strict: true });
    expect(forced.metadata).toStrictEqual({
      name: 'owner',
      namespace: 'owner-ns',
      labels: { app: 'x', tier: 'y' },
      ownerReferences: [reference],
    });
  });

  it('has only the labels put into its templates', () => {
    const object = { spec: { template: {} } };
    adoptBy(owner, object, { nested: 'spec.template' });
    expect(object.spec).toStrictEqual({ template: { metadata: { labels: { app: 'x', tier: 'y' } } } });
  });

  it('stays untouched if the owner has no name to be named after', () => {
    const object = {};
    expect(() => adoptBy(nobody, object)).toThrow(ContextError);
    expect(() => adoptBy(nobody, [])).toThrow(/Name must be set explicitly/);
    expect(object).toStrictEqual({});
  });

  it('can be a model of a client, with all the fields declared beforehand', () => {
    const model = new Model();
    const withMeta = Object.assign(new Model(), { metadata: new ModelMeta() });
    adoptBy(owner, [model, withMeta], { strict: true });
    for (const { metadata } of [model, withMeta]) {
      expect(metadata).toMatchObject({
        name: 'owner',
        namespace: 'owner-ns',
        labels: { app: 'x', tier: 'y' },
        ownerReferences: [reference],
      });
      expect(metadata?.generateName).toBeUndefined();
    }
    expect(model).toBeInstanceOf(Model);
    expect(withMeta.metadata).toBeInstanceOf(ModelMeta);
  });

  it('can have empty stanzas, as left by YAML', () => {
    const object = { metadata: null };
    const other = { metadata: { labels: null, namespace: null, ownerReferences: null, name: 'x' } };
    adoptBy(owner, [object, other]);
    expect(object.metadata).toMatchObject({ generateName: 'owner-', labels: { app: 'x' } });
    expect(other.metadata).toStrictEqual({
      name: 'x',
      namespace: 'owner-ns',
      labels: { app: 'x', tier: 'y' },
      ownerReferences: [reference],
    });
  });

  it('shares nothing with the owner or with its siblings', () => {
    const [one, two] = [{}, {}] as { metadata: { ownerReferences: object[]; labels: object } }[];
    adoptBy(owner, [one, two]);
    expect(one?.metadata.ownerReferences[0]).not.toBe(two?.metadata.ownerReferences[0]);
    expect(one?.metadata.labels).not.toBe(two?.metadata.labels);
    expect(one?.metadata.labels).not.toBe(owner.metadata?.labels);
  });
});

describe('owner references', () => {
  it('are added to those of other owners', () => {
    const object = { metadata: { ownerReferences: [{ uid: 'other', name: 'owner', kind: 'OwnerKind' }] } };
    appendOwnerReferenceBy(owner, object, { controller: false, blockOwnerDeletion: false });
    expect(object.metadata.ownerReferences).toStrictEqual([
      { uid: 'other', name: 'owner', kind: 'OwnerKind' },
      { ...reference, controller: false, blockOwnerDeletion: false },
    ]);
  });

  it('are not added twice, as told by the uid alone', () => {
    const object = { metadata: { ownerReferences: [{ uid: 'owner-uid', name: 'renamed' }] } };
    appendOwnerReferenceBy(owner, object);
    expect(object.metadata.ownerReferences).toStrictEqual([{ uid: 'owner-uid', name: 'renamed' }]);
  });

  it('are removed by the uid alone, all of them, leaving the list', () => {
    const others = [{ uid: 'other', name: 'owner' }];
    const object = { metadata: { ownerReferences: [reference, ...others, { uid: 'owner-uid' }] } };
    const only = { metadata: { ownerReferences: [reference] } };
    const none = {};
    removeOwnerReferenceBy(owner, [object, only, none]);
    expect(object.metadata.ownerReferences).toStrictEqual(others);
    expect(only.metadata.ownerReferences).toStrictEqual([]);
    expect(none).toStrictEqual({ metadata: { ownerReferences: [] } });
  });
});

describe('labels', () => {
  it('can be given instead of those of the owner, and then no owner is needed', () => {
    const object = { metadata: { labels: { app: 'own' } } };
    labelBy(undefined, object, { labels: { app: 'new', more: 'z' } });
    expect(object.metadata.labels).toStrictEqual({ app: 'own', more: 'z' });
    labelBy(undefined, object, { labels: { app: 'new' }, forced: true });
    expect(object.metadata.labels).toStrictEqual({ app: 'new', more: 'z' });
  });

  it('of an owner without labels are none', () => {
    const object = {};
    labelBy(nobody, object);
    expect(object).toStrictEqual({ metadata: { labels: {} } });
  });

  it('never reach a prototype', () => {
    const object = {} as { metadata: { labels: object } };
    labelBy(undefined, object, { labels: JSON.parse('{"__proto__": "x", "constructor": "y"}') });
    expect(JSON.stringify(object.metadata.labels)).toBe('{"__proto__":"x","constructor":"y"}');
    expect(Object.getPrototypeOf(object.metadata.labels)).toBe(Object.prototype);
  });

  it.each([
    ['one dotted path', 'spec.template'],
    ['several paths', ['spec.absent', ['spec', 'template'], 'status.template']],
  ])('are put into the templates by %s, besides the object, where there are any', (_, nested) => {
    const object = { spec: { template: { spec: {} } } };
    labelBy(owner, object, { nested });
    expect(object).toStrictEqual({
      metadata: { labels: { app: 'x', tier: 'y' } },
      spec: { template: { spec: {}, metadata: { labels: { app: 'x', tier: 'y' } } } },
    });
  });

  it('are put into each template of a list', () => {
    const object = { spec: { volumeClaimTemplates: [{}, {}] } };
    labelBy(undefined, object, { labels: { a: 'b' }, nested: 'spec.volumeClaimTemplates' });
    const labelled = { metadata: { labels: { a: 'b' } } };
    expect(object.spec.volumeClaimTemplates).toStrictEqual([labelled, labelled]);
  });

  it.each([{ spec: 'text' }, { spec: { template: 'text' } }, { spec: [] }])(
    'cannot be put into what is not a template: %j',
    (object) => {
      const before = structuredClone(object);
      expect(() => labelBy(owner, object, { nested: 'spec.template' })).toThrow(KopfError);
      expect(object).toStrictEqual(before);
    },
  );
});

describe('naming', () => {
  const named = { name: 'own' };
  const generated = { generateName: 'own-' };
  it.each<[object, NamingOptions, object]>([
    [{}, {}, { generateName: 'owner-' }],
    [{}, { strict: true }, { name: 'owner' }],
    [{}, { forced: true }, { generateName: 'owner-' }],
    [{}, { forced: true, strict: true }, { name: 'owner' }],
    [named, {}, named],
    [named, { strict: true }, named],
    [named, { forced: true }, { generateName: 'owner-' }],
    [named, { forced: true, strict: true }, { name: 'owner' }],
    [generated, {}, generated],
    [generated, { strict: true }, generated],
    [generated, { forced: true }, { generateName: 'owner-' }],
    [generated, { forced: true, strict: true }, { name: 'owner' }],
    [{ name: null }, {}, { name: null }],
    [{ name: undefined }, {}, { generateName: 'owner-' }],
    [{}, { name: 'given' }, { generateName: 'given-' }],
    [{}, { name: 'given', strict: true }, { name: 'given' }],
  ])('of %j with %j results in %j', (metadata, options, expected) => {
    const object = { metadata: { ...metadata } };
    harmonizeNamingBy(owner, object, options);
    expect(object.metadata).toStrictEqual(expected);
  });

  it('needs no owner if the name is given, and a real name in any case', () => {
    const object = {};
    harmonizeNamingBy(undefined, object, { name: 'given' });
    expect(object).toStrictEqual({ metadata: { generateName: 'given-' } });
    expect(() => harmonizeNamingBy(owner, {}, { name: '' })).toThrow(/Name must be set explicitly/);
    expect(() => harmonizeNamingBy(owner, {}, { name: null as unknown as string })).toThrow(/Name must be set/);
  });
});

describe('the namespace', () => {
  it.each<[object, Parameters<typeof adjustNamespaceBy>[2], object]>([
    [{}, {}, { namespace: 'owner-ns' }],
    [{ namespace: null }, {}, { namespace: 'owner-ns' }],
    [{ namespace: 'own' }, {}, { namespace: 'own' }],
    [{ namespace: '' }, {}, { namespace: '' }],
    [{ namespace: 'own' }, { forced: true }, { namespace: 'owner-ns' }],
    [{}, { namespace: 'given' }, { namespace: 'given' }],
    [{ namespace: 'own' }, { namespace: 'given' }, { namespace: 'own' }],
    [{ namespace: 'own' }, { namespace: null }, { namespace: 'own' }],
    [{ namespace: 'own' }, { namespace: null, forced: true }, {}],
    [{}, { namespace: null }, {}],
  ])('of %j with %j results in %j', (metadata, options, expected) => {
    const object = { metadata: { ...metadata } };
    adjustNamespaceBy(owner, object, options);
    expect(object.metadata).toStrictEqual(expected);
  });

  it('of a cluster-scoped owner is none', () => {
    const objects = [{ metadata: { namespace: null } }, { metadata: { namespace: 'own' } }];
    adjustNamespaceBy(nobody, objects);
    expect(objects).toStrictEqual([{ metadata: {} }, { metadata: { namespace: 'own' } }]);
    adjustNamespaceBy(nobody, objects, { forced: true });
    expect(objects).toStrictEqual([{ metadata: {} }, { metadata: {} }]);
  });
});
