/** Every state of the past, against notes that were taken when it was the present. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Store } from '../../src/contracts/store.js';
import { makeStore } from '../../src/store/object-store.js';

const step = fc.record({
  collection: fc.constantFrom('maps', 'secrets'),
  namespace: fc.constantFrom('a', 'a-b', 'b'),
  name: fc.constantFrom('x', 'x-y', 'y', 'z'),
  isRemoval: fc.boolean(),
});
const shown = (store: Store, namespace: string | undefined, version: number): string[] =>
  store.listAt('maps', namespace, version).map((one) => `${one.namespace}/${one.name} ${one.version}`);

it.each([undefined, 'a'])('what is listed of the past is what was listed then (namespace: %s)', (namespace) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const store = makeStore();
      const notes = new Map<number, string[]>();
      for (const { collection, namespace: home, name, isRemoval } of steps) {
        const current = store.get(collection, home, name);
        if (!isRemoval) {
          const metadata = { name, namespace: home };
          store.put(collection, { apiVersion: 'v1', kind: 'ConfigMap', metadata }, current);
        } else if (current !== undefined) store.remove(current);
        const { version } = store;
        notes.set(
          version,
          store.list('maps', namespace).map((one) => `${one.namespace}/${one.name} ${one.version}`),
        );
      }
      for (const [version, listed] of notes) expect(shown(store, namespace, version)).toEqual(listed);
    }),
    { seed: 1 },
  );
});
