import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { Revision } from '../../src/contracts/store.js';
import { makeSortedCollection } from '../../src/store/sorted-collection.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const used = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};
const revision = (name: string): Revision => ({ name }) as Revision;

it('nothing is left of what came and went, even if nobody lists', () => {
  const collection = makeSortedCollection();
  collection.set('stays', revision('stays'));
  const before = used();
  for (let number = 0; number < 200_000; number++) {
    const key = `namespace/some-object-with-a-rather-long-name-${number}`;
    collection.set(key, revision(key));
    collection.delete(key);
  }
  expect(used() - before).toBeLessThan(2_000_000);
  expect(collection.sorted().map(({ name }) => name)).toEqual(['stays']);
});

it('all are in order, whatever came and went before', () => {
  const collection = makeSortedCollection();
  for (let number = 0; number < 3_000; number++) collection.set(`k${number}`, revision(`k${number}`));
  for (let number = 0; number < 3_000; number++) if (number % 7 !== 0) collection.delete(`k${number}`);
  collection.set('k7777', revision('k7777'));
  collection.delete('k0');
  collection.set('k0', revision('k0'));
  const names = collection.sorted().map(({ name }) => name);
  expect(names).toEqual([...names].sort());
  expect(names).toHaveLength(430);
});
