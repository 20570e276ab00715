/** What the runtime of a pod needs for itself. */
import { deepCopy, deepEqual, type Mapping } from '@kopf-ts/core';
import type { AdmissionAttributes } from '../../contracts/admission.js';
import type { StoreReader } from '../../contracts/store.js';
import { forbidden } from '../../http/status-errors.js';
import { itemsOf, mappingAt, maybeMapping } from '../../kinds/defaults/setting.js';
import { parseRevision } from '../../store/revision.js';

const CLASSES = 'runtimeclasses.node.k8s.io';

export function setRuntime({ operation, object, resource, name }: AdmissionAttributes, store: StoreReader): void {
  if (operation !== 'CREATE' || object === undefined) return;
  const spec = mappingAt(object, 'spec');
  const runtime = spec.runtimeClassName;
  if (runtime === undefined || runtime === '') {
    if (spec.overhead === undefined) return;
    const why = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
    throw forbidden(resource, name, why);
  }
  const revision = store.get(CLASSES, '', String(runtime));
  if (revision === undefined)
    throw forbidden(resource, name, `pod rejected: RuntimeClass "${String(runtime)}" not found`);
  const found = parseRevision(revision);
  setOverhead(spec, maybeMapping(maybeMapping(found, 'overhead'), 'podFixed'), (why) => forbidden(resource, name, why));
  setScheduling(spec, maybeMapping(found, 'scheduling'), (why) => forbidden(resource, name, why));
}

type Refusal = (why: string) => Error;

function setOverhead(spec: Mapping, overhead: Mapping | undefined, refusal: Refusal): void {
  if (overhead === undefined) {
    if (spec.overhead === undefined) return;
    throw refusal('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  }
  if (spec.overhead !== undefined && !deepEqual(spec.overhead, overhead)) {
    throw refusal("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  spec.overhead = deepCopy(overhead);
}

function setScheduling(spec: Mapping, scheduling: Mapping | undefined, refusal: Refusal): void {
  if (scheduling === undefined) return;
  const wanted = maybeMapping(scheduling, 'nodeSelector') ?? {};
  const given = maybeMapping(spec, 'nodeSelector') ?? {};
  for (const [key, value] of Object.entries(wanted)) {
    if (given[key] === undefined || given[key] === value) continue;
    throw refusal(
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${String(value)}; pod.spec.nodeSelector[${key}] = ${String(given[key])}`,
    );
  }
  if (Object.keys(wanted).length > 0) spec.nodeSelector = { ...given, ...wanted };
  const known = itemsOf(spec, 'tolerations');
  const added = itemsOf(scheduling, 'tolerations').filter((one) => !known.some((other) => deepEqual(one, other)));
  if (added.length > 0) spec.tolerations = [...known, ...deepCopy(added)];
}
