import type { Awaitable, Indexer } from '@kopf-ts/core';
import { objectKey } from '@kopf-ts/core/engine';
import { exclusions } from './exclusions.js';
import { cancelPass, type IndexingPass, newPass, type PassParts, runPass, type Sighting } from './indexing-pass.js';
import { memoryIndices } from './memory-indices.js';
import { structuralKeys } from './structural-keys.js';

/**
 * What indexing needs: the handlers, the settings, the time.
 *
 * ```ts
 * const options: kopf.indexing.MemoryIndexerOptions = { registry: kopf.createRegistry(), settings, clock };
 * ```
 */
export interface MemoryIndexerOptions extends Omit<PassParts, 'indices' | 'slotOf'> {}

/**
 * The indexer of indices in memory.
 *
 * ```ts
 * const indexer: kopf.indexing.MemoryIndexer = kopf.indexing.memoryIndexer({
 *   registry: kopf.getDefaultRegistry(),
 *   settings,
 *   clock,
 * });
 * indexer.close();
 * ```
 */
export interface MemoryIndexer extends Indexer {
  /**
   * To be called when the operator ends: nothing is tried again by itself from then on, and the functions that still
   * run are told so.
   */
  close(): void;
}

/** Someone waits until the object is indexed as it was in an event, or as it was later. */
interface Waiting {
  /** Absent for another attempt with what is remembered of the object. */
  at: Sighting | undefined;
  readonly done: Promise<void>;
  readonly resolve: () => void;
}

/** An object whose index functions run now, asynchronously. */
interface Run {
  readonly current: { pass: IndexingPass; waiting: Waiting };
  /** What has come meanwhile; the newest only. */
  next: Waiting | undefined;
  isCancelled: boolean;
}

/**
 * Indices in the memory of the process: of each object, only what its index functions return.
 *
 * All entries of an object change in one go after all its functions have ended, so nobody ever sees a part of them.
 * With synchronous functions, that is when `accept()` returns; and asynchronous ones hold up only their own object.
 *
 * ```ts
 * const registry = kopf.createRegistry();
 * const byNode = registry.index('pods', ({ spec, name }) => ({ [String(spec.nodeName)]: name }));
 * const indexer = kopf.indexing.memoryIndexer({ registry, settings: kopf.settings(), clock });
 * logger.info(`${indexer.indices.get(byNode).size} nodes have pods.`);
 * ```
 */
export function memoryIndexer(options: MemoryIndexerOptions): MemoryIndexer {
  const { registry, clock } = options;
  const slotOf = structuralKeys();
  const memory = memoryIndices(registry, slotOf);
  const parts: PassParts = { ...options, indices: memory.indices, slotOf };
  const runs = new Map<string, Run>();
  const excluded = exclusions<Sighting>(clock, (key, at) => {
    const run = runs.get(key);
    if (run === undefined) void index(key, at, true);
    else run.next ??= waiting(undefined);
  });

  const begin = (key: string, at: Sighting, isRetry: boolean): [IndexingPass, Promise<void> | undefined] => {
    const begun = newPass(parts, { key, at, isRetry, excluded });
    return [begun, runPass(begun)];
  };
  const apply = (key: string, at: Sighting, { replacements, exclusions }: IndexingPass): void => {
    for (const { id, entries } of replacements) {
      if (entries !== undefined) memory.of(id).replace(key, entries);
    }
    if (exclusions !== undefined || excluded.of(key) !== undefined) excluded.update(key, exclusions, at);
  };

  const index = (key: string, at: Sighting, isRetry: boolean): Awaitable<void> => {
    const [begun, pending] = begin(key, at, isRetry);
    if (pending === undefined) return apply(key, at, begun);
    const run: Run = { current: { pass: begun, waiting: waiting(at) }, next: undefined, isCancelled: false };
    runs.set(key, run);
    void finish(key, run, at, pending);
    return run.current.waiting.done;
  };
  const finish = async (key: string, run: Run, first: Sighting, begun: Promise<void>): Promise<void> => {
    for (let at: Sighting | undefined = first, pending: Promise<void> | undefined = begun; ; ) {
      try {
        await pending;
      } catch {
        // It is cancelled: nothing else gets here.
      }
      if (run.isCancelled) return;
      if (at !== undefined) apply(key, at, run.current.pass);
      run.current.waiting.resolve();
      if (run.next === undefined) break;
      const { next } = run;
      run.next = undefined;
      at = next.at ?? excluded.stateOf(key);
      run.current.waiting = next;
      if (at === undefined) pending = undefined;
      else [run.current.pass, pending] = begin(key, at, next.at === undefined);
    }
    runs.delete(key);
  };
  const cancel = (key: string, run: Run): void => {
    run.isCancelled = true;
    runs.delete(key);
    cancelPass(run.current.pass);
    run.current.waiting.resolve();
    run.next?.resolve();
  };
  const forget = (key: string): void => {
    const run = runs.get(key);
    if (run !== undefined) cancel(key, run);
    excluded.forget(key);
    for (const [id] of memory.indices) memory.of(id).replace(key, []);
  };

  return {
    indices: memory.indices,
    accept(at) {
      const { event, resource } = at;
      // Most events are of objects that nobody indexes.
      if (registry.handlers.indexing.of(resource).length === 0) return;
      const key = objectKey(event.object);
      if (event.type === 'DELETED') return forget(key);
      const run = runs.get(key);
      if (run === undefined) return index(key, at, false);
      run.next ??= waiting(at);
      run.next.at = at;
      return run.next.done;
    },
    close() {
      excluded.close();
      for (const [key, run] of runs) cancel(key, run);
    },
  };
}

function waiting(at: Sighting | undefined): Waiting {
  let resolve = (): void => {};
  const done = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { at, done, resolve };
}
