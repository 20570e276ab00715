import { get, post, request, type Sequence, sequence } from '../harness/sequence.js';
import { object } from './objects.js';

const authn = 'authentication.k8s.io/v1';
const authz = 'authorization.k8s.io/v1';
const access = `/apis/${authz}/subjectaccessreviews`;
const selfAccess = `/apis/${authz}/selfsubjectaccessreviews`;
const localAccess = `/apis/${authz}/namespaces/<ns>/localsubjectaccessreviews`;
const selfRules = `/apis/${authz}/selfsubjectrulesreviews`;
const tokens = `/apis/${authn}/tokenreviews`;
const self = `/apis/${authn}/selfsubjectreviews`;

const resourceAttributes = { namespace: '<ns>', verb: 'get', resource: 'pods' };
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
];
