/** The simulated node at work: pods that are assigned to it start, run, end and go. */
import { type Clock, deepEqual, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Decision, NOTHING, type SimulatedController, sooner } from '../decisions.js';
import { NODE, NODE_ADDRESS } from '../node.js';
import { told } from '../notes.js';
import type { World } from '../world.js';
import { remove, replaceStatus } from '../writes.js';
import { behaviourOf, type PodBehaviour } from './behaviour.js';
import { delayAfter, type Life, newLife, nextStep, readyIn } from './pod-life.js';
import { lifeNotes, stopNotes } from './pod-notes.js';
import { podStatus } from './pod-status.js';

export const PODS = 'pods';

/** What the node remembers of a pod: more than its status tells, as times are in whole seconds there. */
interface Memory {
  readonly life: Life;
  readonly deletedSince?: Seconds | undefined;
}

export interface Kubelet {
  readonly controller: SimulatedController;
  /** The containers of the pod exit like this, as soon as it is looked at. */
  exit(uid: string, code: number): void;
}

export function kubelet(clock: Clock, saidOf: (pod: ServedObject) => readonly PodBehaviour[]): Kubelet {
  const memories = new Map<string, Memory>();
  const exits = new Map<string, number>();
  const addresses = new Addresses();

  const decide = (pod: ServedObject, world: World): Decision => {
    const uid = pod.metadata.uid ?? '';
    const { life, deletedSince } = memories.get(uid) ?? { life: lifeBefore(pod, clock), deletedSince: undefined };
    const [now, timestamp] = [clock.now(), world.timestamp];
    const isDeleted = pod.metadata.deletionTimestamp !== undefined;
    const since = isDeleted ? (deletedSince ?? now) : undefined;
    const behaviour = behaviourOf(pod, saidOf(pod));
    const step = nextStep(life, pod, behaviour, { now, timestamp, exit: exits.get(uid), deletedSince: since });
    memories.set(uid, { life: step.life, deletedSince: since });
    if (step.life.kind !== 'starting') exits.delete(uid);
    const wait = readyIn(step.life, pod, behaviour, now);
    const status = podStatus(pod, {
      life: step.life,
      isReady: wait === 0,
      timestamp,
      hostIP: NODE_ADDRESS,
      podIP: step.life.kind === 'starting' ? undefined : addresses.of(pod, world),
    });
    const isOver = step.life.kind === 'ended' || step.life.kind === 'never-started';
    return {
      notes: isDeleted && deletedSince === undefined ? stopNotes(pod) : [],
      writes: [
        ...(deepEqual(status, pod.status)
          ? []
          : [told(replaceStatus(PODS, pod, status), { done: () => lifeNotes(pod, status) })]),
        // When nothing of it runs any more, it may go at once.
        ...(isDeleted && isOver && pod.metadata.deletionGracePeriodSeconds !== 0
          ? [remove(PODS, pod, { gracePeriodSeconds: 0 })]
          : []),
      ],
      again: sooner(step.again, wait > 0 && Number.isFinite(wait) ? wait : undefined),
    };
  };

  return {
    exit: (uid, code) => void exits.set(uid, code),
    controller: {
      name: 'kubelet',
      username: `system:node:${NODE}`,
      program: 'kubelet',
      component: 'kubelet',
      collection: PODS,
      concerns: {
        // Nobody asks about what is gone; so it is forgotten here.
        [PODS]: ({ type, object }) => {
          if (type === 'DELETED') {
            memories.delete(object.uid);
            exits.delete(object.uid);
          }
          return [];
        },
      },
      decide(pod, world) {
        return pod?.spec.nodeName === NODE ? decide(pod, world) : NOTHING;
      },
    },
  };
}

/** Of a pod that the node does not remember: it is new, or the node itself is. */
function lifeBefore({ status }: ServedObject, clock: Clock): Life {
  const now = clock.now();
  const [first] = status?.containerStatuses ?? [];
  const restarts: number = first?.restartCount ?? 0;
  const ended = first?.state?.terminated;
  const last = ended === undefined ? first?.lastState?.terminated : ended;
  const exit = last === undefined ? undefined : { ...last, code: last.exitCode };
  if (ended !== undefined) return { kind: 'ended', since: now, restarts, last: exit };
  if (first?.state?.waiting?.reason === 'CrashLoopBackOff' && exit !== undefined) {
    return { kind: 'backing-off', since: now, restarts, last: exit, delay: delayAfter(restarts) };
  }
  const running = first?.state?.running;
  if (running === undefined) return { ...newLife(now), restarts, last: exit };
  const elapsed = Math.max(0, (clock.utc().getTime() - Date.parse(running.startedAt)) / 1000);
  return { kind: 'running', since: now - elapsed, restarts, last: exit, startedAt: running.startedAt };
}

/** Each pod has an address that no other one has; nothing listens there. */
class Addresses {
  #latest = 0;

  of({ spec, status }: ServedObject, world: World): string {
    if (typeof status?.podIP === 'string') return status.podIP;
    if (spec.hostNetwork === true) return NODE_ADDRESS;
    const taken = new Set(world.list(PODS).map((pod) => pod.status?.podIP));
    for (;;) {
      this.#latest = (this.#latest % MOST_ADDRESSES) + 1;
      const address = `10.244.${this.#latest >> 8}.${this.#latest & 255}`;
      if (!taken.has(address)) return address;
    }
  }
}

const MOST_ADDRESSES = 65_534;
