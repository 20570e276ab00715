/** Objects for the suites, and what a cluster would do with them. */
import { type Body, deepCopy, getOwn, isMapping, type Mapping, type Patch, setOwn } from '@kopf-ts/core';

/** An ordinary object with an identity of its own, frozen: changing it fails at once. */
export function sampleBody(name = 'one', parts: Mapping = {}): Body {
  return frozen({
    apiVersion: 'kopf.dev/v1',
    kind: 'KopfExample',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-of-${name}`,
      resourceVersion: '123',
      generation: 1,
      creationTimestamp: '2020-01-01T00:00:00Z',
      managedFields: [{ manager: 'kubectl' }],
      labels: { app: 'demo' },
      annotations: { note: 'of a user' },
    },
    spec: { size: '1G', replicas: 3, items: ['a', { b: null }], nested: { empty: {} } },
    ...parts,
  }) as Body;
}

/** The object after the cluster has taken the patch. */
export function patched(body: Body, patch: Patch): Body {
  const after = deepCopy(body) as Mapping;
  merge(after, deepCopy(patch.merge));
  return frozen(after) as Body;
}

/** The same patch with something else instead of each value in it: as if a stranger had been there. */
export function spoiled(merge: Mapping, garbage: unknown): Mapping {
  const result: Mapping = {};
  for (const key of Object.keys(merge)) {
    const value = merge[key];
    setOwn(result, key, isMapping(value) ? spoiled(value, garbage) : value === null ? null : garbage);
  }
  return result;
}

/** RFC 7386, to the letter: emptied mappings stay. */
function merge(target: Mapping, patch: Mapping): void {
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) {
      delete target[key];
    } else if (isMapping(value)) {
      const existing = getOwn(target, key);
      const merged = isMapping(existing) ? existing : {};
      merge(merged, value);
      setOwn(target, key, merged);
    } else {
      setOwn(target, key, value);
    }
  }
}

/** The same value, with everything in it read-only: a sin of an implementation is then an error, not a surprise. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const key of Object.keys(value)) frozen((value as Mapping)[key]);
  return Object.freeze(value);
}
