import type { Body } from './body.js';

/** What tells objects apart: the uid, or all that can be known of the very few that have none. */
export function objectKey({ apiVersion, kind, metadata }: Body): string {
  if (metadata?.uid) return metadata.uid;
  const { name, namespace, creationTimestamp } = metadata ?? {};
  return [kind, apiVersion, name, namespace, creationTimestamp].map((part) => part || '-').join('//');
}
