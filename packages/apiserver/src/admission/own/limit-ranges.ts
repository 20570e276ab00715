/** Limits of containers, pods and claims: what is set where nothing is said, and what is refused. */
import type { Mapping } from '@kopf-ts/core';
import type { AdmissionAttributes } from '../../contracts/admission.js';
import type { ServedObject } from '../../contracts/objects.js';
import type { StoreReader } from '../../contracts/store.js';
import { forbidden } from '../../http/status-errors.js';
import { itemsOf, mappingAt, maybeMapping } from '../../kinds/defaults/setting.js';
import { parseRevision } from '../../store/revision.js';
import { compareQuantities } from '../../typed/quantity.js';
import { addQuantities, ratioOf } from '../../typed/quantity-sums.js';

const LIMIT_RANGES = 'limitranges';
const ANNOTATION = 'kubernetes.io/limit-ranger';

/** Pods as they are created; claims also as they change. */
function isLimited({ resource, operation }: AdmissionAttributes): boolean {
  if (resource.collection === 'pods') return operation === 'CREATE';
  return resource.collection === 'persistentvolumeclaims';
}

function limitsFor(attributes: AdmissionAttributes, store: StoreReader): readonly Mapping[] {
  if (!isLimited(attributes) || store.count(LIMIT_RANGES) === 0) return [];
  const ranges = store.list(LIMIT_RANGES, attributes.namespace).map(parseRevision);
  return ranges.flatMap((range) => itemsOf(maybeMapping(range, 'spec'), 'limits'));
}

export function setLimitDefaults(attributes: AdmissionAttributes, store: StoreReader): void {
  const { resource, operation, object } = attributes;
  if (object === undefined || resource.collection !== 'pods' || operation !== 'CREATE') return;
  const limits = limitsFor(attributes, store).filter(({ type }) => type === 'Container');
  const told: string[] = [];
  for (const limit of limits) {
    const defaults = {
      requests: maybeMapping(limit, 'defaultRequest') ?? {},
      limits: maybeMapping(limit, 'default') ?? {},
    };
    const spec = mappingAt(object, 'spec');
    for (const [key, kind] of [
      ['containers', 'container'],
      ['initContainers', 'init container'],
    ] as const) {
      for (const container of itemsOf(spec, key)) {
        told.push(...setDefaults(container, defaults, `${kind} ${String(container.name)}`));
      }
    }
  }
  if (told.length === 0) return;
  const annotations = mappingAt(object.metadata, 'annotations');
  annotations[ANNOTATION] = `LimitRanger plugin set: ${told.join('; ')}`;
}

function setDefaults(
  container: Mapping,
  defaults: { readonly requests: Mapping; readonly limits: Mapping },
  title: string,
): readonly string[] {
  const resources = mappingAt(container, 'resources');
  return (['requests', 'limits'] as const).flatMap((list) => {
    const given = maybeMapping(resources, list) ?? {};
    const missing = Object.keys(defaults[list]).filter((name) => given[name] === undefined);
    if (missing.length === 0) return [];
    resources[list] = { ...given, ...Object.fromEntries(missing.map((name) => [name, defaults[list][name]])) };
    return [`${missing.sort().join(', ')} ${list === 'limits' ? 'limit' : 'request'} for ${title}`];
  });
}

export function refuseBeyondLimits(attributes: AdmissionAttributes, store: StoreReader): void {
  const { object, resource, name } = attributes;
  const limits = limitsFor(attributes, store);
  if (object === undefined || limits.length === 0) return;
  const problems = resource.collection === 'pods' ? ofPod(object, limits) : ofClaim(object, limits);
  if (problems.length === 0) return;
  throw forbidden(resource, name, problems.length === 1 ? String(problems[0]) : `[${problems.join(', ')}]`);
}

interface Resources {
  readonly requests: Mapping;
  readonly limits: Mapping;
}

function resourcesOf(container: Mapping): Resources {
  const resources = maybeMapping(container, 'resources');
  return { requests: maybeMapping(resources, 'requests') ?? {}, limits: maybeMapping(resources, 'limits') ?? {} };
}

