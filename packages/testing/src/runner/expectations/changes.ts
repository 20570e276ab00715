/** What is changed in a cluster through a client: compared in the end, so that only what has stayed counts. */
import {
  type AnyObject,
  ApiNotFoundError,
  type Body,
  diff,
  type Essence,
  type KubeClient,
  type KubeRequest,
  type PersistenceSettings,
} from '@kopf-ts/core';

export interface ChangeWatch {
  /** The client to be used instead. */
  readonly client: KubeClient;
  /** In words, one for each object that is not as it was. */
  changes(): Promise<readonly string[]>;
}

export function watchChanges(client: KubeClient, persistence: PersistenceSettings): ChangeWatch {
  /** By their paths, as they were before they were first written to. */
  const touched = new Map<string, AnyObject | undefined>();
  const look = async (path: string): Promise<AnyObject | undefined> => {
    try {
      return await client.request<AnyObject>({ method: 'GET', path, retries: 'none' });
    } catch (error) {
      if (error instanceof ApiNotFoundError) return undefined;
      throw error;
    }
  };
  const touch = async (path: string): Promise<void> => {
    if (!touched.has(path)) touched.set(path, await look(path));
  };
  const watched: KubeClient['request'] = async <T>(request: KubeRequest): Promise<T> => {
    if (request.method === 'GET' || isOnlyTold(request)) return await client.request<T>(request);
    const { at, isNew } = placeOf(request);
    if (!isNew) {
      await touch(at);
      return await client.request<T>(request);
    }
    const made = await client.request<T>(request);
    const { name } = (made as AnyObject | undefined)?.metadata ?? {};
    if (name !== undefined && !touched.has(`${at}/${name}`)) touched.set(`${at}/${name}`, undefined);
    return made;
  };
  const { text, connect } = client;
  return {
    client: {
      request: watched,
      stream: (request) => client.stream(request),
      ...(text && { text: (request) => text.call(client, request) }),
      ...(connect && { connect: (request) => connect.call(client, request) }),
    },
    async changes() {
      const told: string[] = [];
      for (const [path, before] of touched) {
        const after = await look(path);
        if (before === undefined && after === undefined) continue;
        if (before === undefined) told.push(`${titleOf(after)} was created`);
        else if (after === undefined) told.push(`${titleOf(before)} was deleted`);
        else if (isBeingDeleted(after) && !isBeingDeleted(before)) told.push(`${titleOf(before)} is being deleted`);
        else told.push(...differences(before, after, persistence).map((line) => `${titleOf(after)}: ${line}`));
      }
      return told;
    },
  };
}

/** Where the object is, also if it is one of its subresources that is written; or where it is created. */
function placeOf({ method, path }: KubeRequest): { readonly at: string; readonly isNew: boolean } {
  const [plain = ''] = path.split('?', 1);
  const steps = plain.split('/');
  const prefix = steps[1] === 'api' ? 3 : 4;
  const rest = steps.slice(prefix);
  const isNamespaced = rest[0] === 'namespaces' && rest.length > (method === 'POST' ? 2 : 3);
  const own = rest.slice(0, isNamespaced ? 4 : 2);
  const isNew = method === 'POST' && own.length === (isNamespaced ? 3 : 1);
  return { at: [...steps.slice(0, prefix), ...own].join('/'), isNew };
}

/** Events of Kubernetes and questions are no state. */
function isOnlyTold({ path, body }: KubeRequest): boolean {
  const kind = (body as { readonly kind?: unknown } | undefined)?.kind;
  return (typeof kind === 'string' && (kind === 'Event' || kind.endsWith('Review'))) || /\/events(\/|\?|$)/.test(path);
}

const EXTRA = [['status'], ['metadata', 'finalizers'], ['metadata', 'ownerReferences']] as const;

/** Our own marks are left out: they come and go with each handling. */
function differences(before: AnyObject, after: AnyObject, persistence: PersistenceSettings): readonly string[] {
  const { diffbaseStorage, progressStorage } = persistence;
  const essenceOf = (object: AnyObject): Essence => {
    const essence = diffbaseStorage?.build({ body: object as Body, extraFields: EXTRA }) ?? object;
    return progressStorage?.clear(essence) ?? essence;
  };
  return diff(essenceOf(before), essenceOf(after)).map(
    ([, field, old, now]) => `${field.join('.')} was ${shown(old)}, and is ${shown(now)}`,
  );
}

function shown(value: unknown): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function isBeingDeleted({ metadata }: AnyObject): boolean {
  return metadata?.deletionTimestamp != null;
}

function titleOf({ kind, metadata }: AnyObject = {}): string {
  const { namespace, name } = metadata ?? {};
  return `${kind ?? 'An object'} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`;
}
