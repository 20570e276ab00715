/** Creating objects. */
import type { KubeClient } from '../seams/client.js';
import type { AnyObject } from '../values/objects/body.js';
import { type Resource, resourceUrl } from '../values/resources/resource.js';

export interface CreateOptions<T extends object = AnyObject> {
  /** Used unless the body has a namespace. */
  readonly namespace?: string | undefined;
  /** Used unless the body has a name. */
  readonly name?: string | undefined;
  readonly body?: T | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Creates the object, and gives it as the cluster has it. The given body is not changed. */
export async function createObject<T extends object = AnyObject>(
  client: KubeClient,
  resource: Resource,
  options: CreateOptions<T>,
): Promise<T> {
  const { signal } = options;
  const body: AnyObject = { ...options.body };
  const name = body.metadata?.name ?? options.name;
  const namespace = body.metadata?.namespace ?? options.namespace;
  body.metadata = {
    ...body.metadata,
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
  };
  return await client.request<T>({
    method: 'POST',
    path: resourceUrl(resource, { namespace }),
    contentType: 'application/json',
    body,
    ...(signal === undefined ? {} : { signal }),
  });
}
