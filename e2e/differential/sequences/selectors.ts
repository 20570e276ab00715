import { get, mergePatch, post, prepare, type Sequence, sequence } from '../harness/sequence.js';
import {
  clusterWide,
  configMap,
  configMaps,
  defined,
  definition,
  inNamespace,
  object,
  pod,
  pods,
  thing,
  things,
  version,
} from './objects.js';

const by = (selector: string) => get(`${configMaps}?labelSelector=${encodeURIComponent(selector)}`);
const byField = (collection: string, selector: string) =>
  get(`${collection}?fieldSelector=${encodeURIComponent(selector)}`);

const several = [
  prepare(post(configMaps, configMap({ name: 'a', labels: { app: 'web', tier: 'front' } }))),
  prepare(post(configMaps, configMap({ name: 'b', labels: { app: 'web', tier: 'back', beta: '' } }))),
  prepare(post(configMaps, configMap({ name: 'c', labels: { app: 'db', size: '5' } }))),
  prepare(post(configMaps, configMap({ name: 'd' }))),
];

export const selectors: readonly Sequence[] = [
  sequence('labels equal', [...several, by('app=web'), by('app==db'), by('app=web,tier=back'), by('beta=')]),
  sequence('labels not equal', [...several, by('app!=web'), by('app!=web,tier!=front')]),
  sequence('labels in sets', [...several, by('app in (web, db)'), by('app notin (web)'), by('tier in (front),app')]),
  sequence('labels there and not there', [...several, by('tier'), by('!tier'), by('tier,!beta')]),
  sequence('labels compared as numbers', [...several, by('size>4'), by('size<5'), by('size>x')]),
  sequence('empty selectors and spaces', [...several, by(''), by(' app = web '), by('app in ()'), by(',')]),
  sequence('wrong label selectors', [
    by('app=web=x'),
    by('a b'),
    by('app in web'),
    by('app in (web'),
    by('-bad=x'),
    by('app=!x'),
    by('app=-x'),
    by('&'),
    by('app notin'),
    by('='),
  ]),
  sequence('labels with prefixes', [
    prepare(post(configMaps, configMap({ name: 'p', labels: { 'example.com/role': 'x.y_z-1' } }))),
    by('example.com/role=x.y_z-1'),
    by('example.com/role'),
    by('exam_ple.com/role'),
    by('a/b/c'),
  ]),
  sequence(
    'wrong labels of objects',
    [
      post(configMaps, configMap({ name: 'x', labels: { '-bad': 'ok' } })),
      post(configMaps, configMap({ name: 'x', labels: { ok: 'not ok!' } })),
      post(configMaps, configMap({ name: 'x', labels: { 'a/b/c': 'x', ['l'.repeat(64)]: 'y' } })),
      post(configMaps, configMap({ name: 'x', labels: { ok: 'v'.repeat(64) } })),
      post(configMaps, configMap({ name: 'x', annotations: { 'bad key': 'x' } })),
      post(configMaps, configMap({ name: 'x', labels: { number: 5 } })),
    ],
    { causesComeInAnyOrder: true },
  ),
  sequence('names and namespaces as fields', [
    ...several,
    byField(configMaps, 'metadata.name=a'),
    byField(configMaps, 'metadata.name!=a'),
    byField(configMaps, 'metadata.name=a,metadata.namespace=<ns>'),
    byField(configMaps, 'metadata.name==none'),
    byField(clusterWide('configmaps'), 'metadata.namespace=<ns>,metadata.name=b'),
  ]),
  sequence('wrong field selectors', [
    byField(configMaps, 'data.key=x'),
    byField(configMaps, 'metadata.labels=x'),
    byField(configMaps, 'metadata.name'),
    byField(configMaps, 'metadata.name in (a)'),
    byField(configMaps, 'metadata.name=a,'),
    byField(configMaps, '=a'),
    byField(configMaps, 'metadata.name=a\\'),
  ]),
  sequence('fields of pods', [
    prepare(post(pods, pod('a', { nodeName: 'n1' }))),
    prepare(post(pods, pod('b', { restartPolicy: 'Never' }))),
    byField(pods, 'spec.nodeName=n1'),
    byField(pods, 'spec.nodeName='),
    byField(pods, 'status.phase=Pending,spec.restartPolicy!=Never'),
    byField(pods, 'status.podIP=10.0.0.1'),
    byField(pods, 'spec.containers=x'),
  ]),
  sequence('fields of other kinds', [
    prepare(post(inNamespace('secrets'), object('v1', 'Secret', 'a', { type: 'example.com/x' }))),
    prepare(post(inNamespace('secrets'), object('v1', 'Secret', 'b'))),
    byField(inNamespace('secrets'), 'type=example.com/x'),
    byField(inNamespace('services'), 'spec.type=ClusterIP'),
    byField(inNamespace('replicasets', 'apps/v1'), 'status.replicas=0'),
    byField(inNamespace('jobs', 'batch/v1'), 'status.successful=1'),
    byField(inNamespace('deployments', 'apps/v1'), 'spec.replicas=1'),
    byField(clusterWide('namespaces'), 'metadata.name=<ns>,status.phase=Active'),
    byField(clusterWide('nodes'), 'spec.unschedulable=true,metadata.name=<id>'),
  ]),
  sequence('fields of custom objects', [
    ...defined(
      definition([
        version(
          'v1',
          {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer' } } },
            },
          },
          { selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }] },
        ),
      ]),
    ),
    prepare(post(things, thing('a', { spec: { color: 'red', size: 1 } }))),
    prepare(post(things, thing('b', { spec: { color: 'blue' } }))),
    byField(things, 'spec.color=red'),
    byField(things, 'spec.color!=red'),
    byField(things, 'spec.size=1'),
    byField(things, 'spec.other=1'),
    byField(things, 'metadata.name=b'),
  ]),
  sequence('selectors follow the labels of objects', [
    ...several,
    by('app=web'),
    prepare(mergePatch(`${configMaps}/a`, { metadata: { labels: { app: 'other' } } })),
    prepare(mergePatch(`${configMaps}/d`, { metadata: { labels: { app: 'web' } } })),
    by('app=web'),
  ]),
  sequence('selectors together', [
    ...several,
    get(`${configMaps}?labelSelector=app%3Dweb&fieldSelector=metadata.name%3Db`),
    get(`${configMaps}?labelSelector=app%3Dweb&labelSelector=app%3Ddb`),
    get(`${configMaps}/a?labelSelector=app%3Dnothing`),
  ]),
];
