/** DaemonSets have a pod on every node: here, on the only one. */
import { deepEqual, type Mapping, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Decision, managed, NOTHING, type SimulatedController, sooner } from '../decisions.js';
import { familyOf } from '../family.js';
import { NODE, NODES } from '../node.js';
import { normal, podCreated, podDeleted, told, warning } from '../notes.js';
import { PODS } from '../pods/kubelet.js';
import { isSelected } from '../pods/scheduler.js';
import type { World } from '../world.js';
import { create, remove, replaceStatus, type Write } from '../writes.js';
import { forgotten, historyOf, REVISIONS } from './controller-revisions.js';
import { availableIn, hasEnded, isReady, isTerminating, podOf } from './pods-of-templates.js';

const DAEMON_SETS = 'daemonsets.apps';
const HASH = 'controller-revision-hash';
const GENERATION = 'deprecated.daemonset.template.generation';

export const daemonSetController: SimulatedController = {
  ...managed('daemon-set-controller', 'daemonset-controller'),
  collection: DAEMON_SETS,
  dependents: [PODS, REVISIONS],
  concerns: { [NODES]: (_event, world) => world.revisions(DAEMON_SETS) },
  decide(set, world): Decision {
    if (set === undefined) return NOTHING;
    const family = familyOf(world, set, PODS);
    if (family.writes.length > 0) return family;
    const { all, update, writes } = historyOf(world, set, HASH);
    if (update === undefined) return isTerminating(set) ? NOTHING : { writes };
    const hash = update.metadata.labels?.[HASH] ?? '';
    const node = world.get(NODES, '', NODE);
    const isWanted = node !== undefined && isSelected(set.spec.template, node);
    const pods = family.members;
    const status = statusOf(set, pods, hash, isWanted, world);
    const used = new Set([update.metadata.name ?? '', ...pods.map((pod) => nameOf(set, pod.metadata.labels?.[HASH]))]);
    const waits = pods.map((pod) => availableIn(pod, set.spec.minReadySeconds, world.now));
    return {
      writes: [
        ...(isTerminating(set) ? [] : changesOf(set, pods, hash, isWanted, world)),
        ...(deepEqual(status, set.status) ? [] : [replaceStatus(DAEMON_SETS, set, status)]),
        ...forgotten(set, all, used),
      ],
      again: waits.filter((wait) => wait > 0 && Number.isFinite(wait)).reduce<Seconds | undefined>(sooner, undefined),
    };
  },
};

const nameOf = ({ metadata }: ServedObject, hash: string | undefined): string => `${metadata.name}-${hash ?? ''}`;

function changesOf(
  set: ServedObject,
  pods: readonly ServedObject[],
  hash: string,
  isWanted: boolean,
  world: World,
): readonly Write[] {
  const present = pods.filter((pod) => !isTerminating(pod));
  if (!isWanted) return present.map(removal);
  const ended = present.filter(hasEnded);
  const living = present.filter((pod) => !hasEnded(pod));
  const [fresh, ...surplus] = living.filter((pod) => pod.metadata.labels?.[HASH] === hash);
  const [old, ...older] = living.filter((pod) => pod.metadata.labels?.[HASH] !== hash);
  const writes = [...ended.map(burial), ...[...surplus, ...older].map(removal)];
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  const isSurging = type !== 'OnDelete' && isSome(rollingUpdate?.maxSurge);
  const isFreshAvailable = fresh !== undefined && availableIn(fresh, set.spec.minReadySeconds, world.now) === 0;
  if (old !== undefined) {
    // With a surge, the new one comes first; without it, there is room for one only.
    const isReplaced = isSurging ? isFreshAvailable : type !== 'OnDelete';
    if (isReplaced) return [...writes, removal(old)];
    return isSurging && fresh === undefined ? [...writes, creation(set, hash)] : writes;
  }
  if (fresh !== undefined) return writes;
  const isRoomLeft = isSurging || pods.length === present.length;
  return isRoomLeft && ended.length === 0 ? [...writes, creation(set, hash)] : writes;
}

const removal = (pod: ServedObject): Write => told(remove(PODS, pod), podDeleted(pod));

/** Of a pod that has ended, which should not have. */
function burial(pod: ServedObject): Write {
  const { namespace, name } = pod.metadata;
  const where = `daemon pod ${namespace}/${name} on node ${pod.spec.nodeName}`;
  const note =
    pod.status?.phase === 'Succeeded'
      ? normal('SucceededDaemonPod', `Found succeeded ${where}, will try to delete it`)
      : warning('FailedDaemonPod', `Found failed ${where}, will try to kill it`);
  const { done, refused } = podDeleted(pod);
  return told(remove(PODS, pod), { done: (answer) => [note, ...(done?.(answer) ?? [])], ...(refused && { refused }) });
}

const isSome = (value: unknown): boolean => value !== undefined && value !== 0 && value !== '0%';

const TOLERATED = [
  ['NoExecute', 'not-ready'],
  ['NoExecute', 'unreachable'],
  ['NoSchedule', 'disk-pressure'],
  ['NoSchedule', 'memory-pressure'],
  ['NoSchedule', 'pid-pressure'],
  ['NoSchedule', 'unschedulable'],
] as const;

function creation(set: ServedObject, hash: string): Write {
  const generation = set.metadata.annotations?.[GENERATION];
  const labels = { [HASH]: hash, ...(generation === undefined ? {} : { 'pod-template-generation': generation }) };
  const pod = podOf(set, set.spec.template, { labels });
  const { affinity, tolerations } = pod.spec as { affinity?: Mapping; tolerations?: readonly object[] };
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [NODE] }] }];
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  const spec = {
    ...pod.spec,
    affinity: { ...affinity, nodeAffinity },
    tolerations: [
      ...(tolerations ?? []),
      ...TOLERATED.map(([effect, what]) => ({ effect, key: `node.kubernetes.io/${what}`, operator: 'Exists' })),
    ],
  };
  return told(create(PODS, { ...pod, spec }, { isReported: true }), podCreated);
}

function statusOf(
  set: ServedObject,
  pods: readonly ServedObject[],
  hash: string,
  isWanted: boolean,
  world: World,
): Mapping {
  // The newest of those on the node speaks for it.
  const [pod] = [...pods].sort((a, b) => Number(isTerminating(a)) - Number(isTerminating(b)) || byAge(b, a));
  const isAvailable = pods.some((one) => availableIn(one, set.spec.minReadySeconds, world.now) === 0);
  const isUpdated = pod !== undefined && pod.metadata.labels?.[HASH] === hash;
  const desired = isWanted ? 1 : 0;
  const counts = {
    updatedNumberScheduled: isWanted && isUpdated ? 1 : 0,
    numberAvailable: isWanted && isAvailable ? 1 : 0,
    numberUnavailable: isWanted && !isAvailable ? 1 : 0,
  };
  return {
    currentNumberScheduled: isWanted && pod !== undefined ? 1 : 0,
    numberMisscheduled: !isWanted && pod !== undefined ? 1 : 0,
    desiredNumberScheduled: desired,
    numberReady: isWanted && pods.some(isReady) ? 1 : 0,
    observedGeneration: set.metadata.generation,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
  };
}

const byAge = (a: ServedObject, b: ServedObject): number =>
  Date.parse(a.metadata.creationTimestamp ?? '') - Date.parse(b.metadata.creationTimestamp ?? '');
