/** Ways through the API server to pods and services: as far as nothing listens there. */
import { del, get, mergePatch, post, prepare, put, request, type Sequence, sequence } from '../harness/sequence.js';
import { type Fields, inNamespace, object, pod, pods } from './objects.js';

const services = inNamespace('services');
const service = (name: string, spec: Fields = {}) =>
  object('v1', 'Service', name, { spec: { clusterIP: 'None', ports: [{ name: 'web', port: 80 }], ...spec } });
const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};
const container = { name: 'main', image: 'registry.example.com/app:v1' };

export const proxies: readonly Sequence[] = [
  sequence('a proxy to no pod', [
    get(`${pods}/none/proxy/`),
    get(`${pods}/none/proxy`),
    get(`${pods}/none:80/proxy/x`),
  ]),
  sequence('a proxy to no service', [get(`${services}/none/proxy/`), get(`${services}/https:none:443/proxy/x`)]),
  sequence('a proxy to a pod without an address', [
    prepare(post(pods, pod('a'))),
    get(`${pods}/a/proxy/`),
    get(`${pods}/a:8080/proxy/x`),
    post(`${pods}/a/proxy/x`, { a: 'b' }),
  ]),
  sequence('a proxy to a pod with ports, but without an address', [
    prepare(post(pods, pod('a', { containers: [{ ...container, ports: [{ containerPort: 8080 }] }] }))),
    get(`${pods}/a/proxy/`),
    put(`${pods}/a/proxy/x`, {}),
    del(`${pods}/a/proxy/x`),
  ]),
  sequence('a proxy to a service without endpoints', [
    prepare(post(services, service('a'))),
    get(`${services}/a/proxy/`),
    get(`${services}/a:80/proxy/`),
    get(`${services}/a:web/proxy/`),
    post(`${services}/a/proxy/x`, { a: 'b' }),
  ]),
  sequence('a proxy to a port that a service does not have', [
    prepare(post(services, service('a'))),
    get(`${services}/a:81/proxy/`),
    get(`${services}/a:other/proxy/`),
  ]),
  sequence('a proxy to a service of no pods', [
    prepare(post(services, service('a', { selector: { app: 'none' } }))),
    get(`${services}/a/proxy/`),
  ]),
  sequence('a proxy to empty endpoints', [
    prepare(post(services, service('a'))),
    prepare(post(inNamespace('endpoints'), object('v1', 'Endpoints', 'a'))),
    get(`${services}/a/proxy/`),
    get(`${services}/a:web/proxy/`),
    get(`${services}/a:other/proxy/`),
    get(`${services}/a:81/proxy/`),
  ]),
  sequence('a proxy to endpoints that are not ready, or of another port', [
    prepare(post(services, service('a'))),
    prepare(
      post(
        inNamespace('endpoints'),
        object('v1', 'Endpoints', 'a', {
          subsets: [{ notReadyAddresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'web', port: 80 }] }],
        }),
      ),
    ),
    get(`${services}/a/proxy/`),
    prepare(post(services, service('b'))),
    prepare(
      post(
        inNamespace('endpoints'),
        object('v1', 'Endpoints', 'b', {
          subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'other', port: 80 }] }],
        }),
      ),
    ),
    get(`${services}/b:web/proxy/`),
  ]),
  sequence('a proxy to another kind of service', [
    prepare(
      post(services, object('v1', 'Service', 'a', { spec: { type: 'ExternalName', externalName: 'x.example' } })),
    ),
    get(`${services}/a/proxy/`),
  ]),
  sequence('wrong names of what is proxied', [
    get(`${services}/a:b:c:d/proxy/`),
    get(`${services}/ftp:a:80/proxy/`),
    get(`${services}/:80/proxy/`),
    get(`${pods}/a:b:c:d/proxy/`),
    get(`${pods}/ftp:a:80/proxy/`),
  ]),
  sequence('methods of proxies', [
    prepare(post(pods, pod('a'))),
    request('OPTIONS', `${pods}/a/proxy/`),
    mergePatch(`${pods}/a/proxy/`, {}),
    request('HEAD', `${pods}/a/proxy/`),
  ]),
  sequence('a proxy to a service with several ports, and none named', [
    prepare(
      post(
        services,
        service('a', {
          ports: [
            { name: 'web', port: 80 },
            { name: 'admin', port: 8080 },
          ],
        }),
      ),
    ),
    get(`${services}/a/proxy/`),
    get(`${services}/a:admin/proxy/`),
    get(`${services}/http:a:/proxy/`),
    get(`${services}/https:a:web/proxy/`),
  ]),
  sequence('a proxy by a scheme to a pod without an address', [
    prepare(post(pods, pod('a', { containers: [{ ...container, ports: [{ name: 'web', containerPort: 8080 }] }] }))),
    get(`${pods}/https:a:8080/proxy/`),
    get(`${pods}/http:a:/proxy/x`),
    get(`${pods}/a:web/proxy/`),
  ]),
  sequence('paths and queries behind proxies that lead nowhere', [
    prepare(post(services, service('a'))),
    get(`${services}/a/proxy/x/y/?q=1&q=2`),
    get(`${services}/a/proxy//x`),
    get(`${services}/a/proxy/%2e%2e/x`),
    get(`${services}/a/proxy/x%20y`),
  ]),
  sequence('what clients of proxies accept', [
    get(`${pods}/none/proxy/`, { headers: { accept: 'text/html' } }),
    get(`${pods}/none/proxy/`, { headers: { accept: 'application/yaml' } }),
    get(`${services}/none/proxy/`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }),
  ]),
  sequence('bodies for proxies that lead nowhere', [
    prepare(post(services, service('a'))),
    post(`${services}/a/proxy/x`, 'text', { headers: { 'content-type': 'text/plain' } }),
    put(`${services}/a/proxy/x`, { a: 'b' }),
    mergePatch(`${services}/a/proxy/x`, { a: 'b' }),
    del(`${services}/a/proxy/x`),
  ]),
  sequence('a proxy to what has been deleted', [
    prepare(post(services, service('a'))),
    prepare(del(`${services}/a`)),
    get(`${services}/a/proxy/`),
    prepare(post(pods, pod('a'))),
    prepare(del(`${pods}/a?gracePeriodSeconds=0`)),
    get(`${pods}/a/proxy/`),
  ]),
  sequence('a proxy to a service whose endpoints have other ports', [
    prepare(post(services, service('a', { ports: [{ name: 'web', port: 80, targetPort: 8080 }] }))),
    prepare(
      post(
        inNamespace('endpoints'),
        object('v1', 'Endpoints', 'a', {
          subsets: [
            { notReadyAddresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'web', port: 8080 }] },
            { notReadyAddresses: [{ ip: '192.0.2.2' }], ports: [{ name: 'web', port: 8081 }] },
          ],
        }),
      ),
    ),
    get(`${services}/a:80/proxy/`),
    get(`${services}/a:8080/proxy/`),
    get(`${services}/a:web/proxy/`),
  ]),
  sequence('upgrades through proxies that lead nowhere', [
    get(`${pods}/none/proxy/`, { headers: upgrade }),
    prepare(post(services, service('a'))),
    get(`${services}/a/proxy/`, { headers: upgrade }),
  ]),
  sequence('proxies where there are none', [
    get(`${inNamespace('configmaps')}/a/proxy/`),
    get(`${pods}/proxy`),
    get('/api/v1/pods/a/proxy/'),
    get('/api/v1/proxy/namespaces/<ns>/pods/a'),
  ]),
];
