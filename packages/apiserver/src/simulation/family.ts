/** Who belongs to whom: controllers take in what they select, and let go of what they do not select any more. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import type { Collection, OwnerRef, Revision } from '../contracts/store.js';
import { type LabelMatch, parseSelectorObject } from '../selectors/label-selector-objects.js';
import type { World } from './world.js';
import { patchMetadata, type Write } from './writes.js';

export const controllerOf = ({ owners }: Pick<Revision, 'owners'>): OwnerRef | undefined =>
  owners.find(({ controller }) => controller === true);

/** What the workload selects; `undefined` if it is nothing, or everything: nobody controls everything. */
export const selectorOf = ({ spec }: ServedObject): LabelMatch | undefined => parseSelectorObject(spec?.selector);

/** The reference by which the object is controlled. */
export function ownerReference({ apiVersion, kind, metadata }: ServedObject): Mapping {
  const { name, uid } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

interface Family {
  readonly members: readonly ServedObject[];
  /** To be done first: who is a member is known only then. */
  readonly writes: readonly Write[];
}

/** The objects of the collection that the owner controls. */
export function familyOf(world: World, owner: ServedObject, collection: Collection): Family {
  const { uid, namespace = '', deletionTimestamp } = owner.metadata;
  const selects = selectorOf(owner) ?? (() => false);
  const members: ServedObject[] = [];
  const writes: Write[] = [];
  for (const revision of world.revisions(collection, namespace)) {
    const controller = controllerOf(revision);
    if (controller?.uid === uid) {
      if (selects(revision.labels)) members.push(world.read(revision));
      else if (!revision.isDeleting) writes.push(released(collection, world.read(revision), owner));
    } else if (controller === undefined && selects(revision.labels) && !revision.isDeleting) {
      if (deletionTimestamp === undefined) writes.push(adopted(collection, world.read(revision), owner));
    }
  }
  return { members, writes };
}

function adopted(collection: Collection, object: ServedObject, owner: ServedObject): Write {
  const ownerReferences = [...(object.metadata.ownerReferences ?? []), ownerReference(owner)];
  return patchMetadata(collection, object, { ownerReferences });
}

function released(collection: Collection, object: ServedObject, owner: ServedObject): Write {
  const others = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
  return patchMetadata(collection, object, { ownerReferences: others.length === 0 ? null : others });
}
