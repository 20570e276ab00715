/**
 * In what the embedded server is not like kube-apiserver, and why. The suite forgives nothing else, and fails when
 * something here is no longer true. The same list, for people, is in docs/known-differences.md.
 */
import type { KnownDifference } from './harness/comparison.js';
import { sortedKeys } from './harness/normalise.js';
import { mapTexts, valueAt } from './harness/paths.js';

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
  return mapTexts(withoutKeys(answer, ['managedFields']), (text) => text.replace(quoted, '').replace(/,(?=\})/g, ''));
}

/** Quoted objects with their keys in one order. */
function withQuotesInOrder(text: string): string {
  return text.replace(/"(\{(?:[^"\\]|\\.)*\})"/g, (whole, quoted: string) => {
    try {
      return JSON.stringify(JSON.stringify(sortedKeys(JSON.parse(JSON.parse(`"${quoted}"`) as string))));
    } catch {
      return whole;
    }
  });
}

/** What the server was made of: each build has its own. */
const build = ['gitVersion', 'gitCommit', 'goVersion', 'compiler', 'platform'];

/** Groups, resources of the core, and subresources of which the embedded server knows nothing. */
const notServed = new Set([
  ...['apiregistration.k8s.io', 'autoscaling', 'certificates.k8s.io', 'policy', 'storage.k8s.io'],
  ...['scheduling.k8s.io', 'node.k8s.io', 'discovery.k8s.io', 'resource.k8s.io', 'flowcontrol.apiserver.k8s.io'],
  ...['bindings', 'componentstatuses', 'nodes/proxy', 'services/proxy'],
  ...['pods/attach', 'pods/exec', 'pods/log', 'pods/portforward', 'pods/proxy'],
]);

/** Both forms of discovery. */
function withoutUnserved(value: unknown, parent = ''): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    const { resource } = value as { resource?: unknown };
    const name = typeof resource === 'string' ? resource : parent;
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, item]) => [key, withoutUnserved(item, name)] as const)
        .filter(([key, item]) => key !== 'subresources' || (item as unknown[]).length > 0),
    );
  }
  const nameOf = ({ name, resource, subresource }: Readonly<Record<string, unknown>>) =>
    String(subresource === undefined ? (resource ?? name) : `${parent}/${subresource}`);
  return value.filter((item) => !notServed.has(nameOf(item ?? {}))).map((item) => withoutUnserved(item, parent));
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    id: 'managed-fields',
    reason:
      'Which client has set which field is not tracked: it is for server-side apply, which operators do not need.',
    appliesTo: () => true,
    forgive: withoutManagedFields,
  },
  {
    id: 'build',
    reason: 'The version says honestly that the embedded server is not built by Go from the sources of Kubernetes.',
    appliesTo: ({ step }) => /^GET \/version\/?$/.test(step),
    forgive: (answer) => withoutKeys(answer, build),
  },
  {
    id: 'kinds-not-served',
    reason: 'Groups that operators seldom need, and what needs nodes with running containers, are not in discovery.',
    appliesTo: ({ area }) => area.startsWith('discovery'),
    forgive: (answer) => withoutUnserved(answer),
  },
  {
    id: 'other-patches',
    reason: 'Merging lists by keys and server-side apply are for kubectl; operators send JSON and merge patches.',
    appliesTo: ({ sequence }) =>
      /^(strategic patches of (custom objects|keyed lists|what is unknown)|applications|a dry application)/.test(
        sequence,
      ),
    forgive: (answer) => (valueAt(answer, 'headers') === undefined ? answer : 'an answer to a patch of another type'),
  },
  {
    id: 'order-in-quotes',
    reason: 'Where a message quotes a whole object, its fields may come in another order.',
    appliesTo: ({ step }) => step.startsWith('PATCH'),
    forgive: (answer) => mapTexts(answer, withQuotesInOrder),
  },
  {
    id: 'diffs-in-messages',
    reason: 'What a refused update of a pod has changed is not told in the words of the internal types of Kubernetes.',
    appliesTo: ({ step }) => step.includes('/pods/'),
    forgive: (answer) => mapTexts(answer, (text) => text.replace(/\n@@ .*$/s, '')),
  },
  {
    id: 'big-integers',
    reason: 'Integers beyond 2^53 lose their last digits, as in everything that is written in JavaScript.',
    appliesTo: ({ sequence }) => sequence === 'numbers at their limits',
    forgive: (answer) => mapTexts(answer, (text) => text.replace(/^<integer (\d{15})\d*>$/, '$1')),
  },
  {
    id: 'rbac',
    reason: 'Roles and their bindings are kept, but not enforced: everybody with credentials may do everything.',
    appliesTo: ({ area }) => area.startsWith('reviews'),
    forgive: (answer) => withoutKeys(answer, ['allowed', 'resourceRules', 'nonResourceRules']),
  },
  {
    id: 'cel',
    reason: 'Expressions in CEL are kept, but not evaluated: what they would refuse is accepted.',
    appliesTo: ({ sequence }) => sequence.endsWith('in CEL'),
    forgive: () => 'whatever the expression says',
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
  {
    id: 'order-of-rules',
    reason: 'What somebody may do is told in the order in which the roles happen to be found.',
    appliesTo: ({ area }) => area.startsWith('reviews'),
    forgive: (answer) => withoutKeys(answer, ['resourceRules', 'nonResourceRules']),
  },
];
