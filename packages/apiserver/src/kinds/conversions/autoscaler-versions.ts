/**
 * Autoscalers are stored in their second version. The first one knows one metric: the CPU; what else there is, it has in
 * annotations, as texts.
 */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { DEFAULT_UTILIZATION, defaultAutoscaler } from '../defaults/autoscaler-defaults.js';
import { itemsOf, maybeMapping } from '../defaults/setting.js';
import type { Conversion } from '../served.js';

const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const [METRICS, BEHAVIOR, CURRENT, CONDITIONS] = ['metrics', 'behavior', 'current-metrics', 'conditions'].map(
  (name) => PREFIX + name,
) as [string, string, string, string];

/** What the sources of metrics are called in the texts, by their kinds. */
type Names = readonly (readonly [inText: string, ...path: string[]])[];
const COMMON: Names = [
  ['metricName', 'metric', 'name'],
  ['selector', 'metric', 'selector'],
];
const TARGETS: Readonly<Record<string, Names>> = {
  object: [
    ['target', 'describedObject'],
    ['metricName', 'metric', 'name'],
    ['targetValue', 'target', 'value'],
    ['selector', 'metric', 'selector'],
    ['averageValue', 'target', 'averageValue'],
  ],
  pods: [...COMMON, ['targetAverageValue', 'target', 'averageValue']],
  resource: [
    ['name', 'name'],
    ['targetAverageUtilization', 'target', 'averageUtilization'],
    ['targetAverageValue', 'target', 'averageValue'],
  ],
  containerResource: [
    ['name', 'name'],
    ['targetAverageUtilization', 'target', 'averageUtilization'],
    ['targetAverageValue', 'target', 'averageValue'],
    ['container', 'container'],
  ],
  external: [
    ['metricName', 'metric', 'name'],
    ['metricSelector', 'metric', 'selector'],
    ['targetValue', 'target', 'value'],
    ['targetAverageValue', 'target', 'averageValue'],
  ],
};
const CURRENTS: Readonly<Record<string, Names>> = {
  object: [
    ['target', 'describedObject'],
    ['metricName', 'metric', 'name'],
    ['currentValue', 'current', 'value'],
    ['selector', 'metric', 'selector'],
    ['averageValue', 'current', 'averageValue'],
  ],
  pods: [...COMMON, ['currentAverageValue', 'current', 'averageValue']],
  resource: [
    ['name', 'name'],
    ['currentAverageUtilization', 'current', 'averageUtilization'],
    ['currentAverageValue', 'current', 'averageValue'],
  ],
  containerResource: [
    ['name', 'name'],
    ['currentAverageUtilization', 'current', 'averageUtilization'],
    ['currentAverageValue', 'current', 'averageValue'],
    ['container', 'container'],
  ],
  external: [
    ['metricName', 'metric', 'name'],
    ['metricSelector', 'metric', 'selector'],
    ['currentValue', 'current', 'value'],
    ['currentAverageValue', 'current', 'averageValue'],
  ],
};

export const autoscalerConversion: Conversion = {
  apiVersion: 'autoscaling/v2',
  toStorage(object) {
    const stored = inSecondVersion(object);
    defaultAutoscaler(stored);
    return stored;
  },
  fromStorage: inFirstVersion,
  settled: (object) => inFirstVersion(inSecondVersion(object)),
};

/** As it is in the second version, but for the defaults of that one. */
export function inSecondVersion(object: ServedObject): ServedObject {
  const { annotations = {}, ...metadata } = object.metadata;
  const [spec, status] = [maybeMapping(object, 'spec') ?? {}, maybeMapping(object, 'status') ?? {}];
  const { targetCPUUtilizationPercentage: wanted, ...ofSpec } = spec;
  const { currentCPUUtilizationPercentage: current, ...ofStatus } = status;
  const kept = Object.entries(annotations).filter(([key]) => !key.startsWith(PREFIX));
  const metrics = listIn(annotations[METRICS]).map((metric) => fromText(metric, TARGETS, targetOf));
  const behavior = behaviorFrom(annotations[BEHAVIOR]);
  const currents = listIn(annotations[CURRENT]).map((metric) => fromText(metric, CURRENTS, (value) => value));
  const conditions = listIn(annotations[CONDITIONS]);
  const target = { type: 'Utilization', averageUtilization: wanted ?? DEFAULT_UTILIZATION };
  const byCpu = { type: 'Resource', resource: { name: 'cpu', target } };
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: { ...metadata, ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }) },
    spec: {
      ...ofSpec,
      metrics: wanted === undefined && metrics.length > 0 ? metrics : [...metrics, byCpu],
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: {
      ...ofStatus,
      ...(ofStatus.currentReplicas === 0 ? { currentReplicas: undefined } : {}),
      currentMetrics: withCpu(currents, current),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  } as ServedObject;
}

