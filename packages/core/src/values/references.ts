/** References to an object: as the owner of other objects, and as what an event is about. */
import type { AnyObject, Body, OwnerReference } from './body.js';

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  name?: string;
  uid?: string;
  namespace?: string;
}

export interface OwnerReferenceOptions {
  /** Is it the one owner that manages the object? There can be only one such. `true` unless told otherwise. */
  readonly controller?: boolean | undefined;
  /** Must the owner wait for this object when deleted in the foreground? `true` unless told otherwise. */
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** A reference for events and the like: only what the object has and what is not empty. */
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

/** A reference to the object as to an owner. Only what the object has; whether it suffices, the cluster will say. */
export function buildOwnerReference(body: Body<AnyObject>, options: OwnerReferenceOptions = {}): OwnerReference {
  const { apiVersion, kind, metadata } = body;
  const name = metadata?.name;
  const uid = metadata?.uid;
  // By the types, there are no nulls here; but bodies come from outside, and a null must not get into a reference.
  return {
    controller: options.controller ?? true,
    blockOwnerDeletion: options.blockOwnerDeletion ?? true,
    ...(apiVersion == null ? {} : { apiVersion }),
    ...(kind == null ? {} : { kind }),
    ...(name == null ? {} : { name }),
    ...(uid == null ? {} : { uid }),
  };
}
