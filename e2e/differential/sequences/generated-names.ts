import { get, post, prepare, put, type Sequence, sequence } from '../harness/sequence.js';
import {
  configMap,
  configMaps,
  defined,
  definition,
  deployment,
  deployments,
  namespaces,
  object,
  pod,
  pods,
  thing,
  things,
} from './objects.js';

const long = 'a'.repeat(70);

export const generatedNames: readonly Sequence[] = [
  sequence('a generated name', [
    post(configMaps, configMap({ generateName: 'cm-' }), { save: { name: 'metadata.name' } }),
    get(`${configMaps}/<name>`),
  ]),
  sequence('generated names of several', [
    post(configMaps, configMap({ generateName: 'cm-' })),
    post(configMaps, configMap({ generateName: 'cm-' })),
  ]),
  sequence('a generated name of a custom object', [
    ...defined(definition()),
    post(things, thing({ generateName: 'thing-' })),
    post(things, thing({ generateName: 'Bad_' })),
  ]),
  sequence('a generated name without a dash', [post(configMaps, configMap({ generateName: 'plain' }))]),
  sequence('a name wins over a generated one', [post(configMaps, configMap({ name: 'fixed', generateName: 'cm-' }))]),
  sequence('neither a name nor a generated one', [
    post(configMaps, configMap({})),
    post(configMaps, configMap({ name: '', generateName: '' })),
    post(configMaps, { apiVersion: 'v1', kind: 'ConfigMap' }),
  ]),
  sequence('a wrong prefix', [
    post(configMaps, configMap({ generateName: 'Not_A_Name-' })),
    post(configMaps, configMap({ generateName: '-x' })),
  ]),
  sequence('a long prefix is cut', [
    post(configMaps, configMap({ generateName: `${long}-` })),
    post(pods, pod({ generateName: `${long}-` })),
  ]),
  sequence('a generated name of a namespace', [
    post(namespaces, object('v1', 'Namespace', { generateName: 'gen-<id>-' })),
  ]),
  sequence('a generated name of a deployment', [post(deployments, deployment({ generateName: 'web-' }))]),
  sequence('a generated name and an update', [
    prepare(post(configMaps, configMap('x'))),
    put(`${configMaps}/x`, configMap({ name: 'x', generateName: 'other-' })),
  ]),
  sequence('wrong names', [
    post(configMaps, configMap('UPPER')),
    post(configMaps, configMap('with space')),
    post(configMaps, configMap('a/b')),
    post(configMaps, configMap('..')),
    post(configMaps, configMap('-dash')),
    post(configMaps, configMap('b'.repeat(254))),
    post(configMaps, configMap('dots.are.fine')),
  ]),
  sequence('wrong names of kinds with stricter names', [
    post(
      '/api/v1/namespaces/<ns>/services',
      object('v1', 'Service', 'with.dots', { spec: { clusterIP: 'None', ports: [{ port: 1 }] } }),
    ),
    post(namespaces, object('v1', 'Namespace', 'with.dots')),
    post(
      '/apis/rbac.authorization.k8s.io/v1/namespaces/<ns>/roles',
      object('rbac.authorization.k8s.io/v1', 'Role', 'UPPER:colon', {}),
    ),
    post(
      '/apis/rbac.authorization.k8s.io/v1/namespaces/<ns>/roles',
      object('rbac.authorization.k8s.io/v1', 'Role', 'a/b', {}),
    ),
  ]),
];
