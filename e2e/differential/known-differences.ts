/**
 * In what the embedded server is not like kube-apiserver, and why. The suite forgives nothing else, and fails when
 * something here is no longer true. The same list, for people, is in docs/toolkits/known-differences.md.
 */
import type { KnownDifference } from './harness/comparison.js';
import { sortedKeys } from './harness/normalise.js';
import { mapTexts, withoutKeys } from './harness/paths.js';

export const mostKnownDifferences = 8;

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

/** Messages that tell of internal types are what their causes are, and these are compared without that. */
function withoutInternals(answer: unknown): unknown {
  const { body } = (answer ?? {}) as { body?: { message?: unknown; details?: { causes?: unknown } } };
  const told = body?.details?.causes;
  if (typeof body?.message !== 'string' || !Array.isArray(told)) return answer;
  const isTold = told.some(({ message }) =>
    /is immutable|may not change fields|may not be changed/.test(String(message)),
  );
  if (!isTold) return answer;
  const causes = mapTexts(told, (text) =>
    text
      .replace(/\n@@ .*$/s, '')
      .replace(/Invalid value: \{.*\}: field is immutable/s, 'Invalid value: {…}: field is immutable'),
  );
  return { ...(answer as object), body: { ...body, message: '', details: { ...body.details, causes } } };
}

/** What the server was made of: each build has its own. */
const build = ['gitVersion', 'gitCommit', 'goVersion', 'compiler', 'platform'];

/** Groups, resources of the core, and subresources of which the embedded server knows nothing. */
const notServed = new Set([
  ...['apiregistration.k8s.io', 'resource.k8s.io', 'flowcontrol.apiserver.k8s.io'],
  ...['bindings', 'componentstatuses', 'nodes/proxy'],
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
    id: 'order-in-quotes',
    reason: 'Where a message quotes a whole object, its fields may come in another order.',
    appliesTo: ({ step }) => step.startsWith('PATCH'),
    forgive: (answer) => mapTexts(answer, withQuotesInOrder),
  },
  {
    id: 'diffs-in-messages',
    reason:
      'What a refused update of a pod, a job, an event, a volume or a claim has changed is not told in the words of the internal types of Kubernetes.',
    appliesTo: ({ step }) => /\/(pods|persistentvolumes|persistentvolumeclaims|jobs|events)\//.test(step),
    forgive: withoutInternals,
  },
  {
    id: 'big-integers',
    reason: 'Integers beyond 2^53 lose their last digits, as in everything that is written in JavaScript.',
    appliesTo: ({ sequence }) => sequence === 'numbers at their limits',
    forgive: (answer) => mapTexts(answer, (text) => text.replace(/^<integer (\d{15})\d*>$/, '$1')),
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
    id: 'hashes-of-versions',
    reason: 'They depend on the group, and each run has a group of its own.',
    appliesTo: ({ area }) => area.startsWith('discovery'),
    forgive: (answer) => withoutKeys(answer, ['storageVersionHash']),
  },
];
