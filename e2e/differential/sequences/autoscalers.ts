/** What scales workloads, and what protects them from disruptions. */
import {
  applyPatch,
  del,
  events,
  get,
  mergePatch,
  post,
  prepare,
  put,
  type Sequence,
  sequence,
  strategicPatch,
  watch,
} from '../harness/sequence.js';
import { clusterWide, type Fields, inNamespace, object, pod, pods } from './objects.js';

const v1 = inNamespace('horizontalpodautoscalers', 'autoscaling/v1');
const v2 = inNamespace('horizontalpodautoscalers', 'autoscaling/v2');
const budgets = inNamespace('poddisruptionbudgets', 'policy/v1');
const asTable = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' } };

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const old = (name: string, spec: Fields = {}, rest: Fields = {}) =>
  object('autoscaling/v1', 'HorizontalPodAutoscaler', name, {
    spec: { scaleTargetRef, maxReplicas: 5, ...spec },
    ...rest,
  });
const scaler = (name: string, spec: Fields = {}, rest: Fields = {}) =>
  object('autoscaling/v2', 'HorizontalPodAutoscaler', name, {
    spec: { scaleTargetRef, maxReplicas: 5, ...spec },
    ...rest,
  });
const budget = (metadata: Fields | string, spec: Fields = {}, rest: Fields = {}) =>
  object('policy/v1', 'PodDisruptionBudget', metadata, {
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    ...rest,
  });

const utilization = (value: number, name = 'cpu') => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization: value } },
});
const described = { apiVersion: 'v1', kind: 'Service', name: 'main' };
const manyMetrics = [
  utilization(50),
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
  { type: 'Pods', pods: { metric: { name: 'packets' }, target: { type: 'AverageValue', averageValue: '1k' } } },
  {
    type: 'Object',
    object: { describedObject: described, metric: { name: 'requests' }, target: { type: 'Value', value: '10' } },
  },
  {
    type: 'External',
    external: {
      metric: { name: 'queue', selector: { matchLabels: { queue: 'tasks' } } },
      target: { type: 'AverageValue', averageValue: '30' },
    },
  },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'app', target: { type: 'Utilization', averageUtilization: 60 } },
  },
];
const wrong = (name: string, specs: readonly Fields[], extras: Omit<Sequence, 'name' | 'steps'> = {}) =>
  sequence(
    name,
    specs.map((spec, index) => post(v2, scaler(`a${index}`, spec))),
    extras,
  );
const wrongMetrics = (name: string, metrics: readonly unknown[]) =>
  wrong(
    name,
    metrics.map((metric) => ({ metrics: [metric] })),
  );

const ready = (name: string, labels: Fields = { app: 'web' }, status: Fields = {}) => [
  prepare(post(pods, pod({ name, labels }))),
  prepare(
    mergePatch(`${pods}/${name}/status`, {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], ...status },
    }),
  ),
];
const eviction = (name: string, rest: Fields = {}) => object('policy/v1', 'Eviction', name, rest);
const evict = (name: string, query = '', rest: Fields = {}) =>
  post(`${pods}/${name}/eviction${query}`, eviction(name, rest));
const allow = (name: string, status: Fields) =>
  prepare(
    mergePatch(`${budgets}/${name}/status`, {
      status: { observedGeneration: 1, expectedPods: 2, desiredHealthy: 1, currentHealthy: 2, ...status },
    }),
  );

