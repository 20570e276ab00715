import { del, get, mergePatch, post, put, type Sequence, sequence } from '../harness/sequence.js';
import { clusterWide, type Fields, inNamespace, object } from './objects.js';

const net = 'networking.k8s.io/v1';
const rbac = 'rbac.authorization.k8s.io/v1';
const ingresses = inNamespace('ingresses', net);
const classes = clusterWide('ingressclasses', net);
const policies = inNamespace('networkpolicies', net);
const roles = inNamespace('roles', rbac);
const bindings = inNamespace('rolebindings', rbac);
const clusterRoles = clusterWide('clusterroles', rbac);
const clusterBindings = clusterWide('clusterrolebindings', rbac);
const leases = inNamespace('leases', 'coordination.k8s.io/v1');
const newEvents = inNamespace('events', 'events.k8s.io/v1');
const validating = clusterWide('validatingwebhookconfigurations', 'admissionregistration.k8s.io/v1');
const mutating = clusterWide('mutatingwebhookconfigurations', 'admissionregistration.k8s.io/v1');

const backend = { service: { name: 'web', port: { number: 80 } } };
const path = { path: '/', pathType: 'Prefix', backend };
const ingress = (name: string, paths: readonly Fields[], rule: Fields = {}) =>
  object(net, 'Ingress', name, { spec: { rules: [{ ...rule, http: { paths } }] } });
const policy = (name: string, spec: Fields) =>
  object(net, 'NetworkPolicy', name, { spec: { podSelector: {}, ...spec } });
const binding = (name: string, whom: readonly Fields[]) =>
  object(rbac, 'RoleBinding', name, {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: whom,
  });
const lease = (name: string, spec: Fields) => object('coordination.k8s.io/v1', 'Lease', name, { spec });
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];
const subjects = [{ kind: 'ServiceAccount', name: 'robot', namespace: '<ns>' }];
const admission = 'admissionregistration.k8s.io/v1';
const nothing = [{ apiGroups: ['<group>'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] }];
const webhook = {
  name: 'hook.<group>',
  clientConfig: { url: 'https://127.0.0.1:1/hook' },
  rules: nothing,
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
};

