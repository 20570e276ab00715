import { del, get, jsonPatch, mergePatch, post, prepare, put, type Sequence, sequence } from '../harness/sequence.js';
import {
  configMap,
  configMaps,
  defined,
  definition,
  deployment,
  deployments,
  object,
  thing,
  things,
  version,
} from './objects.js';

const first = prepare(
  post(configMaps, configMap('a'), { save: { v1: 'metadata.resourceVersion', uid: 'metadata.uid' } }),
);
const second = prepare(
  mergePatch(`${configMaps}/a`, { data: { key: 'two' } }, { save: { v2: 'metadata.resourceVersion' } }),
);
const other = '00000000-0000-0000-0000-000000000001';
const options = (preconditions: object) => ({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions });

export const locking: readonly Sequence[] = [
  sequence('updates with versions', [
    first,
    put(`${configMaps}/a`, configMap({ name: 'a', resourceVersion: '<v1>' }, { key: 'two' })),
    put(`${configMaps}/a`, configMap({ name: 'a', resourceVersion: '<v1>' }, { key: 'three' })),
    get(`${configMaps}/a`),
  ]),
  sequence('updates without versions', [first, second, put(`${configMaps}/a`, configMap('a', { key: 'three' }))]),
  sequence('merge patches with versions', [
    first,
    second,
    mergePatch(`${configMaps}/a`, { metadata: { resourceVersion: '<v1>' }, data: { key: 'three' } }),
    mergePatch(`${configMaps}/a`, { metadata: { resourceVersion: '<v2>' }, data: { key: 'three' } }),
  ]),
  sequence('json patches with versions', [
    first,
    second,
    jsonPatch(`${configMaps}/a`, [
      { op: 'replace', path: '/metadata/resourceVersion', value: '<v1>' },
      { op: 'replace', path: '/data/key', value: 'x' },
    ]),
    jsonPatch(`${configMaps}/a`, [{ op: 'test', path: '/metadata/resourceVersion', value: '<v1>' }]),
    jsonPatch(`${configMaps}/a`, [
      { op: 'test', path: '/metadata/resourceVersion', value: '<v2>' },
      { op: 'replace', path: '/data/key', value: 'x' },
    ]),
  ]),
  sequence('wrong versions', [
    first,
    put(`${configMaps}/a`, configMap({ name: 'a', resourceVersion: 'x' })),
    put(`${configMaps}/a`, configMap({ name: 'a', resourceVersion: '0' })),
    mergePatch(`${configMaps}/a`, { metadata: { resourceVersion: 'x' } }),
    mergePatch(`${configMaps}/a`, { metadata: { resourceVersion: '' } }),
    mergePatch(`${configMaps}/a`, { metadata: { resourceVersion: null }, data: { key: 'two' } }),
    mergePatch(`${configMaps}/a`, { metadata: { resourceVersion: 5 } }),
  ]),
  sequence('custom objects with versions', [
    ...defined(definition([version('v1', undefined, { subresources: { status: {} } })])),
    prepare(post(things, thing('a', { spec: { x: 1 } }), { save: { v1: 'metadata.resourceVersion' } })),
    put(`${things}/a`, thing('a', { spec: { x: 2 } })),
    put(`${things}/a`, thing({ name: 'a', resourceVersion: '<v1>' }, { spec: { x: 2 } })),
    put(`${things}/a`, thing({ name: 'a', resourceVersion: '<v1>' }, { spec: { x: 3 } })),
    mergePatch(`${things}/a`, { metadata: { resourceVersion: '<v1>' }, spec: { x: 3 } }),
    put(`${things}/a/status`, thing('a', { status: { x: 3 } })),
    mergePatch(`${things}/a`, { metadata: { resourceVersion: 'x' } }),
    put(`${things}/a`, thing({ name: 'a', resourceVersion: 'x' })),
  ]),
  sequence('statuses with versions', [
    prepare(post(deployments, deployment('a'), { save: { v1: 'metadata.resourceVersion' } })),
    mergePatch(`${deployments}/a/status`, { metadata: { resourceVersion: '<v1>' }, status: { replicas: 1 } }),
    mergePatch(`${deployments}/a/status`, { metadata: { resourceVersion: '<v1>' }, status: { replicas: 2 } }),
  ]),
  sequence('deletions with uids', [
    first,
    del(`${configMaps}/a`, options({ uid: other })),
    del(`${configMaps}/a`, options({ uid: '<uid>' })),
    del(`${configMaps}/a`, options({ uid: '<uid>' })),
  ]),
  sequence('deletions with versions', [
    first,
    second,
    del(`${configMaps}/a`, options({ resourceVersion: '<v1>' })),
    del(`${configMaps}/a`, options({ resourceVersion: '<v2>' })),
    get(`${configMaps}/a`),
  ]),
  sequence('deletions with both', [
    first,
    del(`${configMaps}/a`, options({ uid: '<uid>', resourceVersion: '7' })),
    del(`${configMaps}/a`, options({ uid: '<uid>', resourceVersion: '<v1>' })),
  ]),
  sequence('deletions of custom objects with uids', [
    ...defined(definition()),
    prepare(post(things, thing('a'), { save: { uid: 'metadata.uid' } })),
    del(`${things}/a`, options({ uid: other })),
    del(`${things}/a`, options({ uid: '<uid>' })),
  ]),
  sequence('another object under the same name', [
    first,
    prepare(del(`${configMaps}/a`)),
    prepare(post(configMaps, configMap('a'))),
    put(`${configMaps}/a`, configMap({ name: 'a', uid: '<uid>', resourceVersion: '<v1>' })),
    put(`${configMaps}/a`, configMap({ name: 'a', uid: '<uid>' })),
    del(`${configMaps}/a`, options({ uid: '<uid>' })),
  ]),
  sequence('updates of what is not there, with versions', [
    put(`${configMaps}/none`, configMap({ name: 'none', resourceVersion: '5' })),
    put(
      '/apis/coordination.k8s.io/v1/namespaces/<ns>/leases/none',
      object('coordination.k8s.io/v1', 'Lease', { name: 'none', resourceVersion: '5' }),
    ),
    mergePatch(`${configMaps}/none`, { metadata: { resourceVersion: '5' } }),
  ]),
];
