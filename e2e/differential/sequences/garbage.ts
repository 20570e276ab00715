import {
  type Answer,
  del,
  get,
  mergePatch,
  post,
  prepare,
  type Sequence,
  sequence,
  untilStatus,
} from '../harness/sequence.js';
import {
  configMap,
  configMaps,
  deployment,
  deployments,
  type Fields,
  inNamespace,
  object,
  workloadSpec,
} from './objects.js';

const replicaSets = inNamespace('replicasets', 'apps/v1');
const gone = { until: untilStatus(404) };
const without = (text: string) => ({ until: ({ body }: Answer) => !JSON.stringify(body).includes(text) });
const saved = (name: string) => ({ save: { [name]: 'metadata.uid' } });
const ownedBy = (owner: string, rest: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: owner,
  uid: `<${owner}>`,
  ...rest,
});
const owned = (name: string, owners: readonly Fields[], rest: Fields = {}) =>
  configMap({ name, ownerReferences: owners, ...rest });
const by = (propagationPolicy: string) => ({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy });

const owner = prepare(post(configMaps, configMap('owner'), saved('owner')));
const child = prepare(
  post(configMaps, owned('child', [ownedBy('owner', { blockOwnerDeletion: true })]), saved('child')),
);

export const garbage: readonly Sequence[] = [
  sequence('in the background', [
    owner,
    child,
    del(`${configMaps}/owner`, by('Background')),
    get(`${configMaps}/owner`),
    get(`${configMaps}/child`, gone),
  ]),
  sequence('in the foreground', [
    owner,
    child,
    del(`${configMaps}/owner`, by('Foreground')),
    get(`${configMaps}/owner`, gone),
    get(`${configMaps}/child`),
  ]),
  sequence('orphans', [
    owner,
    child,
    del(`${configMaps}/owner`, by('Orphan')),
    get(`${configMaps}/owner`, gone),
    get(`${configMaps}/child`),
  ]),
  sequence('by default', [owner, child, del(`${configMaps}/owner`), get(`${configMaps}/child`, gone)]),
  sequence('by the query', [
    owner,
    child,
    del(`${configMaps}/owner?propagationPolicy=Foreground`),
    get(`${configMaps}/owner`, gone),
    get(`${configMaps}/child`),
  ]),
  sequence('orphans by the old option', [
    owner,
    child,
    del(`${configMaps}/owner`, { apiVersion: 'v1', kind: 'DeleteOptions', orphanDependents: true }),
    get(`${configMaps}/owner`, gone),
    get(`${configMaps}/child`),
  ]),
  sequence('grandchildren', [
    owner,
    child,
    prepare(post(configMaps, owned('grandchild', [ownedBy('child')]))),
    prepare(del(`${configMaps}/owner`)),
    get(`${configMaps}/grandchild`, gone),
    get(`${configMaps}/child`),
    get(configMaps),
  ]),
  sequence('grandchildren in the foreground', [
    owner,
    child,
    prepare(post(configMaps, owned('grandchild', [ownedBy('child', { blockOwnerDeletion: true })]))),
    prepare(del(`${configMaps}/owner`, by('Foreground'))),
    get(`${configMaps}/owner`, gone),
    get(configMaps),
  ]),
  sequence('one of two owners', [
    owner,
    prepare(post(configMaps, configMap('other'), saved('other'))),
    prepare(post(configMaps, owned('child', [ownedBy('owner'), ownedBy('other')]))),
    prepare(del(`${configMaps}/owner`)),
    get(`${configMaps}/child`, without('"name":"owner"')),
    prepare(del(`${configMaps}/other`)),
    get(`${configMaps}/child`, gone),
  ]),
  sequence('children with finalizers', [
    owner,
    prepare(
      post(
        configMaps,
        owned('child', [ownedBy('owner', { blockOwnerDeletion: true })], { finalizers: ['example.com/keep'] }),
      ),
    ),
    prepare(del(`${configMaps}/owner`, by('Foreground'))),
    get(`${configMaps}/child`, { until: ({ body }) => JSON.stringify(body).includes('deletionTimestamp') }),
    get(`${configMaps}/owner`),
    prepare(mergePatch(`${configMaps}/child`, { metadata: { finalizers: null } })),
    get(`${configMaps}/owner`, gone),
  ]),
  sequence('the foreground does not wait for those who do not block', [
    owner,
    prepare(
      post(
        configMaps,
        owned('child', [ownedBy('owner', { blockOwnerDeletion: false })], { finalizers: ['example.com/keep'] }),
      ),
    ),
    prepare(del(`${configMaps}/owner`, by('Foreground'))),
    get(`${configMaps}/owner`, gone),
    get(`${configMaps}/child`, { until: ({ body }) => JSON.stringify(body).includes('deletionTimestamp') }),
    prepare(mergePatch(`${configMaps}/child`, { metadata: { finalizers: null } })),
  ]),
  sequence('an owner that was never there', [
    post(
      configMaps,
      owned('child', [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: '00000000-0000-0000-0000-000000000001' },
      ]),
    ),
    get(`${configMaps}/child`, gone),
  ]),
  sequence('an owner of the same name, but another one', [
    owner,
    post(
      configMaps,
      owned('child', [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '00000000-0000-0000-0000-000000000002' },
      ]),
    ),
    get(`${configMaps}/child`, gone),
    get(`${configMaps}/owner`),
  ]),
  sequence('owners of other kinds', [
    prepare(post(deployments, deployment('web'), saved('web'))),
    prepare(
      post(
        replicaSets,
        object(
          'apps/v1',
          'ReplicaSet',
          {
            name: 'web-1',
            ownerReferences: [
              { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: '<web>', controller: true },
            ],
          },
          { spec: { ...workloadSpec, replicas: 0 } },
        ),
      ),
    ),
    del(`${deployments}/web`, by('Background')),
    get(`${replicaSets}/web-1`, gone),
  ]),
  sequence('nobody to wait for', [
    owner,
    del(`${configMaps}/owner`, by('Foreground')),
    get(`${configMaps}/owner`, gone),
  ]),
  sequence('a child is adopted in time', [
    owner,
    child,
    prepare(mergePatch(`${configMaps}/child`, { metadata: { ownerReferences: null } })),
    prepare(post(configMaps, owned('other', [ownedBy('owner')]))),
    prepare(del(`${configMaps}/owner`)),
    get(`${configMaps}/other`, gone),
    get(`${configMaps}/child`),
  ]),
];
