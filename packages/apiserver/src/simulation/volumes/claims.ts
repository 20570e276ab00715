/** Claims are bound to volumes: to one that is there, or to one that is made up for them. Nothing is stored in it. */
import type { AnyObject, Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { compareQuantities } from '../../typed/quantity.js';
import { type Decision, managed, NOTHING, type SimulatedController } from '../decisions.js';
import { normal, told } from '../notes.js';
import type { World } from '../world.js';
import { create, remove, replace, replaceStatus, type Write } from '../writes.js';

export const CLAIMS = 'persistentvolumeclaims';
const VOLUMES = 'persistentvolumes';
const BOUND = 'pv.kubernetes.io/bind-completed';
const BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
const PROVISIONED = 'pv.kubernetes.io/provisioned-by';
const PROVISIONER = 'simulation.kopf-ts.dev';

const NO_VOLUME = normal('FailedBinding', 'no persistent volumes available for this claim and no storage class is set');

export const claimController: SimulatedController = {
  ...managed('persistent-volume-binder', 'persistentvolume-controller'),
  name: 'claims',
  collection: CLAIMS,
  concerns: {
    // A new volume may be what some claim waits for.
    [VOLUMES]: ({ type }, world) =>
      type === 'DELETED' ? [] : world.revisions(CLAIMS).filter((claim) => world.read(claim).status?.phase !== 'Bound'),
  },
  decide(claim, world): Decision {
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return NOTHING;
    if (claim.status?.phase === 'Bound') return NOTHING;
    const volume = volumeFor(claim, world);
    if (volume === undefined) {
      // A class that is empty is a wish for a volume that somebody else provides.
      if (isGiven(claim.spec.volumeName)) return NOTHING;
      return claim.spec.storageClassName === '' ? { writes: [], notes: [NO_VOLUME] } : { writes: [provided(claim)] };
    }
    return { writes: binding(claim, volume) };
  },
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== '';

/** The volume that the claim has, or could have; of several, the smallest. */
function volumeFor(claim: ServedObject, world: World): ServedObject | undefined {
  const { volumeName, storageClassName = '', accessModes = [], resources } = claim.spec;
  if (isGiven(volumeName)) return world.get(VOLUMES, '', volumeName);
  const wanted: string = resources?.requests?.storage ?? '0';
  const fits = ({ spec, status }: ServedObject): boolean => {
    if (spec.claimRef !== undefined)
      return spec.claimRef.uid === claim.metadata.uid || isReserved(claim, spec.claimRef);
    const modes: readonly string[] = spec.accessModes ?? [];
    return (
      status?.phase !== 'Released' &&
      (spec.storageClassName ?? '') === storageClassName &&
      accessModes.every((mode: string) => modes.includes(mode)) &&
      compareQuantities(sizeOf({ spec }), wanted) >= 0
    );
  };
  const [smallest] = world
    .list(VOLUMES)
    .filter(fits)
    .sort((a, b) => compareQuantities(sizeOf(a), sizeOf(b)));
  return smallest;
}

const isReserved = ({ metadata }: ServedObject, reference: Mapping): boolean =>
  reference['uid'] === undefined &&
  reference['name'] === metadata.name &&
  reference['namespace'] === metadata.namespace;

const sizeOf = ({ spec }: AnyObject): string => spec.capacity?.storage ?? '0';

function provided({ metadata, spec }: ServedObject): Write {
  const { storageClassName, accessModes, volumeMode, resources } = spec;
  const name = `pvc-${metadata.uid}`;
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { [PROVISIONED]: PROVISIONER } },
    spec: {
      capacity: { storage: resources?.requests?.storage ?? '1Gi' },
      accessModes: accessModes ?? ['ReadWriteOnce'],
      ...(volumeMode === undefined ? {} : { volumeMode }),
      ...(storageClassName === undefined ? {} : { storageClassName }),
      persistentVolumeReclaimPolicy: 'Delete',
      hostPath: { path: `/dev/null/${name}` },
      claimRef: referenceTo(metadata),
    },
  };
  return told(create(VOLUMES, volume), {
    done: () => [normal('ProvisioningSucceeded', `Successfully provisioned volume ${name}`)],
  });
}

function referenceTo({ namespace, name, uid, resourceVersion }: ServedObject['metadata']): Mapping {
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
}

/** Both know of each other: first the volume, then the claim; and each says so. */
function binding(claim: ServedObject, volume: ServedObject): readonly Write[] {
  const { metadata } = claim;
  if (volume.spec.claimRef?.uid !== metadata.uid) {
    const annotations = { ...volume.metadata.annotations, [BY_CONTROLLER]: 'yes' };
    const spec = { ...volume.spec, claimRef: referenceTo(metadata) };
    return [replace(VOLUMES, { ...volume, metadata: { ...volume.metadata, annotations }, spec })];
  }
  if (metadata.annotations?.[BOUND] !== 'yes' || claim.spec.volumeName !== volume.metadata.name) {
    const annotations = { ...metadata.annotations, [BOUND]: 'yes', [BY_CONTROLLER]: 'yes' };
    const spec = { ...claim.spec, volumeName: volume.metadata.name };
    return [replace(CLAIMS, { ...claim, metadata: { ...metadata, annotations }, spec })];
  }
  const { accessModes, capacity } = volume.spec;
  return [replaceStatus(CLAIMS, claim, { ...claim.status, phase: 'Bound', accessModes, capacity })];
}

/** Volumes are available, bound, and after their claims released or deleted. */
export const volumeController: SimulatedController = {
  ...managed('persistent-volume-binder', 'persistentvolume-controller'),
  name: 'volumes',
  collection: VOLUMES,
  concerns: {
    [CLAIMS]: ({ object }, world) => world.revisions(VOLUMES).filter((one) => isFor(world.read(one), object.uid)),
  },
  decide(volume, world): Decision {
    if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return NOTHING;
    const phase = phaseOf(volume, world);
    if (phase === 'Released' && volume.spec.persistentVolumeReclaimPolicy === 'Delete') {
      return { writes: [remove(VOLUMES, volume)] };
    }
    if (volume.status?.phase === phase) return NOTHING;
    const status = { ...volume.status, phase, lastPhaseTransitionTime: world.timestamp };
    return { writes: [replaceStatus(VOLUMES, volume, status)] };
  },
};

const isFor = ({ spec }: ServedObject, uid: string): boolean => spec.claimRef?.uid === uid;

function phaseOf({ spec }: ServedObject, world: World): string {
  const { claimRef } = spec;
  if (claimRef?.uid === undefined) return 'Available';
  const claim = world.get(CLAIMS, claimRef.namespace, claimRef.name);
  return claim?.metadata.uid === claimRef.uid ? 'Bound' : 'Released';
}
