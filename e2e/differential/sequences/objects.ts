/** Objects and addresses that many sequences need. */
import type { RequestStep } from '../harness/sequence.js';
import { get, post, prepare, untilStatus } from '../harness/sequence.js';

export type Fields = Readonly<Record<string, unknown>>;

/** The collection of a kind in the namespace of the sequence. */
export const inNamespace = (plural: string, groupVersion = 'v1') =>
  `${groupVersion.includes('/') ? '/apis' : '/api'}/${groupVersion}/namespaces/<ns>/${plural}`;

export const clusterWide = (plural: string, groupVersion = 'v1') =>
  `${groupVersion.includes('/') ? '/apis' : '/api'}/${groupVersion}/${plural}`;

export const configMaps = inNamespace('configmaps');
export const pods = inNamespace('pods');
export const deployments = inNamespace('deployments', 'apps/v1');
export const namespaces = '/api/v1/namespaces';
export const definitions = clusterWide('customresourcedefinitions', 'apiextensions.k8s.io/v1');
export const things = '/apis/<group>/v1/namespaces/<ns>/things';

export const object = (apiVersion: string, kind: string, metadata: Fields | string, rest: Fields = {}): Fields => ({
  apiVersion,
  kind,
  metadata: typeof metadata === 'string' ? { name: metadata } : metadata,
  ...rest,
});

export const configMap = (metadata: Fields | string, data: Fields = { key: 'value' }) =>
  object('v1', 'ConfigMap', metadata, { data });

export const containers = [{ name: 'main', image: 'registry.example.com/app:v1' }];

export const pod = (metadata: Fields | string, spec: Fields = {}) =>
  object('v1', 'Pod', metadata, { spec: { containers, ...spec } });

const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };

export const deployment = (metadata: Fields | string, spec: Fields = {}) =>
  object('apps/v1', 'Deployment', metadata, {
    spec: { selector: { matchLabels: { app: 'web' } }, template, ...spec },
  });

export const workloadSpec = { selector: { matchLabels: { app: 'web' } }, template };

export const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** A version of a definition. */
export const version = (name: string, schema: Fields = anything, rest: Fields = {}): Fields => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: schema },
  ...rest,
});

/** The definition of `things` in the group of the sequence. */
export const definition = (versions: readonly Fields[] = [version('v1')], spec: Fields = {}): Fields =>
  object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'things.<group>', {
    spec: {
      group: '<group>',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions,
      ...spec,
    },
  });

/** An object schema. */
export const schemaOf = (properties: Fields, rest: Fields = {}): Fields => ({ type: 'object', properties, ...rest });

/** Defines `things`, and waits until they are served. */
export const defined = (body: Fields, servedAt: string = things): RequestStep[] => [
  prepare(post(definitions, body)),
  prepare(get(servedAt, { until: untilStatus(200) })),
];

export const thing = (metadata: Fields | string, rest: Fields = {}, group = '<group>/v1') =>
  object(group, 'Thing', metadata, rest);
