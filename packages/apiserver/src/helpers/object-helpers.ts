/** Short ways for tests to read and write objects; each is what a client would do. */
import { type AnyObject, ApiNotFoundError, type Body, KopfError, type KubeClient, type PatchType } from '@kopf-ts/core';
import { objectOf } from '../http/object-encoding.js';
import type { Backend } from '../routing/backend.js';
import { parseReference, pathOf, referenceOf } from './object-references.js';
import { definitionOf, type ResourceDefinition } from './resource-definition.js';

/**
 * How an object is patched.
 *
 * ```ts
 * import type { PatchOptions } from 'kopf-ts/testing';
 * const options: PatchOptions = { subresource: 'status' };
 * ```
 */
export interface PatchOptions {
  readonly subresource?: string;
  /** Default: a merge patch; a list is a JSON patch. */
  readonly contentType?: PatchType;
}

/**
 * Objects of a cluster in one line each.
 *
 * ```ts
 * import { localCluster, type ObjectHelpers } from 'kopf-ts/testing';
 * const cluster: ObjectHelpers = await localCluster();
 * await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'one' } });
 * await cluster.patch('configmaps/default/one', { data: { key: 'value' } });
 * cluster.get('configmaps/default/one')?.data; // { key: 'value' }
 * ```
 */
export interface ObjectHelpers {
  /** The object as it is now; `undefined` if there is none: `get('kopfexamples/default/one')`, `get('nodes/n1')`. */
  get(reference: string): Body | undefined;
  /** The objects as they are now: `list('pods')`, `list('pods/default')`. */
  list(reference: string): readonly Body[];
  create<T extends AnyObject>(object: T): Promise<T>;
  patch(reference: string, patch: object, options?: PatchOptions): Promise<AnyObject>;
  /** Nothing happens if there is no such object. */
  delete(reference: string, options?: { readonly propagationPolicy?: string }): Promise<void>;
  /**
   * Creates what is not there, and merges into what is: objects, or the text of them in YAML or JSON. Definitions can
   * be used by the objects that follow them.
   */
  apply(source: string | AnyObject | readonly AnyObject[]): Promise<readonly AnyObject[]>;
  /** Defines a custom resource; it is served when the promise is resolved. */
  define(definition: ResourceDefinition): Promise<void>;
}

export function objectHelpers({ store, catalog }: Backend, client: KubeClient): ObjectHelpers {
  const create = <T extends AnyObject>(object: T): Promise<T> => {
    const reference = { ...referenceOf(catalog, object), name: '' };
    return client.request<T>({ method: 'POST', path: pathOf(reference), body: object });
  };
  const applyOne = async (object: AnyObject): Promise<AnyObject> => {
    const reference = referenceOf(catalog, object);
    const { served, namespace, name } = reference;
    if (store.get(served.collection, namespace, name) === undefined) return await create(object);
    const contentType = 'application/merge-patch+json';
    return await client.request({ method: 'PATCH', path: pathOf(reference), body: object, contentType });
  };

  return {
    get(text) {
      const { served, namespace, name } = parseReference(catalog, text);
      const revision = store.get(served.collection, namespace, name);
      return revision === undefined ? undefined : objectOf(served, revision);
    },
    list(text) {
      const { served, namespace } = parseReference(catalog, text);
      return store
        .list(served.collection, namespace === '' ? undefined : namespace)
        .map((one) => objectOf(served, one));
    },
    create,
    async patch(text, body, { subresource, contentType } = {}) {
      const type =
        contentType ?? (Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json');
      const path = pathOf(parseReference(catalog, text), subresource);
      return await client.request({ method: 'PATCH', path, body, contentType: type });
    },
    async delete(text, options) {
      const path = pathOf(parseReference(catalog, text));
      try {
        await client.request({ method: 'DELETE', path, ...(options === undefined ? {} : { body: options }) });
      } catch (error) {
        if (!(error instanceof ApiNotFoundError)) throw error;
      }
    },
    async apply(source) {
      const objects = typeof source === 'string' ? await parseDocuments(source) : [source].flat();
      const applied: AnyObject[] = [];
      for (const object of objects) applied.push(await applyOne(object as AnyObject));
      return applied;
    },
    async define(definition) {
      await create(definitionOf(definition));
    },
  };
}

/** All documents of a YAML (or JSON) text; lists are their items. */
async function parseDocuments(text: string): Promise<readonly AnyObject[]> {
  const { parseAllDocuments } = await import('yaml');
  const documents = parseAllDocuments(text);
  const objects: AnyObject[] = [];
  for (const document of documents) {
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    const object = document.toJS() as AnyObject | null;
    if (object === null) continue;
    if (typeof object !== 'object') {
      const what = `There are no objects in "${String(object)}".`;
      throw new KopfError(
        `${what} The texts of objects are expected here; names of files go to testCluster({ apply }).`,
        {
          code: 'KOPF_NO_OBJECTS',
        },
      );
    }
    if (Array.isArray(object.items) && object.kind?.endsWith('List') === true) objects.push(...object.items);
    else objects.push(object);
  }
  return objects;
}
