import {
  type HandlerId,
  type Index,
  type Indexer,
  PermanentError,
  type Registry,
  type Store,
  TemporaryError,
} from '@kopf-ts/core';
import type { IndexHandler } from '@kopf-ts/core/engine';
import { memoryIndexer } from '@kopf-ts/indexing';
import { describe, expect, it } from 'vitest';
import { type IndexerParts, indexerCases } from '../../src/index.js';
import { complaint, failures } from './failures.js';

type Create = (parts: IndexerParts) => Indexer;
type Accept = Indexer['accept'];
type Fn = IndexHandler['fn'];

/** An indexer that runs other functions than those declared, or with other filters. */
function withHandlers(change: (handler: IndexHandler) => IndexHandler): Create {
  return (parts) => memoryIndexer({ ...parts, registry: changed(parts.registry, change) });
}

function withFunctions(wrap: (fn: Fn) => Fn): Create {
  return withHandlers((handler) => ({ ...handler, fn: wrap(handler.fn) }));
}

function changed(registry: Registry, change: (handler: IndexHandler) => IndexHandler): Registry {
  const { indexing } = registry.handlers;
  const known = new Map<IndexHandler, IndexHandler>();
  const changedOne = (handler: IndexHandler): IndexHandler => {
    if (!known.has(handler)) known.set(handler, change(handler));
    return known.get(handler) ?? handler;
  };
  const set: typeof indexing = {
    get size() {
      return indexing.size;
    },
    [Symbol.iterator]: () => [...indexing].map(changedOne).values(),
    add: (handler) => indexing.add(handler),
    of: (resource) => indexing.of(resource).map(changedOne),
    select: (cause) =>
      indexing
        .of(cause.resource)
        .map(changedOne)
        .filter(({ when }) => when === undefined || when({ spec: cause.body['spec'] })),
  };
  return { ...registry, handlers: { ...registry.handlers, indexing: set } };
}

/** An indexer that accepts in another way. */
function withAccept(change: (accept: Accept, indexer: Indexer) => Accept): Create {
  return (parts) => {
    const indexer = memoryIndexer(parts);
    return { indices: indexer.indices, accept: change(indexer.accept, indexer) };
  };
}

/** An indexer that shows its indices in another way. */
function withIndices(change: (index: Index, id: HandlerId) => Index): Create {
  return (parts) => {
    const { indices, accept } = memoryIndexer(parts);
    const known = new Map<Index, Index>();
    const seen = (id: HandlerId): Index | undefined => {
      const index = indices.get(id);
      if (index !== undefined && !known.has(index)) known.set(index, change(index, id));
      return index && known.get(index);
    };
    return {
      accept,
      indices: {
        get: ((ref: HandlerId | { id: HandlerId }) =>
          seen(typeof ref === 'string' ? ref : ref.id)) as typeof indices.get,
        *[Symbol.iterator]() {
          for (const [id] of indices) yield [id, seen(id) as Index] as const;
        },
      },
    };
  };
}

function withStores(change: (store: Store<unknown>) => Store<unknown>): Create {
  return withIndices((index) =>
    altered(index, {
      get: (key) => {
        const store = index.get(key);
        return store && change(store);
      },
      *[Symbol.iterator]() {
        for (const [key, store] of index) yield [key, change(store)] as const;
      },
    }),
  );
}

/** The same index with something else in it. */
function altered(index: Index, changes: Partial<Index> = {}): Index {
  return {
    get size() {
      return index.size;
    },
    get: changes.get ?? ((key) => index.get(key)),
    has: changes.has ?? ((key) => index.has(key)),
    keys: changes.keys ?? (() => index.keys()),
    [Symbol.iterator]: changes[Symbol.iterator] ?? (() => index[Symbol.iterator]()),
  };
}

const isMapping = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map);

