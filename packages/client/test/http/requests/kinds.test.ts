import type { KubeRequest } from '@kopf-ts/core';
import { expect, it } from 'vitest';
import { objectNameOf, requestKindOf, titleOfKind } from '../../../src/http/request-kind.js';

it.each<[KubeRequest['method'], string, string]>([
  ['GET', '/api/v1/pods?limit=500', 'list pods'],
  ['GET', 'api/v1/namespaces/ns/pods', 'list pods'],
  ['GET', '/api/v1/namespaces/ns/pods?x=1&watch=true', 'watch pods'],
  ['GET', '/api/v1/namespaces/ns/pods/p1', 'get pods'],
  ['POST', '/api/v1/namespaces/ns/pods/p1/eviction', 'create pods/eviction'],
  ['GET', '/api/v1/namespaces', 'list namespaces'],
  ['GET', '/api/v1/namespaces/ns', 'get namespaces'],
  ['PUT', '/api/v1/namespaces/ns/finalize', 'update namespaces/finalize'],
  ['PATCH', '/api/v1/namespaces/ns/status', 'patch namespaces/status'],
  ['PATCH', '/apis/kopf.dev/v1/namespaces/ns/kopfexamples/k', 'patch kopfexamples.kopf.dev'],
  ['PATCH', '/apis/kopf.dev/v2/kopfexamples/k/status', 'patch kopfexamples.kopf.dev/status'],
  ['PUT', '/apis/coordination.k8s.io/v1/namespaces/ns/leases/l', 'update leases.coordination.k8s.io'],
  ['DELETE', '/apis/kopf.dev/v1/kopfexamples/k', 'delete kopfexamples.kopf.dev'],
  ['DELETE', '/apis/kopf.dev/v1/namespaces/ns/kopfexamples', 'deletecollection kopfexamples.kopf.dev'],
  ['GET', '/version', 'get /version'],
  ['GET', '/apis', 'get /apis'],
  ['GET', '/apis/kopf.dev/v1', 'get /apis/kopf.dev/v1'],
  ['POST', 'https://other.example/some/long/way/to?x=/api/v1/pods', 'post /some'],
  ['GET', 'https://host.example/api/v1/pods', 'list pods'],
])('%s %s is: %s', (method, path, expected) => {
  expect(titleOfKind(requestKindOf({ method, path }))).toBe(expected);
});

it('a stream is a watch, whatever its path says', () => {
  expect(titleOfKind(requestKindOf({ method: 'GET', path: '/api/v1/pods' }, true))).toBe('watch pods');
});

it.each<[string, string | undefined, string | undefined]>([
  ['/apis/kopf.dev/v1/namespaces/ns/kopfexamples/k/status?x=1', 'ns', 'k'],
  ['/apis/kopf.dev/v1/kopfexamples/k', undefined, 'k'],
  ['https://host.example/api/v1/namespaces/ns/pods/p1', 'ns', 'p1'],
  ['/api/v1/namespaces/ns/pods', 'ns', undefined],
  ['/api/v1/namespaces/ns/status', undefined, 'ns'],
  ['/api/v1/namespaces/ns', undefined, 'ns'],
  ['/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode', undefined, 'system:node'],
  ['/apis/kopf.dev/v1/kopfexamples/%zz', undefined, '%zz'],
  ['/api/v1/pods', undefined, undefined],
  ['/version', undefined, undefined],
])('%s is of an object in %s, by the name %s', (path, namespace, name) => {
  expect(objectNameOf(path)).toEqual({ namespace, name });
});
