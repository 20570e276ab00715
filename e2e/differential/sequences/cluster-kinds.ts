/** What describes a cluster: its storage, priorities, runtimes, endpoints and certificates. */
import {
  applyPatch,
  del,
  get,
  mergePatch,
  post,
  prepare,
  put,
  type Sequence,
  sequence,
  strategicPatch,
} from '../harness/sequence.js';
import { clusterWide, type Fields, inNamespace, object } from './objects.js';

const storage = 'storage.k8s.io/v1';
const slices = inNamespace('endpointslices', 'discovery.k8s.io/v1');
const classes = clusterWide('storageclasses', storage);
const attachments = clusterWide('volumeattachments', storage);
const drivers = clusterWide('csidrivers', storage);
const nodes = clusterWide('csinodes', storage);
const capacities = inNamespace('csistoragecapacities', storage);
const attributes = clusterWide('volumeattributesclasses', storage);
const priorities = clusterWide('priorityclasses', 'scheduling.k8s.io/v1');
const runtimes = clusterWide('runtimeclasses', 'node.k8s.io/v1');
const requests = clusterWide('certificatesigningrequests', 'certificates.k8s.io/v1');
const asTable = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' } };

const named =
  (kind: string, group: string) =>
  (name: string, rest: Fields = {}) =>
    object(group, kind, name.includes('<') ? name : `${name}-<id>`, rest);
const storageClass = named('StorageClass', storage);
const attachment = named('VolumeAttachment', storage);
const driver = named('CSIDriver', storage);
const node = named('CSINode', storage);
const attributesClass = named('VolumeAttributesClass', storage);
const priority = named('PriorityClass', 'scheduling.k8s.io/v1');
const runtime = named('RuntimeClass', 'node.k8s.io/v1');
const signing = named('CertificateSigningRequest', 'certificates.k8s.io/v1');
const slice = (metadata: Fields | string, rest: Fields = {}) =>
  object('discovery.k8s.io/v1', 'EndpointSlice', metadata, { addressType: 'IPv4', endpoints: [], ...rest });
const capacity = (metadata: Fields | string, rest: Fields = {}) =>
  object(storage, 'CSIStorageCapacity', metadata, { storageClassName: 'fast', ...rest });

const wrong = (name: string, path: string, objects: readonly Fields[]) =>
  sequence(
    name,
    objects.map((one) => post(path, one)),
  );

/** A request for a certificate of `CN=somebody`. */
const REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIT01IVUNBUUF3RXpFUk1BOEdBMVVFQXd3SWMyOXRaV0p2Wkhrd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqTwpQUU1CQndOQ0FBUlhHVDk3U3hDeVFIdDRwakhBUHp4OGU4Zkp5SXBWUGQ1R3p6YkRUampOTTN4TWZrSkVaMUxnCitjcngzTHZsZVRVR0MwRE54UTg1UmhJcGQzNFREbUFWb0FBd0NnWUlLb1pJemowRUF3SURTUUF3UmdJaEFOTUwKNS9McnhYMUNPUVV6Y09zUkxuNUNKMzFMTVhrVDRHQituQ2tUNEtLSUFpRUFtMWRiSHdVTFJoRXpTcFBZNWdQYQpHbHl1VUFOVVZPWUFRenNJU00zZ1hOOD0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==';

