import { describe, expect, it } from 'vitest';
import { type FieldType, fieldAt, fieldTypeOf } from '../../src/schemas/field-types.js';
import { typeNamed, typeNameOf } from '../../src/schemas/types.js';

const shape = (type: FieldType | undefined): unknown => {
  if (type?.is === 'list') return { list: type.relation, keys: type.keys, defaults: type.keyDefaults };
  return type?.is === 'map' ? { map: type.relation } : type;
};

describe('a built-in kind', () => {
  it.each([
    ['', 'v1', 'Pod', 'core.Pod'],
    ['apps', 'v1', 'Deployment', 'apps.Deployment'],
    ['autoscaling', 'v1', 'HorizontalPodAutoscaler', 'autoscaling.HorizontalPodAutoscaler'],
    ['autoscaling', 'v2', 'HorizontalPodAutoscaler', 'autoscaling.v2.HorizontalPodAutoscaler'],
    ['networking.k8s.io', 'v1', 'Ingress', 'networking.Ingress'],
    ['storage.k8s.io', 'v1', 'StorageClass', 'storage.StorageClass'],
    ['policy', 'v1', 'PodDisruptionBudget', 'policy.PodDisruptionBudget'],
    ['example.com', 'v1', 'Pod', undefined],
  ])('is found by its group, version and kind: %s %s %s', (group, version, kind, name) => {
    expect(typeNameOf(group, version, kind)).toBe(name);
    if (name !== undefined) expect(typeNamed(name).kind).toEqual({ group, version, kind });
  });

  const deployment = fieldTypeOf({ type: 'apps.Deployment' });
  const pod = fieldTypeOf({ type: 'core.Pod' });
  it.each([
    [deployment, ['spec'], { map: 'granular' }],
    [deployment, ['spec', 'replicas'], { is: 'scalar', of: 'number' }],
    [deployment, ['spec', 'selector'], { map: 'atomic' }],
    [deployment, ['metadata', 'labels'], { map: 'granular' }],
    [deployment, ['metadata', 'finalizers'], { list: 'set', keys: [], defaults: {} }],
    [deployment, ['metadata', 'ownerReferences'], { list: 'map', keys: ['uid'], defaults: { uid: '' } }],
    [pod, ['spec', 'nodeSelector'], { map: 'atomic' }],
    [pod, ['spec', 'tolerations'], { list: 'atomic', keys: [], defaults: {} }],
    [pod, ['spec', 'containers', 0, 'command'], { list: 'atomic', keys: [], defaults: {} }],
    [pod, ['spec', 'containers', 0, 'resources', 'limits', 'cpu'], { is: 'free', isAtomic: true }],
    [
      pod,
      ['spec', 'containers', 0, 'ports'],
      { list: 'map', keys: ['containerPort', 'protocol'], defaults: { containerPort: 0, protocol: 'TCP' } },
    ],
    [pod, ['spec', 'volumes', 0, 'configMap', 'items'], { list: 'atomic', keys: [], defaults: {} }],
    [pod, ['spec', 'nothing'], undefined],
  ] as const)('has fields of types: %#', (type, path, expected) => {
    expect(shape(fieldAt(type, ...path))).toEqual(expected);
  });

  it('overrides the type of a structure where it uses it', () => {
    const volume = fieldTypeOf({ type: 'core.PersistentVolume' });
    expect(shape(fieldAt(volume, 'spec', 'claimRef'))).toEqual({ map: 'granular' });
    expect(shape(fieldAt(fieldTypeOf({ type: 'core.Event' }), 'involvedObject'))).toEqual({ map: 'atomic' });
  });
});

describe('a custom kind', () => {
  const tree: Record<string, unknown> = {
    type: 'object',
    properties: {
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 10 } } },
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          port: { 'x-kubernetes-int-or-string': true },
          tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
          plain: { type: 'array', items: { type: 'string' } },
          parts: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name', 'zone'],
            items: {
              type: 'object',
              properties: {
                name: { type: 'string' },
                zone: { type: 'string', default: 'a' },
                size: { type: 'integer' },
              },
            },
          },
          one: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } },
          named: { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer' } } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
          anything: { 'x-kubernetes-preserve-unknown-fields': true },
          template: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            properties: { spec: { type: 'object' } },
          },
        },
      },
    },
  };
  const thing = fieldTypeOf({ schema: tree });

  it.each([
    [['apiVersion'], { is: 'scalar', of: 'string' }],
    [['metadata', 'finalizers'], { list: 'set', keys: [], defaults: {} }],
    [['spec', 'size'], { is: 'scalar', of: 'number' }],
    [['spec', 'port'], { is: 'free', isAtomic: true }],
    [['spec', 'tags'], { list: 'set', keys: [], defaults: {} }],
    [['spec', 'plain'], { list: 'atomic', keys: [], defaults: {} }],
    [['spec', 'parts'], { list: 'map', keys: ['name', 'zone'], defaults: { zone: 'a' } }],
    [['spec', 'parts', 0, 'size'], { is: 'scalar', of: 'number' }],
    [['spec', 'one'], { map: 'atomic' }],
    [['spec', 'named', 'x'], { list: 'atomic', keys: [], defaults: {} }],
    [['spec', 'free', 'a'], { is: 'scalar', of: 'string' }],
    [['spec', 'free', 'b', 'c'], { is: 'free', isAtomic: false }],
    [['spec', 'anything'], { is: 'free', isAtomic: false }],
    [['spec', 'template', 'metadata', 'labels', 'x'], { is: 'scalar', of: 'string' }],
    [['spec', 'nothing'], undefined],
  ] as const)('has fields of types: %#', (path, expected) => {
    expect(shape(fieldAt(thing, ...path))).toEqual(expected);
  });
});
