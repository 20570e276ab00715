import { valueAt } from '../harness/paths.js';
import {
  type Answer,
  del,
  get,
  mergePatch,
  post,
  prepare,
  put,
  type RequestStep,
  request,
  type Sequence,
  sequence,
} from '../harness/sequence.js';
import { clusterWide, configMap, configMaps, type Fields, inNamespace, object, pods } from './objects.js';

const rbac = 'rbac.authorization.k8s.io/v1';
const rbacGroup = 'rbac.authorization.k8s.io';
const authn = 'authentication.k8s.io/v1';
const authz = 'authorization.k8s.io/v1';
const leases = inNamespace('leases', 'coordination.k8s.io/v1');
const roles = inNamespace('roles', rbac);
const roleBindings = inNamespace('rolebindings', rbac);
const clusterRoles = clusterWide('clusterroles', rbac);
const clusterRoleBindings = clusterWide('clusterrolebindings', rbac);
const self = `/apis/${authn}/selfsubjectreviews`;
const access = `/apis/${authz}/subjectaccessreviews`;
const selfRules = `/apis/${authz}/selfsubjectrulesreviews`;

type Headers = NonNullable<RequestStep['headers']>;
const as = (user: string, more: Headers = {}) => ({ headers: { 'Impersonate-User': user, ...more } });
const joe = 'joe-<id>';
const asJoe = as(joe);
const rule = (resources: string, verbs: string, more: Fields = {}) => ({
  apiGroups: [''],
  resources: resources.split(','),
  verbs: verbs.split(','),
  ...more,
});
const role = (name: string, ...rules: Fields[]) => object(rbac, 'Role', name, { rules });
const clusterRole = (name: string, ...rules: Fields[]) => object(rbac, 'ClusterRole', name, { rules });
const user = (name: string) => ({ kind: 'User', name, apiGroup: rbacGroup });
const binding = (kind: string, name: string, roleRef: string, ...subjects: Fields[]) => {
  const [roleKind, roleName] = roleRef.split(' ');
  return object(rbac, kind, name, { subjects, roleRef: { apiGroup: rbacGroup, kind: roleKind, name: roleName } });
};

/** Roles are noticed by the real server a moment later. */
const isAllowed = ({ body }: Answer) => valueAt(body, 'status.allowed') === true;
const review = (username: string, resourceAttributes: Fields, more: Fields = {}) =>
  object(authz, 'SubjectAccessReview', {}, { spec: { user: username, resourceAttributes, ...more } });
const may = (username: string, verb: string, resource: string, more: Fields = {}) =>
  post(access, review(username, { namespace: '<ns>', verb, resource, ...more }));
const untilMay = (...question: Parameters<typeof may>): RequestStep => ({ ...may(...question), until: isAllowed });

/** A role in the namespace for Joe. */
const joeMay = (...rules: Fields[]): readonly RequestStep[] => [
  prepare(post(roles, role('joes', ...rules))),
  prepare(post(roleBindings, binding('RoleBinding', 'joes', 'Role joes', user(joe)))),
];
/** A role everywhere for Joe. */
const joeMayEverywhere = (...rules: Fields[]): readonly RequestStep[] => [
  prepare(post(clusterRoles, clusterRole('joes-<id>', ...rules))),
  prepare(post(clusterRoleBindings, binding('ClusterRoleBinding', 'joes-<id>', 'ClusterRole joes-<id>', user(joe)))),
];
const manageRoles = {
  apiGroups: [rbacGroup],
  resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
  verbs: ['create', 'get', 'patch', 'update', 'delete'],
};

