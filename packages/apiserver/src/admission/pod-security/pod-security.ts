/** Pods are refused where their namespace does not want such; of what makes pods, only warnings tell. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { AdmissionAttributes } from '../../contracts/admission.js';
import type { ServedObject } from '../../contracts/objects.js';
import type { StoreReader } from '../../contracts/store.js';
import { forbidden, invalid } from '../../http/status-errors.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { parseRevision } from '../../store/revision.js';
import { goQuote } from '../../text/go-text.js';
import type { Violation } from './security-checks.js';
import { isStricter, type Labels, policyOf, type Standard, titleOf } from './security-policy.js';
import { violationsOf } from './security-standards.js';

/** Where the templates of pods are. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  podtemplates: ['template'],
  replicationcontrollers: ['spec', 'template'],
  'replicasets.apps': ['spec', 'template'],
  'deployments.apps': ['spec', 'template'],
  'statefulsets.apps': ['spec', 'template'],
  'daemonsets.apps': ['spec', 'template'],
  'jobs.batch': ['spec', 'template'],
  'cronjobs.batch': ['spec', 'jobTemplate', 'spec', 'template'],
};

/** The parts of pods with which containers come and change. */
const PARTS_OF_PODS = new Set(['', 'ephemeralcontainers', 'resize']);

/** As many pods are looked at when the labels of their namespace change. */
const MOST_PODS = 3000;

export function securePods(attributes: AdmissionAttributes, store: StoreReader): void {
  const { resource, subresource, operation, object } = attributes;
  if (object === undefined || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
  if (resource.collection === 'pods') {
    if (PARTS_OF_PODS.has(subresource)) securePod(attributes, object, store);
    return;
  }
  if (subresource !== '') return;
  if (resource.collection === 'namespaces') secureNamespace(attributes, object, store);
  const path = TEMPLATES[resource.collection];
  if (path !== undefined) warnOfTemplate(attributes, object, path, store);
}

const labelsIn = (store: StoreReader, namespace: string): Labels | undefined =>
  store.get('namespaces', '', namespace)?.labels;

const told = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

function securePod(attributes: AdmissionAttributes, pod: ServedObject, store: StoreReader): void {
  const { resource, namespace, name, oldObject } = attributes;
  const labels = labelsIn(store, namespace);
  if (labels === undefined) return;
  const { enforce, warn } = policyOf(labels);
  if (oldObject !== undefined && !isSignificant(pod, oldObject)) return;
  const violations = violationsOf(enforce, pod);
  if (violations.length > 0) {
    throw forbidden(resource, name, `violates PodSecurity ${goQuote(titleOf(enforce))}: ${told(violations)}`);
  }
  warnOf(attributes, warn, pod);
}

/** Other containers, or other images. What else may change in a pod is harmless. */
function isSignificant(pod: ServedObject, old: ServedObject): boolean {
  const imagesOf = ({ spec }: ServedObject, key: string): unknown[] =>
    itemsOf(spec as Mapping | undefined, key).map(({ image }) => image);
  const isChanged = ['containers', 'initContainers'].some((key) => {
    const [before, after] = [imagesOf(old, key), imagesOf(pod, key)];
    return before.length !== after.length || after.some((image, index) => image !== before[index]);
  });
  const added = itemsOf(pod.spec as Mapping | undefined, 'ephemeralContainers');
  const known = itemsOf(old.spec as Mapping | undefined, 'ephemeralContainers');
  return isChanged || added.some((one) => known.find(({ name }) => name === one.name)?.image !== one.image);
}

function warnOf({ warn }: AdmissionAttributes, standard: Standard, pod: Mapping): void {
  const violations = violationsOf(standard, pod);
  if (violations.length > 0) warn(`would violate PodSecurity ${goQuote(titleOf(standard))}: ${told(violations)}`);
}

function warnOfTemplate(
  attributes: AdmissionAttributes,
  object: ServedObject,
  path: readonly string[],
  store: StoreReader,
): void {
  const labels = labelsIn(store, attributes.namespace);
  if (labels === undefined) return;
  const template = path.reduce<unknown>((value, key) => maybeMapping(value as Mapping | undefined, key), object);
  if (isMapping(template)) warnOf(attributes, policyOf(labels).warn, template);
}

function secureNamespace(attributes: AdmissionAttributes, namespace: ServedObject, store: StoreReader): void {
  const { oldObject, warn } = attributes;
  const name = namespace.metadata.name ?? '';
  const policy = policyOf(namespace.metadata.labels as Labels | undefined);
  const old = oldObject === undefined ? undefined : policyOf(oldObject.metadata.labels as Labels | undefined);
  const isKnown = old !== undefined && JSON.stringify(old.causes) === JSON.stringify(policy.causes);
  if (policy.causes.length > 0 && !isKnown) throw invalid({ group: '', kind: 'Namespace' }, name, policy.causes);
  if (old === undefined || !isTightened(policy.enforce, old.enforce)) return;
  for (const text of warningsOf(store, name, policy.enforce)) warn(text);
}

/** Another version of a level may be stricter, too: who knows. */
function isTightened(now: Standard, before: Standard): boolean {
  if (now.level === 'privileged') return false;
  return now.minor === before.minor ? isStricter(now.level, before.level) : true;
}

/** Of the pods that are there already. They stay. */
function warningsOf(store: StoreReader, namespace: string, standard: Standard): readonly string[] {
  const pods = store.list('pods', namespace);
  const byReason = new Map<string, string[]>();
  for (const revision of pods.slice(0, MOST_PODS)) {
    const reasons = violationsOf(standard, parseRevision(revision)).map(({ reason }) => reason);
    if (reasons.length === 0) continue;
    const key = reasons.join(', ');
    byReason.set(key, [...(byReason.get(key) ?? []), revision.name]);
  }
  const title = goQuote(titleOf(standard));
  return [
    ...(pods.length > MOST_PODS
      ? [`new PodSecurity enforce level only checked against the first ${MOST_PODS} of ${pods.length} existing pods`]
      : []),
    ...(byReason.size > 0
      ? [`existing pods in namespace ${goQuote(namespace)} violate the new PodSecurity enforce level ${title}`]
      : []),
    ...[...byReason].map(([reason, names]) => `${names[0]}${andOthers(names.length - 1)}: ${reason}`).sort(),
  ];
}

function andOthers(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ' (and 1 other pod)' : ` (and ${count} other pods)`;
}
