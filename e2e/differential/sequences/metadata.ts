import { get, jsonPatch, mergePatch, post, prepare, put, type Sequence, sequence } from '../harness/sequence.js';
import {
  configMap,
  configMaps,
  defined,
  definition,
  deployment,
  deployments,
  inNamespace,
  object,
  pod,
  pods,
  schemaOf,
  thing,
  things,
  version,
  workloadSpec,
} from './objects.js';

const withStatus = definition([version('v1', undefined, { subresources: { status: {} } })]);

export const metadata: readonly Sequence[] = [
  sequence('generations of deployments', [
    post(deployments, deployment('web')),
    mergePatch(`${deployments}/web`, { spec: { replicas: 2 } }),
    mergePatch(`${deployments}/web`, { metadata: { labels: { a: 'b' } } }),
    mergePatch(`${deployments}/web`, { metadata: { annotations: { a: 'b' } } }),
    mergePatch(`${deployments}/web/status`, { status: { observedGeneration: 2 } }),
    get(`${deployments}/web`),
  ]),
  sequence('generations of other workloads', [
    post(inNamespace('daemonsets', 'apps/v1'), object('apps/v1', 'DaemonSet', 'd', { spec: workloadSpec })),
    mergePatch(`${inNamespace('daemonsets', 'apps/v1')}/d`, { spec: { minReadySeconds: 3 } }),
    post(
      inNamespace('statefulsets', 'apps/v1'),
      object('apps/v1', 'StatefulSet', 's', { spec: { ...workloadSpec, serviceName: 's' } }),
    ),
    mergePatch(`${inNamespace('statefulsets', 'apps/v1')}/s`, { spec: { replicas: 2 } }),
  ]),
  sequence('generations of config maps and pods', [
    post(configMaps, configMap('a')),
    mergePatch(`${configMaps}/a`, { data: { key: 'new' } }),
    post(pods, pod('a')),
    mergePatch(`${pods}/a`, { metadata: { labels: { a: 'b' } } }),
  ]),
  sequence('generations of custom objects', [
    ...defined(definition()),
    post(things, thing('a', { spec: { x: 1 } })),
    mergePatch(`${things}/a`, { spec: { x: 2 } }),
    mergePatch(`${things}/a`, { status: { x: 2 } }),
    mergePatch(`${things}/a`, { metadata: { labels: { a: 'b' } } }),
    mergePatch(`${things}/a`, { other: { x: 2 } }),
  ]),
  sequence('generations of custom objects with a status', [
    ...defined(withStatus),
    post(things, thing('a', { spec: { x: 1 }, status: { ignored: true } })),
    mergePatch(`${things}/a`, { spec: { x: 2 } }),
    mergePatch(`${things}/a`, { status: { x: 2 } }),
    mergePatch(`${things}/a/status`, { status: { x: 2 } }),
    mergePatch(`${things}/a`, { metadata: { annotations: { a: 'b' } } }),
    mergePatch(`${things}/a`, { other: { x: 2 } }),
    get(`${things}/a`),
  ]),
  sequence('system fields are not for clients', [
    post(
      configMaps,
      configMap({
        name: 'a',
        uid: '00000000-0000-0000-0000-000000000001',
        generation: 77,
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 5,
        selfLink: '/x',
      }),
    ),
    mergePatch(`${configMaps}/a`, { metadata: { generation: 99, creationTimestamp: '2001-01-01T00:00:00Z' } }),
    mergePatch(`${configMaps}/a`, { metadata: { creationTimestamp: null } }),
    mergePatch(`${configMaps}/a`, { metadata: { deletionTimestamp: '2001-01-01T00:00:00Z' } }),
  ]),
  sequence('system fields of custom objects', [
    ...defined(definition()),
    post(
      things,
      thing({
        name: 'a',
        uid: '00000000-0000-0000-0000-000000000001',
        generation: 77,
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        selfLink: '/x',
        unknown: 'field',
      }),
    ),
    mergePatch(`${things}/a`, { metadata: { generation: 99 } }),
    mergePatch(`${things}/a`, { metadata: { unknown: 'field' } }),
  ]),
  sequence('a creation with a version', [
    post(configMaps, configMap({ name: 'a', resourceVersion: '5' })),
    post(configMaps, configMap({ name: 'a', resourceVersion: '0' })),
    post(configMaps, configMap({ name: 'b', resourceVersion: '' })),
  ]),
  sequence('uids do not change', [
    prepare(post(configMaps, configMap('a'))),
    put(`${configMaps}/a`, configMap({ name: 'a', uid: '00000000-0000-0000-0000-000000000001' })),
    mergePatch(`${configMaps}/a`, { metadata: { uid: '00000000-0000-0000-0000-000000000001' } }),
    mergePatch(`${configMaps}/a`, { metadata: { uid: null } }),
  ]),
  sequence('owners', [
    prepare(post(configMaps, configMap('owner'), { save: { uid: 'metadata.uid' } })),
    post(
      configMaps,
      configMap({ name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '<uid>' }] }),
    ),
    post(
      configMaps,
      configMap({ name: 'b', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: '', uid: '' }] }),
    ),
    post(
      configMaps,
      configMap({
        name: 'c',
        ownerReferences: [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '<uid>', controller: true },
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'x', controller: true },
        ],
      }),
    ),
    post(
      configMaps,
      configMap({ name: 'd', ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'x', uid: 'x' }] }),
    ),
  ]),
  sequence('the same owner twice', [
    prepare(post(configMaps, configMap('owner'), { save: { uid: 'metadata.uid' } })),
    post(
      configMaps,
      configMap({
        name: 'a',
        ownerReferences: [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '<uid>' },
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '<uid>' },
        ],
      }),
    ),
  ]),
  sequence('big annotations', [
    post(configMaps, configMap({ name: 'a', annotations: { big: 'x'.repeat(262_145) } })),
    post(configMaps, configMap({ name: 'a', annotations: { 'example.com/fine': 'x', 'UPPER.example.com/x': 'y' } })),
  ]),
  sequence('empty and null metadata', [
    post(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: null }),
    post(configMaps, configMap({ name: 'a', labels: {}, annotations: null, finalizers: [], ownerReferences: null })),
    post(configMaps, configMap({ name: 'b', labels: { a: null, b: '' } })),
    jsonPatch(`${configMaps}/a`, [{ op: 'add', path: '/metadata/labels', value: {} }]),
  ]),
  sequence('empty and null metadata of custom objects', [
    ...defined(definition([version('v1', schemaOf({ spec: schemaOf({ x: { type: 'string' } }) }))])),
    post(things, { apiVersion: '<group>/v1', kind: 'Thing', metadata: null }),
    post(things, thing({ name: 'a', labels: {}, annotations: null, finalizers: [] })),
    post(things, thing({ name: 'b', labels: { a: null } })),
    post(things, thing({ name: 'c', labels: 'wrong' })),
    post(things, thing({ name: 'd', labels: { a: 5 } })),
  ]),
];
