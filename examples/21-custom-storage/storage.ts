/** The progress of handlers in ConfigMaps beside the objects, and not in the objects themselves. */
import { createHash } from 'node:crypto';
import {
  type AnyObject,
  ApiConflictError,
  ApiNotFoundError,
  type Body,
  buildOwnerReference,
  type HandlerId,
  isMapping,
  type KubeClient,
  type ProgressRecord,
  type ProgressStorage,
  storage,
} from 'kopf-ts';

export interface ConfigMapStorageOptions {
  /** Where the ConfigMaps for objects of the cluster are; those of all others are beside the objects. */
  readonly namespace?: string;
}

/**
 * One ConfigMap per object, which owns it: so it goes with the object. Objects that others have locked down, or that
 * are watched by too many, are then changed as rarely as possible.
 */
export function configMapProgressStorage(client: KubeClient, options: ConfigMapStorageOptions = {}): ProgressStorage {
  // A touch is to change the object, so it cannot be anywhere else.
  const { touch, clear } = storage.annotationsProgressStorage();
  const collectionOf = ({ metadata }: Body): string =>
    `/api/v1/namespaces/${metadata?.namespace ?? options.namespace ?? 'default'}/configmaps`;
  const pathOf = (body: Body): string => `${collectionOf(body)}/${nameOf(body)}`;

  const read = async (body: Body): Promise<Readonly<Record<string, string>>> => {
    if (body.metadata?.uid === undefined) return {};
    try {
      const { data = {} } = await client.request<{ data?: Record<string, string> }>({
        method: 'GET',
        path: pathOf(body),
      });
      return data;
    } catch (error) {
      if (error instanceof ApiNotFoundError) return {};
      throw error;
    }
  };
  const change = (body: Body, data: Readonly<Record<string, string | null>>): Promise<unknown> =>
    client.request({
      method: 'PATCH',
      path: pathOf(body),
      body: { data },
      contentType: 'application/merge-patch+json',
    });
  const create = async (body: Body, data: Readonly<Record<string, string>>): Promise<void> => {
    const ownerReferences = [buildOwnerReference(body as AnyObject)];
    try {
      const metadata = { name: nameOf(body), ownerReferences };
      await client.request({ method: 'POST', path: collectionOf(body), body: { metadata, data } });
    } catch (error) {
      if (!(error instanceof ApiConflictError)) throw error;
      await change(body, data);
    }
  };

  return {
    async fetch({ key, body, malformed }) {
      const text = (await read(body))[fieldOf(key)];
      if (text === undefined) return undefined;
      const record = parsed(text);
      if (record === undefined) malformed?.(`The ConfigMap ${nameOf(body)} has no valid record of ${key}.`);
      return record;
    },
    async store({ key, record, body }) {
      const present = Object.entries(record).filter(([, value]) => value !== null && value !== undefined);
      const data = { [fieldOf(key)]: JSON.stringify(Object.fromEntries(present)) };
      try {
        await change(body, data);
      } catch (error) {
        if (!(error instanceof ApiNotFoundError)) throw error;
        await create(body, data);
      }
    },
    async purge({ key, body }) {
      const field = fieldOf(key);
      if (Object.hasOwn(await read(body), field)) await change(body, { [field]: null });
    },
    touch,
    clear,
  };
}

/** By the uid: a namesake of a deleted object must not inherit its progress. */
function nameOf({ metadata }: Body): string {
  return `progress-${metadata?.uid}`;
}

/** Ids may have any characters and any length; keys of ConfigMaps may not. The beginning is for people. */
function fieldOf(id: HandlerId): string {
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${id.replaceAll(/[^-.\w]/g, '.').slice(0, 100)}.${digest}`;
}

function parsed(text: string): ProgressRecord | undefined {
  try {
    const record: unknown = JSON.parse(text);
    return isMapping(record) ? (record as ProgressRecord) : undefined;
  } catch {
    return undefined;
  }
}
