/** The kind of which the operator by controller-runtime takes care, and what it leaves behind. */
import type { AnyObject } from '@kopf-ts/core';
import { objectsIn, type Server } from '../support/servers.js';

const group = 'programs.example.com';

export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `sites.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'sites', singular: 'site', kind: 'Site' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  replicas: { type: 'integer', default: 1, minimum: 0 },
                  image: { type: 'string' },
                  greeting: { type: 'string' },
                },
              },
              status: {
                type: 'object',
                properties: {
                  observedGeneration: { type: 'integer' },
                  address: { type: 'string' },
                  conditions: {
                    type: 'array',
                    items: {
                      type: 'object',
                      'x-kubernetes-preserve-unknown-fields': true,
                      required: ['type'],
                      properties: { type: { type: 'string' } },
                    },
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

export function sitesPath(namespace: string): string {
  return `/apis/${group}/v1/namespaces/${namespace}/sites`;
}

export function site(name: string, spec: object): AnyObject {
  return { apiVersion: `${group}/v1`, kind: 'Site', metadata: { name }, spec };
}

export function everything(server: Server, namespace: string): Promise<Record<string, AnyObject[]>> {
  const kinds = [`sites.${group}/v1`, 'configmaps.v1', 'deployments.apps/v1', 'services.v1'];
  return objectsIn(server, namespace, kinds);
}
