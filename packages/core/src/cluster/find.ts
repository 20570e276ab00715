/** One object by its name, by a list: operators may list and watch objects, but not necessarily get them. */
import { ApiNotFoundError } from '../errors.js';
import type { KubeClient } from '../seams/client.js';
import type { AnyObject, Body } from '../values/objects/body.js';
import type { Resource } from '../values/resources/resource.js';
import { list } from './list.js';

export interface FindOptions {
  readonly namespace?: string | undefined;
  readonly name: string;
  /** The object as it is known: items of lists do not repeat what kind they are of. */
  readonly known?: Body | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The object as it is now; `undefined` if there is none of that name, or no such kind any more. */
export async function findByName(
  client: KubeClient,
  resource: Resource,
  { namespace, name, known, signal }: FindOptions,
): Promise<AnyObject | undefined> {
  try {
    const { items } = await list(client, resource, { namespace, fieldSelector: `metadata.name=${name}`, signal });
    const found = items.find(({ metadata }) => metadata?.name === name);
    if (found === undefined) return undefined;
    const { apiVersion = known?.apiVersion, kind = known?.kind } = found;
    return { ...found, ...(apiVersion && { apiVersion }), ...(kind && { kind }) };
  } catch (error) {
    if (error instanceof ApiNotFoundError) return undefined;
    throw error;
  }
}
