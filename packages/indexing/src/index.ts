/**
 * In-memory indices of the watched objects, filled by index handlers and read by all the others.
 * It leaves watching to `@kopf-ts/reactor` and running the handlers to `@kopf-ts/core`; nothing is stored
 * beyond the process.
 */
export { type MemoryIndexer, type MemoryIndexerOptions, memoryIndexer } from './indexer.js';
