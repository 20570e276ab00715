/** The Secret where replicas keep their authorities: reading and writing it. */
import {
  ApiConflictError,
  ApiError,
  ApiForbiddenError,
  ApiNotFoundError,
  KopfError,
  type KubeClient,
  type KubeRequest,
} from '@kopf-ts/core';
import { describeError, makeResource, resourceUrl } from '@kopf-ts/core/engine';
import type { Authority } from '../making/authority.js';
import { isForAuthorities, type Secret, writeAuthorities } from './authority-records.js';

/**
 * A Secret, by its place.
 *
 * ```ts
 * const secret: kopf.webhooks.SecretReference = { namespace: 'operators', name: 'kopfexamples-webhook-ca' };
 * ```
 */
export interface SecretReference {
  readonly namespace: string;
  readonly name: string;
}

export interface AuthoritySecret {
  /** As the cluster has it; `undefined` if there is none. Throws if it belongs to somebody else. */
  read(): Promise<Secret | undefined>;
  /** Creates or replaces it. False if it was changed or created by others meanwhile: it is to be read again. */
  write(previous: Secret | undefined, authorities: readonly Authority[]): Promise<boolean>;
}

const SECRETS = makeResource({ group: '', version: 'v1', plural: 'secrets', namespaced: true });

/** How long and how persistently to try. */
export type RequestLimits = Pick<KubeRequest, 'retries' | 'timeouts'>;

export function authoritySecret(
  client: KubeClient,
  place: SecretReference,
  signal: AbortSignal,
  limits: () => RequestLimits,
): AuthoritySecret {
  const path = resourceUrl(SECRETS, place);
  const title = `secret ${place.namespace}/${place.name}`;

  const replace = async (previous: Secret, authorities: readonly Authority[]): Promise<void> => {
    const body: Secret = { ...previous, data: { ...previous.data, ...writeAuthorities(authorities) } };
    await client.request({ method: 'PUT', path, contentType: 'application/json', body, signal, ...limits() });
  };
  const create = async (authorities: readonly Authority[]): Promise<void> => {
    const labels = { 'app.kubernetes.io/managed-by': 'kopf-ts' };
    const metadata = { ...place, labels };
    const body: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: 'Opaque',
      data: writeAuthorities(authorities),
    };
    const collection = resourceUrl(SECRETS, { namespace: place.namespace });
    await client.request({
      method: 'POST',
      path: collection,
      contentType: 'application/json',
      body,
      signal,
      ...limits(),
    });
  };

  return {
    async read() {
      let secret: Secret;
      try {
        secret = await client.request<Secret>({ method: 'GET', path, signal, ...limits() });
      } catch (error) {
        if (error instanceof ApiNotFoundError) return undefined;
        throw explained(error, 'read', title, signal);
      }
      if (isForAuthorities(secret)) return secret;
      throw new KopfError(
        `The ${title} is not for the authorities of webhook certificates: there is something else in it. ` +
          'It is left alone; choose another name.',
        { code: 'KOPF_SECRET_FOREIGN' },
      );
    },

    async write(previous, authorities) {
      try {
        await (previous === undefined ? create(authorities) : replace(previous, authorities));
        return true;
      } catch (error) {
        if (error instanceof ApiConflictError) return false;
        // Deleted since it was read; when creating, it means that there is no such namespace.
        if (error instanceof ApiNotFoundError && previous !== undefined) return false;
        throw explained(error, previous === undefined ? 'created' : 'updated', title, signal);
      }
    },
  };
}

const NEEDED = 'the operator needs the permissions to get, create and update it';

function explained(
  error: unknown,
  action: 'read' | 'created' | 'updated',
  title: string,
  signal: AbortSignal,
): unknown {
  if (signal.aborted) return error;
  const hint = error instanceof ApiForbiddenError ? `${NEEDED}. The cluster says: ` : '';
  const namespace = error instanceof ApiNotFoundError ? 'its namespace must exist first. The cluster says: ' : '';
  return new KopfError(
    `The ${title} with the authorities of webhook certificates cannot be ${action}: ` +
      `${hint}${namespace}${describeError(error)}`,
    { code: error instanceof ApiError ? error.code : 'KOPF_SECRET', cause: error },
  );
}
