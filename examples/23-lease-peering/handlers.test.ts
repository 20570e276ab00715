import { peering } from 'kopf-ts';
import { expect, it } from 'vitest';
import { newStage, type Stage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

/** A replica as in `main.ts`, with a lease in the namespace of the test. */
const startReplica = ({ run, namespace }: Stage, identity: string) =>
  run(handlers, {
    identity,
    peering: peering.leasePeering({ name: 'kopf-example', namespace, identity, retryPeriod: 1 }),
  });

it('has one replica work at a time, and the next one when that one is gone', async () => {
  await using stage = await newStage();
  const holder = async (): Promise<unknown> => (await stage.get('leases', 'kopf-example'))['spec'].holderIdentity;
  const first = await startReplica(stage, 'first');
  await stage.eventually(async () => expect(await holder()).toBe('first'));
  await using second = await startReplica(stage, 'second');

  await stage.createExample({ name: 'one' });
  await stage.eventually(() => expect(first.logs.find('one is done by the leader.')).toBeDefined());
  await stage.eventually(() => expect(first.logs.find('Creation is processed')).toBeDefined());
  await first.stop();
  await stage.eventually(async () => expect(await holder()).toBe('second'));
  await stage.createExample({ name: 'two' });
  await stage.eventually(() => expect(second.logs.find('two is done by the leader.')).toBeDefined());
  expect(second.logs.find('one is done by the leader.')).toBeUndefined();
});
