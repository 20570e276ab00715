/**
 * Writes the roles and bindings that every cluster begins with, as the API server of a real cluster serves them:
 *
 *   kubectl get clusterroles,clusterrolebindings,roles,rolebindings --all-namespaces \
 *     -l kubernetes.io/bootstrapping=rbac-defaults -o json | node scripts/bootstrap-roles.mjs
 *
 * Rules of aggregated roles are left out: they are made of the others. The differential suite compares the outcome.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const target = new URL('../packages/apiserver/src/authorization/bootstrap-policy.ts', import.meta.url);
const bootstrapping = 'kubernetes.io/bootstrapping';
const { items } = JSON.parse(readFileSync(0, 'utf8'));

const list = (values) => values.map((value) => (value === '' ? 'core' : value)).join(',');
const ruleText = ({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }) =>
  nonResourceURLs.length > 0
    ? `${list(verbs)} path ${list(nonResourceURLs)}`
    : [list(verbs), list(apiGroups), list(resources), list(resourceNames)].join(' ').trimEnd();
const subjectText = ({ kind, name, namespace }) =>
  kind === 'ServiceAccount' ? `${kind} ${namespace}/${name}` : `${kind} ${name}`;
const placed = ({ metadata: { name, namespace } }) => (namespace === undefined ? name : `${namespace}/${name}`);

function roleEntry({ metadata, rules, aggregationRule }) {
  const { [bootstrapping]: _, ...labels } = metadata.labels;
  const selectors = aggregationRule?.clusterRoleSelectors.map(({ matchLabels }) => Object.keys(matchLabels).join());
  const written = rules.map((rule) => `      ${JSON.stringify(ruleText(rule))},`).join('\n');
  return [
    ...(Object.keys(labels).length > 0 ? [`    labels: ${JSON.stringify(Object.keys(labels))},`] : []),
    selectors === undefined ? `    rules: [\n${written}\n    ],` : `    aggregates: ${JSON.stringify(selectors)},`,
  ].join('\n');
}

const ofKind = (pattern) => items.filter(({ kind }) => pattern.test(kind));
const roles = ofKind(/Role$/).map((role) => `  ${JSON.stringify(placed(role))}: {\n${roleEntry(role)}\n  },`);
const bindings = ofKind(/Binding$/).map(({ metadata, roleRef, subjects = [] }) => {
  const lines = [
    `role: ${JSON.stringify(`${roleRef.kind} ${roleRef.name}`)}`,
    `subjects: ${JSON.stringify(subjects.map(subjectText))}`,
  ];
  return `  ${JSON.stringify(placed({ metadata }))}: { ${lines.join(', ')} },`;
});

writeFileSync(
  target,
  `/**
 * The roles and bindings that every cluster begins with. Written by scripts/bootstrap-roles.mjs; do not edit.
 *
 * A rule is \`verbs groups resources names\`, or \`verbs path paths\`; the group without a name is \`core\`.
 */

export interface BootstrapRole {
  readonly labels?: readonly string[];
  /** Labels of the roles of which it is made. */
  readonly aggregates?: readonly string[];
  readonly rules?: readonly string[];
}

export interface BootstrapBinding {
  readonly role: string;
  readonly subjects: readonly string[];
}

/** By their names, with their namespaces if they have any. */
export const bootstrapRoles: Readonly<Record<string, BootstrapRole>> = {
${roles.join('\n')}
};

export const bootstrapBindings: Readonly<Record<string, BootstrapBinding>> = {
${bindings.join('\n')}
};
`,
);
