import {
  type Answer,
  del,
  get,
  mergePatch,
  post,
  prepare,
  type RequestStep,
  request,
  type Sequence,
  sequence,
  strategicPatch,
} from '../harness/sequence.js';
import { type Fields, inNamespace, object, pod, pods } from './objects.js';

const authn = 'authentication.k8s.io/v1';
const accounts = inNamespace('serviceaccounts');
const secrets = inNamespace('secrets');
const reviews = `/apis/${authn}/tokenreviews`;
const self = `/apis/${authn}/selfsubjectreviews`;

const account = prepare(post(accounts, object('v1', 'ServiceAccount', 'robot')));
const ask = (spec: Fields = {}, extras: Partial<RequestStep> = {}) =>
  post(`${accounts}/robot/token`, object(authn, 'TokenRequest', {}, { spec }), extras);
const order = (spec: Fields = {}) => ask(spec, { save: { token: 'status.token' } });
const bound = (kind: string, name: string, more: Fields = {}) => ({
  boundObjectRef: { apiVersion: 'v1', kind, name, ...more },
});
const review = (spec: Fields = {}, extras: Partial<RequestStep> = {}) =>
  post(reviews, object(authn, 'TokenReview', {}, { spec: { token: '<token>', ...spec } }), extras);
/** The real server believes in deleted accounts until its cache notices, and in what it has believed for 10 s more. */
const untilRefused = {
  until: ({ body }: Answer) => !JSON.stringify(body).includes('"authenticated":true'),
};
const whoAmI = post(self, object(authn, 'SelfSubjectReview', {}), { headers: { authorization: 'Bearer <token>' } });

