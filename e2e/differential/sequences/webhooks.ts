import {
  del,
  get,
  hooked,
  jsonPatch,
  mergePatch,
  post,
  prepare,
  put,
  reviews,
  type Sequence,
  sequence,
} from '../harness/sequence.js';
import type { Hook } from '../harness/webhooks.js';
import {
  clusterWide,
  configMap,
  configMaps,
  defined,
  definition,
  deployment,
  deployments,
  type Fields,
  object,
  thing,
  things,
  version,
} from './objects.js';

const admission = 'admissionregistration.k8s.io/v1';
const validating = clusterWide('validatingwebhookconfigurations', admission);
const mutating = clusterWide('mutatingwebhookconfigurations', admission);

const rule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['*'],
  resources: ['configmaps'],
  // Selectors of namespaces do not hold back what is in none.
  scope: 'Namespaced',
};
/** Only what happens in the namespace of the sequence: the others share the server. */
const here = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '<ns>' } } };
const webhook = (hook: string, rest: Fields = {}): Fields => ({
  name: `${hook}.<group>`,
  clientConfig: { url: `<hook:${hook}>`, caBundle: '<ca>' },
  rules: [rule],
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  ...here,
  ...rest,
});
const registered = (kind: 'Validating' | 'Mutating', ...webhooks: Fields[]) =>
  prepare(
    post(
      kind === 'Validating' ? validating : mutating,
      object(admission, `${kind}WebhookConfiguration`, '<id>', { webhooks }),
    ),
  );
const probe = prepare(post(`${configMaps}?dryRun=All`, configMap('probe')));

const oldEvent = (name: string) =>
  object('v1', 'Event', name, {
    involvedObject: { kind: 'Pod', name: 'p', namespace: '<ns>' },
    message: 'told',
    reason: 'Because',
    type: 'Normal',
  });

/** One webhook for everything that is done to config maps. */
const one = (name: string, kind: 'Validating' | 'Mutating', hook: Hook, steps: Sequence['steps'], rest: Fields = {}) =>
  sequence(name, [registered(kind, webhook('hook', rest)), hooked('hook', probe), ...steps], { hooks: { hook } });

