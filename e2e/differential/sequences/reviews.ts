import { type Answer, get, post, prepare, request, type Sequence, sequence } from '../harness/sequence.js';
import { type Fields, inNamespace, object } from './objects.js';

const authn = 'authentication.k8s.io/v1';
const authz = 'authorization.k8s.io/v1';
const access = `/apis/${authz}/subjectaccessreviews`;
const selfAccess = `/apis/${authz}/selfsubjectaccessreviews`;
const localAccess = `/apis/${authz}/namespaces/<ns>/localsubjectaccessreviews`;
const selfRules = `/apis/${authz}/selfsubjectrulesreviews`;
const tokens = `/apis/${authn}/tokenreviews`;
const self = `/apis/${authn}/selfsubjectreviews`;

const resourceAttributes = { namespace: '<ns>', verb: 'get', resource: 'pods' };
const review = (spec: Fields): Fields => object(authz, 'SubjectAccessReview', {}, { spec });
const rbac = 'rbac.authorization.k8s.io/v1';
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];
/** The real server notices new roles a little later. */
const untilAllowed = { until: ({ body }: Answer) => JSON.stringify(body).includes('"allowed":true') };
const admin = { user: 'admin', groups: ['system:masters'] };

export const authReviews: readonly Sequence[] = [
  sequence('who am I', [post(self, object(authn, 'SelfSubjectReview', {})), get(self)]),
  sequence('may I', [post(selfAccess, object(authz, 'SelfSubjectAccessReview', {}, { spec: { resourceAttributes } }))]),
  sequence('may I see what is no resource', [
    post(
      selfAccess,
      object(
        authz,
        'SelfSubjectAccessReview',
        {},
        { spec: { nonResourceAttributes: { path: '/healthz', verb: 'get' } } },
      ),
    ),
  ]),
  sequence('may I do nothing', [
    post(selfAccess, object(authz, 'SelfSubjectAccessReview', {}, { spec: {} })),
    post(selfAccess, object(authz, 'SelfSubjectAccessReview', {})),
  ]),
  sequence('may I do two things at once', [
    post(
      selfAccess,
      object(
        authz,
        'SelfSubjectAccessReview',
        {},
        {
          spec: { resourceAttributes, nonResourceAttributes: { path: '/', verb: 'get' } },
        },
      ),
    ),
  ]),
  sequence('may an administrator', [
    post(access, object(authz, 'SubjectAccessReview', {}, { spec: { ...admin, resourceAttributes } })),
  ]),
  sequence('may a stranger', [
    post(access, object(authz, 'SubjectAccessReview', {}, { spec: { user: 'stranger', resourceAttributes } })),
  ]),
  sequence('may nobody', [post(access, object(authz, 'SubjectAccessReview', {}, { spec: { resourceAttributes } }))]),
  sequence('may an administrator here', [
    post(
      localAccess,
      object(authz, 'LocalSubjectAccessReview', { namespace: '<ns>' }, { spec: { ...admin, resourceAttributes } }),
    ),
  ]),
  sequence('may an administrator elsewhere', [
    post(
      localAccess,
      object(
        authz,
        'LocalSubjectAccessReview',
        { namespace: '<ns>' },
        {
          spec: { ...admin, resourceAttributes: { ...resourceAttributes, namespace: 'default' } },
        },
      ),
    ),
  ]),
  sequence('what may I here', [
    post(selfRules, object(authz, 'SelfSubjectRulesReview', {}, { spec: { namespace: '<ns>' } })),
  ]),
  sequence('what may I nowhere', [post(selfRules, object(authz, 'SelfSubjectRulesReview', {}, { spec: {} }))]),
  sequence('whose is a wrong token', [
    post(tokens, object(authn, 'TokenReview', {}, { spec: { token: 'wrong' } })),
    post(tokens, object(authn, 'TokenReview', {}, { spec: {} })),
  ]),
  sequence('reviews are only created', [
    get(access),
    get(selfAccess),
    request('DELETE', tokens),
    get(`${access}/name`),
    get(`/apis/${authz}/subjectaccessreviews?watch=true`),
  ]),
  sequence('reviews with metadata', [
    post(
      access,
      object(authz, 'SubjectAccessReview', { labels: { a: 'b' } }, { spec: { ...admin, resourceAttributes } }),
    ),
    post(self, object(authn, 'SelfSubjectReview', { name: 'me', labels: { a: 'b' } })),
  ]),
  sequence('may a group', [
    post(access, review({ groups: ['system:masters'], resourceAttributes })),
    post(access, review({ groups: ['strangers'], resourceAttributes })),
    post(access, review({ user: 'jane', uid: '7', extra: { reason: ['curious'] }, resourceAttributes })),
    post(
      access,
      review({ ...admin, resourceAttributes: { ...resourceAttributes, verb: '*', resource: '*', group: '*' } }),
    ),
  ]),
  sequence('may they do this to that', [
    post(access, review({ ...admin, resourceAttributes: { ...resourceAttributes, name: 'a', subresource: 'log' } })),
    post(access, review({ ...admin, resourceAttributes: { group: 'apps', version: 'v1', resource: 'deployments' } })),
    post(access, review({ ...admin, nonResourceAttributes: { path: '/metrics', verb: 'get' } })),
    post(access, review({ user: 'jane', nonResourceAttributes: { path: '/metrics', verb: 'get' } })),
    post(
      access,
      review({
        user: 'jane',
        groups: ['system:authenticated'],
        nonResourceAttributes: { path: '/apis', verb: 'get' },
      }),
    ),
  ]),
  sequence('may somebody with a role', [
    prepare(post(inNamespace('roles', rbac), object(rbac, 'Role', 'reader', { rules }))),
    prepare(
      post(
        inNamespace('rolebindings', rbac),
        object(rbac, 'RoleBinding', 'readers', {
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane-<id>' }],
        }),
      ),
    ),
    post(access, review({ user: 'jane-<id>', resourceAttributes }), untilAllowed),
    post(access, review({ user: 'jane-<id>', resourceAttributes: { ...resourceAttributes, verb: 'delete' } })),
    post(access, review({ user: 'jane-<id>', resourceAttributes: { ...resourceAttributes, subresource: 'log' } })),
    post(access, review({ user: 'jane-<id>', resourceAttributes: { ...resourceAttributes, namespace: 'default' } })),
    post(localAccess, {
      ...object(authz, 'LocalSubjectAccessReview', { namespace: '<ns>' }),
      spec: { user: 'jane-<id>', resourceAttributes },
    }),
    post(selfAccess, object(authz, 'SelfSubjectAccessReview', {}, { spec: { resourceAttributes } }), {
      headers: { 'impersonate-user': 'jane-<id>', 'impersonate-group': 'system:authenticated' },
    }),
  ]),
  sequence('may they by fields and labels', [
    post(
      access,
      review({
        ...admin,
        resourceAttributes: {
          ...resourceAttributes,
          fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] },
          labelSelector: { rawSelector: 'app=web' },
        },
      }),
    ),
    post(
      access,
      review({
        ...admin,
        resourceAttributes: {
          ...resourceAttributes,
          labelSelector: { rawSelector: 'app=web', requirements: [{ key: 'app', operator: 'Exists' }] },
        },
      }),
    ),
    post(access, review({ ...admin, resourceAttributes: { ...resourceAttributes, fieldSelector: {} } })),
  ]),
  sequence('reviews of something else', [
    post(access, object('v1', 'Pod', {})),
    post(access, object(authz, 'SelfSubjectAccessReview', {}, { spec: { resourceAttributes } })),
    post(access, 'no json'),
    post(access, review({ user: 7 })),
    post(`${access}?fieldValidation=Strict`, review({ ...admin, resourceAttributes, more: true })),
    post(localAccess, object(authz, 'LocalSubjectAccessReview', { namespace: 'other' }, { spec: { ...admin } })),
  ]),
];
