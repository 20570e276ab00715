/** How much a pod can rely on what it asks for. */
import type { Mapping } from '@kopf-ts/core';
import { itemsOf, maybeMapping } from './defaults/setting.js';

/** By the resources of all its containers. */
export function qualityOf(spec: Mapping): string {
  const containers = [...itemsOf(spec, 'containers'), ...itemsOf(spec, 'initContainers')];
  const lists = containers.map((container) => {
    const resources = maybeMapping(container, 'resources');
    return { requests: maybeMapping(resources, 'requests') ?? {}, limits: maybeMapping(resources, 'limits') ?? {} };
  });
  const counted = ['cpu', 'memory'];
  const has = (list: Mapping): boolean => counted.some((name) => list[name] !== undefined && list[name] !== '0');
  if (!lists.some(({ requests, limits }) => has(requests) || has(limits))) return 'BestEffort';
  const isGuaranteed = lists.every(({ requests, limits }) =>
    counted.every((name) => limits[name] !== undefined && requests[name] === limits[name]),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}
