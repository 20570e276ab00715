/** What a simulated controller wants to have written: requests as data, to be sent by somebody else. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import type { Collection } from '../contracts/store.js';
import type { Telling } from './notes.js';

export interface Write {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly collection: Collection;
  readonly namespace: string;
  /** None for creations. */
  readonly name?: string;
  readonly subresource?: string;
  readonly body: object;
  /** Does its refusal belong into the status of the object that is worked on? */
  readonly isReported?: boolean;
  readonly tells?: Telling;
}

export function create(collection: Collection, body: Mapping, { isReported = false } = {}): Write {
  const { namespace = '' } = (body.metadata ?? {}) as { namespace?: string };
  return { method: 'POST', collection, namespace, body, isReported };
}

/** The changed object instead of the one of the same version. */
export function replace(collection: Collection, body: ServedObject, subresource?: string): Write {
  return { method: 'PUT', ...placeOf(collection, body), ...(subresource === undefined ? {} : { subresource }), body };
}

/** Another status of this very version of the object. */
export function replaceStatus(collection: Collection, object: ServedObject, status: Mapping): Write {
  return replace(collection, { ...object, status }, 'status');
}

/** Other metadata of this very version of the object; `null` removes. */
export function patchMetadata(collection: Collection, { metadata }: ServedObject, changes: Mapping): Write {
  const { uid, resourceVersion } = metadata;
  const body = { metadata: { uid, resourceVersion, ...changes } };
  return { method: 'PATCH', ...placeOf(collection, { metadata }), body };
}

export interface Removal {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/** Deletes this very object, whatever its version. */
export function remove(collection: Collection, object: ServedObject, options: Removal = {}): Write {
  const preconditions = { uid: object.metadata.uid };
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, ...options };
  return { method: 'DELETE', ...placeOf(collection, object), body };
}

function placeOf(
  collection: Collection,
  { metadata }: Pick<ServedObject, 'metadata'>,
): Pick<Write, 'collection' | 'namespace'> & { readonly name: string } {
  return { collection, namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}
