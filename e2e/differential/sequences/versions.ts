import { compact, del, get, mergePatch, post, prepare, type Sequence, sequence } from '../harness/sequence.js';
import { configMap, configMaps, defined, definition, thing, things } from './objects.js';

const at = { save: { at: 'metadata.resourceVersion' } };
const exact = 'resourceVersionMatch=Exact';
const notOlder = 'resourceVersionMatch=NotOlderThan';
const huge = '9000000000000';

export const versions: readonly Sequence[] = [
  sequence('lists of exact versions', [
    prepare(post(configMaps, configMap('a'))),
    prepare(get(configMaps, at)),
    prepare(post(configMaps, configMap('b'))),
    prepare(mergePatch(`${configMaps}/a`, { data: { key: 'new' } })),
    get(`${configMaps}?resourceVersion=<at>&${exact}`),
    get(configMaps),
  ]),
  sequence('an exact version with what was deleted since', [
    prepare(post(configMaps, configMap('a'), at)),
    prepare(del(`${configMaps}/a`)),
    get(`${configMaps}?resourceVersion=<at>&${exact}`),
    get(configMaps),
  ]),
  sequence('lists that are not older', [
    prepare(post(configMaps, configMap('a'), at)),
    prepare(post(configMaps, configMap('b'))),
    get(`${configMaps}?resourceVersion=<at>&${notOlder}`, {
      until: ({ body }) => JSON.stringify(body).includes('"b"'),
    }),
    get(`${configMaps}?resourceVersion=<at>`),
  ]),
  sequence('any version is good enough', [
    prepare(post(configMaps, configMap('a'), at)),
    get(`${configMaps}?resourceVersion=0`, { until: ({ body }) => JSON.stringify(body).includes('"a"') }),
    get(`${configMaps}?resourceVersion=0&${notOlder}`),
    get(`${configMaps}/a?resourceVersion=0`),
    get(`${configMaps}/a?resourceVersion=<at>`),
  ]),
  sequence('a version of the future', [
    get(`${configMaps}?resourceVersion=${huge}&${exact}`),
    get(`${configMaps}?resourceVersion=${huge}`),
    get(`${configMaps}?resourceVersion=${huge}&${notOlder}`),
  ]),
  sequence('an object of the future', [
    prepare(post(configMaps, configMap('a'))),
    get(`${configMaps}/a?resourceVersion=${huge}`),
  ]),
  sequence('a match without a version', [
    get(`${configMaps}?${exact}`),
    get(`${configMaps}?${notOlder}`),
    get(`${configMaps}?resourceVersion=&${exact}`),
  ]),
  sequence('an exact version of any', [get(`${configMaps}?resourceVersion=0&${exact}`)]),
  sequence('unknown matches', [
    get(`${configMaps}?resourceVersion=1&resourceVersionMatch=Roughly`),
    get(`${configMaps}?resourceVersionMatch=Roughly`),
  ]),
  sequence('versions that are no numbers', [
    get(`${configMaps}?resourceVersion=x`),
    get(`${configMaps}?resourceVersion=-1`),
    get(`${configMaps}?resourceVersion=1.5`),
    get(`${configMaps}?resourceVersion=x&${exact}`),
    get(`${configMaps}?watch=true&resourceVersion=x`),
    get(`${configMaps}/none?resourceVersion=x`),
  ]),
  sequence('initial events are for watches', [
    get(`${configMaps}?sendInitialEvents=true`),
    get(`${configMaps}?sendInitialEvents=true&${notOlder}`),
    get(`${configMaps}?watch=true&sendInitialEvents=true`),
    get(`${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact`),
    get(`${configMaps}?watch=true&resourceVersion=1&${notOlder}`),
  ]),
  sequence('versions of lists of custom objects', [
    ...defined(definition()),
    prepare(post(things, thing('a'))),
    prepare(get(things, at)),
    prepare(post(things, thing('b'))),
    get(`${things}?resourceVersion=<at>&${exact}`),
    get(`${things}?resourceVersion=<at>&resourceVersionMatch=Wrong`),
  ]),
  sequence('deleting collections of versions', [
    prepare(post(configMaps, configMap('a'))),
    del(`${configMaps}?resourceVersion=0`),
    get(configMaps),
  ]),
  sequence(
    'an exact version that is too old',
    [
      prepare(post(configMaps, configMap('a'), at)),
      prepare(post(configMaps, configMap('b'))),
      compact,
      get(`${configMaps}?resourceVersion=1&${exact}`),
      get(`${configMaps}?resourceVersion=<at>&${notOlder}`),
    ],
    { runsAlone: true },
  ),
];