export const otherKinds: readonly Sequence[] = [
  sequence('the life of an ingress', [
    post(
      ingresses,
      object(net, 'Ingress', 'web', {
        spec: { rules: [{ host: 'a.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
      }),
    ),
    get(`${ingresses}/web`),
    put(`${ingresses}/web`, object(net, 'Ingress', 'web', { spec: { defaultBackend: backend } })),
    get(ingresses),
    del(`${ingresses}/web`),
  ]),
  sequence('wrong ingresses', [
    post(ingresses, object(net, 'Ingress', 'empty', { spec: {} })),
    post(
      ingresses,
      object(net, 'Ingress', 'path', { spec: { rules: [{ http: { paths: [{ path: 'x', backend }] } }] } }),
    ),
  ]),
  sequence('the life of an ingress class', [
    post(classes, object(net, 'IngressClass', 'class-<id>', { spec: { controller: 'example.com/ingress' } })),
    get(`${classes}/class-<id>`),
    put(
      `${classes}/class-<id>`,
      object(net, 'IngressClass', 'class-<id>', { spec: { controller: 'example.com/other' } }),
    ),
    del(`${classes}/class-<id>`),
  ]),
  sequence('the life of a network policy', [
    post(policies, object(net, 'NetworkPolicy', 'deny', { spec: { podSelector: {} } })),
    post(
      policies,
      object(net, 'NetworkPolicy', 'allow', {
        spec: {
          podSelector: { matchLabels: { a: 'b' } },
          egress: [{ ports: [{ port: 53 }] }],
          policyTypes: ['Egress'],
        },
      }),
    ),
    get(`${policies}/deny`),
    get(policies),
    del(`${policies}/deny`),
  ]),
  sequence('the life of a role', [
    post(roles, object(rbac, 'Role', 'reader', { rules })),
    get(`${roles}/reader`),
    put(`${roles}/reader`, object(rbac, 'Role', 'reader', { rules: [] })),
    get(roles),
    post(roles, object(rbac, 'Role', 'wrong', { rules: [{ resources: ['pods'] }] })),
    del(`${roles}/reader`),
  ]),
  sequence('the life of a role binding', [
    post(
      bindings,
      object(rbac, 'RoleBinding', 'b', {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [...subjects, { kind: 'User', name: 'jane' }],
      }),
    ),
    get(`${bindings}/b`),
    mergePatch(`${bindings}/b`, { roleRef: { name: 'other' } }),
    get(bindings),
    post(bindings, object(rbac, 'RoleBinding', 'wrong', { roleRef: { kind: 'What', name: 'x' }, subjects })),
    del(`${bindings}/b`),
  ]),
  sequence('the life of a cluster role', [
    post(
      clusterRoles,
      object(rbac, 'ClusterRole', 'role-<id>', { rules: [{ nonResourceURLs: ['/healthz'], verbs: ['get'] }] }),
    ),
    get(`${clusterRoles}/role-<id>`),
    put(`${clusterRoles}/role-<id>`, object(rbac, 'ClusterRole', 'role-<id>', { rules })),
    del(`${clusterRoles}/role-<id>`),
  ]),
  sequence('the life of a cluster role binding', [
    post(
      clusterBindings,
      object(rbac, 'ClusterRoleBinding', 'binding-<id>', {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'role-<id>' },
        subjects,
      }),
    ),
    get(`${clusterBindings}/binding-<id>`),
    mergePatch(`${clusterBindings}/binding-<id>`, { metadata: { labels: { a: 'b' } } }),
    del(`${clusterBindings}/binding-<id>`),
  ]),
  sequence('the life of a lease', [
    post(
      leases,
      object('coordination.k8s.io/v1', 'Lease', 'lock', {
        spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2020-01-02T03:04:05.678901Z' },
      }),
    ),
    get(`${leases}/lock`),
    mergePatch(`${leases}/lock`, {
      spec: { holderIdentity: 'you', leaseTransitions: 1, acquireTime: '2020-01-02T03:04:05.1Z' },
    }),
    get(leases),
    mergePatch(`${leases}/lock`, { spec: { leaseDurationSeconds: -1 } }),
    mergePatch(`${leases}/lock`, { spec: { renewTime: 'yesterday' } }),
    del(`${leases}/lock`),
  ]),
  sequence('the life of a new event', [
    post(
      newEvents,
      object('events.k8s.io/v1', 'Event', 'e1', {
        eventTime: '2020-01-02T03:04:05.000006Z',
        reportingController: 'example.com/operator',
        reportingInstance: 'op-1',
        action: 'Testing',
        reason: 'Tested',
        regarding: { kind: 'ConfigMap', name: 'one', namespace: '<ns>', apiVersion: 'v1' },
        note: 'Something has happened.',
        type: 'Normal',
      }),
    ),
    get(`${newEvents}/e1`),
    get('/api/v1/namespaces/<ns>/events/e1'),
    get(`${newEvents}?fieldSelector=regarding.name%3Done`),
    get(newEvents),
    del(`${newEvents}/e1`),
  ]),
  sequence('wrong new events', [
    post(newEvents, object('events.k8s.io/v1', 'Event', 'e1', {})),
    post(newEvents, object('events.k8s.io/v1', 'Event', 'e2', { eventTime: '2020-01-02T03:04:05.000006Z' })),
  ]),
  sequence('the life of a validating registration', [
    post(validating, object(admission, 'ValidatingWebhookConfiguration', 'v-<id>', { webhooks: [webhook] })),
    get(`${validating}/v-<id>`),
    mergePatch(`${validating}/v-<id>`, { webhooks: [{ ...webhook, timeoutSeconds: 3, failurePolicy: 'Ignore' }] }),
    del(`${validating}/v-<id>`),
  ]),
  sequence('the life of a mutating registration', [
    post(mutating, object(admission, 'MutatingWebhookConfiguration', 'm-<id>', { webhooks: [webhook] })),
    get(`${mutating}/m-<id>`),
    put(`${mutating}/m-<id>`, object(admission, 'MutatingWebhookConfiguration', 'm-<id>', { webhooks: [] })),
    del(`${mutating}/m-<id>`),
  ]),
  sequence('wrong registrations', [
    post(validating, object(admission, 'ValidatingWebhookConfiguration', 'v-<id>', { webhooks: [{ name: 'x' }] })),
    post(
      validating,
      object(admission, 'ValidatingWebhookConfiguration', 'v-<id>', {
        webhooks: [
          { ...webhook, clientConfig: { url: 'http://plain.example.com' }, sideEffects: 'Some', timeoutSeconds: 99 },
        ],
      }),
    ),
    post(
      mutating,
      object(admission, 'MutatingWebhookConfiguration', 'm-<id>', {
        webhooks: [
          webhook,
          webhook,
          { ...webhook, name: 'b.<group>', admissionReviewVersions: ['v7'], failurePolicy: 'Maybe' },
        ],
      }),
    ),
    post(
      mutating,
      object(admission, 'MutatingWebhookConfiguration', 'm-<id>', {
        webhooks: [
          {
            ...webhook,
            rules: [{ apiGroups: ['*', 'a'], apiVersions: [], operations: ['LOOK'], resources: ['*', 'x'] }],
          },
        ],
      }),
    ),
  ]),
  sequence('paths of ingresses', [
    post(ingresses, ingress('exact', [{ path: '/a', pathType: 'Exact', backend }])),
    post(ingresses, ingress('any', [{ pathType: 'ImplementationSpecific', backend }])),
    post(ingresses, ingress('relative', [{ path: 'a', pathType: 'Prefix', backend }])),
    post(ingresses, ingress('dots', [{ path: '/a/../b', pathType: 'Exact', backend }])),
    post(ingresses, ingress('slashes', [{ path: '/a//b', pathType: 'Prefix', backend }])),
    post(ingresses, ingress('type', [{ path: '/', pathType: 'Regex', backend }])),
    post(ingresses, ingress('none', [])),
    post(ingresses, ingress('backend', [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web' } } }])),
  ]),
  sequence('hosts and certificates of ingresses', [
    post(ingresses, ingress('wild', [path], { host: '*.example.com' })),
    post(ingresses, ingress('middle', [path], { host: 'a.*.example.com' })),
    post(ingresses, ingress('address', [path], { host: '10.0.0.1' })),
    post(ingresses, ingress('upper', [path], { host: 'A.example.com' })),
    post(ingresses, ingress('port', [path], { host: 'a.example.com:80' })),
    post(
      ingresses,
      object(net, 'Ingress', 'tls', {
        spec: { defaultBackend: backend, tls: [{ hosts: ['a.example.com', '*.b.c'], secretName: 's' }, {}] },
      }),
    ),
    post(
      ingresses,
      object(net, 'Ingress', 'wrongtls', {
        spec: { defaultBackend: backend, tls: [{ hosts: ['A', '*'], secretName: 'S_' }] },
      }),
    ),
  ]),
  sequence('ports and peers of network policies', [
    post(policies, policy('range', { ingress: [{ ports: [{ protocol: 'UDP', port: 1000, endPort: 2000 }] }] })),
    post(policies, policy('reverse', { ingress: [{ ports: [{ port: 2000, endPort: 1000 }] }] })),
    post(policies, policy('named', { ingress: [{ ports: [{ port: 'http', endPort: 80 }] }] })),
    post(
      policies,
      policy('block', { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }] }),
    ),
    post(
      policies,
      policy('outside', { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }] }] }),
    ),
    post(policies, policy('nobody', { ingress: [{ from: [{}] }] })),
    post(policies, policy('both', { ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }] })),
    post(policies, policy('types', { policyTypes: ['Sideways'] })),
  ]),
  sequence('subjects of bindings', [
    post(bindings, binding('user', [{ kind: 'User', name: 'jane', namespace: 'no' }])),
    post(bindings, binding('account', [{ kind: 'ServiceAccount', name: 'robot' }])),
    post(bindings, binding('group', [{ kind: 'Group', name: '' }])),
    post(bindings, binding('kind', [{ kind: 'Robot', name: 'r' }])),
    post(bindings, binding('foreign', [{ apiGroup: 'example.com', kind: 'User', name: 'jane' }])),
    post(bindings, binding('fine', [{ kind: 'Group', name: 'system:serviceaccounts' }])),
    get(`${bindings}/fine`),
  ]),
  sequence('wrong cluster roles', [
    post(clusterRoles, object(rbac, 'ClusterRole', 'a-<id>', { rules: [{ verbs: [], resources: ['pods'] }] })),
    post(
      clusterRoles,
      object(rbac, 'ClusterRole', 'b-<id>', {
        rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'], apiGroups: [''] }],
      }),
    ),
    post(clusterRoles, object(rbac, 'ClusterRole', 'c-<id>', { aggregationRule: { clusterRoleSelectors: [] } })),
    post(
      clusterRoles,
      object(rbac, 'ClusterRole', 'd-<id>', {
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'not a label!': 'x' } }] },
      }),
    ),
    post(roles, object(rbac, 'Role', 'e', { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] })),
    post(roles, object(rbac, 'Role', 'f:g', { rules })),
    post(roles, object(rbac, 'Role', 'h%i', { rules })),
  ]),
  sequence('wrong leases and classes', [
    post(leases, lease('zero', { leaseDurationSeconds: 0 })),
    post(leases, lease('negative', { leaseTransitions: -1, leaseDurationSeconds: -1 })),
    post(leases, lease('empty', { holderIdentity: '' })),
    post(leases, lease('time', { renewTime: 'yesterday' })),
    post(leases, lease('times', { renewTime: '2026-01-01T00:00:00Z', acquireTime: '2026-01-01T00:00:00.000001Z' })),
    post(classes, object(net, 'IngressClass', 'a-<id>', { spec: { controller: 'nodomain' } })),
    post(
      classes,
      object(net, 'IngressClass', 'b-<id>', {
        spec: { controller: 'example.com/x', parameters: { kind: 'Thing', name: 'x', scope: 'Namespace' } },
      }),
    ),
    post(
      classes,
      object(net, 'IngressClass', 'c-<id>', {
        spec: { controller: 'example.com/x', parameters: { kind: 'Thing', name: 'x', namespace: 'y' } },
      }),
    ),
  ]),
];