const broken: [sin: string, caught: string, create: Create][] = [
  [
    'knows only the indices that have something in them',
    'has an empty index for each function from the start',
    (parts) => {
      const { indices, accept } = memoryIndexer(parts);
      const get = ((id: HandlerId) =>
        indices.get(id)?.size === 0 ? undefined : indices.get(id)) as typeof indices.get;
      return { accept, indices: { get, [Symbol.iterator]: () => indices[Symbol.iterator]() } };
    },
  ],
  [
    'takes mappings for values',
    'stores the values of a mapping under its keys',
    withFunctions((fn) => (kwargs) => {
      const result = fn(kwargs);
      return isMapping(result) && !('then' in result) ? new Map([[null, result]]) : result;
    }),
  ],
  [
    'takes empty values for nothing',
    'stores anything but mappings under null',
    withFunctions((fn) => (kwargs) => fn(kwargs) || undefined),
  ],
  [
    'takes lists for mappings',
    'stores anything but mappings under null',
    withFunctions((fn) => (kwargs) => {
      const result = fn(kwargs);
      return Array.isArray(result) ? { ...result } : result;
    }),
  ],
  [
    'compares keys by identity',
    'accepts any keys of a Map, and finds them by structure',
    withIndices((index) => {
      const find = (key: unknown) => [...index].find(([known]) => known === key)?.[1];
      return altered(index, { get: find, has: (key) => find(key) !== undefined });
    }),
  ],
  [
    'compares keys by their texts',
    'accepts any keys of a Map, and finds them by structure',
    withIndices((index) => {
      const find = (key: unknown) => [...index].find(([known]) => String(known) === String(key))?.[1];
      return altered(index, { get: find, has: (key) => find(key) !== undefined });
    }),
  ],
  [
    'never removes keys',
    'replaces the previous values of the object',
    withFunctions((fn) => {
      const before = new Map<string, object>();
      return (kwargs) => {
        const result = fn(kwargs);
        if (!isMapping(result) || 'then' in result) return result;
        before.set(kwargs.name, { ...before.get(kwargs.name), ...result });
        return before.get(kwargs.name);
      };
    }),
  ],
  [
    'forgets the object if there is no value',
    'keeps what the object has if the function returns undefined',
    withFunctions((fn) => (kwargs) => {
      const result = fn(kwargs);
      return result === undefined ? {} : result;
    }),
  ],
  [
    'takes null for a value',
    'keeps what the object has if the function returns null',
    withFunctions((fn) => (kwargs) => {
      const result = fn(kwargs);
      return result === null ? new Map([[null, null]]) : result;
    }),
  ],
  [
    'has no duplicates',
    'keeps values of several objects under one key, even equal ones',
    withStores((store) => {
      const values = [...new Map([...store].map((value) => [JSON.stringify(value), value])).values()];
      return { size: values.length, has: (value) => store.has(value), [Symbol.iterator]: () => values.values() };
    }),
  ],
  [
    'compares values by identity',
    'keeps values of several objects under one key, even equal ones',
    withStores((store) => ({
      size: store.size,
      has: (value) => [...store].includes(value),
      [Symbol.iterator]: () => store[Symbol.iterator](),
    })),
  ],
  [
    'has one object per key',
    'keeps values of several objects under one key, even equal ones',
    withStores((store) => {
      const values = [...store].slice(-1);
      return { size: values.length, has: (value) => store.has(value), [Symbol.iterator]: () => values.values() };
    }),
  ],
  [
    'keeps empty stores',
    'forgets a key together with its last value',
    withIndices((index) => {
      const seen = new Set<unknown>();
      const notice = (): Set<unknown> => {
        for (const key of index.keys()) seen.add(key);
        return seen;
      };
      return altered(index, {
        has: (key) => notice().has(key),
        keys: () => notice(),
        [Symbol.iterator]: () => {
          notice();
          return index[Symbol.iterator]();
        },
      });
    }),
  ],
  [
    'ignores deletions',
    'forgets a deleted object in all indices, but not one that is still being deleted',
    withAccept((accept) => (at) => (at.event.type === 'DELETED' ? undefined : accept(at))),
  ],
  [
    'forgets objects too early',
    'forgets a deleted object in all indices, but not one that is still being deleted',
    withAccept((accept) => (at) => {
      const isDeleting = at.event.object.metadata?.deletionTimestamp !== undefined;
      return accept(isDeleting ? { ...at, event: { ...at.event, type: 'DELETED' } } : at);
    }),
  ],
  [
    'takes objects without uids for one',
    'keeps objects apart, even without uids',
    withAccept((accept) => (at) => {
      const { object } = at.event;
      const metadata = { uid: '-', ...object.metadata };
      return accept({ ...at, event: { ...at.event, object: { ...object, metadata } } });
    }),
  ],
  [
    'does not look at filters',
    'removes objects that no longer match the filters',
    withHandlers(({ when: _, ...handler }) => handler),
  ],
  [
    'only ever adds by filters',
    'removes objects that no longer match the filters',
    withHandlers(({ when, ...handler }) => ({
      ...handler,
      fn: (kwargs) => (when === undefined || when(kwargs) ? handler.fn(kwargs) : undefined),
    })),
  ],
  [
    'removes objects for any error',
    'keeps the values of the object if the function fails',
    withFunctions((fn) => (kwargs) => {
      try {
        return fn(kwargs);
      } catch (error) {
        if (error instanceof TemporaryError || error instanceof PermanentError) throw error;
        return {};
      }
    }),
  ],
  [
    'throws the errors of functions',
    'keeps the values of the object if the function fails',
    (parts) => {
      let failed: Error | undefined;
      const { indices, accept } = withFunctions((fn) => (kwargs) => {
        try {
          return fn(kwargs);
        } catch (error) {
          failed = error as Error;
          throw error;
        }
      })(parts);
      return {
        indices,
        accept: (at) => {
          const result = accept(at);
          if (failed !== undefined) throw failed;
          return result;
        },
      };
    },
  ],
  [
    'tries again after a permanent error',
    'excludes an object after a permanent error, until it is deleted',
    withFunctions((fn) => (kwargs) => {
      try {
        return fn(kwargs);
      } catch (error) {
        throw error instanceof PermanentError ? new TemporaryError('again', { delay: 0 }) : error;
      }
    }),
  ],
  [
    'remembers failures of those who are no more',
    'excludes an object after a permanent error, until it is deleted',
    withFunctions((fn) => {
      const failed = new Set<string>();
      return (kwargs) => {
        try {
          if (failed.has(kwargs.uid)) throw new PermanentError('still');
          return fn(kwargs);
        } catch (error) {
          if (error instanceof PermanentError) failed.add(kwargs.uid);
          throw error;
        }
      };
    }),
  ],
  [
    'never tries again after a temporary error',
    'excludes an object after a temporary error, until the delay is over',
    withFunctions((fn) => (kwargs) => {
      try {
        return fn(kwargs);
      } catch (error) {
        throw error instanceof TemporaryError ? new PermanentError('never') : error;
      }
    }),
  ],
  [
    'waits for an event after a temporary error',
    'excludes an object after a temporary error, until the delay is over',
    (parts) => memoryIndexer({ ...parts, clock: { ...parts.clock, sleep: () => new Promise(() => {}) } }),
  ],
  [
    'returns before it is done',
    'finishes synchronously unless the function returns a promise',
    withAccept((accept) => (at) => void accept(at)),
  ],
  [
    'has one queue for all objects',
    'holds up only the objects with slow functions',
    withAccept((accept) => {
      let last: Promise<void> = Promise.resolve();
      return (at) => {
        last = last.then(() => accept(at));
        return last;
      };
    }),
  ],
  [
    'lets events overtake each other',
    'ends with the newest state of an object, however slow older ones are',
    (parts) => racing(parts),
  ],
  ['revives deleted objects', 'ignores results of functions after the object is deleted', (parts) => racing(parts)],
  [
    'changes indices one by one',
    'changes all indices of an object atomically',
    (parts) => {
      // An indexer for each function: none of them waits for the others.
      const one = withHandlers((handler) => handler);
      const indexers = ['quick', 'slow', 'fn'].map((only) => one({ ...parts, registry: onlyOf(parts.registry, only) }));
      const get = ((ref: HandlerId | { id: HandlerId }) => {
        const id = typeof ref === 'string' ? ref : ref.id;
        return indexers.map(({ indices }) => indices.get(id)).find((index) => index !== undefined);
      }) as Indexer['indices']['get'];
      return {
        indices: { get, [Symbol.iterator]: () => indexers.flatMap(({ indices }) => [...indices]).values() },
        accept: async (at) => void (await Promise.all(indexers.map(async ({ accept }) => accept(at)))),
      };
    },
  ],
];

