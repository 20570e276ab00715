/**
 * In what the embedded server is not like kube-apiserver, and why. The suite forgives nothing else, and fails when
 * something here is no longer true. The same list, for people, is in docs/known-differences.md.
 */
import type { KnownDifference } from './harness/comparison.js';
import { mapTexts } from './harness/paths.js';

export const mostKnownDifferences = 15;

/** A copy of the answer without some keys, wherever they are. */
function withoutKeys(value: unknown, keys: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutKeys(item, keys));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !keys.includes(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutKeys(item, keys)]));
}

/** Also in the texts of messages that quote whole objects. */
function withoutManagedFields(answer: unknown): unknown {
  const quoted = /\\?"managedFields\\?":\[.*?\}\],?/g;
  return mapTexts(withoutKeys(answer, ['managedFields']), (text) =>
    text.replace(quoted, '').replace(/,(?=\}\\?[,}])/g, ''),
  );
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    id: 'managed-fields',
    reason:
      'Which client has set which field is not tracked: it is for server-side apply, which operators do not need.',
    appliesTo: () => true,
    forgive: withoutManagedFields,
  },
];

/** What differs from one run to another on the real server itself. */
export const chance: readonly KnownDifference[] = [
  {
    id: 'order-of-managers',
    reason: 'Entries of the same second are ordered by the names of their managers, others by their times.',
    appliesTo: () => true,
    forgive: withoutManagedFields,
  },
  {
    id: 'hashes-of-versions',
    reason: 'They depend on the group, and each run has a group of its own.',
    appliesTo: ({ area }) => area.startsWith('discovery'),
    forgive: (answer) => withoutKeys(answer, ['storageVersionHash']),
  },
];
