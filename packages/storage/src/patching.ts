/** What storages leave on objects: reading it from bodies, putting it into patches, and taking it back. */
import { type Body, ensureField, type FieldPath, type Patch, removeField, resolveField } from '@kopf-ts/core';

/** The path of an annotation: its own dots are not separators. */
export function annotationPath(key: string): FieldPath {
  return ['metadata', 'annotations', key];
}

/**
 * Removes a trace: from the object, if it is there; otherwise from the patch, where it was only going to be written,
 * with whatever is left empty there. So a trace that never reached the cluster costs no request at all.
 */
export function erase(path: FieldPath, body: Body, patch: Patch): void {
  if (resolveField(body, path) !== undefined) ensureField(patch.merge, path, null);
  else if (!patch.isEmpty && resolveField(patch.merge, path) !== undefined) removeField(patch.merge, path);
}

/** The same for several annotations at once. */
export function eraseAnnotations(keys: readonly string[], body: Body, patch: Patch): void {
  const stored = body.metadata?.annotations;
  const written = (patch.merge as Body).metadata?.annotations;
  for (const key of keys) {
    if (has(stored, key)) ensureField(patch.merge, annotationPath(key), null);
    else if (has(written, key)) removeField(patch.merge, annotationPath(key));
  }
}

function has(annotations: unknown, key: string): boolean {
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) return false;
  return Object.hasOwn(annotations, key) && (annotations as { [key: string]: unknown })[key] !== undefined;
}

/** Writes a value of a touch, or removes it with `null`; returns whether there was anything to change. */
export function touchField(path: FieldPath, value: string | null, body: Body, patch: Patch): boolean {
  const current = resolveField(body, path) ?? null;
  if (current === value) return false;
  ensureField(patch.merge, path, value);
  return true;
}
