/** Pods go in two steps: with a period of grace, or with one that is over. */
import { del, events, get, mergePatch, post, put, type Sequence, sequence, watch } from '../harness/sequence.js';
import { configMap, configMaps, type Fields, pod, pods } from './objects.js';

const watched = (
  name: string,
  created: Fields,
  deletions: readonly ReturnType<typeof del>[],
  count: number,
): Sequence =>
  sequence(name, [
    watch('pods', `${pods}?watch=true`),
    post(pods, created),
    ...deletions.flatMap((deletion) => [deletion, get(`${pods}/a`)]),
    events('pods', count),
  ]);

const onNode = (rest: Fields = {}) => pod('a', { nodeName: 'node-1', ...rest });
const remove = (query = '') => del(`${pods}/a${query}`);
const eviction = (rest: Fields = {}) =>
  post(`${pods}/a/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' }, ...rest });

export const podDeletion: readonly Sequence[] = [
  watched('a pod without a node goes at once', pod('a'), [remove()], 3),
  watched('a pod without a node, and no grace', pod('a'), [remove('?gracePeriodSeconds=0')], 3),
  watched('a pod without a node, and much grace', pod('a'), [remove('?gracePeriodSeconds=60')], 3),
  watched('a pod on a node waits for its kubelet', onNode(), [remove()], 2),
  watched('a pod on a node, and no grace', onNode(), [remove('?gracePeriodSeconds=0')], 3),
  watched('a pod on a node, and a little grace', onNode(), [remove('?gracePeriodSeconds=3')], 2),
  watched('a pod on a node, and less than no grace', onNode(), [remove('?gracePeriodSeconds=-1')], 2),
  watched('a pod that wants no grace', onNode({ terminationGracePeriodSeconds: 0 }), [remove()], 3),
  watched('a pod that wants some grace', onNode({ terminationGracePeriodSeconds: 7 }), [remove()], 2),
  watched('a deleted pod is deleted again', onNode(), [remove(), remove()], 2),
  watched('a deleted pod gets less grace', onNode(), [remove(), remove('?gracePeriodSeconds=5')], 3),
  watched('a deleted pod gets no more grace', onNode(), [remove(), remove('?gracePeriodSeconds=50')], 2),
  watched('a deleted pod is forced', onNode(), [remove(), remove('?gracePeriodSeconds=0')], 4),
  watched('a dry deletion', onNode(), [remove('?dryRun=All')], 1),
  watched('a dry deletion without a node', pod('a'), [remove('?dryRun=All')], 1),
  sequence('the options are in the body', [
    post(pods, onNode()),
    del(`${pods}/a`, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 4 }),
    get(`${pods}/a`),
  ]),
  sequence('a pod that has ended', [
    watch('pods', `${pods}?watch=true`),
    post(pods, onNode()),
    mergePatch(`${pods}/a/status`, { status: { phase: 'Succeeded' } }),
    remove(),
    get(`${pods}/a`),
    events('pods', 4),
  ]),
  sequence('a pod with a finalizer', [
    watch('pods', `${pods}?watch=true`),
    post(pods, pod({ name: 'a', finalizers: ['example.com/held'] })),
    remove(),
    mergePatch(`${pods}/a`, { metadata: { finalizers: null } }),
    get(`${pods}/a`),
    events('pods', 3),
  ]),
  sequence('a pod with a finalizer on a node', [
    watch('pods', `${pods}?watch=true`),
    post(pods, pod({ name: 'a', finalizers: ['example.com/held'] }, { nodeName: 'node-1' })),
    remove(),
    mergePatch(`${pods}/a`, { metadata: { finalizers: null } }),
    remove('?gracePeriodSeconds=0'),
    get(`${pods}/a`),
    events('pods', 5),
  ]),
  sequence('all pods', [
    watch('pods', `${pods}?watch=true`),
    post(pods, onNode()),
    post(pods, pod('b')),
    del(pods),
    get(pods),
    events('pods', 5),
  ]),
  sequence('an eviction', [
    watch('pods', `${pods}?watch=true`),
    post(pods, pod('a')),
    eviction(),
    get(`${pods}/a`),
    events('pods', 4),
  ]),
  sequence('an eviction from a node', [
    post(pods, onNode()),
    eviction({ deleteOptions: { gracePeriodSeconds: 3 } }),
    get(`${pods}/a`),
  ]),
  sequence('other kinds have no grace', [
    watch('maps', `${configMaps}?watch=true&fieldSelector=metadata.name%3Da`),
    post(configMaps, configMap('a')),
    del(`${configMaps}/a?gracePeriodSeconds=5`),
    get(`${configMaps}/a`),
    events('maps', 2),
  ]),
  sequence('the manifest of a pod once more', [
    post(pods, pod('a')),
    put(`${pods}/a`, pod('a')),
    put(`${pods}/a`, pod({ name: 'a', labels: { app: 'web' } })),
    put(`${pods}/a`, pod('a', { activeDeadlineSeconds: 5 })),
    put(`${pods}/a`, pod('a', { activeDeadlineSeconds: 6 })),
    put(`${pods}/a`, pod('a')),
    put(`${pods}/a`, pod('a', { activeDeadlineSeconds: 5, tolerations: [{ key: 'a', operator: 'Exists' }] })),
  ]),
];
