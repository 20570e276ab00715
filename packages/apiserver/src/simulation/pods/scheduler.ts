/** Assigns pods to the only node, or tells why it cannot. */
import { type Clock, deepEqual, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { Revision } from '../../contracts/store.js';
import { withCondition } from '../conditions.js';
import { type Decision, NOTHING, type SimulatedController } from '../decisions.js';
import { NODE, NODES } from '../node.js';
import { normal, told, warning } from '../notes.js';
import { CLAIMS } from '../volumes/claims.js';
import type { World } from '../world.js';
import { replaceStatus, type Write } from '../writes.js';
import { behaviourOf, type PodBehaviour } from './behaviour.js';
import { PODS } from './kubelet.js';

const NAME = 'default-scheduler';

export function scheduler(clock: Clock, saidOf: (pod: ServedObject) => readonly PodBehaviour[]): SimulatedController {
  /** When pods were seen for the first time. */
  const seen = new Map<string, Seconds>();

  return {
    name: 'scheduler',
    username: 'system:kube-scheduler',
    program: 'kube-scheduler',
    component: NAME,
    collection: PODS,
    concerns: {
      [PODS]: ({ type, object }) => {
        if (type === 'DELETED') seen.delete(object.uid);
        return [];
      },
      [NODES]: (_event, world) => world.list(PODS).filter(isWaiting).map(placeOf),
      [CLAIMS]: ({ object }, world) => world.list(PODS, object.namespace).filter(isWaiting).map(placeOf),
    },
    decide(pod, world): Decision {
      if (pod === undefined || !isWaiting(pod)) return NOTHING;
      const behaviour = behaviourOf(pod, saidOf(pod));
      if (behaviour.hang === 'schedule') return { writes: unschedulable(pod, world, '1 node(s) were unschedulable') };
      const uid = pod.metadata.uid ?? '';
      const since = seen.get(uid) ?? clock.now();
      seen.set(uid, since);
      const left = since + (behaviour.scheduleAfter ?? 0) - clock.now();
      if (left > 0) return { writes: [], again: left };
      const problem = problemOf(pod, world);
      return { writes: problem === undefined ? [binding(pod)] : unschedulable(pod, world, problem) };
    },
  };
}

function isWaiting({ spec, metadata }: ServedObject): boolean {
  const isAssigned = spec.nodeName !== undefined && spec.nodeName !== '';
  const isGated = (spec.schedulingGates ?? []).length > 0;
  return !isAssigned && !isGated && metadata.deletionTimestamp === undefined && spec.schedulerName === NAME;
}

const placeOf = ({ metadata }: ServedObject): Pick<Revision, 'namespace' | 'name'> => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
});

/** Why the pod cannot go to the node. Of all that a real scheduler looks at, what a single node can lack. */
function problemOf(pod: ServedObject, world: World): string | undefined {
  const node = world.get(NODES, '', NODE);
  if (node === undefined) return 'no nodes available to schedule pods';
  if (node.spec?.unschedulable === true && !isTolerated(pod)) return '1 node(s) were unschedulable';
  if (!isSelected(pod, node)) return "1 node(s) didn't match Pod's node affinity/selector";
  for (const { persistentVolumeClaim: claim } of pod.spec.volumes ?? []) {
    if (claim === undefined) continue;
    const found = world.get(CLAIMS, pod.metadata.namespace ?? '', claim.claimName);
    if (found === undefined) return `persistentvolumeclaim "${claim.claimName}" not found`;
    if (found.status?.phase !== 'Bound') return 'pod has unbound immediate PersistentVolumeClaims';
  }
  return undefined;
}

function isTolerated({ spec }: ServedObject): boolean {
  const tolerations: readonly { key?: string; operator?: string }[] = spec.tolerations ?? [];
  return tolerations.some(
    ({ key, operator }) => operator === 'Exists' && (key === undefined || key === 'node.kubernetes.io/unschedulable'),
  );
}

export function isSelected({ spec }: ServedObject, node: ServedObject): boolean {
  const labels = node.metadata.labels ?? {};
  return Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
}

function binding({ metadata }: ServedObject): Write {
  const { namespace = '', name = '', uid } = metadata;
  const target = { kind: 'Node', name: NODE };
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name, uid }, target };
  const write: Write = { method: 'POST', collection: PODS, namespace, name, subresource: 'binding', body };
  const note = normal('Scheduled', `Successfully assigned ${namespace}/${name} to ${NODE}`);
  return told(write, { done: () => [{ ...note, action: 'Binding' }] });
}

function unschedulable(pod: ServedObject, world: World, problem: string): readonly Write[] {
  const message = /^\d/.test(problem) ? `0/1 nodes are available: ${problem}.` : problem;
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    observedGeneration: pod.metadata.generation,
    lastProbeTime: null,
    reason: 'Unschedulable',
    message,
  };
  const conditions = withCondition(pod.status?.conditions ?? [], condition, world.timestamp);
  if (deepEqual(conditions, pod.status?.conditions)) return [];
  const note = { ...warning('FailedScheduling', message), action: 'Scheduling' };
  return [told(replaceStatus(PODS, pod, { ...pod.status, conditions }), { done: () => [note] })];
}
