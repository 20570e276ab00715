/**
 * Kinds that operators meet less often: autoscalers, budgets, slices, classes. Quotas are not among them: a controller
 * writes their status whenever it finds the time, and so nobody could tell which version comes when.
 */
import type { Fields } from '../../sequences/objects.js';
import type { GeneratedKind } from '../generated-kind.js';
import type { Random } from '../random.js';
import { port } from './pod-parts.js';

const time = '2020-01-02T03:04:05Z';
const amount = (random: Random): unknown => random.pick<unknown>([0, 1, 5, '10%', '100%']);

const target = (random: Random): Fields =>
  random.weighted<() => Fields>([
    [3, () => ({ type: 'Utilization', averageUtilization: random.pick([1, 50, 100]) })],
    [2, () => ({ type: 'AverageValue', averageValue: random.pick(['100m', '1Gi', '5']) })],
    [1, () => ({ type: 'Value', value: '10' })],
  ])();

const valueTarget = (random: Random): Fields =>
  random.chance(0.5) ? { type: 'AverageValue', averageValue: '1' } : { type: 'Value', value: '10k' };

const metric = (random: Random): Fields =>
  random.weighted<() => Fields>([
    [5, () => ({ type: 'Resource', resource: { name: random.pick(['cpu', 'memory']), target: target(random) } })],
    [
      1,
      () => ({
        type: 'Pods',
        pods: { metric: { name: 'packets' }, target: { type: 'AverageValue', averageValue: '1k' } },
      }),
    ],
    [
      1,
      () => ({
        type: 'Object',
        object: {
          describedObject: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main' },
          metric: { name: 'requests', ...random.fields({ selector: () => ({ matchLabels: { a: 'b' } }) }) },
          target: valueTarget(random),
        },
      }),
    ],
    [1, () => ({ type: 'External', external: { metric: { name: 'queue' }, target: valueTarget(random) } })],
    [
      1,
      () => ({
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'main', target: target(random) },
      }),
    ],
  ])();

const rules = (random: Random): Fields =>
  random.fields(
    {
      stabilizationWindowSeconds: () => random.pick([0, 60, 3600]),
      selectPolicy: () => random.pick(['Max', 'Min', 'Disabled']),
      policies: () =>
        random.some(
          [
            { type: 'Pods', value: 4, periodSeconds: 15 },
            { type: 'Percent', value: 100, periodSeconds: 1800 },
          ],
          1,
        ),
      tolerance: () => random.pick(['0.1', '50m']),
    },
    0.5,
  );

const autoscaler: GeneratedKind = {
  apiVersion: 'autoscaling/v2',
  otherVersions: ['autoscaling/v1'],
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  namespaced: true,
  body: (random) => ({
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: random.pick([2, 5, 10]),
      ...random.fields(
        {
          minReplicas: () => random.pick([1, 2]),
          metrics: () => Array.from({ length: random.between(1, 2) }, () => metric(random)),
          behavior: () => random.fields({ scaleUp: () => rules(random), scaleDown: () => rules(random) }, 0.6),
        },
        0.4,
      ),
    },
  }),
  status: (random) => ({
    desiredReplicas: random.below(4),
    currentReplicas: random.below(4),
    ...random.fields({ lastScaleTime: () => time, observedGeneration: () => 1 }, 0.4),
  }),
};

const budget: GeneratedKind = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
  body: (random) => ({
    spec: {
      ...(random.chance(0.5) ? { minAvailable: amount(random) } : { maxUnavailable: amount(random) }),
      ...random.fields(
        {
          selector: () => ({ matchLabels: { app: 'web' } }),
          unhealthyPodEvictionPolicy: () => random.pick(['IfHealthyBudget', 'AlwaysAllow']),
        },
        0.6,
      ),
    },
  }),
  status: (random) => ({
    currentHealthy: random.below(3),
    desiredHealthy: random.below(3),
    disruptionsAllowed: random.below(3),
    expectedPods: random.below(3),
    ...random.fields({ observedGeneration: () => 1, disruptedPods: () => ({ a: time }) }, 0.3),
  }),
};

const slice: GeneratedKind = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
  body: (random) => ({
    addressType: random.weighted([
      [5, 'IPv4'],
      [1, 'FQDN'],
    ]),
    endpoints: random.some([
      { addresses: ['1.2.3.4'], conditions: { ready: true } },
      { addresses: ['1.2.3.5'], hostname: 'h', nodeName: 'n' },
      { addresses: ['1.2.3.6'], conditions: { serving: true, terminating: false }, zone: 'z' },
    ]),
    ...random.fields(
      { ports: () => [{ name: 'web', port: port(random), ...random.fields({ protocol: () => 'UDP' }) }] },
      0.6,
    ),
  }),
};

const storageClass: GeneratedKind = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false,
  body: (random) => ({
    provisioner: 'example.com/disk',
    ...random.fields(
      {
        parameters: () => ({ type: 'fast' }),
        reclaimPolicy: () => random.pick(['Delete', 'Retain']),
        volumeBindingMode: () => random.pick(['Immediate', 'WaitForFirstConsumer']),
        allowVolumeExpansion: () => random.chance(0.5),
        mountOptions: () => ['ro'],
      },
      0.4,
    ),
  }),
};

const priorityClass: GeneratedKind = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  namespaced: false,
  body: (random) => ({
    value: random.pick([0, 10, 1_000_000]),
    ...random.fields(
      { description: () => 'some text', preemptionPolicy: () => random.pick(['Never', 'PreemptLowerPriority']) },
      0.5,
    ),
  }),
};

const runtimeClass: GeneratedKind = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  namespaced: false,
  body: (random) => ({
    handler: random.pick(['runc', 'gvisor']),
    ...random.fields(
      {
        overhead: () => ({ podFixed: { cpu: '10m' } }),
        scheduling: () => ({ nodeSelector: { a: 'b' } }),
      },
      0.3,
    ),
  }),
};

export const otherKinds: readonly (readonly [weight: number, kind: GeneratedKind])[] = [
  [3, autoscaler],
  [3, budget],
  [2, slice],
  [1, storageClass],
  [1, priorityClass],
  [1, runtimeClass],
];