function inFirstVersion(stored: ServedObject): ServedObject {
  const { metrics: _metrics, behavior, ...spec } = maybeMapping(stored, 'spec') ?? {};
  const { currentMetrics: _current, conditions, ...status } = maybeMapping(stored, 'status') ?? {};
  const metrics = itemsOf(stored.spec, 'metrics');
  const currents = itemsOf(stored.status, 'currentMetrics');
  const cpu = metrics.findIndex((metric) => utilizationOf(metric, 'target') !== undefined);
  const others = metrics.filter((_, index) => index !== cpu);
  const wanted = cpu < 0 ? undefined : utilizationOf(metrics[cpu] as Mapping, 'target');
  const current = currents.map((metric) => utilizationOf(metric, 'current')).find((value) => value !== undefined);
  const texts = {
    ...(others.length === 0 ? {} : { [METRICS]: JSON.stringify(others.map((metric) => toText(metric, TARGETS))) }),
    ...(behavior === undefined ? {} : { [BEHAVIOR]: JSON.stringify(behaviorText(behavior)) }),
    ...(currents.length === 0 ? {} : { [CURRENT]: JSON.stringify(currents.map((metric) => toText(metric, CURRENTS))) }),
    ...(Array.isArray(conditions) && conditions.length > 0 ? { [CONDITIONS]: JSON.stringify(conditions) } : {}),
  };
  const { annotations, ...metadata } = stored.metadata;
  const all = { ...annotations, ...texts };
  return {
    ...stored,
    apiVersion: 'autoscaling/v1',
    metadata: { ...metadata, ...(Object.keys(all).length === 0 ? {} : { annotations: all }) },
    spec: { ...spec, ...(wanted === undefined ? {} : { targetCPUUtilizationPercentage: wanted }) },
    status: {
      ...status,
      currentReplicas: status.currentReplicas ?? 0,
      ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }),
    },
  } as ServedObject;
}

const keyOf = (type: unknown): string => {
  const text = String(type ?? '');
  return text.charAt(0).toLowerCase() + text.slice(1);
};

/** Of the CPU of whole pods. */
function utilizationOf(metric: Mapping, part: string): unknown {
  const resource = maybeMapping(metric, 'resource');
  return metric.type === 'Resource' && resource?.name === 'cpu'
    ? maybeMapping(resource, part)?.averageUtilization
    : undefined;
}

function withCpu(currents: readonly Mapping[], current: unknown): readonly Mapping[] | null {
  const isKnown = currents.some((metric) => utilizationOf(metric, 'current') !== undefined);
  const cpu = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } };
  const all = current === undefined || isKnown ? currents : [...currents, cpu];
  return all.length === 0 ? null : all;
}

function toText(metric: Mapping, names: Readonly<Record<string, Names>>): Mapping {
  const key = keyOf(metric.type);
  const source = maybeMapping(metric, key) ?? {};
  const fields = (names[key] ?? []).flatMap(([name, ...path]) => {
    const value = path.reduce<unknown>((at, step) => (isMapping(at) ? at[step] : undefined), source);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { type: metric.type, [key]: Object.fromEntries(fields) };
}

function fromText(
  metric: Mapping,
  names: Readonly<Record<string, Names>>,
  complete: (value: Mapping) => Mapping,
): Mapping {
  const key = keyOf(metric.type);
  const fields = maybeMapping(metric, key) ?? {};
  const source: Mapping = {};
  for (const [name, ...path] of names[key] ?? []) {
    if (fields[name] === undefined) continue;
    const last = path.pop() as string;
    const at = path.reduce((parent, step) => {
      parent[step] = maybeMapping(parent, step) ?? {};
      return parent[step] as Mapping;
    }, source);
    at[last] = fields[name];
  }
  return { type: metric.type, [key]: complete(source) };
}

/** What kind of target it is follows from what it has. */
function targetOf(source: Mapping): Mapping {
  const target = maybeMapping(source, 'target') ?? {};
  const type =
    target.averageUtilization !== undefined
      ? 'Utilization'
      : target.averageValue !== undefined
        ? 'AverageValue'
        : 'Value';
  return { ...source, target: { type, ...target } };
}

/** What cannot be read is nothing. */
function read(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function listIn(text: unknown): readonly Mapping[] {
  const data = read(text);
  return Array.isArray(data) ? data.filter(isMapping) : [];
}

/** The names of Go's fields, in their order: nobody has ever given names to the texts of behaviours. */
const RULES = ['StabilizationWindowSeconds', 'SelectPolicy', 'Policies', 'Tolerance'];
const POLICY = ['Type', 'Value', 'PeriodSeconds'];
const small = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

function behaviorText(behavior: unknown): Mapping {
  const named = (data: Mapping, names: readonly string[]): Mapping =>
    Object.fromEntries(names.map((name) => [name, data[small(name)] ?? null]));
  const ways = ['ScaleUp', 'ScaleDown'].map((way) => {
    const rules = isMapping(behavior) ? maybeMapping(behavior, small(way)) : undefined;
    if (rules === undefined) return [way, null] as const;
    const policies = itemsOf(rules, 'policies').map((policy) => named(policy, POLICY));
    return [way, { ...named(rules, RULES), Policies: policies }] as const;
  });
  return Object.fromEntries(ways);
}

/** Capital letters do not matter. */
function behaviorFrom(text: unknown): Mapping | undefined {
  const uncapitalized = (data: unknown): unknown => {
    if (Array.isArray(data)) return data.map(uncapitalized);
    if (!isMapping(data)) return data;
    const kept = Object.entries(data).filter(([, value]) => value !== null);
    return Object.fromEntries(kept.map(([key, value]) => [small(key), uncapitalized(value)]));
  };
  const data = read(text);
  return isMapping(data) ? (uncapitalized(data) as Mapping) : undefined;
}
