/**
 * Making children of the object that is being handled: in any handler of an object, the owner need not be named.
 * All of them change the given objects, which are yet to be created.
 */
import type { Body } from '../../values/objects/body.js';
import {
  type AdoptOptions,
  adjustNamespaceBy,
  adoptBy,
  appendOwnerReferenceBy,
  harmonizeNamingBy,
  type LabelOptions,
  labelBy,
  type NamespaceOptions,
  type NamingOptions,
  type ObjectsToChange,
  removeOwnerReferenceBy,
} from '../../values/objects/hierarchy.js';
import type { OwnerReferenceOptions } from '../../values/objects/references.js';
import { currentContext } from '../context.js';

export interface OwnedOptions {
  /** Instead of the object that is being handled. */
  readonly owner?: Body | undefined;
}

/** Makes the objects belong to the owner in all regards: the reference, the name, the namespace, the labels. */
export function adopt(objects: ObjectsToChange, options: OwnedOptions & AdoptOptions = {}): void {
  adoptBy(ownerOf(options), objects, options);
}

/** Gives the owner's labels, or those in the options, to the objects. What is there stays, unless forced. */
export function label(objects: ObjectsToChange, options: OwnedOptions & LabelOptions = {}): void {
  labelBy(ownerOf(options), objects, options);
}

/** Adds a reference to the owner, so that the objects are deleted together with it. */
export function appendOwnerReference(
  objects: ObjectsToChange,
  options: OwnedOptions & OwnerReferenceOptions = {},
): void {
  appendOwnerReferenceBy(ownerOf(options), objects, options);
}

/** Removes all references to the owner. */
export function removeOwnerReference(objects: ObjectsToChange, options: OwnedOptions = {}): void {
  removeOwnerReferenceBy(ownerOf(options), objects);
}

/** Names the objects after the owner: with a generated suffix, or strictly the same. Named ones keep their names. */
export function harmonizeNaming(objects: ObjectsToChange, options: OwnedOptions & NamingOptions = {}): void {
  harmonizeNamingBy(ownerOf(options), objects, options);
}

/** Puts the objects into the namespace of the owner, unless they have theirs. */
export function adjustNamespace(objects: ObjectsToChange, options: OwnedOptions & NamespaceOptions = {}): void {
  adjustNamespaceBy(ownerOf(options), objects, options);
}

/** Activities have no object; and what has no owner is refused where the owner is needed. */
function ownerOf({ owner }: OwnedOptions): Body | undefined {
  const cause = currentContext()?.cause;
  return owner ?? (cause === undefined || cause.kind === 'activity' ? undefined : cause.body);
}
