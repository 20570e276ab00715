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

/**
 * Who the owner is, where it is not the object that is being handled.
 *
 * ```ts
 * const options: kopf.OwnedOptions = { owner: body };
 * ```
 */
export interface OwnedOptions {
  /** Instead of the object that is being handled. */
  readonly owner?: Body | undefined;
}

/**
 * Makes the objects belong to the owner in all regards: the reference, the name, the namespace, the labels.
 *
 * ```ts
 * kopf.on.create('kopfexamples', async ({ namespace, client }) => {
 *   const pod = { apiVersion: 'v1', kind: 'Pod', spec: { containers: [{ name: 'main', image: 'busybox' }] } };
 *   kopf.adopt(pod);
 *   await client.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods`, body: pod });
 * });
 * ```
 */
export function adopt(objects: ObjectsToChange, options: OwnedOptions & AdoptOptions = {}): void {
  adoptBy(ownerOf(options), objects, options);
}

/**
 * Gives the owner's labels, or those in the options, to the objects. What is there stays, unless forced.
 *
 * ```ts
 * const deployment = { kind: 'Deployment', spec: { template: {} } };
 * kopf.label(deployment, { owner: body, nested: 'spec.template' });
 * ```
 */
export function label(objects: ObjectsToChange, options: OwnedOptions & LabelOptions = {}): void {
  labelBy(ownerOf(options), objects, options);
}

/**
 * Adds a reference to the owner, so that the objects are deleted together with it.
 *
 * ```ts
 * const pod = { apiVersion: 'v1', kind: 'Pod', metadata: {} };
 * kopf.appendOwnerReference(pod, { owner: body, blockOwnerDeletion: false });
 * ```
 */
export function appendOwnerReference(
  objects: ObjectsToChange,
  options: OwnedOptions & OwnerReferenceOptions = {},
): void {
  appendOwnerReferenceBy(ownerOf(options), objects, options);
}

/**
 * Removes all references to the owner.
 *
 * ```ts
 * kopf.on.update('kopfexamples', { field: 'spec.orphan', new: true }, async ({ client }) => {
 *   const pod = await client.request<kopf.AnyObject>({ method: 'GET', path: '/api/v1/namespaces/shop/pods/web' });
 *   kopf.removeOwnerReference(pod);
 * });
 * ```
 */
export function removeOwnerReference(objects: ObjectsToChange, options: OwnedOptions = {}): void {
  removeOwnerReferenceBy(ownerOf(options), objects);
}

/**
 * Names the objects after the owner: with a generated suffix, or strictly the same. Named ones keep their names.
 *
 * ```ts
 * const pod = { apiVersion: 'v1', kind: 'Pod' };
 * kopf.harmonizeNaming(pod, { owner: body }); // metadata.generateName: 'web-'
 * ```
 */
export function harmonizeNaming(objects: ObjectsToChange, options: OwnedOptions & NamingOptions = {}): void {
  harmonizeNamingBy(ownerOf(options), objects, options);
}

/**
 * Puts the objects into the namespace of the owner, unless they have theirs.
 *
 * ```ts
 * kopf.on.create('kopfexamples', () => {
 *   const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'helper' } };
 *   kopf.adjustNamespace(pod);
 * });
 * ```
 */
export function adjustNamespace(objects: ObjectsToChange, options: OwnedOptions & NamespaceOptions = {}): void {
  adjustNamespaceBy(ownerOf(options), objects, options);
}

/** Activities have no object; and what has no owner is refused where the owner is needed. */
function ownerOf({ owner }: OwnedOptions): Body | undefined {
  const cause = currentContext()?.cause;
  return owner ?? (cause === undefined || cause.kind === 'activity' ? undefined : cause.body);
}
