/** What containers ask for, and what they are limited to. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { maybeMapping } from '../../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, required } from '../../text/field-causes.js';
import { canonicalQuantity, compareQuantities, inNano } from '../../typed/quantity.js';
import { qualifiedName } from '../names.js';
import { isStandard } from '../other-kinds/quota-rules.js';

const isHuge = (name: string): boolean => name.startsWith('hugepages-');
const isOfContainers = (name: string): boolean => ['cpu', 'memory', 'ephemeral-storage'].includes(name) || isHuge(name);
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
/** Devices of nodes, under names of others. */
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;
/** Some of it may be promised twice. */
const isDivisible = (name: string): boolean => isNative(name) && !isHuge(name);

export const isFractional = (quantity: unknown): boolean => inNano(String(quantity)) % 1_000_000_000n !== 0n;

/** What comes in whole numbers. */
const COUNTED = new Set([
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
]);

/** Of nodes, too. */
export function quantityProblems(name: string, quantity: unknown, field: string): readonly Cause[] {
  const text = String(quantity);
  return [
    ...(compareQuantities(text, '0') < 0 ? [invalidValue(field, text, 'must be greater than or equal to 0')] : []),
    ...((COUNTED.has(name) || isExtended(name)) && isFractional(text)
      ? [invalidValue(field, text, 'must be an integer')]
      : []),
  ];
}

/** Those without a prefix are known ones. */
function nameProblems(name: string, field: string): readonly Cause[] {
  const wrong = qualifiedName(name).map((why) => invalidValue(field, name, why));
  if (name.includes('/')) {
    if (isNative(name) || isExtended(name)) return wrong;
    return [...wrong, invalidValue(field, name, "doesn't follow extended resource name standard")];
  }
  if (isOfContainers(name)) return wrong;
  const isKnown = wrong.length > 0 || isStandard(name);
  return [
    ...wrong,
    ...(isKnown ? [] : [invalidValue(field, name, 'must be a standard resource type or fully qualified')]),
    invalidValue(field, name, 'must be a standard resource for containers'),
  ];
}

function pageProblems(name: string, quantity: string, field: string): readonly Cause[] {
  if (!isHuge(name)) return [];
  const size = canonicalQuantity(name.slice('hugepages-'.length));
  if (size === undefined || inNano(size) <= 0n || inNano(quantity) % inNano(size) === 0n) return [];
  return [invalidValue(field, quantity, `${quantity} is not positive integer multiple of ${size}`)];
}

export function validateResources(resources: Mapping | undefined, path: string): readonly Cause[] {
  const [limits, requests] = [maybeMapping(resources, 'limits') ?? {}, maybeMapping(resources, 'requests') ?? {}];
  const checked = (list: Mapping, key: string, more: (name: string, text: string) => readonly Cause[]): Cause[] =>
    Object.entries(list).flatMap(([name, quantity]) => {
      const field = `${path}.${key}[${name}]`;
      const text = String(quantity);
      return [
        ...nameProblems(name, field),
        ...quantityProblems(name, quantity, field),
        ...more(name, text),
        ...pageProblems(name, text, field),
      ];
    });
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const needsMore = names.some(isHuge) && !names.includes('cpu') && !names.includes('memory');
  return [
    ...checked(limits, 'limits', () => []),
    ...checked(requests, 'requests', (name, request) => againstLimit(name, request, limits[name], path)),
    ...(needsMore ? [forbiddenField(path, 'HugePages require cpu or memory')] : []),
  ];
}

/** Nobody can ask for more than is allowed; of what cannot be shared, not for less either. */
function againstLimit(name: string, request: string, limit: unknown, path: string): readonly Cause[] {
  if (limit === undefined) {
    if (isDivisible(name)) return [];
    return [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const difference = compareQuantities(request, String(limit));
  const relation = isDivisible(name) ? 'less than or equal' : 'equal';
  const isFine = isDivisible(name) ? difference <= 0 : difference === 0;
  return isFine
    ? []
    : [invalidValue(`${path}.requests`, request, `must be ${relation} to ${name} limit of ${String(limit)}`)];
}
