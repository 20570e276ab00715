import { manualClock } from '@kopf-ts/testing';
import { expect, it } from 'vitest';
import { localCluster } from '../../src/index.js';
import { newFolder } from '../data/support.js';
import { condition, deployment, pod } from './stage.js';

it('workloads go on where they were when their cluster comes back', async () => {
  const folder = newFolder();
  const options = { data: folder, listen: false, controllers: 'simulated' } as const;
  const clock = manualClock({ start: '2030-01-01T00:00:00Z' });
  const first = await localCluster({ ...options, clock });
  await first.create(deployment('web'));
  await first.create(pod('task', { restartPolicy: 'Never' }, { 'simulation.kopf-ts.dev/finish-after': '100' }));
  await first.settled();
  await clock.advance(60);
  await first.create(pod('late', {}, { 'simulation.kopf-ts.dev/start-after': '30' }));
  await first.settled();
  const before = first.list('pods').map(({ metadata }) => metadata?.uid);
  const [{ status: deploymentBefore } = {}] = first.list('deployments');
  await first.stop();

  const laterClock = manualClock({ start: '2030-01-01T00:01:10Z' });
  await using second = await localCluster({ ...options, clock: laterClock });
  await second.settled();
  expect(second.list('pods').map(({ metadata }) => metadata?.uid)).toEqual(before);
  expect(second.list('deployments')[0]?.status).toEqual(deploymentBefore);
  expect(second.list('nodes')).toHaveLength(1);
  // It has been running for 69 seconds; what was starting starts once more.
  await laterClock.advance(30.5);
  await second.settled();
  expect(condition(second.get('pods/default/late'), 'Ready').status).toBe('True');
  expect(second.get('pods/default/task')?.status.phase).toBe('Running');
  await laterClock.advance(1);
  await second.settled();
  expect(second.get('pods/default/task')?.status.phase).toBe('Succeeded');
});
