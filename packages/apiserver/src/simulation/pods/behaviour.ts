/** How simulated pods behave: by default, by the rules of a test, and by their own annotations. */
import { type AnyObject, isMapping, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { ExecAnswer, ExecFunction } from '../../contracts/simulated-containers.js';

/**
 * How a simulated pod behaves. All its containers do the same at the same time.
 *
 * ```ts
 * import { localCluster, type PodBehaviour } from 'kopf-ts/testing';
 * const slow: PodBehaviour = { startAfter: 10, readyAfter: 30 };
 * await using cluster = await localCluster({ controllers: 'simulated', pods: slow });
 * ```
 */
export interface PodBehaviour {
  /** Seconds until it is assigned to the node. Default: 0. */
  readonly scheduleAfter?: Seconds;
  /** Seconds from then until its containers run. Default: 1. */
  readonly startAfter?: Seconds;
  /** Seconds from then until it is ready. Default: the longest `initialDelaySeconds` of its readiness probes, or 0. */
  readonly readyAfter?: Seconds;
  /** Seconds until its containers exit by themselves. Default: never if they are always restarted, or else 1. */
  readonly finishAfter?: Seconds;
  /** How they exit. Default: 0, successfully. */
  readonly exitCode?: number;
  /** Seconds that its containers take to stop when it is deleted; the grace period is the limit. Default: 1. */
  readonly stopAfter?: Seconds;
  /** What it never gets done: to be scheduled, to start, to finish by itself, to stop before the grace period is over. */
  readonly hang?: 'schedule' | 'start' | 'finish' | 'stop';
  /** Default: yes, when its time has come. Can be changed at any time. */
  readonly ready?: boolean;
  /** What its containers have printed when they start. Default: nothing. */
  readonly log?: string;
  /**
   * What commands in its containers answer: a function, or the answers by the words of the command (`'pg_isready -q'`), by
   * its first word, or for any (`'*'`). In annotations, these are JSON. Default: it is an error, as nothing runs there.
   */
  readonly exec?: ExecFunction | Readonly<Record<string, ExecAnswer>>;
}

/** Before the slash in the annotations of pods: `simulation.kopf-ts.dev/exit-code: "1"`. */
const PREFIX = 'simulation.kopf-ts.dev/';

const NUMBERS = {
  'schedule-after': 'scheduleAfter',
  'start-after': 'startAfter',
  'ready-after': 'readyAfter',
  'finish-after': 'finishAfter',
  'exit-code': 'exitCode',
  'stop-after': 'stopAfter',
} as const;
const HANGS: readonly unknown[] = ['schedule', 'start', 'finish', 'stop'] satisfies PodBehaviour['hang'][];

/** Of all that is said about a pod, the later wins; its annotations come last. */
export function behaviourOf(pod: ServedObject, said: readonly PodBehaviour[]): PodBehaviour {
  const all = [...said, annotated(pod)];
  return Object.assign(
    {},
    ...all.map((one) => Object.fromEntries(Object.entries(one).filter(([, v]) => v !== undefined))),
  );
}

/** Annotations that make no sense are as good as none. */
function annotated({ metadata }: AnyObject): PodBehaviour {
  const annotations = metadata?.annotations ?? {};
  const behaviour: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(NUMBERS)) {
    const text = annotations[`${PREFIX}${name}`];
    const number = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isFinite(number) && number >= 0) behaviour[option] = number;
  }
  const hang = annotations[`${PREFIX}hang`];
  if (HANGS.includes(hang)) behaviour['hang'] = hang;
  const ready = annotations[`${PREFIX}ready`];
  if (ready === 'true' || ready === 'false') behaviour['ready'] = ready === 'true';
  const log = annotations[`${PREFIX}log`];
  if (log !== undefined) behaviour['log'] = log;
  const exec = answersIn(annotations[`${PREFIX}exec`]);
  if (exec !== undefined) behaviour['exec'] = exec;
  return behaviour;
}

function answersIn(text: string | undefined): unknown {
  try {
    const answers: unknown = text === undefined ? undefined : JSON.parse(text);
    const isMeant = isMapping(answers) && Object.values(answers).every(isMapping);
    return isMeant ? answers : undefined;
  } catch {
    return undefined;
  }
}
