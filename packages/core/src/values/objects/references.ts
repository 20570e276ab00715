/** References to an object: as the owner of other objects, and as the subject of an event. */
import type { AnyObject, Body, OwnerReference } from './body.js';

/**
 * A reference to an object, as in events.
 *
 * ```ts
 * const about: kopf.ObjectReference = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' };
 * ```
 */
export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  name?: string;
  uid?: string;
  namespace?: string;
}

/**
 * How the owner and its child depend on each other.
 *
 * ```ts
 * const shared = kopf.buildOwnerReference(body, { controller: false, blockOwnerDeletion: false });
 * ```
 */
export interface OwnerReferenceOptions {
  /**
   * Whether it is the controller, the only owner that manages the object. `null` leaves the key out of the
   * reference, as Kopf's `None` does. Default: true.
   */
  readonly controller?: boolean | null | undefined;
  /**
   * Whether the owner must wait for this object when deleted in the foreground. `null` leaves the key out of the
   * reference, as Kopf's `None` does. Default: true.
   */
  readonly blockOwnerDeletion?: boolean | null | undefined;
}

/**
 * Builds a reference for events and similar, with only the non-empty fields.
 *
 * ```ts
 * const involvedObject = kopf.buildObjectReference(body);
 * ```
 */
export function buildObjectReference(body: Body<AnyObject>): ObjectReference {
  const { apiVersion, kind, metadata } = body;
  return {
    ...(apiVersion ? { apiVersion } : {}),
    ...(kind ? { kind } : {}),
    ...(metadata?.name ? { name: metadata.name } : {}),
    ...(metadata?.uid ? { uid: metadata.uid } : {}),
    ...(metadata?.namespace ? { namespace: metadata.namespace } : {}),
  };
}

/**
 * Builds an owner reference to the object, with only the fields that the object has. The cluster validates it.
 *
 * ```ts
 * const pod = { kind: 'Pod', metadata: { ownerReferences: [kopf.buildOwnerReference(body)] } };
 * ```
 */
export function buildOwnerReference(body: Body<AnyObject>, options: OwnerReferenceOptions = {}): OwnerReference {
  const { apiVersion, kind, metadata } = body;
  const { controller = true, blockOwnerDeletion = true } = options;
  const name = metadata?.name;
  const uid = metadata?.uid;
  // The types exclude nulls, but bodies come from outside, and a null must not get into a reference.
  return {
    ...(controller === null ? {} : { controller }),
    ...(blockOwnerDeletion === null ? {} : { blockOwnerDeletion }),
    ...(apiVersion == null ? {} : { apiVersion }),
    ...(kind == null ? {} : { kind }),
    ...(name == null ? {} : { name }),
    ...(uid == null ? {} : { uid }),
  };
}