export const autoscalers: readonly Sequence[] = [
  sequence('the life of an autoscaler', [
    post(v2, scaler('web', { minReplicas: 2, metrics: [utilization(50)] })),
    get(`${v2}/web`),
    get(`${v1}/web`),
    put(`${v2}/web`, scaler('web', { maxReplicas: 9, metrics: [utilization(70, 'memory')] })),
    mergePatch(`${v2}/web`, { spec: { minReplicas: null } }),
    get(v2),
    get(v2, asTable),
    get(v1, asTable),
    del(`${v2}/web`),
    get(`${v2}/web`),
  ]),
  sequence('the life of an autoscaler of the first version', [
    post(v1, old('web', { targetCPUUtilizationPercentage: 50 })),
    get(`${v1}/web`),
    get(`${v2}/web`),
    put(`${v1}/web`, old('web', { minReplicas: 3, targetCPUUtilizationPercentage: 60 })),
    mergePatch(`${v1}/web`, { spec: { targetCPUUtilizationPercentage: null } }),
    get(v1),
    get(v1, asTable),
    del(`${v1}/web`),
  ]),
  sequence('autoscalers have defaults', [
    post(v2, scaler('a')),
    post(v1, old('b')),
    get(`${v2}/b`),
    post(v2, scaler('c', { behavior: {} })),
    post(v2, scaler('d', { behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } })),
    post(v2, scaler('e', { behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } } })),
    get(`${v1}/e`),
  ]),
  sequence('many metrics in both versions', [
    post(v2, scaler('web', { metrics: manyMetrics })),
    get(`${v1}/web`),
    get(`${v2}/web`, asTable),
    get(`${v1}/web`, asTable),
    mergePatch(`${v1}/web`, { spec: { targetCPUUtilizationPercentage: 33 } }),
    get(`${v2}/web`),
  ]),
  sequence('metrics given in annotations', [
    post(v1, {
      ...old('web', { targetCPUUtilizationPercentage: 50 }),
      metadata: {
        name: 'web',
        annotations: {
          'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify([
            { type: 'Resource', resource: { name: 'memory', targetAverageUtilization: 40 } },
            { type: 'Pods', pods: { metricName: 'packets', targetAverageValue: '1k' } },
            {
              type: 'External',
              external: { metricName: 'queue', metricSelector: { matchLabels: { a: 'b' } }, targetValue: '3' },
            },
          ]),
          'example.com/note': 'kept',
        },
      },
    }),
    get(`${v2}/web`),
    get(`${v1}/web`),
  ]),
  sequence('the status of an autoscaler', [
    post(v2, scaler('web', {}, { status: { currentReplicas: 3 } })),
    mergePatch(`${v2}/web/status`, {
      spec: { maxReplicas: 50 },
      status: {
        currentReplicas: 3,
        desiredReplicas: 4,
        currentMetrics: [
          { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 33, averageValue: '20m' } } },
        ],
        conditions: [{ type: 'AbleToScale', status: 'True', reason: 'Fine', message: 'It can.' }],
        lastScaleTime: '2020-01-02T03:04:05Z',
      },
    }),
    get(`${v1}/web`),
    get(`${v2}/web`, asTable),
    get(`${v1}/web/status`),
    mergePatch(`${v2}/web`, { status: { currentReplicas: 9 }, spec: { maxReplicas: 6 } }),
    mergePatch(`${v1}/web/status`, { status: { currentCPUUtilizationPercentage: 44 } }),
    get(`${v2}/web`),
    mergePatch(`${v2}/web/status`, { status: { currentReplicas: -1 } }),
  ]),
  wrong('autoscalers with wrong numbers', [
    { maxReplicas: 0 },
    { maxReplicas: -1 },
    { minReplicas: 0 },
    { minReplicas: -1 },
    { minReplicas: 7 },
    { maxReplicas: 'many' },
  ]),
  wrong('autoscalers of nothing', [
    { scaleTargetRef: {} },
    { scaleTargetRef: { kind: 'Deployment' } },
    { scaleTargetRef: { kind: 'a/b', name: '..' } },
    { scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'a/b/c' } },
    { scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'v1' } },
    { scaleTargetRef: { kind: 'ReplicationController', name: 'web', apiVersion: 'v1' } },
    { scaleTargetRef: { kind: 'ReplicationController', name: 'web' } },
  ]),
  sequence('wrong autoscalers of the first version', [
    post(v1, old('a', { targetCPUUtilizationPercentage: 0 })),
    post(v1, old('b', { maxReplicas: 0 })),
    post(v1, object('autoscaling/v1', 'HorizontalPodAutoscaler', 'c', {})),
    post(v1, object('autoscaling/v2', 'HorizontalPodAutoscaler', 'd', {})),
    post(v2, object('autoscaling/v3', 'HorizontalPodAutoscaler', 'd', {})),
    post(v2, scaler('Up')),
    post(v1, {
      ...old('e'),
      metadata: { name: 'e', annotations: { 'autoscaling.alpha.kubernetes.io/metrics': 'no list' } },
    }),
    post(v1, {
      ...old('f'),
      metadata: {
        name: 'f',
        annotations: {
          'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify([
            { type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } },
          ]),
          'autoscaling.alpha.kubernetes.io/behavior': JSON.stringify({ scaleUp: { selectPolicy: 'Min' } }),
        },
      },
    }),
    get(`${v2}/f`),
  ]),
  wrongMetrics('wrong metrics of resources', [
    {},
    { type: 'Resource' },
    { type: 'Other' },
    utilization(0),
    utilization(-5),
    { type: 'Resource', resource: { target: { type: 'Utilization' } } },
    { type: 'Resource', resource: { name: 'cpu', target: {} } },
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '0' } } },
    {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Value', averageUtilization: 1, averageValue: '1' } },
    },
    { ...utilization(50), pods: { metric: { name: 'x' }, target: { type: 'AverageValue', averageValue: '1' } } },
  ]),
  wrongMetrics('wrong metrics of pods, objects and others', [
    { type: 'Pods', pods: { metric: {}, target: { type: 'AverageValue' } } },
    { type: 'Pods', pods: { metric: { name: 'a/b' }, target: { type: 'Value', value: '1' } } },
    { type: 'Object', object: { describedObject: {}, metric: { name: 'x' }, target: { type: 'Value' } } },
    {
      type: 'Object',
      object: { describedObject: described, metric: { name: 'x' }, target: { type: 'Utilization', value: '-1' } },
    },
    {
      type: 'Object',
      object: {
        describedObject: described,
        metric: { name: 'x' },
        target: { type: 'Value', value: '1', averageValue: '2' },
      },
    },
    { type: 'External', external: { metric: { name: 'x' }, target: { type: 'Value' } } },
    { type: 'External', external: { metric: {}, target: { type: 'Value', value: '1', averageValue: '2' } } },
    { type: 'ContainerResource', containerResource: { name: 'cpu', target: { type: 'Utilization' } } },
    {
      type: 'External',
      external: {
        metric: { name: 'x', selector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } },
        target: { type: 'Value', value: '1' },
      },
    },
  ]),
  wrong('wrong behaviours of autoscalers', [
    { behavior: { scaleUp: { stabilizationWindowSeconds: -1 } } },
    { behavior: { scaleUp: { stabilizationWindowSeconds: 4000 } } },
    { behavior: { scaleUp: { selectPolicy: 'Some' } } },
    { behavior: { scaleDown: { policies: [] } } },
    { behavior: { scaleUp: { policies: [], selectPolicy: 'Disabled' } } },
    { behavior: { scaleDown: { policies: [{ type: 'Other', value: 1, periodSeconds: 15 }] } } },
    { behavior: { scaleDown: { policies: [{ type: 'Pods', value: 0, periodSeconds: 0 }] } } },
    { behavior: { scaleDown: { policies: [{ type: 'Percent', value: 10, periodSeconds: 1801 }] } } },
  ]),
  sequence('autoscalers are applied', [
    applyPatch(`${v2}/web?fieldManager=me`, scaler('web', { metrics: [utilization(50)] })),
    applyPatch(`${v2}/web?fieldManager=me`, scaler('web', { metrics: [utilization(60)], minReplicas: 2 })),
    applyPatch(`${v2}/web?fieldManager=you`, scaler('web', { maxReplicas: 7 })),
    applyPatch(`${v1}/web?fieldManager=me&force=true`, old('web', { targetCPUUtilizationPercentage: 10 })),
    get(`${v2}/web`),
  ]),
  sequence('autoscalers are patched strategically', [
    prepare(post(v2, scaler('web', { metrics: manyMetrics }))),
    strategicPatch(`${v2}/web`, { spec: { metrics: [utilization(10)] } }),
    prepare(
      mergePatch(`${v2}/web/status`, {
        status: { conditions: [{ type: 'A', status: 'True' }], currentReplicas: 1, desiredReplicas: 1 },
      }),
    ),
    strategicPatch(`${v2}/web/status`, { status: { conditions: [{ type: 'B', status: 'False' }] } }),
  ]),
  sequence('autoscalers are watched in both versions', [
    watch('old', `${v1}?watch=true`),
    watch('new', `${v2}?watch=true`),
    post(v2, scaler('web', { metrics: [utilization(50)] })),
    mergePatch(`${v1}/web`, { metadata: { labels: { a: 'b' } } }),
    del(`${v1}/web`),
    events('old', 3),
    events('new', 3),
  ]),
  sequence('autoscalers have generations or not', [
    post(v2, scaler('web')),
    mergePatch(`${v2}/web`, { spec: { maxReplicas: 7 } }),
    get(`${v2}?fieldSelector=metadata.name%3Dweb`),
    get(`${v2}?fieldSelector=spec.maxReplicas%3D7`),
    del(v2),
  ]),
  sequence('the life of a budget', [
    post(budgets, budget('web', { minAvailable: 1 })),
    get(`${budgets}/web`),
    put(`${budgets}/web`, budget('web', { maxUnavailable: '25%' })),
    mergePatch(`${budgets}/web`, { spec: { minAvailable: '50%' } }),
    mergePatch(`${budgets}/web`, { spec: { minAvailable: null, maxUnavailable: 2 } }),
    get(budgets),
    get(budgets, asTable),
    del(`${budgets}/web`),
  ]),
  sequence('budgets must be right', [
    post(budgets, budget('a', { minAvailable: 1, maxUnavailable: 1 })),
    post(budgets, budget('b', { minAvailable: -1 })),
    post(budgets, budget('c', { maxUnavailable: '101%' })),
    post(budgets, budget('d', { maxUnavailable: 'some' })),
    post(budgets, budget('e', { selector: { matchExpressions: [{ key: 'a b', operator: 'In' }] } })),
    post(budgets, budget('f', { unhealthyPodEvictionPolicy: 'Never' })),
    post(budgets, budget('g', { unhealthyPodEvictionPolicy: 'AlwaysAllow' })),
    post(budgets, object('policy/v1', 'PodDisruptionBudget', 'h')),
    post(budgets, budget('Name')),
    post(budgets, budget('i', { selector: { matchLabels: { 'a b': 'c d' } } })),
  ]),
  sequence('the status of a budget', [
    post(budgets, budget('web', { minAvailable: 1 }, { status: { disruptionsAllowed: 7 } })),
    mergePatch(`${budgets}/web/status`, {
      spec: { minAvailable: 9 },
      status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, observedGeneration: 1 },
    }),
    mergePatch(`${budgets}/web/status`, { status: { disruptionsAllowed: -1, currentHealthy: -1 } }),
    mergePatch(`${budgets}/web`, { spec: { minAvailable: 2 } }),
    mergePatch(`${budgets}/web`, { status: { disruptionsAllowed: 3 } }),
    get(`${budgets}/web/status`),
    get(`${budgets}/web`, asTable),
    strategicPatch(`${budgets}/web`, { spec: { selector: { matchLabels: { tier: 'x' } } } }),
    mergePatch(`${budgets}/web/status`, { status: { conditions: [{ type: 'X', status: 'Maybe' }] } }),
  ]),
  sequence('evictions without budgets', [
    ...ready('a'),
    evict('a', '?dryRun=All'),
    evict('a'),
    evict('a'),
    evict('none'),
    prepare(post(pods, pod('b'))),
    post(`${pods}/b/eviction`, eviction('other')),
    post(`${pods}/b/eviction`, object('policy/v1beta1', 'Eviction', 'b')),
    post(`${pods}/b/eviction`, object('v1', 'Pod', 'b')),
    post(`${pods}/b/eviction`, {}),
    evict('b', '', { deleteOptions: { preconditions: { uid: 'other' } } }),
    evict('b', '', { deleteOptions: { gracePeriodSeconds: 5 } }),
    get(pods),
  ]),
  sequence('evictions that a budget does not allow', [
    ...ready('a'),
    prepare(post(budgets, budget('web', { minAvailable: 1 }))),
    evict('a'),
    allow('web', { disruptionsAllowed: 0, currentHealthy: 1 }),
    evict('a'),
    evict('a', '?dryRun=All'),
    get(`${pods}/a`),
    get(`${budgets}/web`),
  ]),
  sequence('evictions that a budget allows', [
    ...ready('a'),
    ...ready('b'),
    prepare(post(budgets, budget('web', { minAvailable: 1 }))),
    allow('web', { disruptionsAllowed: 1 }),
    evict('a', '?dryRun=All'),
    get(`${budgets}/web`),
    evict('a'),
    get(`${budgets}/web`),
    evict('b'),
    get(`${pods}/b`),
  ]),
  sequence('evictions with a budget that is behind', [
    ...ready('a'),
    prepare(post(budgets, budget('web', { minAvailable: 1 }))),
    prepare(mergePatch(`${budgets}/web/status`, { status: { observedGeneration: 0, disruptionsAllowed: 1 } })),
    evict('a'),
  ]),
  sequence('evictions with two budgets', [
    ...ready('a'),
    prepare(post(budgets, budget('one', { minAvailable: 1 }))),
    prepare(post(budgets, budget('two', { minAvailable: 1 }))),
    evict('a'),
  ]),
  sequence('evictions of pods that are not ready', [
    prepare(post(pods, pod({ name: 'pending', labels: { app: 'web' } }))),
    ...ready('broken', { app: 'web' }, { conditions: [{ type: 'Ready', status: 'False' }] }),
    ...ready('worse', { app: 'web' }, { conditions: [{ type: 'Ready', status: 'False' }] }),
    ...ready('done', { app: 'web' }, { phase: 'Succeeded', conditions: [] }),
    prepare(post(budgets, budget('web', { minAvailable: 1 }))),
    allow('web', { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1 }),
    evict('pending'),
    evict('done'),
    evict('broken'),
    allow('web', { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 }),
    evict('broken'),
    prepare(mergePatch(`${budgets}/web`, { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } })),
    allow('web', { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, observedGeneration: 2 }),
    evict('worse'),
  ]),
  sequence('budgets of everything and of nothing', [
    ...ready('a'),
    prepare(post(budgets, budget('all', { selector: {}, minAvailable: 1 }))),
    evict('a'),
    prepare(del(`${budgets}/all`)),
    prepare(post(budgets, object('policy/v1', 'PodDisruptionBudget', 'none', { spec: { minAvailable: 1 } }))),
    evict('a'),
  ]),
  sequence('groups of autoscaling and policies', [
    get('/apis/autoscaling'),
    get('/apis/autoscaling/v1'),
    get('/apis/autoscaling/v2'),
    get('/apis/policy'),
    get('/apis/policy/v1'),
    get(clusterWide('horizontalpodautoscalers', 'autoscaling/v3')),
    get('/apis/autoscaling/v3'),
    get('/apis/policy/v1beta1'),
  ]),
];
