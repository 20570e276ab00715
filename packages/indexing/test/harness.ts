/** An indexer with a clock that moves when told, and objects to show to it. */
import { type AnyObject, createRegistry, type Index, type Registry, settings, type WatchEvent } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { type MemoryIndexer, type MemoryIndexerOptions, memoryIndexer } from '../src/index.js';

export const pods = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', singular: 'pod' });
export const nodes = makeResource({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', singular: 'node' });

export interface Harness {
  readonly registry: Registry;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly indexer: MemoryIndexer;
  /** As the stream reader does it. */
  see(object: AnyObject, type?: WatchEvent['type'], resource?: typeof pods): void | PromiseLike<void>;
}

export function harness(options: Partial<MemoryIndexerOptions> = {}): Harness {
  const registry = createRegistry();
  const clock = manualClock();
  const logger = recordingLogger();
  const indexer = memoryIndexer({ registry, settings: settings(), clock, ...options });
  return {
    ...{ registry, clock, logger, indexer },
    see: (object, type = 'MODIFIED', resource = pods) =>
      indexer.accept({ event: { type, object }, resource, memo: { of: object.metadata?.name }, logger }),
  };
}

export function pod(name: string, parts: AnyObject = {}): AnyObject {
  const { metadata, ...others } = parts;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'ns', uid: `uid-of-${name}`, ...metadata },
    ...others,
  };
}

/** All that is in the index, in an order of its own: indices promise none. */
export function contents(index: Index | undefined): Record<string, unknown[]> | undefined {
  if (index === undefined) return undefined;
  const pairs = [...index].map(([key, store]): [string, unknown[]] => [
    JSON.stringify(key),
    [...store].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  ]);
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A function that is asynchronous and ends when told to: once for each call, in the order of calls. */
export function gate<T>(): { wait(): Promise<T>; open(result: T): Promise<void>; readonly waiting: number } {
  const waiting: ((result: T) => void)[] = [];
  return {
    wait: () => new Promise<T>((resolve) => waiting.push(resolve)),
    async open(result) {
      waiting.shift()?.(result);
      await new Promise((resolve) => setImmediate(resolve));
    },
    get waiting() {
      return waiting.length;
    },
  };
}
