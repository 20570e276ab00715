import { randomBytes } from 'node:crypto';
import type { AnyObject, KubeClient, Resource } from '@kopf-ts/core';
import { createObject, makeResource, resourceUrl } from '@kopf-ts/core/engine';
import { becomesTrue } from './waiting.js';

const namespaces = makeResource({ group: '', version: 'v1', plural: 'namespaces', namespaced: false });
export const configMaps = makeResource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true });
const definitions = makeResource({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  namespaced: false,
});

/** Nobody else's, so that tests can run side by side in one cluster. */
export async function newNamespace(client: KubeClient): Promise<string> {
  const name = `test-${randomBytes(4).toString('hex')}`;
  await createObject(client, namespaces, { name });
  return name;
}

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

export interface KindOptions {
  /** Is the status a subresource? Default: true. */
  readonly statusIsSubresource?: boolean;
  /** The schemas of the stanzas. Default: anything goes. */
  readonly spec?: object;
  readonly status?: object;
}

/** Defines a namespaced kind of its own for the test, and waits until it is served. */
export async function newKind(client: KubeClient, options: KindOptions = {}): Promise<Resource> {
  const { statusIsSubresource = true, spec = anything, status = anything } = options;
  const group = `test-${randomBytes(4).toString('hex')}.example.com`;
  const [plural, singular, kind, version] = ['things', 'thing', 'Thing', 'v1'];
  await createObject(client, definitions, {
    body: {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, singular, kind },
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
            ...(statusIsSubresource && { subresources: { status: {} } }),
          },
        ],
      },
    },
  });
  const subresources = statusIsSubresource ? ['status'] : [];
  const resource = makeResource({ group, version, plural, kind, singular, namespaced: true, subresources });
  const isServed = () => client.request({ method: 'GET', path: resourceUrl(resource), retries: 'none' }).then(yes, no);
  if (!(await becomesTrue(isServed))) throw new Error(`The new kind in ${group} is not served.`);
  return resource;
}

const yes = () => true;
const no = () => false;

/** The kind is repeated in the body: custom resources are not accepted without it. */
export function createThing(
  client: KubeClient,
  resource: Resource,
  namespace: string,
  name: string,
  body: AnyObject = {},
): Promise<AnyObject> {
  const { group, version, kind = '' } = resource;
  const apiVersion = `${group}/${version}`;
  return createObject<AnyObject>(client, resource, { namespace, name, body: { apiVersion, kind, ...body } });
}

/** The object as it is now. */
export function getObject(client: KubeClient, resource: Resource, namespace: string, name: string): Promise<AnyObject> {
  return client.request<AnyObject>({ method: 'GET', path: resourceUrl(resource, { namespace, name }) });
}
