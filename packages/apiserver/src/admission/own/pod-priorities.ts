/** From the name of a priority to its number. */
import type { AdmissionAttributes } from '../../contracts/admission.js';
import type { ServedObject } from '../../contracts/objects.js';
import type { StoreReader } from '../../contracts/store.js';
import { forbidden } from '../../http/status-errors.js';
import { mappingAt } from '../../kinds/defaults/setting.js';
import { parseRevision } from '../../store/revision.js';

const CLASSES = 'priorityclasses.scheduling.k8s.io';

interface Priority {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

const NO_CLASS: Priority = { name: '', value: 0, preemptionPolicy: 'PreemptLowerPriority' };

export function setPriority(
  { operation, object, oldObject, resource, name }: AdmissionAttributes,
  store: StoreReader,
): void {
  if (object === undefined) return;
  const spec = mappingAt(object, 'spec');
  if (operation === 'UPDATE') {
    // Who sends the manifest once more knows nothing of what was set.
    const before = mappingAt(oldObject ?? object, 'spec');
    if (before.priority !== undefined) spec.priority ??= before.priority;
    if (before.preemptionPolicy !== undefined) spec.preemptionPolicy ??= before.preemptionPolicy;
    return;
  }
  const priority = priorityOf(spec.priorityClassName, store);
  if (priority === undefined) {
    throw forbidden(resource, name, `no PriorityClass with name ${String(spec.priorityClassName)} was found`);
  }
  if (priority.name !== '') spec.priorityClassName = priority.name;
  const given = { value: spec.priority ?? priority.value, policy: spec.preemptionPolicy ?? priority.preemptionPolicy };
  const computed = 'must not be provided in pod spec; priority admission controller computed';
  const from = 'from the given PriorityClass name';
  if (given.value !== priority.value) {
    const why = `the integer value of priority (${String(given.value)}) ${computed} ${priority.value} ${from}`;
    throw forbidden(resource, name, why);
  }
  spec.priority = priority.value;
  if (given.policy !== priority.preemptionPolicy) {
    const why = `the string value of PreemptionPolicy (${String(given.policy)}) ${computed} ${priority.preemptionPolicy} ${from}`;
    throw forbidden(resource, name, why);
  }
  spec.preemptionPolicy = priority.preemptionPolicy;
}

function priorityOf(name: unknown, store: StoreReader): Priority | undefined {
  if (name === undefined || name === '') return defaultOf(store) ?? NO_CLASS;
  const revision = store.get(CLASSES, '', String(name));
  return revision === undefined ? undefined : readPriority(parseRevision(revision));
}

function readPriority({ metadata, value, preemptionPolicy }: ServedObject): Priority {
  return {
    name: metadata.name ?? '',
    value: typeof value === 'number' ? value : 0,
    preemptionPolicy: typeof preemptionPolicy === 'string' ? preemptionPolicy : NO_CLASS.preemptionPolicy,
  };
}

/** Of all pods that do not name one. If there are several, the lowest one. */
function defaultOf(store: StoreReader): Priority | undefined {
  const marked = store.list(CLASSES).filter(({ json }) => json.includes('"globalDefault":true'));
  const priorities = marked
    .map(parseRevision)
    .filter(({ globalDefault }) => globalDefault === true)
    .map(readPriority);
  return priorities.sort((a, b) => a.value - b.value)[0];
}

export function refuseSecondDefault({ resource, object, name }: AdmissionAttributes, store: StoreReader): void {
  if (resource.collection !== CLASSES || object?.globalDefault !== true) return;
  const known = defaultOf(store);
  if (known === undefined || known.name === name) return;
  const why = `PriorityClass ${known.name} is already marked as default. Only one default can exist`;
  throw forbidden(resource, name, why);
}
