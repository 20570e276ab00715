/** The life of a pod on its node, as a machine: what its containers do, from what was, the time, and how it behaves. */
import type { Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { sooner } from '../decisions.js';
import type { PodBehaviour } from './behaviour.js';

/** How containers have ended. */
interface Exit {
  readonly code: number;
  readonly reason: string;
  readonly startedAt: string;
  readonly finishedAt: string;
}

/** What a pod does; `since` is a time of the monotonic clock. */
export type Life = {
  readonly since: Seconds;
  readonly restarts: number;
  /** Of the containers that ran before. */
  readonly last?: Exit | undefined;
} & (
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly startedAt: string }
  | { readonly kind: 'backing-off'; readonly delay: Seconds; readonly last: Exit }
  | { readonly kind: 'ended'; readonly last: Exit }
  /** Its containers never ran, and never will. */
  | { readonly kind: 'never-started' }
);

/** What there is to know about the present. */
export interface Moment {
  readonly now: Seconds;
  readonly timestamp: string;
  /** What somebody outside wants of the containers: that they exit like this. */
  readonly exit?: number | undefined;
  /** When the deletion was first seen. */
  readonly deletedSince?: Seconds | undefined;
}

interface Step {
  readonly life: Life;
  /** In how many seconds something happens. */
  readonly again?: Seconds | undefined;
}

const START_AFTER = 1;
const FINISH_AFTER = 1;
const STOP_AFTER = 1;
const FIRST_DELAY = 10;
const LONGEST_DELAY = 300;
const KILLED = 137;

/** The life of a pod that the node has just got. */
export const newLife = (now: Seconds): Life => ({ kind: 'starting', since: now, restarts: 0 });

export function nextStep(life: Life, pod: ServedObject, behaviour: PodBehaviour, moment: Moment): Step {
  if (moment.deletedSince !== undefined) return stopping(life, pod, behaviour, moment);
  const { now, timestamp } = moment;
  switch (life.kind) {
    case 'starting': {
      if (behaviour.hang === 'start') return { life };
      const left = life.since + (behaviour.startAfter ?? START_AFTER) - now;
      return left > 0 ? { life, again: left } : nextStep(started(life, moment), pod, behaviour, moment);
    }
    case 'running': {
      if (moment.exit !== undefined) return ending(life, pod, exitOf(life.startedAt, moment.exit, timestamp), moment);
      const left = life.since + finishAfter(pod, behaviour) - now;
      if (left <= 0) {
        return ending(life, pod, exitOf(life.startedAt, behaviour.exitCode ?? 0, timestamp), moment);
      }
      return { life, again: Number.isFinite(left) ? left : undefined };
    }
    case 'backing-off': {
      const left = life.since + life.delay - now;
      if (left > 0) return { life, again: left };
      return nextStep(started({ ...life, restarts: life.restarts + 1 }, moment), pod, behaviour, {
        ...moment,
        exit: undefined,
      });
    }
    default:
      return { life };
  }
}

/** Until the pod is ready; nothing if it is, and never if it will not be. */
export function readyIn(life: Life, pod: ServedObject, behaviour: PodBehaviour, now: Seconds): Seconds {
  if (life.kind !== 'running' || behaviour.ready === false) return Number.POSITIVE_INFINITY;
  return Math.max(0, life.since + (behaviour.readyAfter ?? probeDelay(pod)) - now);
}

function probeDelay({ spec }: ServedObject): Seconds {
  const containers: readonly { readinessProbe?: { initialDelaySeconds?: number } }[] = spec.containers ?? [];
  return Math.max(0, ...containers.map(({ readinessProbe }) => readinessProbe?.initialDelaySeconds ?? 0));
}

/** Services run until they are stopped; everything else is done at some time. */
function finishAfter({ spec }: ServedObject, { hang, finishAfter, exitCode }: PodBehaviour): Seconds {
  if (hang === 'finish') return Number.POSITIVE_INFINITY;
  if (finishAfter !== undefined) return finishAfter;
  const isService = spec.restartPolicy === 'Always' && exitCode === undefined;
  return isService ? Number.POSITIVE_INFINITY : FINISH_AFTER;
}

function started(life: Life, { now, timestamp }: Moment): Life {
  return { kind: 'running', since: now, restarts: life.restarts, last: life.last, startedAt: timestamp };
}

function exitOf(startedAt: string, code: number, finishedAt: string): Exit {
  return { code, reason: code === 0 ? 'Completed' : 'Error', startedAt, finishedAt };
}

function ending(life: Life, { spec }: ServedObject, last: Exit, { now }: Moment): Step {
  const { restarts } = life;
  const isRestarted = spec.restartPolicy === 'Always' || (spec.restartPolicy === 'OnFailure' && last.code !== 0);
  if (!isRestarted) return { life: { kind: 'ended', since: now, restarts, last } };
  const delay = delayAfter(restarts);
  return { life: { kind: 'backing-off', since: now, restarts, last, delay }, again: delay };
}

/** The first time, nobody waits; then longer and longer. */
export const delayAfter = (restarts: number): Seconds =>
  restarts === 0 ? 0 : Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (restarts - 1));

/** Containers stop when they are asked to, or are killed when their time is over. */
function stopping(life: Life, pod: ServedObject, behaviour: PodBehaviour, moment: Moment): Step {
  const { now, timestamp, deletedSince = now } = moment;
  const { restarts } = life;
  if (life.kind === 'starting') return { life: { kind: 'never-started', since: now, restarts } };
  if (life.kind === 'backing-off') return { life: { kind: 'ended', since: now, restarts, last: life.last } };
  if (life.kind !== 'running') return { life };
  const grace = pod.metadata.deletionGracePeriodSeconds ?? 0;
  const wanted = behaviour.hang === 'stop' ? Number.POSITIVE_INFINITY : (behaviour.stopAfter ?? STOP_AFTER);
  const left = deletedSince + Math.min(grace, wanted) - now;
  if (left > 0) return { life, again: sooner(left, undefined) };
  const last = exitOf(life.startedAt, wanted > grace ? KILLED : 0, timestamp);
  return { life: { kind: 'ended', since: now, restarts, last } };
}
