import {
  type Answer,
  del,
  events,
  get,
  mergePatch,
  post,
  prepare,
  put,
  type Sequence,
  sequence,
  untilStatus,
  watch,
} from '../harness/sequence.js';
import {
  clusterWide,
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

const gone = { until: untilStatus(404) };
const here = `${namespaces}/<ns>`;
const mentions = (text: string) => ({ until: ({ body }: Answer) => JSON.stringify(body).includes(text) });
const kept = (name: string) => configMap({ name, finalizers: ['example.com/keep'] });
/** The namespace says so when everything that can be deleted is deleted, and something is left. */
const stuck = mentions('SomeFinalizersRemain');

export const termination: readonly Sequence[] = [
  sequence('an empty namespace', [del(here), get(here, gone)]),
  sequence('a namespace with objects', [
    prepare(post(configMaps, configMap('a'))),
    prepare(post(deployments, deployment('a'))),
    del(here),
    get(here, gone),
    get(`${configMaps}/a`),
    get(configMaps),
  ]),
  sequence('a namespace with custom objects', [
    ...defined(definition()),
    prepare(post(things, thing('a'))),
    prepare(del(here)),
    get(here, gone),
    get(`${things}/a`),
    get(`/apis/<group>/v1/things`),
  ]),
  sequence('a namespace waits for finalizers', [
    prepare(post(configMaps, kept('a'))),
    prepare(post(configMaps, configMap('b'))),
    prepare(del(here)),
    prepare(get(here, stuck)),
    get(here),
    get(configMaps),
    mergePatch(`${configMaps}/a`, { metadata: { finalizers: null } }),
    get(here, gone),
  ]),
  sequence('nothing is created in a namespace that ends', [
    prepare(post(configMaps, kept('a'))),
    prepare(del(here)),
    prepare(get(here, stuck)),
    post(configMaps, configMap('b')),
    post(deployments, deployment('b')),
    mergePatch(`${configMaps}/a`, { data: { key: 'new' } }),
    prepare(mergePatch(`${configMaps}/a`, { metadata: { finalizers: null } })),
    get(here, gone),
  ]),
  sequence('a namespace that ends is deleted again', [
    prepare(post(configMaps, kept('a'))),
    prepare(del(here)),
    prepare(get(here, stuck)),
    del(here),
    mergePatch(here, { metadata: { labels: { still: 'here' } } }),
    post(namespaces, object('v1', 'Namespace', '<ns>')),
    prepare(mergePatch(`${configMaps}/a`, { metadata: { finalizers: null } })),
    get(here, gone),
  ]),
  sequence('watchers see the objects of a namespace go', [
    prepare(post(configMaps, configMap('a'))),
    prepare(get(configMaps, { save: { start: 'metadata.resourceVersion' } })),
    watch('w', `${configMaps}?watch=true&resourceVersion=<start>`),
    prepare(del(here)),
    // First of all: the controller of a busy machine takes longer than events are waited for.
    get(here, gone),
    events('w', 1),
  ]),
  sequence('a namespace comes back', [
    prepare(post(configMaps, configMap('a'))),
    prepare(del(here)),
    prepare(get(here, gone)),
    post(namespaces, object('v1', 'Namespace', '<ns>')),
    get(configMaps),
    post(configMaps, configMap('a'), { until: untilStatus(201) }),
  ]),
  sequence('namespaces that are not to be deleted', [
    del(`${namespaces}/default`),
    del(`${namespaces}/kube-system`),
    del(`${namespaces}/kube-public`),
  ]),
  sequence('the finalizers of a namespace', [
    get(here),
    mergePatch(here, { spec: { finalizers: [] } }),
    put(
      `${here}/finalize`,
      object('v1', 'Namespace', '<ns>', { spec: { finalizers: ['kubernetes', 'example.com/more'] } }),
    ),
    put(`${here}/finalize`, object('v1', 'Namespace', '<ns>', { spec: { finalizers: ['nodomain'] } })),
    prepare(del(here)),
    get(here, mentions('"finalizers":["example.com/more"]')),
    put(`${here}/finalize`, object('v1', 'Namespace', '<ns>', { spec: {} })),
    get(here, gone),
  ]),
  sequence('a dry deletion of a namespace', [del(`${here}?dryRun=All`), get(here)]),
  sequence('a namespace with a pod', [
    prepare(post(pods, pod('a'))),
    prepare(del(here)),
    get(here, gone),
    get(`${pods}/a`),
  ]),
  sequence('a namespace among others', [
    prepare(post(namespaces, object('v1', 'Namespace', { name: 'other-<id>', labels: { of: '<id>' } }))),
    prepare(post('/api/v1/namespaces/other-<id>/configmaps', configMap({ name: 'a', labels: { of: '<id>' } }))),
    prepare(post(configMaps, configMap({ name: 'a', labels: { of: '<id>' } }))),
    prepare(del(`${namespaces}/other-<id>`)),
    get(`${namespaces}/other-<id>`, gone),
    get(`${clusterWide('configmaps')}?labelSelector=of%3D<id>`),
  ]),
];