export const webhooks: readonly Sequence[] = [
  one('what a validating webhook is asked', 'Validating', {}, [
    post(configMaps, configMap('a')),
    reviews('hook'),
    mergePatch(`${configMaps}/a`, { data: { key: 'new' } }),
    reviews('hook'),
    del(`${configMaps}/a`, { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }),
    reviews('hook'),
  ]),
  one('what a mutating webhook is asked', 'Mutating', {}, [
    post(`${configMaps}?fieldManager=me&dryRun=All`, configMap({ generateName: 'a-' })),
    reviews('hook'),
    post(configMaps, configMap('a')),
    put(`${configMaps}/a`, configMap('a', { key: 'new' })),
    reviews('hook'),
  ]),
  one('a denial', 'Validating', { response: { allowed: false } }, [
    post(configMaps, configMap('a')),
    get(`${configMaps}/a`),
  ]),
  one(
    'a denial with a message',
    'Validating',
    { response: { allowed: false, status: { message: 'Not on Mondays.' } } },
    [post(configMaps, configMap('a'))],
  ),
  one(
    'a denial with a code and a reason',
    'Validating',
    { response: { allowed: false, status: { code: 418, reason: 'Teapot', message: 'short and stout' } } },
    [post(configMaps, configMap('a'))],
  ),
  one('a denial with a reason only', 'Mutating', { response: { allowed: false, status: { reason: 'Because' } } }, [
    post(configMaps, configMap('a')),
  ]),
  one(
    'a denial with details',
    'Validating',
    {
      response: {
        allowed: false,
        status: { code: 200, message: 'x', details: { causes: [{ field: 'data', message: 'bad' }] } },
      },
    },
    [post(configMaps, configMap('a'))],
  ),
  one('warnings', 'Validating', { response: { warnings: ['Careful.', 'with "quotes"', 'ünïcode'] } }, [
    post(configMaps, configMap('a')),
  ]),
  one('warnings of a denial', 'Validating', { response: { allowed: false, warnings: ['Told you.'] } }, [
    post(configMaps, configMap('a')),
  ]),
  one(
    'a patch',
    'Mutating',
    {
      patch: [
        { op: 'add', path: '/metadata/labels', value: { patched: 'yes' } },
        { op: 'replace', path: '/data/key', value: 'other' },
      ],
    },
    [
      post(configMaps, configMap('a')),
      get(`${configMaps}/a`),
      put(`${configMaps}/a`, configMap('a', { key: 'third' })),
    ],
  ),
  one('a patch that fails', 'Mutating', { patch: [{ op: 'remove', path: '/data/none' }] }, [
    post(configMaps, configMap('a')),
  ]),
  one(
    'a patch that fails and is ignored',
    'Mutating',
    { patch: [{ op: 'remove', path: '/data/none' }] },
    [post(configMaps, configMap('a'))],
    { failurePolicy: 'Ignore' },
  ),
  one('a patch of a wrong kind', 'Mutating', { response: { patchType: 'MergePatch', patch: 'e30=' } }, [
    post(configMaps, configMap('a')),
  ]),
  one('a patch without a type', 'Mutating', { response: { patch: 'W10=' } }, [post(configMaps, configMap('a'))]),
  one(
    'a patch that makes the object wrong',
    'Mutating',
    { patch: [{ op: 'add', path: '/metadata/labels', value: { 'not ok': 'x' } }] },
    [post(configMaps, configMap('a'))],
  ),
  one(
    'a patch that makes the object unreadable',
    'Mutating',
    { patch: [{ op: 'replace', path: '/data', value: { key: 5 } }] },
    [post(configMaps, configMap('a'))],
  ),
  one('a patch by a validating webhook', 'Validating', { patch: [{ op: 'add', path: '/data/x', value: 'y' }] }, [
    post(configMaps, configMap('a')),
  ]),
  one('an error of a webhook', 'Validating', { http: { status: 500, body: 'oops' } }, [
    post(configMaps, configMap('a')),
  ]),
  one(
    'an error of a webhook that is ignored',
    'Validating',
    { http: { status: 500, body: 'oops' } },
    [post(configMaps, configMap('a'))],
    { failurePolicy: 'Ignore' },
  ),
  one('nonsense instead of a review', 'Validating', { http: { status: 200, body: 'nonsense' } }, [
    post(configMaps, configMap('a')),
  ]),
  one(
    'an empty review',
    'Validating',
    { http: { status: 200, body: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}' } },
    [post(configMaps, configMap('a'))],
  ),
  one('a review of another request', 'Validating', { uid: 'another' }, [post(configMaps, configMap('a'))]),
  one('a review of another version', 'Validating', { apiVersion: 'admission.k8s.io/v1beta1' }, [
    post(configMaps, configMap('a')),
  ]),
  one('a webhook that is too slow', 'Validating', { delay: 3 }, [post(configMaps, configMap('a'))], {
    timeoutSeconds: 1,
  }),
  one(
    'a slow webhook that is ignored',
    'Validating',
    { delay: 3 },
    [post(configMaps, configMap('a')), reviews('hook')],
    { timeoutSeconds: 1, failurePolicy: 'Ignore' },
  ),
  sequence(
    'a webhook that is not there',
    [
      registered(
        'Validating',
        webhook('hook', { rules: [{ ...rule, operations: ['UPDATE'] }] }),
        webhook('gone', {
          clientConfig: { url: 'https://127.0.0.1:1/gone' },
          rules: [{ ...rule, operations: ['UPDATE'] }],
        }),
      ),
      prepare(post(configMaps, configMap('a'))),
      hooked('hook', prepare(mergePatch(`${configMaps}/a?dryRun=All`, { data: { x: 'y' } }))),
      mergePatch(`${configMaps}/a`, { data: { x: 'y' } }),
    ],
    { hooks: { hook: {} } },
  ),
  one(
    'operations',
    'Validating',
    {},
    [
      prepare(post(configMaps, configMap('a'))),
      prepare(mergePatch(`${configMaps}/a`, { data: { x: 'y' } })),
      prepare(del(`${configMaps}/a`)),
      reviews('hook'),
    ],
    { rules: [{ ...rule, operations: ['CREATE', 'DELETE'] }] },
  ),
  sequence(
    'kinds that nobody asked for',
    [
      registered(
        'Validating',
        webhook('hook'),
        webhook('apps', { rules: [{ ...rule, apiGroups: ['apps'], resources: ['*'] }] }),
        webhook('all', { rules: [{ ...rule, apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }] }),
      ),
      hooked('hook', probe),
      prepare(post(`${configMaps}?dryRun=All`, configMap('probe'))),
      prepare(post(deployments, deployment('web'))),
      prepare(mergePatch(`${deployments}/web/status`, { status: { replicas: 1 } })),
      reviews('hook'),
      reviews('apps'),
    ],
    { hooks: { hook: {}, apps: {}, all: {} } },
  ),
  sequence(
    'selectors of objects',
    [
      registered('Validating', webhook('hook', { objectSelector: { matchLabels: { watched: 'yes' } } })),
      hooked(
        'hook',
        prepare(post(`${configMaps}?dryRun=All`, configMap({ name: 'probe', labels: { watched: 'yes' } }))),
      ),
      post(configMaps, configMap('a')),
      post(configMaps, configMap({ name: 'b', labels: { watched: 'yes' } })),
      mergePatch(`${configMaps}/b`, { metadata: { labels: { watched: 'no' } } }),
      mergePatch(`${configMaps}/b`, { data: { x: 'y' } }),
      reviews('hook'),
    ],
    { hooks: { hook: { response: { warnings: ['seen'] } } } },
  ),
  sequence(
    'selectors of namespaces',
    [
      registered(
        'Validating',
        webhook('hook'),
        webhook('other', {
          namespaceSelector: {
            matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['other-<id>'] }],
          },
        }),
      ),
      hooked('hook', probe),
      post(configMaps, configMap('a')),
      reviews('hook'),
      reviews('other'),
    ],
    { hooks: { hook: {}, other: { response: { allowed: false } } } },
  ),
  sequence(
    'one webhook after another',
    [
      registered('Mutating', webhook('first'), webhook('second', { reinvocationPolicy: 'IfNeeded' })),
      hooked('first', probe),
      post(configMaps, configMap('a')),
      reviews('second'),
    ],
    {
      hooks: {
        first: { patch: [{ op: 'add', path: '/data/first', value: '1' }] },
        second: { patch: [{ op: 'add', path: '/data/second', value: '2' }] },
      },
    },
  ),
  sequence(
    'other versions of custom objects',
    [
      ...defined(definition([version('v1'), version('v2')])),
      registered(
        'Validating',
        webhook('hook', {
          rules: [{ ...rule, apiGroups: ['<group>'], apiVersions: ['v1'], resources: ['things'] }],
          matchPolicy: 'Equivalent',
        }),
      ),
      hooked('hook', prepare(post(`${things}?dryRun=All`, thing('probe')))),
      post('/apis/<group>/v2/namespaces/<ns>/things', thing('a', { spec: { x: 1 } }, '<group>/v2')),
      reviews('hook'),
    ],
    { hooks: { hook: {} } },
  ),
  sequence(
    'only the exact version of custom objects',
    [
      ...defined(definition([version('v1'), version('v2')])),
      registered(
        'Validating',
        webhook('hook', {
          rules: [{ ...rule, apiGroups: ['<group>'], apiVersions: ['v1'], resources: ['things'] }],
          matchPolicy: 'Exact',
        }),
      ),
      hooked('hook', prepare(post(`${things}?dryRun=All`, thing('probe')))),
      post('/apis/<group>/v2/namespaces/<ns>/things', thing('a', { spec: { x: 1 } }, '<group>/v2')),
      post(things, thing('b')),
      reviews('hook'),
    ],
    { hooks: { hook: {} } },
  ),
  sequence(
    'events of the other group',
    [
      registered(
        'Mutating',
        webhook('hook', { rules: [{ ...rule, apiGroups: ['events.k8s.io'], resources: ['events'] }] }),
      ),
      hooked('hook', prepare(post('/api/v1/namespaces/<ns>/events?dryRun=All', oldEvent('probe')))),
      post('/api/v1/namespaces/<ns>/events', oldEvent('a')),
      reviews('hook'),
    ],
    { hooks: { hook: { patch: [{ op: 'replace', path: '/note', value: 'patched' }] } } },
  ),
  sequence(
    'scales that are patched',
    [
      registered('Mutating', webhook('hook', { rules: [{ ...rule, apiGroups: ['apps'], resources: ['*/scale'] }] })),
      prepare(post(deployments, deployment('web'))),
      hooked('hook', prepare(mergePatch(`${deployments}/web/scale?dryRun=All`, { spec: { replicas: 2 } }))),
      mergePatch(`${deployments}/web/scale`, { spec: { replicas: 3 } }),
      reviews('hook'),
      get(`${deployments}/web`),
    ],
    { hooks: { hook: { patch: [{ op: 'replace', path: '/spec/replicas', value: 5 }] } } },
  ),
  sequence(
    'statuses and scales',
    [
      ...defined(definition([version('v1', undefined, { subresources: { status: {} } })])),
      registered(
        'Mutating',
        webhook('hook', {
          rules: [
            { ...rule, apiGroups: ['<group>', 'apps'], resources: ['things', 'things/status', 'deployments/scale'] },
          ],
        }),
      ),
      hooked('hook', prepare(post(`${things}?dryRun=All`, thing('probe')))),
      prepare(post(things, thing('a', { spec: { x: 1 } }))),
      prepare(mergePatch(`${things}/a/status`, { status: { x: 1 } })),
      prepare(post(deployments, deployment('web'))),
      prepare(mergePatch(`${deployments}/web/scale`, { spec: { replicas: 3 } })),
      reviews('hook'),
    ],
    { hooks: { hook: {} } },
  ),
  one('writes that are dry', 'Validating', {}, [post(`${configMaps}?dryRun=All`, configMap('a')), reviews('hook')]),
  sequence(
    'side effects and dry writes',
    [
      registered(
        'Validating',
        webhook('safe', { rules: [{ ...rule, operations: ['CREATE'] }] }),
        webhook('hook', { sideEffects: 'NoneOnDryRun' }),
      ),
      hooked('hook', probe),
      post(`${configMaps}?dryRun=All`, configMap('a')),
    ],
    { hooks: { safe: {}, hook: {} } },
  ),
  one('objects that would be refused anyway', 'Validating', { response: { allowed: false } }, [
    post(configMaps, configMap('Bad_Name')),
    post(configMaps, configMap({ name: 'x', namespace: 'other' })),
    put(`${configMaps}/none`, configMap('none')),
    mergePatch(`${configMaps}/none`, {}),
    del(`${configMaps}/none`),
    reviews('hook'),
  ]),
  one('deletions of collections', 'Validating', {}, [
    prepare(post(configMaps, configMap('a'))),
    prepare(post(configMaps, configMap('b'))),
    prepare(del(configMaps)),
    get(configMaps),
  ]),
  one('patches that change nothing', 'Validating', {}, [
    prepare(post(configMaps, configMap('a'))),
    mergePatch(`${configMaps}/a`, {}),
    jsonPatch(`${configMaps}/a`, [{ op: 'test', path: '/data/key', value: 'wrong' }]),
    reviews('hook'),
  ]),
];
