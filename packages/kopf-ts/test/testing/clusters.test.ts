import { createRegistry } from '@kopf-ts/core';
import { clusterFixture, clusterHooks, operatorRunner, type TestCluster, testCluster } from 'kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';

const KOPF_EXAMPLE = { group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' };
const one = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name: 'one', namespace: 'default' } };
const example = (file: string) => new URL(`../../../../examples/${file}`, import.meta.url);

describe('a cluster for tests', () => {
  it('begins with what is defined and applied, be it in files or not', async () => {
    await using cluster = await testCluster({ apply: [example('crd.yaml'), example('obj.yaml'), one] });
    expect(cluster.list('kopfexamples').map(({ metadata }) => metadata?.name)).toEqual(['kopf-example-1', 'one']);
  });

  it('has time that stands still, and opens no port', async () => {
    await using cluster = await testCluster();
    expect(cluster.clock.now()).toBe(0);
    await cluster.clock.advance(10);
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'default' } });
    expect(cluster.get('configmaps/default/one')?.metadata?.creationTimestamp).toBe('2020-01-01T00:00:10Z');
    expect(cluster.url).toBe('');
  });

  it('is not left behind if it cannot be made as wanted', async () => {
    await expect(testCluster({ apply: ['no-such-file.yaml'] })).rejects.toThrow('no-such-file.yaml');
    await expect(testCluster({ apply: [one] })).rejects.toThrow('KopfExample');
  });

  it('can be made to fail, and the operator goes on', async () => {
    await using cluster = await testCluster({ define: [KOPF_EXAMPLE] });
    const registry = createRegistry();
    registry.on.create('kopfexamples', { id: 'greet' }, ({ patch }) => {
      patch.status['greeting'] = 'hello';
    });
    await using runner = await operatorRunner({ cluster, registry });
    await runner.ready;
    const fault = cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 503 }, times: 2 });
    await cluster.create(one);
    await runner.eventually(() => {
      expect(cluster.get('kopfexamples/default/one')).toMatchObject({ status: { greeting: 'hello' } });
    });
    expect(fault.hits).toBe(2);
    expect(runner.outcomes.of('greet').map(({ how }) => how)).toEqual(['succeeded']);
  });
});

describe('a cluster as a fixture of vitest', () => {
  const extended = test.extend<{ cluster: TestCluster }>({ cluster: clusterFixture({ define: [KOPF_EXAMPLE] }) });

  for (const turn of ['first', 'second'])
    extended(`is new in the ${turn} test`, async ({ cluster }) => {
      expect(cluster.list('kopfexamples')).toEqual([]);
      await cluster.create(one);
      expect(cluster.list('kopfexamples')).toHaveLength(1);
    });
});

describe('a cluster between hooks', () => {
  const cluster = clusterHooks({ before: beforeEach, after: afterEach }, { define: [KOPF_EXAMPLE] });

  it.each(['first', 'second'])('is new in the %s test', async () => {
    expect(cluster.current.list('kopfexamples')).toEqual([]);
    await cluster.current.create(one);
    expect(cluster.current.list('kopfexamples')).toHaveLength(1);
  });
});
