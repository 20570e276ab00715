import { readFile } from 'node:fs/promises';
import { localCluster, manualClock, operatorRunner } from 'kopf-ts/testing';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const handlers = new URL('handlers.ts', import.meta.url);
const textOf = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

it('waits for a replica that does not come up for two minutes, in no time', async () => {
  const clock = manualClock();
  await using cluster = await localCluster({ clock, controllers: 'simulated' });
  await cluster.apply(await textOf('crd.yaml'));
  const hanging = cluster.simulation.behave({ name: 'orders-2' }, { hang: 'start' });
  await using runner = await operatorRunner({ cluster, handlers, clock });
  await runner.ready;
  await cluster.create({ ...parse(await textOf('obj.yaml')), metadata: { name: 'orders', namespace: 'default' } });

  await clock.advance(120);
  await runner.settled();
  expect(cluster.get('databases/default/orders')?.['status']).toMatchObject({
    phase: 'Creating',
    conditions: [{ type: 'Ready', status: 'False', reason: 'Replicas', message: '2 of 3 replicas are ready.' }],
  });

  hanging.remove();
  await clock.advance(60);
  await runner.settled();
  expect(cluster.get('databases/default/orders')?.['status']).toMatchObject({
    phase: 'Ready',
    conditions: [{ type: 'Ready', status: 'True', message: '3 of 3 replicas are ready.' }],
  });
});
