import {
  applyPatch,
  del,
  get,
  jsonPatch,
  mergePatch,
  post,
  prepare,
  put,
  request,
  type Sequence,
  sequence,
  strategicPatch,
} from '../harness/sequence.js';
import {
  clusterWide,
  configMap,
  configMaps,
  defined,
  definition,
  deployment,
  deployments,
  inNamespace,
  namespaces,
  object,
  pod,
  pods,
  schemaOf,
  thing,
  things,
  version,
  workloadSpec,
} from './objects.js';

const scaled = definition([
  version(
    'v1',
    schemaOf({
      spec: schemaOf({ replicas: { type: 'integer' }, other: { type: 'string' } }),
      status: schemaOf({ replicas: { type: 'integer' }, selector: { type: 'string' } }),
    }),
    {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.replicas',
          labelSelectorPath: '.status.selector',
        },
      },
    },
  ),
]);
const scaleOf = (name: string, replicas: number, rest: object = {}) =>
  object('autoscaling/v1', 'Scale', { name, namespace: '<ns>', ...rest }, { spec: { replicas } });

export const subresources: readonly Sequence[] = [
  sequence('the status of a deployment', [
    prepare(post(deployments, deployment('a'))),
    get(`${deployments}/a/status`),
    put(`${deployments}/a/status`, {
      ...deployment('a', { replicas: 9 }),
      status: { replicas: 1, observedGeneration: 1 },
    }),
    mergePatch(`${deployments}/a/status`, {
      status: { readyReplicas: 1 },
      spec: { replicas: 5 },
      metadata: { labels: { a: 'b' } },
    }),
    put(`${deployments}/a`, { ...deployment('a'), status: { replicas: 7 } }),
    get(`${deployments}/a`),
  ]),
  sequence('a wrong status of a deployment', [
    prepare(post(deployments, deployment('a'))),
    mergePatch(`${deployments}/a/status`, { status: { replicas: -1 } }),
    mergePatch(`${deployments}/a/status`, { status: { replicas: 'x' } }),
    mergePatch(`${deployments}/a/status`, { status: { readyReplicas: 3, availableReplicas: 4 } }),
  ]),
  sequence('the scale of a deployment', [
    prepare(post(deployments, deployment('a', { replicas: 2 }))),
    get(`${deployments}/a/scale`),
    put(`${deployments}/a/scale`, scaleOf('a', 4)),
    mergePatch(`${deployments}/a/scale`, { spec: { replicas: 5 } }),
    jsonPatch(`${deployments}/a/scale`, [{ op: 'replace', path: '/spec/replicas', value: 6 }]),
    get(`${deployments}/a`),
  ]),
  sequence('a wrong scale', [
    prepare(post(deployments, deployment('a', { replicas: 2 }))),
    put(`${deployments}/a/scale`, scaleOf('a', -4)),
    put(`${deployments}/a/scale`, scaleOf('b', 4)),
    put(`${deployments}/a/scale`, deployment('a')),
    put(`${deployments}/a/scale`, scaleOf('a', 4, { resourceVersion: '7' })),
    get(`${deployments}/none/scale`),
    get(`${configMaps}/none/scale`),
  ]),
  sequence('scales of replica sets and stateful sets', [
    prepare(post(inNamespace('replicasets', 'apps/v1'), object('apps/v1', 'ReplicaSet', 'a', { spec: workloadSpec }))),
    prepare(
      post(
        inNamespace('statefulsets', 'apps/v1'),
        object('apps/v1', 'StatefulSet', 'a', { spec: { ...workloadSpec, serviceName: 'a' } }),
      ),
    ),
    get(`${inNamespace('replicasets', 'apps/v1')}/a/scale`),
    mergePatch(`${inNamespace('statefulsets', 'apps/v1')}/a/scale`, { spec: { replicas: 3 } }),
    get(`${inNamespace('daemonsets', 'apps/v1')}/a/scale`),
  ]),
  sequence('the status of a custom object', [
    ...defined(scaled),
    post(things, thing('a', { spec: { replicas: 1 }, status: { replicas: 1 } })),
    get(`${things}/a/status`),
    put(`${things}/a`, thing('a', { spec: { replicas: 1 }, status: { replicas: 1 } })),
    mergePatch(`${things}/a/status`, {
      status: { replicas: 2 },
      spec: { replicas: 7 },
      metadata: { labels: { a: 'b' } },
    }),
    jsonPatch(`${things}/a/status`, [{ op: 'add', path: '/status/selector', value: 'a=b' }]),
    mergePatch(`${things}/a/status`, { status: { replicas: 'x' } }),
    mergePatch(`${things}/a/status`, { status: null }),
    get(`${things}/a`),
  ]),
  sequence('the scale of a custom object', [
    ...defined(scaled),
    prepare(post(things, thing('a', { spec: { replicas: 3, other: 'kept' } }))),
    prepare(mergePatch(`${things}/a/status`, { status: { replicas: 2, selector: 'app=web' } })),
    get(`${things}/a/scale`),
    put(`${things}/a/scale`, scaleOf('a', 4)),
    mergePatch(`${things}/a/scale`, { spec: { replicas: 5 } }),
    get(`${things}/a`),
    put(`${things}/a/scale`, scaleOf('a', -4)),
  ]),
  sequence('the scale of a custom object without replicas', [
    ...defined(scaled),
    prepare(post(things, thing('a'))),
    get(`${things}/a/scale`),
    mergePatch(`${things}/a/scale`, { spec: { replicas: 5 } }),
    get(`${things}/a`),
  ]),
  sequence('custom objects without subresources', [
    ...defined(definition()),
    prepare(post(things, thing('a'))),
    get(`${things}/a/status`),
    mergePatch(`${things}/a/status`, { status: {} }),
    get(`${things}/a/scale`),
    get(`${things}/a/other`),
  ]),
  sequence('the status of a pod', [
    prepare(post(pods, pod('a'))),
    mergePatch(`${pods}/a/status`, {
      status: { phase: 'Running', podIP: '10.0.0.5', conditions: [{ type: 'Ready', status: 'True' }] },
    }),
    get(`${pods}/a/status`),
    mergePatch(`${pods}/a`, { status: { phase: 'Failed' } }),
  ]),
  sequence('the status of other kinds', [
    prepare(
      post(
        inNamespace('services'),
        object('v1', 'Service', 's', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
      ),
    ),
    mergePatch(`${inNamespace('services')}/s/status`, { status: { conditions: [] } }),
    prepare(
      post(
        inNamespace('ingresses', 'networking.k8s.io/v1'),
        object('networking.k8s.io/v1', 'Ingress', 'i', {
          spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
        }),
      ),
    ),
    mergePatch(`${inNamespace('ingresses', 'networking.k8s.io/v1')}/i/status`, {
      status: { loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } },
    }),
    prepare(post(clusterWide('nodes'), object('v1', 'Node', 'n-<id>'))),
    mergePatch(`${clusterWide('nodes')}/n-<id>/status`, {
      status: { capacity: { cpu: '4', memory: '8Gi' }, conditions: [{ type: 'Ready', status: 'True' }] },
    }),
  ]),
  sequence('the status of a namespace', [
    prepare(post(namespaces, object('v1', 'Namespace', 's-<id>'))),
    get(`${namespaces}/s-<id>/status`),
    mergePatch(`${namespaces}/s-<id>/status`, { status: { phase: 'Terminating' } }),
    mergePatch(`${namespaces}/s-<id>`, { status: { phase: 'Terminating' } }),
  ]),
  sequence('verbs that subresources do not have', [
    prepare(post(deployments, deployment('a'))),
    post(`${deployments}/a/status`, deployment('a')),
    del(`${deployments}/a/status`),
    request('DELETE', `${deployments}/a/scale`),
    get(`${deployments}/a/nothing`),
    get(`${deployments}/a/status/deeper`),
    get(`${configMaps}/a/status`),
    mergePatch(`${deployments}/none/status`, { status: {} }),
    prepare(post(configMaps, configMap('a'))),
  ]),
  sequence('scales by other patches', [
    prepare(post(deployments, deployment('a', { replicas: 2 }))),
    strategicPatch(`${deployments}/a/scale`, { spec: { replicas: 3 } }),
    applyPatch(`${deployments}/a/scale?fieldManager=scaler`, scaleOf('a', 4)),
    applyPatch(`${deployments}/a/scale?fieldManager=scaler&force=true`, scaleOf('a', 4)),
    mergePatch(`${deployments}/a/scale?dryRun=All`, { spec: { replicas: 9 } }),
    mergePatch(`${deployments}/a/scale`, { spec: { replicas: null } }),
    mergePatch(`${deployments}/a/scale`, { metadata: { labels: { a: 'b' } }, spec: { replicas: 1 } }),
    get(`${deployments}/a`),
  ]),
  sequence('the scale of a replication controller', [
    prepare(
      post(
        inNamespace('replicationcontrollers'),
        object('v1', 'ReplicationController', 'a', {
          spec: { replicas: 2, selector: { app: 'web' }, template: workloadSpec.template },
        }),
      ),
    ),
    get(`${inNamespace('replicationcontrollers')}/a/scale`),
    put(`${inNamespace('replicationcontrollers')}/a/scale`, scaleOf('a', 5)),
    mergePatch(`${inNamespace('replicationcontrollers')}/a/scale`, { spec: { replicas: 1 } }),
    mergePatch(`${inNamespace('replicationcontrollers')}/a/status`, { status: { replicas: 1, readyReplicas: 1 } }),
    get(`${inNamespace('replicationcontrollers')}/a`),
  ]),
  sequence('the scale of a custom object with defaults', [
    ...defined(
      definition([
        version(
          'v1',
          schemaOf({
            spec: schemaOf({ replicas: { type: 'integer', default: 2 }, size: { type: 'string', default: 'm' } }),
            status: schemaOf({ replicas: { type: 'integer' } }),
          }),
          { subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } },
        ),
      ]),
    ),
    post(things, thing('a')),
    mergePatch(`${things}/a/scale`, { spec: { replicas: 4 } }),
    mergePatch(`${things}/a`, { metadata: { labels: { a: 'b' } } }),
    get(`${things}/a/scale`),
    get(`${things}/a`),
  ]),
  sequence('a binding of a pod', [
    prepare(post(pods, pod('a'))),
    post(`${pods}/a/binding`, object('v1', 'Binding', 'a', { target: { kind: 'Pod', name: 'n1' } })),
    post(`${pods}/a/binding`, object('v1', 'Binding', 'other', { target: { kind: 'Node', name: 'n1' } })),
    post(`${pods}/a/binding`, object('v1', 'Binding', 'a', { target: { kind: 'Node', name: 'n1' } })),
    post(`${pods}/a/binding`, object('v1', 'Binding', 'a', { target: { kind: 'Node', name: 'n2' } })),
    post(`${pods}/none/binding`, object('v1', 'Binding', 'none', { target: { kind: 'Node', name: 'n2' } })),
    get(`${pods}/a`),
  ]),
  sequence('ephemeral containers of a pod', [
    prepare(post(pods, pod('a'))),
    strategicPatch(`${pods}/a/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: 'debug', image: 'x' }] } }),
    strategicPatch(`${pods}/a/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: 'debug', image: 'y' }] } }),
    strategicPatch(`${pods}/a/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: 'main', image: 'y' }] } }),
    mergePatch(`${pods}/a`, { spec: { ephemeralContainers: [] } }),
    get(`${pods}/a/ephemeralcontainers`),
  ]),
  sequence('the end of a namespace by its subresource', [
    prepare(post(namespaces, object('v1', 'Namespace', 'e-<id>'))),
    put(`${namespaces}/e-<id>/finalize`, object('v1', 'Namespace', 'e-<id>', { spec: { finalizers: ['a.b/c'] } })),
    put(`${namespaces}/e-<id>/finalize`, object('v1', 'Namespace', 'other', { spec: { finalizers: [] } })),
    put(`${namespaces}/e-<id>/finalize`, object('v1', 'Namespace', 'e-<id>', { spec: { finalizers: ['nodomain'] } })),
    get(`${namespaces}/e-<id>/finalize`),
    get(`${namespaces}/e-<id>`),
  ]),
  sequence('the status of a claim and of a volume', [
    prepare(
      post(
        inNamespace('persistentvolumeclaims'),
        object('v1', 'PersistentVolumeClaim', 'a', {
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        }),
      ),
    ),
    mergePatch(`${inNamespace('persistentvolumeclaims')}/a/status`, {
      status: { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] },
      spec: { volumeName: 'ignored' },
    }),
    mergePatch(`${inNamespace('persistentvolumeclaims')}/a/status`, { status: { capacity: { storage: 'much' } } }),
    prepare(
      post(
        clusterWide('persistentvolumes'),
        object('v1', 'PersistentVolume', 'v-<id>', {
          spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
        }),
      ),
    ),
    mergePatch(`${clusterWide('persistentvolumes')}/v-<id>/status`, { status: { message: 'fine' } }),
    get(`${inNamespace('persistentvolumeclaims')}/a`),
  ]),
  sequence('a wrong status of a pod', [
    prepare(post(pods, pod('a'))),
    mergePatch(`${pods}/a/status`, { status: { podIP: '10.0.0.5', podIPs: [{ ip: 'here' }] } }),
    mergePatch(`${pods}/a/status`, {
      status: { conditions: [{ status: 'True' }, { type: 'not ok', status: 'True' }] },
    }),
    mergePatch(`${pods}/a/status`, { status: { podIPs: [{ ip: '10.0.0.5' }], phase: 'Running' } }),
  ]),
];
