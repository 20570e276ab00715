import { get, post, prepare, request, type Sequence, sequence, untilStatus } from '../harness/sequence.js';
import { configMaps, defined, definition, definitions, version } from './objects.js';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export const discovery: readonly Sequence[] = [
  sequence('the version', [get('/version'), get('/version/')]),
  sequence('health', [get('/healthz'), get('/livez'), get('/readyz')]),
  sequence('one check of health', [get('/healthz/ping'), get('/livez/ping'), get('/readyz/ping')]),
  sequence('health of something unknown', [get('/healthz/nothing'), get('/readyz/nothing')]),
  sequence('other methods on health and version', [request('HEAD', '/healthz'), post('/version', {})]),
  sequence('the versions of the core', [get('/api'), get('/api/')]),
  sequence('the resources of the core', [get('/api/v1')]),
  sequence('an unknown version of the core', [get('/api/v2'), get('/api/v1beta1/pods')]),
  sequence('the groups', [get('/apis')]),
  ...['apps', 'batch', 'networking.k8s.io', 'rbac.authorization.k8s.io', 'coordination.k8s.io'].map((group) =>
    sequence(`the group ${group} and its resources`, [get(`/apis/${group}`), get(`/apis/${group}/v1`)]),
  ),
  ...['events.k8s.io', 'admissionregistration.k8s.io', 'apiextensions.k8s.io'].map((group) =>
    sequence(`the group ${group} and its resources`, [get(`/apis/${group}`), get(`/apis/${group}/v1`)]),
  ),
  ...['authentication.k8s.io', 'authorization.k8s.io'].map((group) =>
    sequence(`the group ${group} and its resources`, [get(`/apis/${group}`), get(`/apis/${group}/v1`)]),
  ),
  sequence('unknown groups and versions', [
    get('/apis/nothing.example.com'),
    get('/apis/nothing.example.com/v1'),
    get('/apis/apps/v1beta7'),
    get('/apis/apps/v1beta7/deployments'),
  ]),
  sequence('a custom group comes with its definition', [
    get('/apis/<group>'),
    get('/apis/<group>/v1'),
    ...defined(definition()),
    get('/apis/<group>', { until: untilStatus(200) }),
    get('/apis/<group>/v1', { until: untilStatus(200) }),
  ]),
  sequence('a custom group with all that a definition can tell', [
    prepare(
      post(
        definitions,
        definition(
          [
            version('v1beta1', undefined, { deprecated: true }),
            version('v1', undefined, {
              subresources: {
                status: {},
                scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
              },
            }),
            version('v2alpha1'),
            version('v3', undefined, { served: false }),
          ],
          {
            names: {
              plural: 'things',
              singular: 'thing',
              kind: 'Thing',
              listKind: 'ThingList',
              shortNames: ['th', 'tg'],
              categories: ['all', 'stuff'],
            },
          },
        ),
      ),
    ),
    get('/apis/<group>', { until: ({ body }) => JSON.stringify(body).includes('v2alpha1"') }),
    get('/apis/<group>/v1', { until: untilStatus(200) }),
    get('/apis/<group>/v1beta1', { until: untilStatus(200) }),
    get('/apis/<group>/v2alpha1', { until: untilStatus(200) }),
    get('/apis/<group>/v3'),
  ]),
  sequence('a custom kind without namespaces', [
    ...defined(definition([version('v1')], { scope: 'Cluster' }), '/apis/<group>/v1/things'),
    get('/apis/<group>/v1', { until: untilStatus(200) }),
    get('/apis/<group>/v1/namespaces/<ns>/things'),
  ]),
  sequence('anonymous requests', [
    get('/version', { headers: { authorization: '' } }),
    get('/api/v1', { headers: { authorization: 'Bearer wrong' } }),
    get(configMaps, { headers: { authorization: 'Basic dXNlcjpwYXNz' } }),
    get('/apis', { headers: { authorization: 'Bearer' } }),
    get('/version', { headers: { authorization: 'Bearer Bearer wrong' } }),
    get('/version', { headers: { authorization: 'Bearer  wrong' } }),
    get('/version', { headers: { authorization: ' bearer wrong ' } }),
  ]),
  sequence('methods that discovery does not know', [post('/api/v1', {}), request('DELETE', '/apis/apps/v1')]),
  sequence('aggregated discovery of the core', [get('/api', { headers: { accept: aggregated } })]),
];
