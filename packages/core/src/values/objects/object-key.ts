import type { Body } from './body.js';

/** The identity of objects: the uid, or everything known about the very few without one. */
export function objectKey({ apiVersion, kind, metadata }: Body): string {
  if (metadata?.uid) return metadata.uid;
  const { name, namespace, creationTimestamp } = metadata ?? {};
  return [kind, apiVersion, name, namespace, creationTimestamp].map((part) => part || '-').join('//');
}