function ofPod(pod: ServedObject, limits: readonly Mapping[]): readonly string[] {
  const spec = maybeMapping(pod, 'spec') ?? {};
  const containers = [...itemsOf(spec, 'containers'), ...itemsOf(spec, 'initContainers')];
  return limits.flatMap((limit) => {
    if (limit.type === 'Container') return containers.flatMap((one) => problemsOf(resourcesOf(one), limit));
    return limit.type === 'Pod' ? problemsOf(resourcesOfPod(spec), limit) : [];
  });
}

/** All containers run at once; of the initial ones, one after another. */
function resourcesOfPod(spec: Mapping): Resources {
  const together = itemsOf(spec, 'containers').map(resourcesOf);
  const inTurn = itemsOf(spec, 'initContainers').map(resourcesOf);
  const totalOf = (list: 'requests' | 'limits'): Mapping => {
    const total: Mapping = {};
    for (const one of together) {
      for (const [name, value] of Object.entries(one[list])) {
        total[name] = total[name] === undefined ? value : addQuantities(String(total[name]), String(value));
      }
    }
    for (const one of inTurn) {
      for (const [name, value] of Object.entries(one[list])) {
        const isMore = total[name] === undefined || compareQuantities(String(value), String(total[name])) > 0;
        if (isMore) total[name] = value;
      }
    }
    return total;
  };
  return { requests: totalOf('requests'), limits: totalOf('limits') };
}

function ofClaim(claim: ServedObject, limits: readonly Mapping[]): readonly string[] {
  const { requests } = resourcesOf(maybeMapping(claim, 'spec') ?? {});
  return limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((limit) => problemsOf({ requests, limits: requests }, limit, 'request'));
}

/** `upper` is what a maximum is compared with. */
function problemsOf({ requests, limits }: Resources, limit: Mapping, upper = 'limit'): readonly string[] {
  const per = `usage per ${String(limit.type)} is`;
  const sorted = (key: string): readonly (readonly [string, string])[] =>
    Object.entries(maybeMapping(limit, key) ?? {})
      .map(([name, value]) => [name, String(value)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const textOf = (list: Mapping, name: string): string | undefined =>
    list[name] === undefined ? undefined : String(list[name]);
  return [
    ...sorted('min').flatMap(([name, least]) => {
      const [request, most] = [textOf(requests, name), textOf(limits, name)];
      const title = `minimum ${name} ${per} ${least}`;
      if (request === undefined) return [`${title}.  No request is specified`];
      if (compareQuantities(request, least) < 0) return [`${title}, but request is ${request}`];
      return most !== undefined && compareQuantities(most, least) < 0 ? [`${title}, but limit is ${most}`] : [];
    }),
    ...sorted('max').flatMap(([name, most]) => {
      const [request, is] = [textOf(requests, name), textOf(limits, name)];
      const title = `maximum ${name} ${per} ${most}`;
      if (is === undefined) return [`${title}.  No ${upper} is specified`];
      if (compareQuantities(is, most) > 0) return [`${title}, but ${upper} is ${is}`];
      return request !== undefined && compareQuantities(request, most) > 0
        ? [`${title}, but request is ${request}`]
        : [];
    }),
    ...sorted('maxLimitRequestRatio').flatMap(([name, ratio]) => {
      const [request, is] = [textOf(requests, name), textOf(limits, name)];
      const title = `${name} max limit to request ratio per ${String(limit.type)} is ${ratio}`;
      if (request === undefined || compareQuantities(request, '0') === 0)
        return [`${title}, but no request is specified or request is 0`];
      if (is === undefined || compareQuantities(is, '0') === 0)
        return [`${title}, but no limit is specified or limit is 0`];
      const actual = ratioOf(is, request);
      return actual > ratioOf(ratio, '1') ? [`${title}, but provided ratio is ${actual.toFixed(6)}`] : [];
    }),
  ];
}
