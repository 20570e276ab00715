import { type HandlerId, type Index, type IndexRef, type Indices, KopfError, type Registry } from '@kopf-ts/core';
import { type MemoryIndex, memoryIndex } from './memory-index.js';
import type { SlotOf } from './structural-keys.js';

export interface MemoryIndices {
  /** As everybody reads them. */
  readonly indices: Indices;
  /** As the indexer writes them. */
  of(id: HandlerId): MemoryIndex;
}

/** There is an index for each declared function from the very beginning, or from when it is declared. */
// biome-ignore lint/suspicious/noExplicitAny: an indexer runs handlers of any environment alike
export function memoryIndices({ handlers }: Registry<any>, slotOf: SlotOf): MemoryIndices {
  const writable = new Map<HandlerId, MemoryIndex>();
  const readable = new Map<HandlerId, Index>();
  let handlersSeen = 0;

  const of = (id: HandlerId): MemoryIndex => {
    let found = writable.get(id);
    if (found === undefined) {
      found = memoryIndex(slotOf);
      writable.set(id, found);
      readable.set(id, found.index);
    }
    return found;
  };
  // Asked for every call of every handler: it must cost nothing while nothing new is declared.
  const upToDate = (): Map<HandlerId, Index> => {
    if (handlers.indexing.size !== handlersSeen) {
      for (const { id } of handlers.indexing) of(id);
      handlersSeen = handlers.indexing.size;
    }
    return readable;
  };

  function get<K, V>(ref: IndexRef<K, V>): Index<K, V>;
  function get(id: HandlerId): Index | undefined;
  function get(refOrId: IndexRef<unknown, unknown> | HandlerId): Index | undefined {
    if (typeof refOrId === 'string') return upToDate().get(refOrId);
    const index = upToDate().get(refOrId.id);
    if (index !== undefined) return index;
    throw new KopfError(`There is no index "${refOrId.id}" in this operator: it is declared in another registry.`, {
      code: 'KOPF_NO_INDEX',
    });
  }
  return { indices: { get, [Symbol.iterator]: () => upToDate().entries() }, of };
}
