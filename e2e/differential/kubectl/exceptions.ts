import { sortedKeys } from '../harness/normalise.js';
import type { Exception } from './harness/exceptions-check.js';

/** Groups and kinds of the parts of a real control plane. */
const notServed = /apiregistration\.k8s\.io|flowcontrol\.apiserver|resource\.k8s\.io|^bindings|^componentstatuses/;

const withoutLines = (pattern: RegExp) => (text: string) =>
  text
    .split('\n')
    .filter((line) => !pattern.test(line))
    .join('\n');

/** Where kubectl prints something else than with kube-apiserver, and why. The suite fails if it no longer does. */
export const exceptions: readonly Exception[] = [
  {
    id: 'build',
    reason: 'The version says honestly that the embedded server is not built by Go from the sources of Kubernetes.',
    commands: { 'the server itself': ['version', 'version -o yaml', 'version -o json'] },
    forgive: (text) => withoutLines(/^ +"?(compiler|gitCommit|goVersion|platform)"?:/)(text.replace('+kopf-ts', '')),
  },
  {
    id: 'kinds-not-served',
    reason:
      'Aggregation, flow control, devices and the health of components are of the parts of a real control plane and of real nodes.',
    commands: {
      'the server itself': [
        'api-versions',
        'api-resources',
        'api-resources -o wide',
        'api-resources -o name',
        'api-resources --namespaced=false -o name',
        'api-resources --verbs=create,watch -o name',
        'api-resources --sort-by=name --no-headers',
      ],
    },
    forgive: withoutLines(notServed),
  },
  {
    id: 'objects-not-served',
    reason: 'The same kinds, where their objects are asked for.',
    commands: {
      'the server itself': [
        'get componentstatuses',
        'get cs',
        'get apiservices v1.',
        'get flowschemas exempt',
        'get prioritylevelconfigurations exempt',
      ],
    },
  },
  {
    id: 'paths',
    reason: 'The parts of a real server, whose health can be asked for one by one, are not parts of the embedded one.',
    commands: { 'the server itself': ['get --raw /'] },
    forgive: withoutLines(
      /\/(healthz|livez|readyz)\/|apiregistration|flowcontrol|resource\.k8s\.io|"\/(flagz|statusz|metrics.*|debug.*|logs)"/,
    ),
  },
  {
    id: 'empty-lists',
    reason: 'The real server answers in protobuf, which cannot tell an empty list from none.',
    commands: { 'the server itself': ['cluster-info dump --namespaces=nowhere'] },
    forgive: (text) => text.replaceAll('"items": null', '"items": []'),
  },
  {
    id: 'order-of-fields',
    reason: 'Fields of built-in kinds come in the order of writing; nothing but a raw answer shows it.',
    commands: {
      'the server itself': [
        'create --raw /api/v1/namespaces/NAMESPACE/configmaps -f -',
        'replace --raw /api/v1/namespaces/NAMESPACE/configmaps/raw -f -',
      ],
    },
    forgive: (text) => text.replace(/^\{.*\}$/m, (line) => JSON.stringify(sortedKeys(JSON.parse(line)))),
  },
  {
    id: 'proxies-of-nodes',
    reason: 'There is nothing on the nodes of the embedded server to which one could be led.',
    commands: { proxy: ['get --raw /api/v1/nodes/nothing/proxy/'] },
  },
];
