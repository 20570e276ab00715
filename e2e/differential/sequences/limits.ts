/** What is too much, and what is not yet. */
import { get, hooked, jsonPatch, mergePatch, post, prepare, type Sequence, sequence } from '../harness/sequence.js';
import {
  clusterWide,
  configMap,
  configMaps,
  defined,
  definition,
  definitions,
  type Fields,
  object,
  schemaOf,
  thing,
  things,
  version,
} from './objects.js';

const copies = (count: number, from: string, path = from) =>
  Array.from({ length: count }, (_, index) => ({ op: 'copy', from, path: `${path}/k${index}` }));
const copied = (count: number, from: string, path: string) =>
  Array.from({ length: count }, () => ({ op: 'copy', from, path }));

/** Objects whose `spec.text` is to match. */
const patterned = (pattern: string, texts: readonly string[]): Sequence =>
  sequence(`texts that match ${pattern}`, [
    ...defined(definition([version('v1', schemaOf({ spec: schemaOf({ text: { type: 'string', pattern } }) }))])),
    ...texts.map((text, index) => post(things, thing(`t${index}`, { spec: { text } }))),
  ]);

const unreadable = (pattern: string): Sequence =>
  sequence(`${pattern} is no pattern`, [
    post(definitions, definition([version('v1', schemaOf({ spec: { type: 'string', pattern } }))])),
  ]);

const admission = 'admissionregistration.k8s.io/v1';
const slowly = (kind: 'Validating' | 'Mutating', failurePolicy: string): Sequence => {
  const webhook: Fields = {
    name: 'slow.<group>',
    clientConfig: { url: '<hook:slow>', caBundle: '<ca>' },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '<ns>' } },
    failurePolicy,
  };
  const registration = object(admission, `${kind}WebhookConfiguration`, '<id>', { webhooks: [webhook] });
  return sequence(
    `a request that takes longer than its client wants: ${kind}, ${failurePolicy}`,
    [
      prepare(post(clusterWide(`${kind.toLowerCase()}webhookconfigurations`, admission), registration)),
      hooked('slow', prepare(post(`${configMaps}?dryRun=All`, configMap('probe')))),
      post(`${configMaps}?timeout=1s`, configMap('late')),
      get(`${configMaps}/late`),
    ],
    { hooks: { slow: { delay: 2 } } },
  );
};

export const limits: readonly Sequence[] = [
  sequence('copies of copies', [
    ...defined(definition()),
    prepare(post(things, thing('a', { spec: { text: 'y'.repeat(1000) } }))),
    jsonPatch(`${things}/a`, copies(20, '/spec')),
    jsonPatch(`${things}/a`, copies(60, '/spec')),
    jsonPatch(`${things}/a`, copies(11, '/spec')),
    jsonPatch(`${things}/a`, copies(1, '/spec')),
  ]),
  sequence('copies of three megabytes', [
    prepare(post(configMaps, configMap('a', { text: 'y'.repeat(100_000) }))),
    jsonPatch(`${configMaps}/a`, copied(31, '/data/text', '/data/other')),
    jsonPatch(`${configMaps}/a`, copied(32, '/data/text', '/data/other')),
  ]),
  sequence('copies of three megabytes of bytes, not of characters', [
    prepare(post(configMaps, configMap('a', { text: 'ü'.repeat(50_000) }))),
    jsonPatch(`${configMaps}/a`, copied(31, '/data/text', '/data/other')),
    jsonPatch(`${configMaps}/a`, copied(32, '/data/text', '/data/other')),
  ]),
  sequence('copies of what is not there', [
    ...defined(definition()),
    prepare(post(things, thing('a', { spec: { text: 'y', list: [1] } }))),
    jsonPatch(`${things}/a`, [{ op: 'copy', from: '/spec/nothing', path: '/spec/other' }]),
    jsonPatch(`${things}/a`, [{ op: 'copy', from: '/nothing', path: '/spec/other' }]),
    jsonPatch(`${things}/a`, [{ op: 'copy', from: '/nothing/at/all', path: '/spec/other' }]),
    jsonPatch(`${things}/a`, [{ op: 'copy', from: '/spec/list/1', path: '/spec/other' }]),
    jsonPatch(`${things}/a`, [{ op: 'move', from: '/spec/nothing', path: '/spec/other' }]),
    jsonPatch(`${things}/a`, [{ op: 'copy', from: '/spec/text', path: '/spec/no/where' }]),
  ]),
  sequence('copies of what is not there in built-in kinds', [
    prepare(post(configMaps, configMap('a'))),
    jsonPatch(`${configMaps}/a`, [{ op: 'copy', from: '/data/nothing', path: '/data/other' }]),
    jsonPatch(`${configMaps}/a`, [{ op: 'copy', from: '/binaryData', path: '/data/third' }]),
    get(`${configMaps}/a`),
  ]),
  sequence('times for requests', [
    get(`${configMaps}?timeout=1s`),
    get(`${configMaps}?timeout=1m0.5s`),
    get(`${configMaps}?timeout=x`),
    get(`${configMaps}?timeout=5`),
    get(`${configMaps}?timeout=5x`),
    get(`${configMaps}?timeout=.s`),
    get(`${configMaps}?timeout=61s`),
    get(`${configMaps}?timeout=0`),
    get(`${configMaps}?timeout=`),
    post(`${configMaps}?timeout=x`, configMap('a')),
    get(`/apis?timeout=x`),
    get(`/healthz?timeout=x`),
    get(`${configMaps}?timeoutSeconds=x`),
  ]),
  slowly('Validating', 'Fail'),
  slowly('Validating', 'Ignore'),
  slowly('Mutating', 'Fail'),
  slowly('Mutating', 'Ignore'),
  sequence('headers of a hundred kilobytes', [get(configMaps, { headers: { 'x-long': 'x'.repeat(100_000) } })]),
  sequence('objects that are nested hundreds of times', [
    ...defined(definition()),
    post(
      things,
      `{"apiVersion":"<group>/v1","kind":"Thing","metadata":{"name":"deep"},"spec":${'{"a":'.repeat(900)}1${'}'.repeat(900)}}`,
    ),
    mergePatch(`${things}/deep`, { metadata: { labels: { a: 'b' } } }),
  ]),
  patterned('^\\pL+$', ['Grüße', 'a1', 'αβγ', '']),
  patterned('^\\p{Greek}+$', ['αβγ', 'abc']),
  patterned('(?i)^ab?c$', ['AC', 'abC', 'abbc']),
  patterned('^a\\z', ['a', 'a\n']),
  patterned('^[[:alpha:]_]+$', ['a_b', 'a-b']),
  patterned('^\\Qa.b\\E$', ['a.b', 'axb']),
  patterned('^(?P<name>x|yy)$', ['x', 'yy', 'xyy']),
  patterned('^(a+)+$', ['a'.repeat(40), `${'a'.repeat(40)}!`]),
  patterned('^.{2}$', ['😀😀', '😀', 'ab']),
  patterned('^[^\\s]+\\b$', ['ab', 'a b', 'a-']),
  unreadable('[a'),
  unreadable('(?=a)'),
  unreadable('(a)\\1'),
  unreadable('a{2,1}'),
  unreadable('a**'),
  unreadable('(?P<n>a'),
  unreadable('x)'),
  unreadable('*'),
];