/** Somebody who acts by a token, as those who impersonate are not to be impersonated themselves. */
const robot = 'system:serviceaccount:<ns>:robot';
const robotMay = (...rules: Fields[]): readonly RequestStep[] => [
  prepare(post(inNamespace('serviceaccounts'), object('v1', 'ServiceAccount', 'robot'))),
  prepare(
    post(`${inNamespace('serviceaccounts')}/robot/token`, object(authn, 'TokenRequest', {}), {
      save: { token: 'status.token' },
    }),
  ),
  prepare(post(clusterRoles, clusterRole('robots-<id>', ...rules))),
  prepare(
    post(
      clusterRoleBindings,
      binding('ClusterRoleBinding', 'robots-<id>', 'ClusterRole robots-<id>', {
        kind: 'ServiceAccount',
        name: 'robot',
        namespace: '<ns>',
      }),
    ),
  ),
];
const byRobot = (headers: Headers = {}) => ({ headers: { authorization: 'Bearer <token>', ...headers } });
/** In which order they are written is a matter of chance. */
const ofItsOwn = { except: ['resourceVersion'] };
const anonymous = { headers: { authorization: '' } };

export const identity: readonly Sequence[] = [
  sequence('who one becomes', [
    post(self, {}, asJoe),
    post(self, {}, as(joe, { 'Impersonate-Group': ['devs', 'ops, really'], 'Impersonate-Uid': '7' })),
    post(self, {}, as(joe, { 'Impersonate-Extra-scopes': ['a', 'b'], 'Impersonate-Extra-Acme.com%2Fproject': 'x' })),
    post(self, {}, as('system:serviceaccount:<ns>:robot')),
    post(self, {}, as('system:serviceaccount:<ns>:robot', { 'Impersonate-Group': 'devs' })),
    post(self, {}, as('system:serviceaccount:<ns>:a:b')),
    post(self, {}, as('system:node:one')),
    post(self, {}, as('system:anonymous')),
    post(self, {}, as(joe, { 'Impersonate-Group': 'system:authenticated' })),
    post(self, {}, as(joe, { 'Impersonate-Group': 'system:unauthenticated' })),
    post(self, {}, as(joe, { 'Impersonate-Group': 'system:masters' })),
  ]),
  sequence('nobody becomes a group', [
    get(pods, { headers: { 'Impersonate-Group': 'devs' } }),
    get(pods, { headers: { 'Impersonate-Uid': '7' } }),
    get(pods, { headers: { 'Impersonate-Extra-b': '1', 'Impersonate-Extra-a': ['2', '3'] } }),
    get(pods, { headers: { 'Impersonate-User': '' } }),
  ]),
  sequence('nothing is allowed to anybody', [
    get(configMaps, asJoe),
    get('/api/v1/configmaps', asJoe),
    get(`${configMaps}/one`, asJoe),
    get(`${configMaps}?watch=true`, asJoe),
    get(`${configMaps}?fieldSelector=metadata.name%3Done`, asJoe),
    get(`${configMaps}?labelSelector=a%3Db&fieldSelector=metadata.name!%3Done`, asJoe),
    get('/api/v1/watch/namespaces/<ns>/configmaps', asJoe),
    post(configMaps, configMap('one'), asJoe),
    request('PUT', `${configMaps}/one`, configMap('one'), asJoe),
    mergePatch(`${configMaps}/one`, {}, asJoe),
    del(`${configMaps}/one`, undefined, asJoe),
    del(configMaps, undefined, asJoe),
    get(inNamespace('deployments/one/scale', 'apps/v1'), asJoe),
    mergePatch(inNamespace('deployments/one/status', 'apps/v1'), {}, asJoe),
    get('/api/v1/namespaces/<ns>', asJoe),
    request('PUT', '/api/v1/namespaces/<ns>/finalize', {}, asJoe),
    get('/api/v1/nodes', asJoe),
    get(`${pods}/one/log`, asJoe),
    get('/apis/nowhere.example.com/v1/namespaces/<ns>/things/one', asJoe),
  ]),
  sequence('paths without objects', [
    get('/healthz', asJoe),
    get('/healthz/ping', asJoe),
    prepare(get('/api/v1', asJoe)),
    get('/nowhere', asJoe),
    post('/version', {}, asJoe),
    get('/metrics', asJoe),
    get('/openid/v1/jwks', asJoe),
    get('/', asJoe),
  ]),
  sequence('a role and a binding in a namespace', [
    ...joeMay(rule('configmaps', 'get,list')),
    untilMay(joe, 'get', 'configmaps'),
    prepare(post(configMaps, configMap('one'))),
    get(`${configMaps}/one`, asJoe),
    get('/api/v1/namespaces/default/configmaps/one', asJoe),
    post(configMaps, configMap('two'), asJoe),
    may(joe, 'get', 'configmaps', { namespace: 'default' }),
    may(joe, 'delete', 'configmaps'),
    may(joe, 'get', 'configmaps', { subresource: 'status' }),
    may(joe, 'get', 'configmaps', { group: 'apps' }),
  ]),
  sequence('a cluster role in a namespace', [
    prepare(post(roleBindings, binding('RoleBinding', 'viewers', 'ClusterRole view', user(joe)))),
    untilMay(joe, 'list', 'pods'),
    may(joe, 'list', 'secrets'),
    may(joe, 'create', 'pods'),
    may(joe, 'get', 'deployments', { group: 'apps', subresource: 'scale' }),
    may(joe, 'list', 'pods', { namespace: '' }),
    get(pods, asJoe),
    get('/api/v1/pods', asJoe),
  ]),
  sequence('a cluster role everywhere', [
    ...joeMayEverywhere(rule('pods', 'list'), { nonResourceURLs: ['/metrics/*', '/nowhere'], verbs: ['get'] }),
    untilMay(joe, 'list', 'pods'),
    may(joe, 'list', 'pods', { namespace: '' }),
    get('/nowhere', asJoe),
    get('/metrics', asJoe),
    get(pods, asJoe),
  ]),
  sequence('groups and accounts', [
    prepare(post(roles, role('few', rule('pods', 'get')))),
    prepare(
      post(
        roleBindings,
        binding(
          'RoleBinding',
          'few',
          'Role few',
          { kind: 'Group', name: 'devs-<id>', apiGroup: rbacGroup },
          { kind: 'ServiceAccount', name: 'robot' },
          { kind: 'ServiceAccount', name: 'robot', namespace: 'elsewhere-<id>' },
        ),
      ),
    ),
    {
      ...post(access, review(joe, { namespace: '<ns>', verb: 'get', resource: 'pods' }, { groups: ['devs-<id>'] })),
      until: isAllowed,
    },
    may(joe, 'get', 'pods'),
    may('system:serviceaccount:<ns>:robot', 'get', 'pods'),
    may('system:serviceaccount:elsewhere-<id>:robot', 'get', 'pods'),
    may('system:serviceaccount:default:robot', 'get', 'pods'),
  ]),
  sequence('names and subresources in rules', [
    ...joeMay(
      rule('configmaps', 'get,list,watch,delete', { resourceNames: ['one', 'two'] }),
      rule('pods/log,*/status', 'get'),
      rule('secrets', '*'),
      { apiGroups: ['*'], resources: ['leases'], verbs: ['get'] },
    ),
    untilMay(joe, 'get', 'configmaps', { name: 'one' }),
    may(joe, 'get', 'configmaps', { name: 'three' }),
    may(joe, 'list', 'configmaps'),
    may(joe, 'get', 'pods'),
    may(joe, 'get', 'pods', { subresource: 'log' }),
    may(joe, 'get', 'services', { subresource: 'status' }),
    may(joe, 'get', 'services', { subresource: 'scale' }),
    may(joe, 'whatever', 'secrets'),
    may(joe, 'get', 'leases', { group: 'coordination.k8s.io' }),
    may(joe, '*', 'configmaps'),
    get(`${configMaps}?fieldSelector=metadata.name%3Done`, asJoe),
    get(`${configMaps}?fieldSelector=metadata.name%3Dthree`, asJoe),
  ]),
  sequence('a deleted binding gives nothing', [
    ...joeMay(rule('pods', 'list')),
    untilMay(joe, 'list', 'pods'),
    prepare(del(`${roleBindings}/joes`)),
    get(pods, { ...asJoe, until: ({ status }) => status === 403 }),
  ]),
  sequence('bindings to roles that are not there', [
    prepare(post(roleBindings, binding('RoleBinding', 'dangling', 'Role nothing', user(joe)))),
    get(pods, { ...asJoe, until: ({ body }) => String(valueAt(body, 'message')).includes('not found') }),
    prepare(
      post(clusterRoleBindings, binding('ClusterRoleBinding', 'dangling-<id>', 'ClusterRole nothing', user(joe))),
    ),
    get(pods, { ...asJoe, until: ({ body }) => String(valueAt(body, 'message')).includes('[') }),
    may(joe, 'get', 'pods'),
    get('/nowhere', asJoe),
    post(selfRules, object(authz, 'SelfSubjectRulesReview', {}, { spec: { namespace: '<ns>' } }), asJoe),
  ]),
  sequence('what one may', [
    ...joeMay(rule('configmaps', 'get,list', { resourceNames: ['one'] })),
    untilMay(joe, 'get', 'configmaps', { name: 'one' }),
    post(selfRules, object(authz, 'SelfSubjectRulesReview', {}, { spec: { namespace: '<ns>' } }), asJoe),
    post(selfRules, object(authz, 'SelfSubjectRulesReview', {}, { spec: { namespace: 'default' } }), asJoe),
  ]),
  sequence('nobody gives more than they have: roles', [
    ...joeMayEverywhere(manageRoles, rule('pods', 'get,list')),
    untilMay(joe, 'get', 'pods'),
    post(roles, role('small', rule('pods', 'get')), asJoe),
    post(
      roles,
      role('big', rule('pods,secrets', 'get,delete'), { ...rule('deployments', '*'), apiGroups: ['apps'] }),
      asJoe,
    ),
    post(roles, role('named', rule('configmaps', 'get', { resourceNames: ['a', 'b'] })), asJoe),
    post(roles, role('nothing'), asJoe),
    post(
      clusterRoles,
      clusterRole('paths-<id>', { nonResourceURLs: ['/a', '/healthz'], verbs: ['get', 'post'] }),
      asJoe,
    ),
    post(clusterRoles, clusterRole('all-<id>', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }), asJoe),
    mergePatch(`${roles}/small`, { rules: [rule('pods', 'get,watch')] }, asJoe),
    mergePatch(`${roles}/small`, { metadata: { labels: { a: 'b' } } }, asJoe),
    prepare(post(roles, role('others', rule('secrets', 'get')))),
    mergePatch(`${roles}/others`, { metadata: { labels: { a: 'b' } } }, asJoe),
    mergePatch(`${roles}/others`, { rules: [] }, asJoe),
    post(roles, role('bad', { apiGroups: [''], resources: ['pods'], verbs: [] }), asJoe),
    post(
      clusterRoles,
      object(rbac, 'ClusterRole', 'sum-<id>', {
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
      }),
      asJoe,
    ),
  ]),
  sequence('nobody gives more than they have: bindings', [
    ...joeMayEverywhere(manageRoles, rule('pods', 'get,list')),
    untilMay(joe, 'get', 'pods'),
    prepare(post(roles, role('small', rule('pods', 'get')))),
    prepare(post(roles, role('big', rule('pods', 'get,delete'), rule('secrets', 'get')))),
    may(joe, 'get', 'roles', { group: rbacGroup }),
    post(roleBindings, binding('RoleBinding', 'one', 'Role small', user(joe)), {
      ...asJoe,
      until: ({ status }) => status !== 404,
    }),
    post(roleBindings, binding('RoleBinding', 'two', 'Role big', user(joe)), asJoe),
    post(roleBindings, binding('RoleBinding', 'three', 'Role nothing', user(joe)), asJoe),
    post(roleBindings, binding('RoleBinding', 'three', 'ClusterRole nothing', user(joe)), asJoe),
    post(
      clusterRoleBindings,
      binding('ClusterRoleBinding', 'four-<id>', 'ClusterRole cluster-admin', user(joe)),
      asJoe,
    ),
    prepare(post(roleBindings, binding('RoleBinding', 'five', 'Role big', user('jim')))),
    mergePatch(`${roleBindings}/five`, { subjects: [] }, asJoe),
    mergePatch(`${roleBindings}/five`, { metadata: { labels: { a: 'b' } } }, asJoe),
    del(`${roleBindings}/five`, undefined, asJoe),
  ]),
  sequence('to escalate and to bind are rights of their own', [
    ...joeMayEverywhere(
      manageRoles,
      { apiGroups: [rbacGroup], resources: ['roles'], verbs: ['escalate'] },
      { apiGroups: [rbacGroup], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['view', 'nothing'] },
    ),
    untilMay(joe, 'escalate', 'roles', { group: rbacGroup }),
    post(roles, role('big', rule('secrets', '*')), asJoe),
    post(clusterRoles, clusterRole('big-<id>', rule('secrets', '*')), asJoe),
    post(roleBindings, binding('RoleBinding', 'one', 'ClusterRole view', user('jim')), asJoe),
    post(roleBindings, binding('RoleBinding', 'two', 'ClusterRole cluster-admin', user('jim')), asJoe),
    post(roleBindings, binding('RoleBinding', 'three', 'ClusterRole nothing', user('jim')), asJoe),
  ]),
  sequence('to create by an update is to create', [
    ...joeMay(
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update', 'get'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['update'] },
    ),
    untilMay(joe, 'get', 'leases', { group: 'coordination.k8s.io' }),
    put(`${leases}/one`, object('coordination.k8s.io/v1', 'Lease', 'one'), asJoe),
    put(`${leases}/one?dryRun=All`, object('coordination.k8s.io/v1', 'Lease', 'one'), asJoe),
    put(`${configMaps}/one`, configMap('one'), asJoe),
    put(`${leases}/one`, object('coordination.k8s.io/v1', 'Lease', 'one')),
  ]),
  sequence('aggregated roles', [
    prepare(
      post(
        clusterRoles,
        object(rbac, 'ClusterRole', 'sum-<id>', {
          aggregationRule: {
            clusterRoleSelectors: [
              { matchLabels: { to: '<id>' } },
              { matchExpressions: [{ key: 'too-<id>', operator: 'Exists' }] },
            ],
          },
          rules: [rule('pods', 'get')],
        }),
      ),
    ),
    prepare(
      post(
        clusterRoles,
        object(
          rbac,
          'ClusterRole',
          { name: 'b-<id>', labels: { to: '<id>', 'too-<id>': 'x' } },
          { rules: [rule('pods', 'list')] },
        ),
      ),
    ),
    prepare(
      post(
        clusterRoles,
        object(
          rbac,
          'ClusterRole',
          { name: 'a-<id>', labels: { to: '<id>' } },
          { rules: [rule('pods', 'list'), rule('secrets', 'get')] },
        ),
      ),
    ),
    get(`${clusterRoles}/sum-<id>`, {
      until: ({ body }) => (valueAt(body, 'rules') as unknown[] | null)?.length === 2,
    }),
    prepare(del(`${clusterRoles}/a-<id>`)),
    get(`${clusterRoles}/sum-<id>`, {
      until: ({ body }) => (valueAt(body, 'rules') as unknown[] | null)?.length === 1,
    }),
  ]),
  sequence('roles that every cluster begins with', [
    get(`${clusterRoles}?labelSelector=kubernetes.io%2Fbootstrapping`, ofItsOwn),
    get(`${clusterRoleBindings}?labelSelector=kubernetes.io%2Fbootstrapping`, ofItsOwn),
    get(`/apis/${rbac}/roles?labelSelector=kubernetes.io%2Fbootstrapping`, ofItsOwn),
    get(`/apis/${rbac}/rolebindings?labelSelector=kubernetes.io%2Fbootstrapping`, ofItsOwn),
  ]),
  sequence('without credentials', [
    get('/healthz', anonymous),
    get('/livez', anonymous),
    get('/version', anonymous),
    get('/version/', anonymous),
    get('/healthz/ping', anonymous),
    get('/api', anonymous),
    get('/openapi/v3', anonymous),
    get(pods, anonymous),
    post(pods, 'no json', anonymous),
    get(pods, { headers: { authorization: '', 'Impersonate-User': joe } }),
    get('/healthz', { headers: { authorization: 'Bearer wrong' } }),
    get('/healthz', { headers: { authorization: 'Basic dXNlcjpwYXNz' } }),
  ]),
  sequence('those who may not become anybody', [
    ...robotMay(rule('pods', 'get')),
    untilMay(robot, 'get', 'pods'),
    get(pods, byRobot({ 'Impersonate-User': joe })),
    get('/version', byRobot({ 'Impersonate-User': joe })),
    get(pods, byRobot({ 'Impersonate-User': 'system:serviceaccount:<ns>:other' })),
    get(pods, byRobot({ 'Impersonate-User': 'system:node:one' })),
    get(pods, byRobot({ 'Impersonate-User': 'system:serviceaccount:<ns>:other', 'Impersonate-Group': 'devs' })),
  ]),
  sequence('those who may become somebody', [
    ...robotMay(
      rule('users', 'impersonate', { resourceNames: [joe] }),
      rule('groups', 'impersonate', { resourceNames: ['devs'] }),
    ),
    untilMay(robot, 'impersonate', 'users', { name: joe, namespace: '' }),
    post(self, {}, byRobot({ 'Impersonate-User': joe, 'Impersonate-Group': 'devs' })),
    get(pods, byRobot({ 'Impersonate-User': joe })),
    get(pods, byRobot({ 'Impersonate-User': 'jim' })),
    get(pods, byRobot({ 'Impersonate-User': joe, 'Impersonate-Group': ['devs', 'ops'] })),
    get(pods, byRobot({ 'Impersonate-User': joe, 'Impersonate-Uid': '7', 'Impersonate-Group': 'ops' })),
    get(pods, byRobot({ 'Impersonate-User': joe, 'Impersonate-Extra-scopes': 'x' })),
    get(pods, byRobot({ 'Impersonate-User': 'system:serviceaccount:<ns>:other' })),
  ]),
  sequence('those who may become somebody for something', [
    ...robotMay(
      { apiGroups: ['authentication.k8s.io'], resources: ['users'], verbs: ['impersonate:user-info'] },
      { apiGroups: ['authentication.k8s.io'], resources: ['serviceaccounts'], verbs: ['impersonate:serviceaccount'] },
      rule('pods', 'impersonate-on:user-info:list,impersonate-on:serviceaccount:list'),
    ),
    untilMay(robot, 'impersonate-on:user-info:list', 'pods'),
    get(pods, byRobot({ 'Impersonate-User': joe })),
    get(`${pods}/one`, byRobot({ 'Impersonate-User': joe })),
    get(pods, byRobot({ 'Impersonate-User': joe, 'Impersonate-Group': 'devs' })),
    get(pods, byRobot({ 'Impersonate-User': joe, 'Impersonate-Group': 'system:masters' })),
    get(pods, byRobot({ 'Impersonate-User': joe, 'Impersonate-Extra-scopes': 'x' })),
    get(pods, byRobot({ 'Impersonate-User': 'system:serviceaccount:<ns>:other' })),
  ]),
  sequence('those with a token', [
    ...robotMay(rule('configmaps', 'get,create,list')),
    untilMay(robot, 'get', 'configmaps'),
    post(configMaps, configMap('one'), byRobot()),
    get(configMaps, byRobot()),
    del(`${configMaps}/one`, undefined, byRobot()),
    prepare(get('/apis', byRobot())),
    prepare(get('/openid/v1/jwks', byRobot({ accept: '*/*' }))),
  ]),
];
