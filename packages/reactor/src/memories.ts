/** What is remembered of each object while the operator lives. Never stored anywhere, and lost with the operator. */
import type { Body, Essence, HandlerId, Logger, Mapping, Memos, Patch, ReportMalformed, Seconds } from '@kopf-ts/core';
import {
  copyMemo,
  type DaemonStopper,
  type LiveBody,
  objectKey,
  reportOnce,
  type SpawningHandler,
} from '@kopf-ts/core/engine';

/** A daemon or a timer that runs now for an object. */
export interface RunningDaemon {
  readonly handler: SpawningHandler;
  readonly logger: Logger;
  readonly stopper: DaemonStopper;
  /** Forces it to end: aborts the signal that its function was given. */
  cancel(): void;
  /** Settled when it has ended, whatever the reason; never rejects. */
  readonly ended: Promise<void>;
  readonly isEnded: boolean;
}

/** What is remembered for the daemons and timers of one object. */
export interface DaemonsMemory {
  /** What the daemons see of the object; absent while there is nobody to look. */
  live: LiveBody | undefined;
  /** Since when the object is idle, by the monotonic clock. */
  idleResetAt: Seconds;
  /** Those which have ended on their own: not to be started again for this object. */
  readonly foreverStopped: Set<HandlerId>;
  readonly running: Map<HandlerId, RunningDaemon>;
}

export interface ObjectMemory {
  readonly key: string;
  /** The users' container. */
  readonly memo: unknown;
  /** Made when it is asked for: most objects have neither daemons nor timers. */
  readonly daemons: DaemonsMemory;
  /** The same, if it was ever asked for. */
  readonly knownDaemons: DaemonsMemory | undefined;
  /** Tells of malformed traces on the object, of each once. */
  readonly malformed: ReportMalformed;
  /** The object existed before the operator has noticed it; decided by the first event of it. */
  readonly isNoticedByListing: boolean;
  /** All handlers have finished with it at least once since the operator has started. */
  isHandledOnce: boolean;
  /** What could not be sent, and is to be sent before anything else. */
  remaining: Patch | undefined;
  /** The newest version that is or was handled: what is not newer, is nothing new. */
  version: string | undefined;
  /** We have patched it: until then, states that cannot be ordered by their versions may be from before that. */
  doubtfulUntil: Seconds | undefined;
  /** We have just released it, and it is about to vanish: there is nothing to do any more. */
  isVanishing: boolean;
  /** The last handled essence: for the case that someone strips it off the object. */
  handled: Essence | undefined;
  /** How many times it was stripped off. */
  strippings: number;
  /** Traces that the cluster refuses to store, since the object is too large: as a merge-patch of the object. */
  unsavable: Mapping | undefined;
}

export interface Memories extends Memos, Iterable<ObjectMemory> {
  readonly size: number;
  /** The memory of the object; a new one if it was never seen. */
  of(body: Body, options: { readonly isListed: boolean; readonly logger: Logger }): ObjectMemory;
  find(body: Body): ObjectMemory | undefined;
  forget(body: Body): void;
}

export interface MemoriesOptions {
  /** The operator's memo: each object gets a copy of it. */
  readonly memo?: unknown;
  readonly now: () => Seconds;
}

/**
 * So many objects that were only asked about keep their memos: nothing tells when those of unwatched kinds are gone.
 * Whoever was not asked about for the longest time goes first.
 */
const MAX_ASKED = 1000;

export function memories({ memo, now }: MemoriesOptions): Memories {
  const all = new Map<string, ObjectMemory>();
  // Apart, as it is the first event of an object that decides on the rest of its memory.
  const asked = new Map<string, unknown>();
  const memoOf = (key: string): unknown => (asked.has(key) ? asked.get(key) : copyMemo(memo));
  return {
    get size() {
      return all.size;
    },
    [Symbol.iterator]: () => all.values(),
    of(body, { isListed, logger }) {
      const key = objectKey(body);
      let memory = all.get(key);
      if (memory === undefined) {
        memory = new Remembered(key, memoOf(key), isListed, now(), logger);
        all.set(key, memory);
        asked.delete(key);
      }
      return memory;
    },
    find: (body) => all.get(objectKey(body)),
    forget(body) {
      const key = objectKey(body);
      all.delete(key);
      asked.delete(key);
    },
    recall(body, { ephemeral = false } = {}) {
      const key = objectKey(body as Body);
      const memory = all.get(key);
      if (memory !== undefined) return memory.memo;
      const recalled = memoOf(key);
      if (ephemeral) return recalled;
      // Put to the end.
      asked.delete(key);
      asked.set(key, recalled);
      const [longest] = asked.keys();
      if (asked.size > MAX_ASKED && longest !== undefined) asked.delete(longest);
      return recalled;
    },
  };
}

/** A class, since each object of the cluster has one, and most of them are never changed. */
class Remembered implements ObjectMemory {
  readonly key: string;
  readonly memo: unknown;
  readonly malformed: ReportMalformed;
  readonly isNoticedByListing: boolean;
  readonly #noticedAt: Seconds;
  isHandledOnce = false;
  remaining: Patch | undefined;
  version: string | undefined;
  doubtfulUntil: Seconds | undefined;
  isVanishing = false;
  handled: Essence | undefined;
  strippings = 0;
  unsavable: Mapping | undefined;
  #daemons: DaemonsMemory | undefined;

  constructor(key: string, memo: unknown, isListed: boolean, now: Seconds, logger: Logger) {
    this.key = key;
    this.memo = memo;
    this.malformed = reportOnce(logger);
    this.isNoticedByListing = isListed;
    this.#noticedAt = now;
  }

  get daemons(): DaemonsMemory {
    this.#daemons ??= {
      live: undefined,
      idleResetAt: this.#noticedAt,
      foreverStopped: new Set(),
      running: new Map(),
    };
    return this.#daemons;
  }

  get knownDaemons(): DaemonsMemory | undefined {
    return this.#daemons;
  }
}

/** Once others may have worked on the objects, what could not be sent before that is outdated. */
export function forgetUnsent(memories: Iterable<ObjectMemory>): void {
  for (const memory of memories) {
    if (memory.remaining === undefined) continue;
    memory.remaining = undefined;
    memory.handled = undefined;
  }
}
