/** The status of a pod, as the kubelet of its node reports it. */
import { createHash } from 'node:crypto';
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Condition, withCondition } from '../conditions.js';
import type { Life } from './pod-life.js';

interface Report {
  readonly life: Life;
  /** Have all containers run for long enough? */
  readonly isReady: boolean;
  readonly timestamp: string;
  readonly hostIP: string;
  /** None before the containers start. */
  readonly podIP: string | undefined;
}

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly restartPolicy?: string;
}

export function podStatus(pod: ServedObject, report: Report): Mapping {
  const { status = {}, spec, metadata } = pod;
  const { life, hostIP, podIP, timestamp } = report;
  const containers: readonly Container[] = spec.containers ?? [];
  const inits: readonly Container[] = spec.initContainers ?? [];
  const hasRun = life.kind !== 'starting' && life.kind !== 'never-started';
  return {
    ...status,
    observedGeneration: metadata.generation,
    phase: phaseOf(life),
    conditions: conditionsOf(pod, report, containers),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime: status.startTime ?? timestamp,
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits.map((one) => initStatus(pod, one, hasRun, report)) }),
    containerStatuses: containers.map((one) => containerStatus(pod, one, report)),
  };
}

function phaseOf(life: Life): string {
  if (life.kind === 'starting') return 'Pending';
  if (life.kind === 'never-started') return 'Failed';
  if (life.kind === 'ended') return life.last.code === 0 ? 'Succeeded' : 'Failed';
  return 'Running';
}

function conditionsOf(pod: ServedObject, { life, isReady, timestamp }: Report, containers: readonly Container[]) {
  const { spec, status, metadata } = pod;
  const isDone = life.kind === 'ended' && life.last.code === 0;
  const names = containers.map(({ name }) => name).join(' ');
  const unready = isDone
    ? { reason: 'PodCompleted' }
    : life.kind === 'ended' || life.kind === 'never-started'
      ? { reason: 'PodFailed' }
      : { reason: 'ContainersNotReady', message: `containers with unready status: [${names}]` };
  const gates = missingGates(pod);
  const gated = {
    reason: 'ReadinessGatesNotReady',
    message: gates.map((type) => `the status of pod readiness gate "${type}" is not "True", but False`).join(', '),
  };
  const isStarted = life.kind !== 'starting' && life.kind !== 'never-started';
  const told: readonly Condition[] = [
    {
      type: 'PodReadyToStartContainers',
      status: life.kind === 'running' || life.kind === 'backing-off' ? 'True' : 'False',
    },
    isStarted || (spec.initContainers ?? []).length === 0
      ? { type: 'Initialized', status: 'True', ...(isDone ? { reason: 'PodCompleted' } : {}) }
      : { type: 'Initialized', status: 'False', reason: 'ContainersNotInitialized' },
    isReady && gates.length === 0
      ? { type: 'Ready', status: 'True' }
      : { type: 'Ready', status: 'False', ...(isReady ? gated : unready) },
    isReady ? { type: 'ContainersReady', status: 'True' } : { type: 'ContainersReady', status: 'False', ...unready },
    { type: 'PodScheduled', status: 'True' },
  ];
  const own = told.map((condition) => ({ ...condition, observedGeneration: metadata.generation, lastProbeTime: null }));
  return own.reduce((conditions, one) => withCondition(conditions, one, timestamp), status?.conditions ?? []);
}

/** What others have to say before the pod is ready, and have not said yet. */
function missingGates({ spec, status }: ServedObject): readonly string[] {
  const gates: readonly { conditionType: string }[] = spec.readinessGates ?? [];
  const conditions: readonly Condition[] = status?.conditions ?? [];
  return gates
    .map(({ conditionType }) => conditionType)
    .filter((type) => !conditions.some((condition) => condition.type === type && condition.status === 'True'));
}

function containerStatus(pod: ServedObject, container: Container, { life, isReady }: Report): Mapping {
  const { restarts, last } = life;
  const isRunning = life.kind === 'running';
  const id = idOf(pod, container, restarts);
  const lastId = restarts > 0 ? idOf(pod, container, restarts - 1) : id;
  const before = last === undefined ? {} : { terminated: terminated(last, life.kind === 'backing-off' ? id : lastId) };
  return {
    name: container.name,
    state: stateOf(pod, container, life, id),
    lastState: life.kind === 'running' || (life.kind === 'backing-off' && life.delay > 0) ? before : {},
    ready: isRunning && isReady,
    restartCount: restarts,
    image: container.image ?? '',
    imageID: '',
    ...(life.kind === 'starting' || life.kind === 'never-started' ? {} : { containerID: id }),
    started: isRunning,
  };
}

function stateOf(pod: ServedObject, { name }: Container, life: Life, id: string): Mapping {
  const { metadata } = pod;
  switch (life.kind) {
    case 'starting':
    case 'never-started':
      return { waiting: { reason: 'ContainerCreating' } };
    case 'running':
      return { running: { startedAt: life.startedAt } };
    case 'ended':
      return { terminated: terminated(life.last, id) };
    case 'backing-off': {
      if (life.delay === 0) return { terminated: terminated(life.last, id) };
      const who = `container=${name} pod=${metadata.name}_${metadata.namespace}(${metadata.uid})`;
      const message = `back-off ${durationOf(life.delay)} restarting failed ${who}`;
      return { waiting: { reason: 'CrashLoopBackOff', message } };
    }
  }
}

function terminated({ code, reason, startedAt, finishedAt }: NonNullable<Life['last']>, containerID: string): Mapping {
  return { exitCode: code, reason, startedAt, finishedAt, containerID };
}

/** They are done as soon as the others start; but for those that go on beside them. */
function initStatus(pod: ServedObject, container: Container, hasRun: boolean, report: Report): Mapping {
  if (container.restartPolicy === 'Always' || !hasRun) return containerStatus(pod, container, report);
  const startedAt = pod.status?.startTime ?? report.timestamp;
  const id = idOf(pod, container, 0);
  return {
    name: container.name,
    state: { terminated: { exitCode: 0, reason: 'Completed', startedAt, finishedAt: startedAt, containerID: id } },
    lastState: {},
    ready: true,
    restartCount: 0,
    image: container.image ?? '',
    imageID: '',
    containerID: id,
    started: false,
  };
}

const idOf = ({ metadata }: ServedObject, { name }: Container, restarts: number): string =>
  `simulated://${createHash('sha256').update(`${metadata.uid}/${name}/${restarts}`).digest('hex')}`;

/** As Go writes durations: `10s`, `1m20s`, `5m0s`. */
function durationOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds % 60}s`;
}
