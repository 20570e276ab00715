import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, inProcess, MERGE } from '../support/listeners.js';

let client: Client;
beforeEach(async () => {
  client = await inProcess();
});
afterEach(async () => {
  await client.cluster.stop();
});

const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const spec = { scaleTargetRef, maxReplicas: 5 };
const memory = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 70 } },
};

describe('autoscalers', () => {
  it('have the CPU as their only metric unless they are given others', async () => {
    const { body } = await client.send('POST', path('v1'), { metadata: { name: 'a' }, spec });
    expect(body.spec).toMatchObject({ minReplicas: 1, targetCPUUtilizationPercentage: 80 });
    const { body: newer } = await client.send('GET', `${path('v2')}/a`);
    expect(newer.spec.metrics).toEqual([
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
    ]);
  });

  it.each(['scaleUp', 'scaleDown'])('may not have no policies at all for %s', async (way) => {
    const behavior = { [way]: { policies: [] } };
    const { body } = await client.send('POST', path('v2'), { metadata: { name: 'a' }, spec: { ...spec, behavior } });
    expect(body.message).toContain(`spec.behavior.${way}.policies: Required value: must specify at least one Policy`);
  });

  it('tell in annotations what the first version has no fields for, and read it from there', async () => {
    await client.send('POST', path('v2'), { metadata: { name: 'a' }, spec: { ...spec, metrics: [memory] } });
    const { body: old } = await client.send('GET', `${path('v1')}/a`);
    expect(JSON.parse(old.metadata.annotations['autoscaling.alpha.kubernetes.io/metrics'])).toEqual([
      { type: 'Resource', resource: { name: 'memory', targetAverageUtilization: 70 } },
    ]);
    await client.send('PUT', `${path('v1')}/a`, { ...old, spec: { ...old.spec, maxReplicas: 9 } });
    const { body: again } = await client.send('GET', `${path('v2')}/a`);
    expect(again.spec).toMatchObject({ maxReplicas: 9, metrics: [memory] });
    expect(again.metadata.annotations).toBeUndefined();
  });

  it('are refused in the words of the second version, whatever the version', async () => {
    const wrong = { ...spec, targetCPUUtilizationPercentage: 0 };
    const { status, body } = await client.send('POST', path('v1'), { metadata: { name: 'a' }, spec: wrong });
    expect(status).toBe(422);
    expect(body.message).toContain(
      'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
    );
  });

  it('of another version than that of the address are refused', async () => {
    const { status, body } = await client.send('POST', path('v1'), {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
      spec,
    });
    expect([status, body.message]).toEqual([
      400,
      'the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)',
    ]);
  });
});

describe('evictions', () => {
  const PODS = '/api/v1/namespaces/default/pods';
  const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
  beforeEach(async () => {
    for (const name of ['a', 'b']) {
      const containers = [{ name: 'c', image: 'busybox' }];
      await client.send('POST', PODS, { metadata: { name, labels: { app: 'web' } }, spec: { containers } });
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      await client.send('PATCH', `${PODS}/${name}/status`, { status }, MERGE);
    }
    await client.send('POST', BUDGETS, {
      metadata: { name: 'web' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
  });

  it('are as many as the budget allows', async () => {
    const counts = { observedGeneration: 1, currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1 };
    await client.send('PATCH', `${BUDGETS}/web/status`, { status: counts }, MERGE);
    expect((await client.send('POST', `${PODS}/a/eviction`, eviction('a'))).status).toBe(200);
    const { body: budget } = await client.send('GET', `${BUDGETS}/web`);
    expect(budget.status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { a: expect.any(String) } });
    const { status, body } = await client.send('POST', `${PODS}/b/eviction`, eviction('b'));
    expect(status).toBe(429);
    expect(body.details.causes).toEqual([
      { reason: 'DisruptionBudget', message: 'The disruption budget web does not allow evicting pods currently' },
    ]);
  });

  it('wait for a budget that nobody has looked at yet', async () => {
    const { status, body } = await client.send('POST', `${PODS}/a/eviction`, eviction('a'));
    expect([status, body.details.retryAfterSeconds]).toEqual([429, 10]);
    expect((await client.send('GET', `${PODS}/a`)).status).toBe(200);
  });
});