export const clusterKinds: readonly Sequence[] = [
  sequence('the life of a slice', [
    post(slices, slice('web', { endpoints: [{ addresses: ['192.0.2.1'] }], ports: [{ port: 80 }] })),
    get(`${slices}/web`),
    put(
      `${slices}/web`,
      slice('web', {
        endpoints: [
          { addresses: ['192.0.2.2'], conditions: { ready: true }, nodeName: 'n', zone: 'z', hostname: 'h' },
          { addresses: ['192.0.2.3'], conditions: { ready: false, serving: true, terminating: true } },
        ],
        ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'http' }],
      }),
    ),
    mergePatch(`${slices}/web`, { metadata: { labels: { 'kubernetes.io/service-name': 'web' } } }),
    get(`${slices}?labelSelector=kubernetes.io%2Fservice-name%3Dweb`),
    get(slices, asTable),
    del(`${slices}/web`),
  ]),
  sequence('tables of slices', [
    prepare(post(slices, slice('none'))),
    prepare(
      post(
        slices,
        slice('many', {
          endpoints: ['1', '2', '3', '4', '5'].map((last) => ({ addresses: [`192.0.2.${last}`] })),
          ports: [1, 2, 3, 4].map((port) => ({ name: `p${port}`, port })),
        }),
      ),
    ),
    prepare(post(slices, slice('any', { ports: [{ name: 'any' }] }))),
    get(slices, asTable),
  ]),
  sequence('slices of six and of names', [
    post(slices, slice('six', { addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8::1'] }] })),
    post(slices, slice('names', { addressType: 'FQDN', endpoints: [{ addresses: ['example.com'] }] })),
    mergePatch(`${slices}/six`, { addressType: 'IPv4' }),
    mergePatch(`${slices}/six`, { endpoints: null }),
  ]),
  wrong('slices with wrong addresses', slices, [
    slice('a', { addressType: 'Other' }),
    slice('b', { addressType: '' }),
    slice('c', { endpoints: [{ addresses: [] }] }),
    slice('d', { endpoints: [{ addresses: ['x'] }] }),
    slice('e', { endpoints: [{ addresses: ['2001:db8::1'] }] }),
    slice('f', { addressType: 'IPv6', endpoints: [{ addresses: ['192.0.2.1'] }] }),
    slice('g', { addressType: 'FQDN', endpoints: [{ addresses: ['a_b'] }] }),
    slice('h', { endpoints: [{ addresses: ['127.0.0.1'] }, { addresses: ['169.254.0.1'] }] }),
    slice('i', { endpoints: [{ addresses: ['192.0.2.1', '192.0.2.1'] }] }),
    slice('j', { endpoints: [{ addresses: ['0.0.0.0'] }, { addresses: ['224.0.0.1'] }] }),
  ]),
  wrong('slices with wrong ports', slices, [
    slice('a', { ports: [{ name: 'a' }, { name: 'a' }] }),
    slice('b', { ports: [{ port: 0 }] }),
    slice('c', { ports: [{ port: 70_000, protocol: 'HTTP' }] }),
    slice('d', { ports: [{ name: 'A_B', appProtocol: 'a b' }] }),
    slice('e', { endpoints: [{ addresses: ['192.0.2.1'], hostname: 'A.b', nodeName: 'x_y' }] }),
    slice('f', { endpoints: [{ addresses: ['192.0.2.1'], hints: { forZones: [{ name: '' }, { name: 'a b' }] } }] }),
    slice('g', { endpoints: [{ addresses: ['192.0.2.1'], deprecatedTopology: { 'a b': 'c' } }] }),
    slice('Upper'),
  ]),
  sequence('slices are applied and patched', [
    applyPatch(
      `${slices}/web?fieldManager=me`,
      slice('web', { endpoints: [{ addresses: ['192.0.2.1'] }], ports: [{ port: 80 }] }),
    ),
    strategicPatch(`${slices}/web`, { endpoints: [{ addresses: ['192.0.2.9'] }] }),
    mergePatch(`${slices}/web`, { ports: [] }),
    get(`${slices}/web`),
  ]),
  sequence('the life of a storage class', [
    post(classes, storageClass('fast', { provisioner: 'example.com/disk' })),
    get(`${classes}/fast-<id>`),
    mergePatch(`${classes}/fast-<id>`, { allowVolumeExpansion: true, mountOptions: ['ro'] }),
    mergePatch(`${classes}/fast-<id>`, { provisioner: 'other' }),
    mergePatch(`${classes}/fast-<id>`, { parameters: { a: 'b' }, reclaimPolicy: 'Retain' }),
    mergePatch(`${classes}/fast-<id>`, { volumeBindingMode: 'WaitForFirstConsumer' }),
    mergePatch(`${classes}/fast-<id>`, {
      metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'false' } },
    }),
    get(`${classes}/fast-<id>`, asTable),
    del(`${classes}/fast-<id>`),
  ]),
  wrong('wrong storage classes', classes, [
    storageClass('a'),
    storageClass('b', { provisioner: 'A b' }),
    storageClass('c', { provisioner: 'x', reclaimPolicy: 'Keep' }),
    storageClass('d', { provisioner: 'x', volumeBindingMode: 'Later' }),
    storageClass('e', { provisioner: 'x', parameters: { '': 'x' } }),
    storageClass('f', {
      provisioner: 'x',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: [] }] }],
    }),
    storageClass('g', {
      provisioner: 'x',
      allowedTopologies: [
        {
          matchLabelExpressions: [
            { key: 'a', values: ['b', 'b'] },
            { key: 'a', values: ['c'] },
          ],
        },
      ],
    }),
    storageClass('h', { provisioner: 'x', reclaimPolicy: 'Recycle' }),
    object(storage, 'StorageClass', 'Up<id>', { provisioner: 'x' }),
  ]),
  sequence('the life of an attachment', [
    post(
      attachments,
      attachment('a', { spec: { attacher: 'example.com', source: { persistentVolumeName: 'v' }, nodeName: 'n' } }),
    ),
    get(`${attachments}/a-<id>`),
    mergePatch(`${attachments}/a-<id>`, { spec: { nodeName: 'm' } }),
    mergePatch(`${attachments}/a-<id>/status`, {
      spec: { nodeName: 'm' },
      metadata: { labels: { a: 'b' } },
      status: { attached: true, attachmentMetadata: { device: '/dev/x' } },
    }),
    mergePatch(`${attachments}/a-<id>`, { status: { attached: false }, metadata: { labels: { c: 'd' } } }),
    get(`${attachments}/a-<id>`, asTable),
    mergePatch(`${attachments}/a-<id>/status`, {
      status: { attachError: { message: 'It does not.', time: '2020-01-02T03:04:05Z' } },
    }),
    del(`${attachments}/a-<id>`),
  ]),
  wrong('wrong attachments', attachments, [
    attachment('a'),
    attachment('b', { spec: { attacher: 'a b', source: {}, nodeName: 'A_b' } }),
    attachment('c', { spec: { attacher: 'x', source: { persistentVolumeName: '' }, nodeName: 'n' } }),
    attachment('d', {
      spec: { attacher: 'x', source: { persistentVolumeName: 'v', inlineVolumeSpec: {} }, nodeName: 'n' },
    }),
    attachment('e', {
      spec: { attacher: 'x', source: { persistentVolumeName: 'v' }, nodeName: 'n' },
      status: { attached: true },
    }),
  ]),
  sequence('the life of a driver', [
    post(drivers, driver('d', { spec: {} })),
    get(`${drivers}/d-<id>`),
    mergePatch(`${drivers}/d-<id>`, { spec: { attachRequired: false } }),
    mergePatch(`${drivers}/d-<id>`, { spec: { storageCapacity: true, requiresRepublish: true } }),
    mergePatch(`${drivers}/d-<id>`, { spec: { tokenRequests: [{ audience: 'a' }, { audience: 'b' }] } }),
    mergePatch(`${drivers}/d-<id>`, { spec: { volumeLifecycleModes: ['Ephemeral'] } }),
    mergePatch(`${drivers}/d-<id>`, { spec: { fsGroupPolicy: 'File', podInfoOnMount: true } }),
    get(`${drivers}/d-<id>`, asTable),
    put(`${drivers}/d-<id>`, driver('d', { spec: {} })),
    del(`${drivers}/d-<id>`),
  ]),
  wrong('wrong drivers', drivers, [
    driver('a', { spec: { fsGroupPolicy: 'Some' } }),
    driver('b', { spec: { volumeLifecycleModes: ['Other', 'Persistent'] } }),
    driver('c', { spec: { tokenRequests: [{ audience: 'a' }, { audience: 'a', expirationSeconds: 1 }] } }),
    driver('d', { spec: { nodeAllocatableUpdatePeriodSeconds: 1 } }),
    object(storage, 'CSIDriver', 'Up_<id>', { spec: {} }),
    object(storage, 'CSIDriver', `${'long-'.repeat(12)}<id>`, { spec: {} }),
  ]),
  sequence('the life of a node of storage', [
    post(nodes, node('n', { spec: { drivers: [{ name: 'a', nodeID: 'x', topologyKeys: ['zone'] }] } })),
    get(`${nodes}/n-<id>`),
    strategicPatch(`${nodes}/n-<id>`, { spec: { drivers: [{ name: 'b', nodeID: 'y' }] } }),
    mergePatch(`${nodes}/n-<id>`, { spec: { drivers: [{ name: 'a', nodeID: 'z' }] } }),
    mergePatch(`${nodes}/n-<id>`, {
      spec: { drivers: [{ name: 'a', nodeID: 'x', topologyKeys: ['zone'], allocatable: { count: 3 } }] },
    }),
    get(`${nodes}/n-<id>`, asTable),
    del(`${nodes}/n-<id>`),
  ]),
  wrong('wrong nodes of storage', nodes, [
    node('a', { spec: {} }),
    node('b', { spec: { drivers: [{ name: '', nodeID: '' }] } }),
    node('c', {
      spec: {
        drivers: [
          { name: 'a', nodeID: 'x' },
          { name: 'a', nodeID: 'y', topologyKeys: ['k', 'k', 'a b', ''] },
        ],
      },
    }),
    node('d', { spec: { drivers: [{ name: 'a', nodeID: 'x', allocatable: { count: -1 } }] } }),
    node('e', { spec: { drivers: [{ name: 'A b', nodeID: 'x'.repeat(200) }] } }),
  ]),
  sequence('the life of a capacity', [
    post(capacities, capacity('c', { capacity: '5Gi', nodeTopology: { matchLabels: { zone: 'a' } } })),
    get(`${capacities}/c`),
    mergePatch(`${capacities}/c`, { capacity: '6Gi', maximumVolumeSize: '1Gi' }),
    mergePatch(`${capacities}/c`, { storageClassName: 'slow' }),
    mergePatch(`${capacities}/c`, { nodeTopology: null }),
    get(capacities, asTable),
    del(`${capacities}/c`),
  ]),
  wrong('wrong capacities', capacities, [
    object(storage, 'CSIStorageCapacity', 'a'),
    capacity('b', { storageClassName: 'A_b' }),
    capacity('c', { capacity: '-1' }),
    capacity('d', { maximumVolumeSize: '-1', nodeTopology: { matchLabels: { 'a b': 'c' } } }),
    capacity('e', { capacity: 'much' }),
  ]),
  sequence('the life of a class of attributes', [
    post(attributes, attributesClass('gold', { driverName: 'example.com', parameters: { iops: '10' } })),
    get(`${attributes}/gold-<id>`),
    mergePatch(`${attributes}/gold-<id>`, { parameters: { iops: '20' } }),
    mergePatch(`${attributes}/gold-<id>`, { driverName: 'other' }),
    mergePatch(`${attributes}/gold-<id>`, { metadata: { labels: { a: 'b' } } }),
    get(`${attributes}/gold-<id>`, asTable),
    post(attributes, attributesClass('none', { driverName: 'example.com' })),
    post(attributes, attributesClass('wrong', { driverName: '', parameters: { '': '' } })),
    del(`${attributes}/gold-<id>`),
  ]),
  sequence('the life of a priority', [
    post(priorities, priority('high', { value: 1000, description: 'For important things.' })),
    get(`${priorities}/high-<id>`),
    mergePatch(`${priorities}/high-<id>`, { description: 'For everything.' }),
    mergePatch(`${priorities}/high-<id>`, { value: 2000 }),
    mergePatch(`${priorities}/high-<id>`, { preemptionPolicy: 'Never' }),
    get(`${priorities}/high-<id>`, asTable),
    put(`${priorities}/high-<id>`, priority('high', { value: 1000 })),
    del(`${priorities}/high-<id>`),
  ]),
  sequence('priorities of the system', [
    get(`${priorities}/system-cluster-critical`, { except: ['managedFields'] }),
    get(`${priorities}/system-node-critical`, { except: ['managedFields'] }),
    get(`${priorities}/system-node-critical`, asTable),
    del(`${priorities}/system-node-critical`),
    mergePatch(`${priorities}/system-node-critical`, { value: 1 }),
    post(priorities, priority('system-mine', { value: 1 })),
    post(priorities, object('scheduling.k8s.io/v1', 'PriorityClass', 'system-cluster-critical', { value: 2 })),
  ]),
  wrong('wrong priorities', priorities, [
    priority('a', { value: 1_000_000_001 }),
    priority('b', { value: -5 }),
    priority('c', { value: 2_147_483_648 }),
    priority('d', { value: 1, preemptionPolicy: 'Sometimes' }),
    priority('e'),
    object('scheduling.k8s.io/v1', 'PriorityClass', 'Up<id>', { value: 1 }),
  ]),
  sequence('the life of a runtime', [
    post(runtimes, runtime('safe', { handler: 'runsc' })),
    get(`${runtimes}/safe-<id>`),
    mergePatch(`${runtimes}/safe-<id>`, { handler: 'other' }),
    put(`${runtimes}/safe-<id>`, runtime('safe', { handler: 'runsc' })),
    mergePatch(`${runtimes}/safe-<id>`, {
      overhead: { podFixed: { cpu: '100m' } },
      scheduling: { nodeSelector: { a: 'b' } },
    }),
    get(`${runtimes}/safe-<id>`, asTable),
    del(`${runtimes}/safe-<id>`),
  ]),
  wrong('wrong runtimes', runtimes, [
    runtime('a'),
    runtime('b', { handler: 'A/b' }),
    runtime('c', { handler: 'x', overhead: { podFixed: { cpu: '-1' } } }),
    runtime('d', { handler: 'x', scheduling: { nodeSelector: { 'a b': 'c' } } }),
    runtime('e', { handler: 'x', scheduling: { tolerations: [{ operator: 'Like' }] } }),
    runtime('f', {
      handler: 'x',
      scheduling: {
        tolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'a', operator: 'Exists' },
        ],
      },
    }),
  ]),
  wrong('wrong requests for certificates', requests, [
    signing('a'),
    signing('b', { spec: { request: 'eA==', signerName: 'example.com/mine', usages: ['client auth'] } }),
    signing('c', { spec: { request: REQUEST, signerName: 'mine', usages: [] } }),
    signing('d', { spec: { request: REQUEST, signerName: 'example.com/mine', usages: ['other'] } }),
    signing('e', { spec: { request: REQUEST, signerName: 'example.com/mine', expirationSeconds: 1 } }),
  ]),
  sequence('the life of a request for a certificate', [
    post(
      requests,
      signing('r', { spec: { request: REQUEST, signerName: 'example.com/<id>', usages: ['client auth'] } }),
    ),
    get(`${requests}/r-<id>`),
    mergePatch(`${requests}/r-<id>`, { spec: { signerName: 'example.com/other' }, metadata: { labels: { a: 'b' } } }),
    mergePatch(`${requests}/r-<id>`, { status: { certificate: 'eA==' } }),
    get(`${requests}/r-<id>`, asTable),
    mergePatch(`${requests}/r-<id>/approval`, {
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Fine', message: 'It is fine.' }] },
    }),
    get(`${requests}/r-<id>`, asTable),
    mergePatch(`${requests}/r-<id>/approval`, { status: { conditions: [{ type: 'Denied', status: 'True' }] } }),
    mergePatch(`${requests}/r-<id>/status`, { status: { certificate: 'eA==' } }),
    mergePatch(`${requests}/r-<id>/status`, {
      status: { conditions: [{ type: 'Failed', status: 'True', reason: 'No', message: 'It has failed.' }] },
    }),
    get(`${requests}?fieldSelector=spec.signerName%3Dexample.com%2F<id>`),
    get(`${requests}?fieldSelector=spec.other%3Dx`),
    del(`${requests}/r-<id>`),
  ]),
  sequence('a request for a certificate is denied', [
    post(requests, signing('r', { spec: { request: REQUEST, signerName: 'example.com/mine', usages: ['any'] } })),
    mergePatch(`${requests}/r-<id>/approval`, { status: { conditions: [{ type: 'Denied', status: 'False' }] } }),
    mergePatch(`${requests}/r-<id>/approval`, { status: { conditions: [{ type: 'Denied', status: 'True' }] } }),
    get(`${requests}/r-<id>`, asTable),
    mergePatch(`${requests}/r-<id>/approval`, {
      status: {
        conditions: [
          { type: 'Denied', status: 'True' },
          { type: 'Approved', status: 'True' },
        ],
      },
    }),
    mergePatch(`${requests}/r-<id>/approval`, { status: { conditions: [] } }),
    del(`${requests}/r-<id>`),
  ]),
  sequence('groups of the cluster', [
    get('/apis/storage.k8s.io'),
    get('/apis/storage.k8s.io/v1'),
    get('/apis/scheduling.k8s.io/v1'),
    get('/apis/discovery.k8s.io/v1'),
    get('/apis/node.k8s.io/v1'),
    get('/apis/certificates.k8s.io/v1'),
    get('/apis/scheduling.k8s.io/v1alpha1'),
  ]),
];
