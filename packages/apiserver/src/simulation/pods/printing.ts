/** What simulated containers print and answer. */
import type { Clock } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { Containers, ExecAnswer, ExecFunction, LogLine } from '../../contracts/simulated-containers.js';
import type { StoreReader } from '../../contracts/store.js';
import { maybeMapping } from '../../kinds/defaults/setting.js';
import { parseRevision } from '../../store/revision.js';
import { behaviourOf, type PodBehaviour } from './behaviour.js';

const PODS = 'pods';

export interface Printing extends Containers {
  print(uid: string, text: string): void;
  /** Something has happened to pods: whoever follows them looks again. */
  look(): void;
}

export function printing(
  store: StoreReader,
  clock: Clock,
  saidOf: (pod: ServedObject) => readonly PodBehaviour[],
): Printing {
  const printed = new Map<string, LogLine[]>();
  const followers = new Set<() => void>();
  const look = (): void => {
    for (const wake of [...followers]) wake();
  };
  const logOf = (pod: ServedObject): readonly LogLine[] => {
    const started = Date.parse(String(maybeMapping(pod, 'status')?.['startTime'] ?? pod.metadata.creationTimestamp));
    const { log = '' } = behaviourOf(pod, saidOf(pod));
    return [...linesOf(log, new Date(started)), ...(printed.get(pod.metadata.uid ?? '') ?? [])];
  };
  const isRunning = ({ metadata }: ServedObject): boolean => {
    const found = store.get(PODS, metadata.namespace ?? '', metadata.name ?? '');
    if (found === undefined || found.uid !== metadata.uid) return false;
    const phase = maybeMapping(parseRevision(found), 'status')?.['phase'];
    return phase !== 'Succeeded' && phase !== 'Failed';
  };
  return {
    look,
    logOf,
    print(uid, text) {
      printed.set(uid, [...(printed.get(uid) ?? []), ...linesOf(text, clock.utc())]);
      look();
    },
    async whenPrinted(pod, after, signal) {
      while (!signal.aborted) {
        if (logOf(pod).length > after) return true;
        if (!isRunning(pod)) return false;
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            followers.delete(wake);
            signal.removeEventListener('abort', wake);
            resolve();
          };
          followers.add(wake);
          signal.addEventListener('abort', wake);
        });
      }
      return false;
    },
    execOf(pod) {
      const { exec = {} } = behaviourOf(pod, saidOf(pod));
      return typeof exec === 'function' ? exec : byWords(exec);
    },
  };
}

/** By the words of the command, joined by spaces; or by the first of them; or whatever it is. */
function byWords(answers: Readonly<Record<string, ExecAnswer>>): ExecFunction {
  return ({ command }) => {
    const key = [command.join(' '), command[0] ?? '', '*'].find((one) => Object.hasOwn(answers, one));
    return key === undefined ? undefined : answers[key];
  };
}

function linesOf(text: string, at: Date): LogLine[] {
  if (text === '') return [];
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => ({ text: line, at }));
}
