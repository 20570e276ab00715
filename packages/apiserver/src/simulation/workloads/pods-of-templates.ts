/** Pods as workloads make them, see them, and choose among them. */
import { deepCopy, type Mapping, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Condition, findCondition } from '../conditions.js';
import { ownerReference } from '../family.js';

interface Additions {
  /** Instead of a generated name, whose beginning is there nevertheless. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** A pod by the template of its owner. */
export function podOf(owner: ServedObject, template: Mapping, additions: Additions = {}): Mapping & { spec: Mapping } {
  const { metadata = {}, spec } = deepCopy(template) as { metadata?: Record<string, never>; spec: Mapping };
  const { name, labels, annotations, finalizers = [] } = additions;
  const allAnnotations = { ...(metadata['annotations'] as object | undefined), ...annotations };
  const allFinalizers = [...((metadata['finalizers'] as readonly string[] | undefined) ?? []), ...finalizers];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: owner.metadata.namespace,
      generateName: prefixOf(owner),
      ...(name === undefined ? {} : { name }),
      labels: { ...(metadata['labels'] as object | undefined), ...labels },
      ...(Object.keys(allAnnotations).length === 0 ? {} : { annotations: allAnnotations }),
      ...(allFinalizers.length === 0 ? {} : { finalizers: allFinalizers }),
      ownerReferences: [ownerReference(owner)],
    },
    spec,
  };
}

const LONGEST_PREFIX = 57;

/** Long names of owners leave no room for the random part; then it is cut by the server. */
const prefixOf = ({ metadata }: ServedObject): string => `${(metadata.name ?? '').slice(0, LONGEST_PREFIX)}-`;

export const isTerminating = ({ metadata }: ServedObject): boolean => metadata.deletionTimestamp !== undefined;

export const hasEnded = ({ status }: ServedObject): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Does it run, or will it? */
export const isActive = (pod: ServedObject): boolean => !hasEnded(pod) && !isTerminating(pod);

const readiness = ({ status }: ServedObject): Condition | undefined => findCondition(status?.conditions, 'Ready');

export const isReady = (pod: ServedObject): boolean => readiness(pod)?.status === 'True';

/** Seconds until the pod has been ready for so long; endless if it is not ready. */
export function availableIn(pod: ServedObject, minReadySeconds: number | undefined, now: number): Seconds {
  if (!isReady(pod)) return Number.POSITIVE_INFINITY;
  if (minReadySeconds === undefined || minReadySeconds === 0) return 0;
  const since = Date.parse(readiness(pod)?.lastTransitionTime ?? '');
  return Math.max(0, (since - now) / 1000 + minReadySeconds);
}

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASES = ['Pending', 'Unknown', 'Running'];

/** Whom to delete first: who has not got far yet, costs least, or has come last. */
export function byWorth(a: ServedObject, b: ServedObject): number {
  return compared(worthOf(a), worthOf(b));
}

function worthOf(pod: ServedObject): readonly (number | string)[] {
  const { spec, status, metadata } = pod;
  const since = readiness(pod)?.lastTransitionTime ?? '';
  const restarts: readonly { restartCount?: number }[] = status?.containerStatuses ?? [];
  return [
    spec.nodeName === undefined || spec.nodeName === '' ? 0 : 1,
    PHASES.indexOf(status?.phase ?? 'Pending'),
    isReady(pod) ? 1 : 0,
    Number(metadata.annotations?.[DELETION_COST] ?? 0) || 0,
    isReady(pod) ? -Date.parse(since) : 0,
    -Math.max(0, ...restarts.map(({ restartCount = 0 }) => restartCount)),
    -Date.parse(metadata.creationTimestamp ?? ''),
    metadata.name ?? '',
  ];
}

function compared(one: readonly (number | string)[], other: readonly (number | string)[]): number {
  for (const [index, a] of one.entries()) {
    const b = other[index] as typeof a;
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}
