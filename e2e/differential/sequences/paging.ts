import { compact, del, events, get, post, prepare, type Sequence, sequence, watch } from '../harness/sequence.js';
import {
  clusterWide,
  configMap,
  configMaps,
  defined,
  definition,
  namespaces,
  object,
  thing,
  things,
} from './objects.js';

const names = ['a', 'b', 'c', 'd', 'e'];
const five = names.map((name) =>
  prepare(post(configMaps, configMap({ name, labels: { odd: String('ace'.includes(name)), of: '<id>' } }))),
);
const next = { save: { next: 'metadata.continue' } };

/** As the server would make it. */
const tokenOf = (rv: number, start: string) =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');

export const paging: readonly Sequence[] = [
  sequence('pages', [
    ...five,
    get(`${configMaps}?limit=2`, next),
    get(`${configMaps}?limit=2&continue=<next>`, next),
    get(`${configMaps}?limit=2&continue=<next>`),
  ]),
  sequence('one page is enough', [...five, get(`${configMaps}?limit=5`), get(`${configMaps}?limit=500`)]),
  sequence('pages of other sizes', [
    ...five,
    get(`${configMaps}?limit=1`, next),
    get(`${configMaps}?limit=3&continue=<next>`, next),
    get(`${configMaps}?continue=<next>`),
  ]),
  sequence('no limit', [
    ...five,
    get(`${configMaps}?limit=0`),
    get(`${configMaps}?limit=`),
    get(`${configMaps}?limit=-1`),
  ]),
  sequence('limits that are no numbers', [
    get(`${configMaps}?limit=x`),
    get(`${configMaps}?limit=1.5`),
    get(`${configMaps}?limit=99999999999999999999`),
  ]),
  sequence('wrong tokens', [
    ...five,
    get(`${configMaps}?limit=2&continue=x`),
    get(`${configMaps}?limit=2&continue=e30`),
    get(`${configMaps}?limit=2&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0`),
    get(`${configMaps}?limit=2&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjciLCJydiI6MSwic3RhcnQiOiJhIn0`),
    get(`${configMaps}?limit=2&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi94In0`),
  ]),
  sequence('pages by labels', [
    ...five,
    get(`${configMaps}?limit=2&labelSelector=odd%3Dtrue`, next),
    get(`${configMaps}?limit=2&labelSelector=odd%3Dtrue&continue=<next>`),
  ]),
  sequence('pages by fields', [
    ...five,
    get(`${configMaps}?limit=2&fieldSelector=metadata.name!%3Da`, next),
    get(`${configMaps}?limit=4&fieldSelector=metadata.name!%3Da&continue=<next>`),
  ]),
  sequence('pages across namespaces', [
    ...five,
    get(`${clusterWide('configmaps')}?limit=3&labelSelector=of%3D<id>`, next),
    get(`${clusterWide('configmaps')}?limit=3&labelSelector=of%3D<id>&continue=<next>`),
  ]),
  sequence('pages show one moment', [
    ...five,
    get(`${configMaps}?limit=2`, next),
    prepare(post(configMaps, configMap('cc'))),
    prepare(del(`${configMaps}/d`)),
    get(`${configMaps}?limit=9&continue=<next>`),
    get(configMaps),
  ]),
  sequence('a token with a version', [
    ...five,
    get(`${configMaps}?limit=2`, { save: { next: 'metadata.continue', at: 'metadata.resourceVersion' } }),
    get(`${configMaps}?limit=2&continue=<next>&resourceVersion=<at>`),
    get(`${configMaps}?limit=2&continue=<next>&resourceVersion=0`),
    get(`${configMaps}?limit=2&continue=<next>&resourceVersionMatch=Exact`),
  ]),
  sequence('pages of versions', [
    ...five,
    get(`${configMaps}?limit=2&resourceVersion=0`),
    get(configMaps, { save: { at: 'metadata.resourceVersion' } }),
    get(`${configMaps}?limit=2&resourceVersion=<at>&resourceVersionMatch=Exact`, next),
    get(`${configMaps}?limit=2&continue=<next>`),
    get(`${configMaps}?limit=2&resourceVersion=<at>&resourceVersionMatch=NotOlderThan`),
    get(`${configMaps}?limit=2&resourceVersion=<at>`),
  ]),
  sequence('pages of custom objects', [
    ...defined(definition()),
    ...names.map((name) => prepare(post(things, thing(name)))),
    get(`${things}?limit=3`, next),
    get(`${things}?limit=3&continue=<next>`),
  ]),
  sequence('pages of namespaces', [
    prepare(post(namespaces, object('v1', 'Namespace', { name: 'p1-<id>', labels: { page: '<id>' } }))),
    prepare(post(namespaces, object('v1', 'Namespace', { name: 'p2-<id>', labels: { page: '<id>' } }))),
    // Not selected, but still to be looked at.
    prepare(post(namespaces, object('v1', 'Namespace', 'zz-<id>'))),
    get(`${namespaces}?limit=1&labelSelector=page%3D<id>`, next),
    get(`${namespaces}?limit=1&labelSelector=page%3D<id>&continue=<next>`),
  ]),
  sequence('watching from the last page', [
    ...five,
    get(`${configMaps}?limit=3`, next),
    get(`${configMaps}?limit=3&continue=<next>`, { save: { at: 'metadata.resourceVersion' } }),
    watch('w', `${configMaps}?watch=true&resourceVersion=<at>`),
    prepare(post(configMaps, configMap('new'))),
    events('w', 1),
  ]),
  sequence(
    'a token that is too old',
    [
      ...five,
      prepare(del(`${configMaps}/b`)),
      prepare(post(configMaps, configMap('bb'))),
      compact,
      get(`${configMaps}?limit=2&continue=${tokenOf(1, '/b\0')}`, next),
      get(`${configMaps}?limit=2&continue=<next>`, next),
      get(`${configMaps}?limit=2&continue=<next>`),
    ],
    { runsAlone: true },
  ),
];
