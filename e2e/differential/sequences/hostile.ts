import {
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
} from '../harness/sequence.js';
import { configMap, configMaps, defined, definition, namespaces, schemaOf, thing, things, version } from './objects.js';

const json = { headers: { 'content-type': 'application/json' } };
const raw = (body: string) => post(configMaps, body, json);

export const hostile: readonly Sequence[] = [
  sequence('bodies that are no JSON', [
    raw('{'),
    raw('nonsense'),
    raw('{"a":}'),
    raw('{"metadata":{"name":"x"}'),
    raw('{} {}'),
    raw("{'a':1}"),
  ]),
  sequence('bodies that are no objects', [raw('[]'), raw('"text"'), raw('5'), raw('null'), raw('true')]),
  sequence('empty bodies', [
    request('POST', configMaps, '', json),
    request('PUT', `${configMaps}/x`, '', json),
    request('POST', configMaps),
  ]),
  sequence('keys that are given twice', [
    raw('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}}'),
    raw('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"metadata":{"name":"c"}}'),
    post(
      `${configMaps}?fieldValidation=Strict`,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d","name":"e"}}',
      json,
    ),
  ]),
  sequence('wrong types of known fields', [
    post(configMaps, { metadata: [] }),
    post(configMaps, { metadata: { name: 5 } }),
    post(configMaps, { metadata: { name: 'a', labels: [] } }),
    post(configMaps, { metadata: { name: 'a' }, data: [] }),
    post(configMaps, { apiVersion: 5 }),
    post(configMaps, { kind: {} }),
    post(configMaps, { metadata: { name: 'a', generation: 'x' } }),
    post(configMaps, { metadata: { name: 'a', creationTimestamp: 'x' } }),
  ]),
  sequence('unknown fields', [
    post(configMaps, { ...configMap('a'), unknown: 1, metadata: { name: 'a', other: 2 } }),
    post(`${configMaps}?fieldValidation=Strict`, { ...configMap('b'), unknown: 1, metadata: { name: 'b', other: 2 } }),
    post(`${configMaps}?fieldValidation=Ignore`, { ...configMap('c'), unknown: 1 }),
    post(`${configMaps}?fieldValidation=Nonsense`, configMap('d')),
    raw('{"metadata":{"name":"e"},"Data":{"k":"v"},"KIND":"ConfigMap"}'),
  ]),
  sequence('keys of prototypes', [
    raw('{"metadata":{"name":"a","labels":{"__proto__":"x"}},"data":{"__proto__":"y","constructor":"z"}}'),
    raw('{"metadata":{"name":"b"},"__proto__":{"data":{"k":"v"}},"constructor":{"prototype":{"polluted":"yes"}}}'),
    get(`${configMaps}/a`),
    get(`${configMaps}?labelSelector=polluted`),
    get('/api/v1/namespaces/<ns>/constructor'),
    get('/apis/__proto__/v1/toString'),
    get(`${configMaps}/__proto__`),
  ]),
  sequence('keys of prototypes in patches', [
    prepare(post(configMaps, configMap('a'))),
    mergePatch(`${configMaps}/a`, '{"__proto__":{"x":"y"},"data":{"__proto__":"text"}}'),
    jsonPatch(`${configMaps}/a`, '[{"op":"add","path":"/__proto__/x","value":"y"}]'),
    jsonPatch(`${configMaps}/a`, '[{"op":"add","path":"/data/constructor","value":"y"}]'),
    get(`${configMaps}/a`),
  ]),
  sequence('keys of prototypes in custom objects', [
    ...defined(
      definition([version('v1', schemaOf({ spec: { type: 'object', additionalProperties: { type: 'string' } } }))]),
    ),
    post(
      things,
      '{"apiVersion":"<group>/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"__proto__":"x","constructor":"y","toString":"z"}}',
    ),
    post(
      things,
      '{"apiVersion":"<group>/v1","kind":"Thing","metadata":{"name":"b"},"__proto__":{"spec":1},"constructor":{}}',
    ),
    mergePatch(`${things}/a`, '{"spec":{"__proto__":null,"hasOwnProperty":"w"}}'),
    get(`${things}/a`),
  ]),
  sequence('tricks with paths', [
    get('/api/v1/namespaces/<ns>/configmaps/..%2fsecrets'),
    get('/api/v1/namespaces/<ns>/configmaps/a%00b'),
    get('/api/v1/namespaces/<ns>/configmaps/a%2Fb'),
    get('/api/v1/namespaces/%2e%2e/configmaps'),
    get('/api/v1/namespaces/<ns>/configmaps/%zz'),
    get('/api//v1/namespaces'),
    get('/api/v1/namespaces/<ns>/configmaps/'),
    get('/./api/v1'),
    get('/api/v1/../v1/namespaces/<ns>'),
  ]),
  sequence('paths that are nowhere', [
    get('/nothing'),
    get('/api/v1/namespaces/<ns>/configmaps/a/b/c/d'),
    get('/apis/apps/v1/'),
    post('/nothing', {}),
    get('/apis//v1'),
  ]),
  sequence('huge bodies', [
    post(configMaps, configMap('big', { blob: 'x'.repeat(1_100_000) })),
    post(configMaps, configMap('huge', { blob: 'x'.repeat(3_500_000) })),
    get(configMaps),
  ]),
  sequence('huge patches', [
    prepare(post(configMaps, configMap('a'))),
    mergePatch(`${configMaps}/a`, { data: { blob: 'x'.repeat(3_500_000) } }),
    jsonPatch(
      `${configMaps}/a`,
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/key', value: 'value' })),
    ),
    get(`${configMaps}/a`),
  ]),
  sequence('deep bodies', [
    ...defined(definition()),
    post(
      things,
      `{"apiVersion":"<group>/v1","kind":"Thing","metadata":{"name":"deep"},"spec":${'{"a":'.repeat(11_000)}1${'}'.repeat(11_000)}}`,
    ),
    raw(`{"metadata":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
  ]),
  sequence('other types of bodies', [
    request('POST', configMaps, configMap('a'), { headers: { 'content-type': 'text/plain' } }),
    request('POST', configMaps, configMap('a'), { headers: { 'content-type': 'application/xml' } }),
    request('POST', configMaps, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\n', {
      headers: { 'content-type': 'application/yaml' },
    }),
    request('POST', configMaps, configMap('b'), { headers: { 'content-type': '' } }),
    request('POST', configMaps, configMap('c'), { headers: { 'content-type': 'application/json; charset=utf-8' } }),
  ]),
  sequence('types of answers that nobody has', [
    get(configMaps, { headers: { accept: 'text/html' } }),
    get(configMaps, { headers: { accept: 'application/xml, */*;q=0.1' } }),
    get(configMaps, { headers: { accept: '*/*' } }),
    get(configMaps, { headers: { accept: 'application/json;q=0.5' } }),
    get(configMaps, { headers: { accept: 'application/*' } }),
    get(configMaps, { headers: { accept: 'application/json;as=Nothing;g=x;v=v1' } }),
  ]),
  sequence('methods that nobody knows', [
    request('OPTIONS', configMaps),
    request('TRACE', configMaps),
    request('PROPFIND', configMaps),
    request('HEAD', configMaps),
    request('HEAD', `${configMaps}/none`),
  ]),
  sequence('numbers at their limits', [
    ...defined(definition()),
    post(
      things,
      '{"apiVersion":"<group>/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"max":9223372036854775807,"safe":9007199254740993,"neg":-0,"exp":1e3,"frac":1.50}}',
    ),
    get(`${things}/a`),
    post(
      things,
      '{"apiVersion":"<group>/v1","kind":"Thing","metadata":{"name":"b"},"spec":{"over":9223372036854775808,"tiny":1e-400}}',
    ),
    post(things, '{"apiVersion":"<group>/v1","kind":"Thing","metadata":{"name":"c"},"spec":{"huge":1e999}}'),
  ]),
  sequence('odd texts', [
    raw('{"metadata":{"name":"a"},"data":{"k":"\\u0000\\ud83d\\ude00 \\u2028 <>&"}}'),
    get(`${configMaps}/a`),
    raw('{"metadata":{"name":"b"},"data":{"k":"\\ud800"}}'),
    raw('{"metadata":{"name":"c\\u0000"}}'),
    raw('\ufeff{"metadata":{"name":"d"}}'),
  ]),
  sequence('odd queries', [
    get(`${configMaps}?unknown=parameter`),
    get(`${configMaps}?watch=false`),
    get(`${configMaps}?pretty=true`),
    get(`${configMaps}?%zz`),
    get(`${configMaps}?;`),
    get(`${configMaps}?limit=1&limit=x`),
  ]),
  sequence('lists and options instead of objects', [
    raw('{"apiVersion":"v1","kind":"ConfigMapList","items":[]}'),
    raw('{"apiVersion":"v1","kind":"Status"}'),
    raw('{"apiVersion":"v1","kind":"List","items":[]}'),
    put(`${configMaps}/a`, { apiVersion: 'v1', kind: 'DeleteOptions' }),
    del(`${configMaps}/a`, configMap('a')),
    post(namespaces, thing('a')),
  ]),
];
