import { manualClock } from '@kopf-ts/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
afterEach(async () => {
  vi.restoreAllMocks();
  await cluster.stop();
});

it('rules that are not evaluated are told of once', async () => {
  const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  cluster = await localCluster({ clock: manualClock(), controllers: false });
  const rule = { rule: 'self.spec.size > 0' };
  await cluster.define({
    group: 'example.com',
    version: 'v1',
    plural: 'things',
    kind: 'Thing',
    schema: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      'x-kubernetes-validations': [rule],
    },
  });
  const create = async (name: string): Promise<string | null> => {
    const answer = await fetch(`${cluster.url}/apis/example.com/v1/namespaces/default/things`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name } }),
    });
    expect(answer.status).toBe(201);
    return answer.headers.get('warning');
  };
  expect(await create('a')).toContain('x-kubernetes-validations of Thing (example.com/v1) are not evaluated');
  expect(await create('b')).toBeNull();
  expect(emit).toHaveBeenCalledTimes(1);
});
