/** The table of pods: their states are made of those of their containers. */
import type { Mapping } from '@kopf-ts/core';
import { ageOf, countIn, listIn, mappingIn, NONE, type Printer, since, textIn } from './cells.js';

export const printPod: Printer = (object, now) => {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  const { reason, ready, total, restarts, restartedAt } = stateOf(object);
  const addresses = listIn(status, 'podIPs').map((one) => textIn(one, 'ip'));
  const gates = listIn(spec, 'readinessGates');
  const passed = gates.filter(({ conditionType }) => isTrue(status, String(conditionType)));
  return [
    `${ready}/${total}`,
    reason,
    restarts !== 0 && restartedAt !== undefined ? `${restarts} (${since(restartedAt, now)} ago)` : String(restarts),
    ageOf(object, now),
    addresses[0] ?? textIn(status, 'podIP', NONE),
    textIn(spec, 'nodeName', NONE),
    textIn(status, 'nominatedNodeName', NONE),
    gates.length === 0 ? NONE : `${passed.length}/${gates.length}`,
  ];
};

interface PodState {
  readonly reason: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  readonly restartedAt: string | undefined;
}

function stateOf(object: Mapping): PodState {
  const [spec, status] = [mappingIn(object, 'spec'), mappingIn(object, 'status')];
  const first = beginning(spec, status);
  const main = first.reason !== undefined && !isTrue(status, 'Initialized') ? undefined : running(status);
  const phase = textIn(status, 'reason') || textIn(status, 'phase');
  const isGated = listIn(status, 'conditions').some(
    (one) => one.type === 'PodScheduled' && one.reason === 'SchedulingGated',
  );
  const reason = main?.reason ?? first.reason ?? (isGated ? 'SchedulingGated' : phase);
  const { deletionTimestamp } = mappingIn(object, 'metadata');
  const isOver = status.phase === 'Failed' || status.phase === 'Succeeded';
  const ending = status.reason === 'NodeLost' ? 'Unknown' : isOver ? reason : 'Terminating';
  return {
    reason: deletionTimestamp === undefined ? reason : ending,
    ready: first.ready + (main?.ready ?? 0),
    total: listIn(spec, 'containers').length + first.sidecars,
    restarts: main === undefined ? first.restarts : first.sidecarRestarts + main.restarts,
    restartedAt: latest(main === undefined ? [first.restartedAt] : [first.restartedAt, main.restartedAt]),
  };
}

/** Of the containers that come first: which one is being waited for, if any. */
function beginning(spec: Mapping, status: Mapping) {
  const declared = listIn(spec, 'initContainers');
  const isSidecar = (name: unknown): boolean =>
    declared.some((one) => one.name === name && one.restartPolicy === 'Always');
  const found = { ready: 0, restarts: 0, sidecarRestarts: 0, reason: undefined as string | undefined };
  const restartedAt: unknown[] = [];
  for (const [index, one] of listIn(status, 'initContainerStatuses').entries()) {
    found.restarts += countIn(one, 'restartCount');
    restartedAt.push(mappingIn(one, 'lastState', 'terminated').finishedAt);
    const sidecar = isSidecar(one.name);
    if (sidecar) found.sidecarRestarts += countIn(one, 'restartCount');
    const { terminated, waiting } = mappingIn(one, 'state');
    if (terminated !== undefined && countIn(terminated, 'exitCode') === 0) continue;
    if (sidecar && one.started === true) {
      if (one.ready === true) found.ready += 1;
      continue;
    }
    const why = textIn(waiting, 'reason');
    if (terminated !== undefined) found.reason = `Init:${endOf(terminated as Mapping)}`;
    else if (why !== '' && why !== 'PodInitializing') found.reason = `Init:${why}`;
    else found.reason = `Init:${index}/${declared.length}`;
    break;
  }
  return {
    ...found,
    sidecars: declared.filter((one) => one.restartPolicy === 'Always').length,
    restartedAt: latest(restartedAt),
  };
}

/** Of the other containers: why the first one of them does not run, if so. */
function running(status: Mapping) {
  let reason: string | undefined;
  let [ready, restarts, isRunning] = [0, 0, false];
  const restartedAt: unknown[] = [];
  for (const one of [...listIn(status, 'containerStatuses')].reverse()) {
    restarts += countIn(one, 'restartCount');
    restartedAt.push(mappingIn(one, 'lastState', 'terminated').finishedAt);
    const { terminated, waiting, running: runs } = mappingIn(one, 'state');
    if (textIn(waiting, 'reason') !== '') reason = textIn(waiting, 'reason');
    else if (terminated !== undefined) reason = endOf(terminated as Mapping);
    else if (one.ready === true && runs !== undefined) {
      isRunning = true;
      ready += 1;
    }
  }
  if (reason === 'Completed' && isRunning) reason = isTrue(status, 'Ready') ? 'Running' : 'NotReady';
  return { reason, ready, restarts, restartedAt: latest(restartedAt) };
}

function endOf(terminated: Mapping): string {
  const reason = textIn(terminated, 'reason');
  if (reason !== '') return reason;
  const signal = countIn(terminated, 'signal');
  return signal === 0 ? `ExitCode:${countIn(terminated, 'exitCode')}` : `Signal:${signal}`;
}

function isTrue(status: Mapping, type: string): boolean {
  return listIn(status, 'conditions').some((condition) => condition.type === type && condition.status === 'True');
}

function latest(times: readonly unknown[]): string | undefined {
  return times
    .filter((time) => typeof time === 'string')
    .sort()
    .at(-1);
}
