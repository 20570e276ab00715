/** The replica sets of a deployment: which one is the new one, what they were called, and in which order they came. */
import { deepCopy, deepEqual, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { ownerReference } from '../family.js';
import type { Rollout } from './rollouts.js';
import { templateHash } from './template-hashes.js';

export const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MAX = 'deployment.kubernetes.io/max-replicas';
/** Of the deployment alone, or of the set alone. */
const NOT_COPIED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  REVISION,
  HISTORY,
  DESIRED,
  MAX,
]);
const HASH = 'pod-template-hash';
const LONGEST_HISTORY = 2000;

type Annotations = Readonly<Record<string, string>>;

export const revisionOf = ({ metadata }: ServedObject): number => Number(metadata.annotations?.[REVISION] ?? 0) || 0;

/** As the set was told when it was scaled the last time. */
export const desiredOf = ({ metadata }: ServedObject): number | undefined => numberIn(metadata.annotations?.[DESIRED]);
export const maxReplicasOf = ({ metadata }: ServedObject): number | undefined => numberIn(metadata.annotations?.[MAX]);

function numberIn(text: string | undefined): number | undefined {
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

/** The oldest first. */
export function byAge(a: ServedObject, b: ServedObject): number {
  const [one, other] = [a.metadata, b.metadata].map(({ creationTimestamp = '' }) => creationTimestamp);
  if (one !== other) return (one as string) < (other as string) ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/** The set with the template of the deployment, if there is one; of several, the oldest. */
export function newSetOf(deployment: ServedObject, sets: readonly ServedObject[]): ServedObject | undefined {
  return sets.find(({ spec }) => deepEqual(withoutHash(spec.template), withoutHash(deployment.spec.template)));
}

function withoutHash(template: ServedObject): unknown {
  const { [HASH]: _hash, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** The newest of all revisions but the new one is followed by the new one. */
export const nextRevision = (old: readonly ServedObject[]): number => Math.max(0, ...old.map(revisionOf)) + 1;

/** What the deployment's annotations and the number of the revision make of those of the set. */
export function annotationsOf(deployment: ServedObject, before: Annotations, revision: number): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !NOT_COPIED.has(key));
  const annotations: Record<string, string> = { ...before, ...Object.fromEntries(copied) };
  const old = before[REVISION];
  if ((Number(old ?? 0) || 0) >= revision) return annotations;
  annotations[REVISION] = String(revision);
  if (old === undefined) return annotations;
  // What it was before, for those who look for that number.
  const history = [...(before[HISTORY] ?? '').split(',').filter((one) => one !== ''), old];
  while (history.join(',').length > LONGEST_HISTORY) history.shift();
  return { ...annotations, [HISTORY]: history.join(',') };
}

export const scaleAnnotations = ({ replicas, maxSurge }: Rollout): Annotations => ({
  [DESIRED]: String(replicas),
  [MAX]: String(replicas + maxSurge),
});

/** The name that the new set will have; another deployment, or another template, may have it already. */
export function newSetName({ metadata, spec, status }: ServedObject): { readonly name: string; readonly hash: string } {
  const hash = templateHash(spec.template, status?.collisionCount);
  return { name: `${metadata.name}-${hash}`, hash };
}

export function newSet(deployment: ServedObject, revision: number, rollout: Rollout, replicas: number): Mapping {
  const { metadata, spec } = deployment;
  const { name, hash } = newSetName(deployment);
  const template = deepCopy(spec.template);
  template.metadata = { ...template.metadata, labels: { ...template.metadata?.labels, [HASH]: hash } };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      namespace: metadata.namespace,
      name,
      labels: template.metadata.labels,
      annotations: { ...annotationsOf(deployment, {}, revision), ...scaleAnnotations(rollout) },
      ownerReferences: [ownerReference(deployment)],
    },
    spec: {
      replicas,
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: {
        ...spec.selector,
        matchLabels: { ...spec.selector?.matchLabels, [HASH]: hash },
      },
      template,
    },
  };
}