export const serviceAccounts: readonly Sequence[] = [
  sequence('every namespace has an account', [
    get(`${accounts}/default`, { until: ({ status }) => status === 200 }),
    get(accounts),
  ]),
  sequence('a deleted account comes back', [
    get(`${accounts}/default`, { until: ({ status }) => status === 200, save: { uid: 'metadata.uid' } }),
    del(`${accounts}/default`, { preconditions: { uid: '<uid>' } }),
    get(`${accounts}/default`, { until: ({ status }) => status === 200 }),
  ]),
  sequence('the service of the API server', [
    get('/api/v1/namespaces/default/services/kubernetes', { except: ['targetPort'] }),
  ]),
  sequence('a token, and who comes with it', [account, order(), whoAmI, review()]),
  sequence('a token for an empty request', [account, post(`${accounts}/robot/token`, {})]),
  sequence('a token for a dry run', [
    account,
    post(`${accounts}/robot/token?dryRun=All`, object(authn, 'TokenRequest', {})),
  ]),
  sequence('a token for others', [
    account,
    order({ audiences: ['vault', 'bank'], expirationSeconds: 700 }),
    whoAmI,
    review(),
    review({ audiences: ['bank', 'shop'] }),
    review({ audiences: ['shop'] }),
  ]),
  sequence('times of tokens', [
    account,
    ask({ expirationSeconds: 599 }),
    ask({ expirationSeconds: 600 }),
    ask({ expirationSeconds: 2 ** 32 + 1 }),
    ask({ expirationSeconds: -1 }),
  ]),
  sequence('tokens of nobody', [
    post(`${accounts}/nobody/token`, object(authn, 'TokenRequest', {})),
    post('/api/v1/namespaces/nowhere-<id>/serviceaccounts/robot/token', object(authn, 'TokenRequest', {})),
  ]),
  sequence('tokens with names', [
    account,
    post(`${accounts}/robot/token`, object(authn, 'TokenRequest', 'other')),
    post(`${accounts}/robot/token`, object(authn, 'TokenRequest', { name: 'robot', namespace: 'elsewhere' })),
    post(
      `${accounts}/robot/token`,
      object(authn, 'TokenRequest', { name: 'robot', namespace: '<ns>', labels: { a: 'b' } }),
    ),
  ]),
  sequence('tokens are only requested', [
    account,
    get(`${accounts}/robot/token`),
    request('DELETE', `${accounts}/robot/token`),
    post(`${accounts}/robot/token`, object('v1', 'Pod', {})),
    post(`${accounts}/robot/token`, 'no json'),
  ]),
  sequence('tokens with unknown fields', [
    account,
    post(`${accounts}/robot/token`, { spec: { foo: 1 } }),
    post(`${accounts}/robot/token?fieldValidation=Strict`, { spec: { foo: 1 }, bar: 2 }),
    post(`${accounts}/robot/token`, { spec: { audiences: 'x' } }),
  ]),
  sequence('a token that is bound to a pod', [
    account,
    prepare(post(pods, pod('one', { serviceAccountName: 'robot' }))),
    prepare(post(pods, pod('two'))),
    order(bound('Pod', 'one')),
    whoAmI,
    ask(bound('Pod', 'two')),
    ask(bound('Pod', 'three')),
  ]),
  sequence('a token that is bound to a secret', [
    account,
    prepare(post(secrets, object('v1', 'Secret', 'one'))),
    order(bound('Secret', 'one')),
    whoAmI,
    ask(bound('Secret', 'one', { uid: 'wrong' })),
    ask(bound('ConfigMap', 'one')),
    ask({ boundObjectRef: {} }),
    ask(bound('Node', 'nowhere-<id>')),
  ]),
  sequence('a token outlives neither its account nor a new one of that name', [
    account,
    order(),
    prepare(del(`${accounts}/robot`)),
    review({}, untilRefused),
    get('/api/v1', { headers: { authorization: 'Bearer <token>' } }),
    account,
    review(),
  ]),
  sequence('forged tokens', [
    account,
    order(),
    post(reviews, object(authn, 'TokenReview', {}, { spec: { token: '<token>x' } })),
    post(reviews, object(authn, 'TokenReview', {}, { spec: { token: 'a.b.c' } })),
    get('/api/v1', { headers: { authorization: 'Bearer <token>x' } }),
  ]),
  sequence('documents for those who check tokens', [
    get('/openid/v1/jwks'),
    get('/openid/v1/jwks', { headers: { accept: '*/*' }, except: ['keys'] }),
    get('/.well-known/openid-configuration', { except: ['id_token_signing_alg_values_supported'] }),
    request('POST', '/openid/v1/jwks', {}),
    get('/openid'),
  ]),
  sequence('the life of an account', [
    post(
      accounts,
      object('v1', 'ServiceAccount', 'robot', {
        automountServiceAccountToken: false,
        secrets: [{ name: 'one' }, { name: 'two' }],
        imagePullSecrets: [{ name: 'registry' }],
      }),
    ),
    get(`${accounts}/robot`),
    strategicPatch(`${accounts}/robot`, { secrets: [{ name: 'three' }], imagePullSecrets: [{ name: 'more' }] }),
    mergePatch(`${accounts}/robot`, { automountServiceAccountToken: null, secrets: [] }),
    get(`${accounts}?fieldSelector=metadata.name=robot`),
    del(`${accounts}/robot`),
  ]),
  sequence('in the place of an account', [
    account,
    post(self, object(authn, 'SelfSubjectReview', {}), {
      headers: { 'impersonate-user': 'system:serviceaccount:<ns>:robot' },
    }),
    get(pods, { headers: { 'impersonate-user': 'system:serviceaccount:<ns>:robot' } }),
    get(pods, { headers: { 'impersonate-user': 'system:serviceaccount:broken' } }),
  ]),
  sequence('what an account may do', [
    account,
    order(),
    get(pods, { headers: { authorization: 'Bearer <token>' } }),
    post(pods, pod('one'), { headers: { authorization: 'Bearer <token>' } }),
    post(
      `/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`,
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { namespace: '<ns>', verb: 'list', resource: 'pods' } },
      },
      { headers: { authorization: 'Bearer <token>' } },
    ),
    get('/version', { headers: { authorization: 'Bearer <token>' }, isPreparation: true }),
  ]),
];
