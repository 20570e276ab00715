/** Kinds for tests, and their objects. */
import { randomBytes } from 'node:crypto';
import { type AnyObject, ApiNotFoundError, type KubeClient } from '@kopf-ts/core';
import { createObject, makeResource, resourceUrl } from '@kopf-ts/core/engine';
import { becomesTrue } from '../waiting.js';

export interface KindOptions {
  readonly group?: string;
  readonly plural?: string;
  /** Default: it lives in namespaces. */
  readonly namespaced?: boolean;
  /** The schema of the spec. Default: anything goes. */
  readonly specSchema?: object;
}

/** A kind of the cluster, as an administrator sees it. Where objects are of the cluster, the namespace is `undefined`. */
export interface TestKind {
  readonly group: string;
  readonly plural: string;
  /** For handlers. */
  readonly selector: string;
  create(namespace: string | undefined, name: string, body?: AnyObject): Promise<AnyObject>;
  /** The object as it is now; `undefined` if there is none. */
  get(namespace: string | undefined, name: string): Promise<AnyObject | undefined>;
  /** A merge-patch. */
  patch(namespace: string | undefined, name: string, patch: object): Promise<AnyObject>;
  /** Whether it is there or not; does not wait until it is gone. */
  delete(namespace: string | undefined, name: string, options?: object): Promise<void>;
  /** Takes the kind itself away, and waits until it is gone. */
  undefine(): Promise<void>;
  /** Brings it back, and waits until it is served. */
  define(): Promise<void>;
}

const definitions = makeResource({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  namespaced: false,
});

/** A group of nobody else. */
export const newGroup = (): string => `test-${randomBytes(4).toString('hex')}.example.com`;

/** A kind that is not there yet: see `define()`. */
export function testKind(client: KubeClient, options: KindOptions = {}): TestKind {
  const { group = newGroup(), plural = 'things', namespaced = true, specSchema = anything } = options;
  const [singular, kind] = [plural.replace(/s$/, ''), `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`];
  const resource = makeResource({ group, version: 'v1', plural, singular, kind, namespaced, subresources: ['status'] });
  const at = (namespace: string | undefined, name?: string) => resourceUrl(resource, { namespace, name });
  const definition = { name: `${plural}.${group}` };
  return {
    group,
    plural,
    selector: `${group}/v1/${plural}`,
    create: (namespace, name, body) =>
      createObject(client, resource, { namespace, name, body: { apiVersion: `${group}/v1`, kind, ...body } }),
    get: (namespace, name) => absentIfNotFound(client.request<AnyObject>({ method: 'GET', path: at(namespace, name) })),
    patch: (namespace, name, patch) =>
      client.request({
        method: 'PATCH',
        path: at(namespace, name),
        body: patch,
        contentType: 'application/merge-patch+json',
      }),
    async delete(namespace, name, body) {
      await absentIfNotFound(client.request({ method: 'DELETE', path: at(namespace, name), ...(body && { body }) }));
    },
    async undefine() {
      const path = resourceUrl(definitions, definition);
      await client.request({ method: 'DELETE', path });
      const isGone = async () => (await absentIfNotFound(client.request({ method: 'GET', path }))) === undefined;
      if (!(await becomesTrue(isGone))) throw new Error(`${definition.name} is still there.`);
    },
    async define() {
      const body = { metadata: definition, spec: specOf({ group, plural, singular, kind, namespaced, specSchema }) };
      await createObject(client, definitions, { body });
      const isServed = () => client.request({ method: 'GET', path: at(undefined), retries: 'none' }).then(yes, no);
      if (!(await becomesTrue(isServed))) throw new Error(`${definition.name} is not served.`);
    },
  };
}

/** A kind that is there already. */
export async function newTestKind(client: KubeClient, options?: KindOptions): Promise<TestKind> {
  const kind = testKind(client, options);
  await kind.define();
  return kind;
}

const yes = () => true;
const no = () => false;
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function specOf(names: {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly specSchema: object;
}): object {
  const { group, namespaced, plural, singular, kind, specSchema: spec } = names;
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status: anything } } };
  return {
    group,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    names: { plural, singular, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
  };
}

export async function absentIfNotFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiNotFoundError) return undefined;
    throw error;
  }
}
