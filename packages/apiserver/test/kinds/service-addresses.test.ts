import type { AnyObject } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeAll(async () => {
  cluster = await localCluster({ listen: false, clock: manualClock(), controllers: false });
});
afterAll(() => cluster.stop());

const service = (name: string, spec: object): Promise<AnyObject> =>
  cluster.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { ports: [{ port: 80 }], ...spec },
  });
const withNodePort = (name: string, nodePort?: number) =>
  service(name, { type: 'NodePort', ports: [{ port: 80, ...(nodePort === undefined ? {} : { nodePort }) }] });
const patch = (name: string, spec: object) => cluster.patch(`services/default/${name}`, { spec });

describe('addresses of services', () => {
  it('are given to one of them only', async () => {
    await service('first', { clusterIP: '10.96.7.7' });
    await expect(service('second', { clusterIP: '10.96.7.7' })).rejects.toThrow(
      'Service "second" is invalid: spec.clusterIPs: Invalid value: ["10.96.7.7"]: failed to allocate IP 10.96.7.7: provided IP is already allocated',
    );
    await cluster.delete('services/default/first');
    await expect(service('second', { clusterIP: '10.96.7.7' })).resolves.toMatchObject({
      spec: { clusterIPs: ['10.96.7.7'] },
    });
  });

  it('are found among those that nobody has, also the first and the last free one', async () => {
    const given = new Set<unknown>();
    for (let number = 0; number < 50; number += 1) {
      const { spec } = await service(`found-${number}`, {});
      given.add((spec as { clusterIP: string }).clusterIP);
    }
    expect(given.size).toBe(50);
    await Promise.all(Array.from({ length: 50 }, (_, number) => cluster.delete(`services/default/found-${number}`)));
  });

  it('and ports are imaginary in a dry run', async () => {
    const balanced = {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
    };
    const answer = await cluster.client.request({
      method: 'POST',
      path: '/api/v1/namespaces/default/services?dryRun=All',
      body: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'dry' }, spec: balanced },
    });
    expect(answer).toMatchObject({
      spec: {
        clusterIP: '10.96.0.0',
        ports: [{ nodePort: 32_769 }, { nodePort: 32_770 }],
        healthCheckNodePort: 32_771,
      },
    });
  });

  it.each(['192.168.0.1', '10.96.0.0', '10.96.255.255'])('are of the network, and %s is not', async (clusterIP) => {
    await expect(service('outside', { clusterIP })).rejects.toThrow(
      'the provided network does not match the current range',
    );
  });

  it('are not of the sixth version', async () => {
    await expect(service('six', { clusterIP: 'fd00::1' })).rejects.toThrow(
      'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
    );
  });

  it('come when an external name goes', async () => {
    await service('named', { type: 'ExternalName', externalName: 'example.com', ports: undefined });
    const { spec } = await patch('named', { type: 'ClusterIP', externalName: null, ports: [{ port: 80 }] });
    expect(spec).toMatchObject({ clusterIP: expect.stringMatching(/^10\.96\./), clusterIPs: [expect.any(String)] });
  });
});

describe('node ports', () => {
  it('are given to one service only, on creation and on changes', async () => {
    await withNodePort('one', 30_001);
    const taken = 'spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated';
    await expect(withNodePort('two', 30_001)).rejects.toThrow(taken);
    await withNodePort('two', 30_002);
    await expect(patch('two', { ports: [{ port: 80, nodePort: 30_001 }] })).rejects.toThrow(taken);
    await expect(patch('two', { ports: [{ port: 81, nodePort: 30_002 }] })).resolves.toMatchObject({
      spec: { ports: [{ port: 81, nodePort: 30_002 }] },
    });
  });

  it('are in a range', async () => {
    await expect(withNodePort('low', 80)).rejects.toThrow(
      'provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
  });

  it('are shared by protocols of one service', async () => {
    const ports = [
      { name: 'a', port: 53, nodePort: 30_053, protocol: 'TCP' },
      { name: 'b', port: 53, nodePort: 30_053, protocol: 'UDP' },
    ];
    await service('both', { type: 'NodePort', ports });
    await cluster.delete('services/default/both');
    const more = [...ports, { name: 'c', port: 54, nodePort: 30_053 }];
    await expect(service('both', { type: 'NodePort', ports: more })).rejects.toThrow(
      'spec.ports[2].nodePort: Invalid value: 30053: provided port is already allocated',
    );
  });

  it('are found for those who ask for none, one for each', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `any-${index}`);
    const found = await Promise.all(names.map((name) => withNodePort(name)));
    const ports = found.map(({ spec }) => spec?.ports?.[0]?.nodePort as number);
    expect(new Set(ports).size).toBe(names.length);
    for (const port of ports) expect(port).toBeGreaterThanOrEqual(30_000);
  });

  it('are not given where they are not wanted', async () => {
    const { spec } = await service('plain', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false });
    expect(spec?.ports?.[0]).not.toHaveProperty('nodePort');
  });
});
