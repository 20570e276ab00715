/** What is set in autoscalers where nothing else is said, in both of their versions. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { mappingAt, maybeMapping, setDefault } from './setting.js';

export const DEFAULT_UTILIZATION = 80;

/** `raw` is what the client has sent: where a list is empty there, it is none here. */
export function defaultAutoscaler(object: ServedObject, raw: Mapping = object): void {
  const spec = mappingAt(object, 'spec');
  setDefault(spec, 'minReplicas', 1);
  if (!Array.isArray(spec.metrics) || spec.metrics.length === 0) {
    const target = { type: 'Utilization', averageUtilization: DEFAULT_UTILIZATION };
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
  }
  const behavior = maybeMapping(spec, 'behavior');
  if (behavior === undefined) return;
  for (const way of ['scaleUp', 'scaleDown']) keepEmpty(mappingAt(behavior, way), way, raw);
  defaultRules(mappingAt(behavior, 'scaleUp'), [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ]);
  setDefault(mappingAt(behavior, 'scaleUp'), 'stabilizationWindowSeconds', 0);
  defaultRules(mappingAt(behavior, 'scaleDown'), [{ type: 'Percent', value: 100, periodSeconds: 15 }]);
}

/** Whoever wants no policies at all is refused, and does not get the default ones. */
function keepEmpty(rules: Mapping, way: string, raw: Mapping): void {
  const { policies } = maybeMapping(maybeMapping(maybeMapping(raw, 'spec'), 'behavior'), way) ?? {};
  if (Array.isArray(policies) && policies.length === 0) rules.policies = [];
}

function defaultRules(rules: Mapping, policies: readonly object[]): void {
  setDefault(rules, 'selectPolicy', 'Max');
  setDefault(rules, 'policies', policies);
}

/** The rest of the older version has the defaults of the newer one. */
export function defaultOldAutoscaler(object: ServedObject): void {
  setDefault(mappingAt(object, 'spec'), 'minReplicas', 1);
}
