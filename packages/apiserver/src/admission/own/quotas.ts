/** Quotas of namespaces: what would be too much is refused, and what is not is counted at once. */
import type { Mapping } from '@kopf-ts/core';
import type { AdmissionAttributes } from '../../contracts/admission.js';
import type { ServedObject } from '../../contracts/objects.js';
import type { Revision, Store } from '../../contracts/store.js';
import { forbidden } from '../../http/status-errors.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { parseRevision } from '../../store/revision.js';
import { compareQuantities } from '../../typed/quantity.js';
import { addQuantities, subtractQuantities } from '../../typed/quantity-sums.js';
import { isInScopes } from './quota-scopes.js';
import { isUsedBy, type Usage, usageOf } from './quota-usage.js';

const QUOTAS = 'resourcequotas';
/** Kinds whose changes may use more. */
const CHANGING: ReadonlySet<string> = new Set(['persistentvolumeclaims', 'services']);

interface Quota {
  readonly revision: Revision;
  readonly object: ServedObject;
  readonly hard: Mapping;
  readonly used: Mapping;
  /** Of what it limits, what such an object can use. */
  readonly names: readonly string[];
}

/** Notes that it is the server who has changed the status. */
export type TrackStatus = (object: ServedObject, live: ServedObject) => void;

export function chargeQuotas(attributes: AdmissionAttributes, store: Store, track: TrackStatus): void {
  const { operation, resource, namespace, name, object, oldObject, dryRun } = attributes;
  const { collection } = resource;
  if (object === undefined || namespace === '' || store.count(QUOTAS) === 0) return;
  if (operation === 'UPDATE' && !CHANGING.has(collection)) return;
  const quotas = quotasOf(store, namespace, collection, object);
  if (quotas.length === 0) return;
  const usage = increaseOf(usageOf(collection, object), oldObject === undefined ? {} : usageOf(collection, oldObject));
  for (const quota of quotas) {
    const problem = problemOf(quota, collection, object, usage);
    if (problem !== undefined) throw forbidden(resource, name, problem);
  }
  if (dryRun) return;
  for (const quota of quotas) charge(store, quota, usage, track);
}

function quotasOf(store: Store, namespace: string, collection: string, object: ServedObject): readonly Quota[] {
  return store.list(QUOTAS, namespace).flatMap((revision) => {
    const quota = parseRevision(revision);
    const status = maybeMapping(quota, 'status');
    const [hard, used] = [maybeMapping(status, 'hard') ?? {}, maybeMapping(status, 'used') ?? {}];
    const names = Object.keys(hard)
      .filter((name) => isUsedBy(collection, name))
      .sort();
    if (names.length === 0 || !isInScopes(quota, collection, object)) return [];
    return [{ revision, object: quota, hard, used, names }];
  });
}

/** Only what grows counts. */
function increaseOf(usage: Usage, before: Usage): Usage {
  const changes = Object.entries(usage).map(
    ([name, value]) => [name, subtractQuantities(value, before[name] ?? '0')] as const,
  );
  return Object.fromEntries(changes.filter(([, value]) => compareQuantities(value, '0') > 0));
}

function problemOf(quota: Quota, collection: string, object: ServedObject, usage: Usage): string | undefined {
  const { hard, used, names } = quota;
  const title = String(quota.object.metadata.name);
  const missing = collection === 'pods' ? unspecified(names, object) : '';
  if (missing !== '') return `failed quota: ${title}: must specify ${missing}`;
  if (names.some((name) => used[name] === undefined)) {
    return `status unknown for quota: ${title}, resources: ${names.join(',')}`;
  }
  const exceeded = names.filter((name) => {
    const requested = usage[name];
    if (requested === undefined) return false;
    return compareQuantities(addQuantities(String(used[name]), requested), String(hard[name])) > 0;
  });
  if (exceeded.length === 0) return undefined;
  const listed = (list: Mapping): string => exceeded.map((name) => `${name}=${String(list[name])}`).join(',');
  return `exceeded quota: ${title}, requested: ${listed(usage)}, used: ${listed(used)}, limited: ${listed(hard)}`;
}

const COMPUTED = ['cpu', 'memory'];

/** Who is limited has to say how much it is. */
function unspecified(names: readonly string[], pod: ServedObject): string {
  const spec = maybeMapping(pod, 'spec') ?? {};
  const containers = [...itemsOf(spec, 'containers'), ...itemsOf(spec, 'initContainers')];
  const texts = names.flatMap((name) => {
    const [, list = 'requests', resource = ''] = /^(?:(requests|limits)\.)?(.+)$/.exec(name) ?? [];
    if (!COMPUTED.includes(resource)) return [];
    const without = containers.filter(
      (container) => maybeMapping(maybeMapping(container, 'resources'), list)?.[resource] === undefined,
    );
    return without.length === 0 ? [] : [`${name} for: ${without.map((one) => String(one.name)).join(',')}`];
  });
  return texts.join('; ');
}

function charge(store: Store, { revision, object, used, names }: Quota, usage: Usage, track: TrackStatus): void {
  const added = names.filter((name) => usage[name] !== undefined);
  if (added.length === 0) return;
  const now = Object.fromEntries(added.map((name) => [name, addQuantities(String(used[name]), String(usage[name]))]));
  const status = maybeMapping(object, 'status') ?? {};
  const changed: ServedObject = {
    ...object,
    metadata: { ...object.metadata },
    status: { ...status, used: { ...used, ...now } },
  };
  track(changed, object);
  store.put(QUOTAS, changed, revision);
}