function onlyOf(registry: Registry, id: HandlerId): Registry {
  const { indexing } = registry.handlers;
  const mine = (handlers: Iterable<IndexHandler>) => [...handlers].filter((handler) => handler.id === id);
  const set: typeof indexing = {
    get size() {
      return mine(indexing).length;
    },
    [Symbol.iterator]: () => mine(indexing).values(),
    add: (handler) => indexing.add(handler),
    of: (resource) => mine(indexing.of(resource)),
    select: (cause) => mine(indexing.select(cause)),
  };
  return { ...registry, handlers: { ...registry.handlers, indexing: set } };
}

/** Waits for the functions by itself, and only then shows the results to an indexer, in the order of their ends. */
function racing({ registry, ...parts }: IndexerParts): Indexer {
  const results = new WeakMap<object, unknown>();
  const indexer = memoryIndexer({
    ...parts,
    registry: changed(registry, (handler) => ({ ...handler, fn: ({ body }) => results.get(body) })),
  });
  return {
    indices: indexer.indices,
    accept: async (at) => {
      const [handler] = registry.handlers.indexing;
      const { object, type } = at.event;
      const { name, namespace } = object.metadata ?? {};
      if (type !== 'DELETED')
        results.set(object, await handler?.fn({ body: object, spec: object['spec'], name, namespace }));
      await indexer.accept(at);
    },
  };
}

describe('the suite of indexers', () => {
  it('passes a good one', async () => {
    expect(await failures(indexerCases(memoryIndexer))).toEqual([]);
  });

  it('passes a good one that is always asynchronous', async () => {
    const always: Create = withAccept((accept) => async (at) => accept(at));
    expect(await failures(indexerCases(always))).toEqual([]);
  });

  it('is not disturbed by the ways in which the broken ones are made', async () => {
    expect(await failures(indexerCases(withFunctions((fn) => fn)))).toEqual([]);
    expect(await failures(indexerCases(withIndices((index) => altered(index))))).toEqual([]);
    expect(await failures(indexerCases(withStores((store) => store)))).toEqual([]);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    expect(await failures(indexerCases(create))).toContain(caught);
  });

  it.each(indexerCases(memoryIndexer).map(({ name }) => name))('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('says what is wrong in words', async () => {
    const cases = indexerCases(withAccept((accept) => (at) => void accept(at)));
    expect(await complaint(cases, 'finishes synchronously unless the function returns a promise')).toBe(
      'two is not there yet',
    );
  });
});
