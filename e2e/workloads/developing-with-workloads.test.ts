import { kubeClient, loginWithKubeconfig } from '@kopf-ts/client';
import type { AnyObject, ConnectionInfo } from '@kopf-ts/core';
import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { built, project } from '../cli/projects.js';
import { realClock } from '../support/client.js';
import { becomesTrue } from '../support/waiting.js';

built();

const HANDLERS = `import * as kopf from 'kopf-ts';
kopf.on.startup(({ logger }) => { logger.info('begun'); });
kopf.on.field('deployments', { field: 'status.availableReplicas' }, ({ new: count, logger }) => {
  logger.info('available: ' + count);
});
`;
const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: one }] }
`;

describe('kopf dev', () => {
  it.each([
    ['simulates workloads', [], 2],
    ['leaves them alone, if told so', ['--no-workloads'], undefined],
  ])('%s', async (_what, options, expected) => {
    const { kopf } = await project({ 'handlers.ts': HANDLERS, 'obj.yaml': DEPLOYMENT });
    const dev = kopf(['dev', 'handlers.ts', ...options]);
    await dev.says('  export KUBECONFIG=');
    const path = /export KUBECONFIG=(.*)/.exec(dev.said.join('\n'))?.[1] ?? '';
    const connection = (await loginWithKubeconfig({ path })) as ConnectionInfo;
    const client = kubeClient({ connection, clock: realClock, logger: recordingLogger() });
    onTestFinished(() => client.close());
    const get = (where: string): Promise<AnyObject> => client.request({ method: 'GET', path: where });
    const available = async (): Promise<unknown> =>
      (await get('/apis/apps/v1/namespaces/default/deployments/web'))['status']?.availableReplicas;
    if (expected === undefined) {
      await dev.logs('begun');
      expect((await get('/api/v1/nodes'))['items']).toEqual([]);
      expect(await available()).toBeUndefined();
    } else {
      expect(await becomesTrue(async () => (await available()) === expected)).toBe(true);
      await dev.logs(`available: ${expected}`);
    }
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
  });
});
