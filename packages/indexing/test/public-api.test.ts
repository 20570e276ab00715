import { expect, it } from 'vitest';
import * as indexing from '../src/index.js';

it('exports the indexer, and nothing else', () => {
  expect(Object.keys(indexing)).toEqual(['memoryIndexer']);
});
