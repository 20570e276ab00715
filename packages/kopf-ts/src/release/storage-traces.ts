/** The traces of an operator's storages on an object. Only a storage knows where it writes, so each is asked. */
import {
  type Body,
  deepCopy,
  type Essence,
  ensureField,
  type FieldPath,
  getOwn,
  hasField,
  isMapping,
  type Mapping,
  Patch,
  type Resource,
  type Settings,
  setOwn,
} from '@kopf-ts/core';

/** Stanzas that belong to no storage, even if everything in them does. */
const COMMON: readonly FieldPath[] = [['metadata'], ['metadata', 'annotations'], ['metadata', 'labels'], ['status']];

/** A merge-patch that removes all traces; empty if there are none. */
export async function tracesOf(body: Body, resource: Resource, settings: Settings): Promise<Mapping> {
  const { progressStorage, diffbaseStorage } = settings.persistence;
  const erasing: Mapping = {};
  const erase = (path: FieldPath): void => {
    if (hasField(body, path)) ensureField(erasing, path, null);
  };
  if (progressStorage !== undefined) {
    const cleared = progressStorage.clear(deepCopy(body) as Essence);
    for (const path of removedPaths(body, cleared)) erase(path);
    const touch = new Patch({}, { body });
    await progressStorage.touch({ value: null, body, patch: touch });
    for (const path of leaves(touch.merge)) erase(path);
  }
  if (diffbaseStorage !== undefined) {
    // The fields that it would write or erase to store another state are those where it stores this one. Some are written
    // only once per object, so an object without any is tried, too.
    for (const like of [body, unmarked(body)]) {
      const store = new Patch({}, { body: like });
      await diffbaseStorage.store({ essence: {}, body: like, patch: store, resource });
      for (const path of leaves(store.merge)) erase(path);
    }
  }
  return collapsed(erasing, body) as Mapping;
}

function unmarked(body: Body): Body {
  const { status: _status, ...rest } = body;
  return { ...rest, metadata: { ...body.metadata, annotations: {} } } as Body;
}

/** Stanzas that would become empty are removed as a whole unless they are common ones. */
function collapsed(erasing: unknown, body: unknown, path: FieldPath = []): unknown {
  if (!isMapping(erasing) || !isMapping(body)) return erasing;
  const inner: Mapping = {};
  for (const key of Object.keys(erasing)) {
    setOwn(inner, key, collapsed(getOwn(erasing, key), getOwn(body, key), [...path, key]));
  }
  const isLeftEmpty = Object.keys(body).every((key) => getOwn(inner, key) === null);
  return path.length > 0 && isLeftEmpty && !isCommon(path) ? null : inner;
}

function isCommon(path: FieldPath): boolean {
  return COMMON.some((common) => common.join('/') === path.join('/'));
}

/** The fields that a merge-patch changes. */
export function fieldsOf(merge: Mapping): readonly FieldPath[] {
  return leaves(merge);
}

/** The fields in the former but not in the latter: as whole stanzas where possible, except common ones. */
function removedPaths(before: unknown, after: unknown, path: FieldPath = []): FieldPath[] {
  if (!isMapping(before)) return [];
  return Object.keys(before).flatMap((key) => {
    const here = [...path, key];
    const remains = isMapping(after) ? getOwn(after, key) : undefined;
    if (remains === undefined && !isCommon(here)) return [here];
    return removedPaths(getOwn(before, key), remains, here);
  });
}

function leaves(value: unknown, path: FieldPath = []): FieldPath[] {
  const isLeaf = !isMapping(value) || (path.length > 0 && Object.keys(value).length === 0);
  if (isLeaf) return [path];
  return Object.keys(value).flatMap((key) => leaves(getOwn(value, key), [...path, key]));
}
