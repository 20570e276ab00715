import { localCluster, testProgressStorage } from 'kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { GARBAGE_COLLECTION, newStage } from '../support/stage.js';
import { configMapProgressStorage } from './storage.js';

const handlers = new URL('handlers.ts', import.meta.url);

// The objects of the suite are not in the cluster, so their ConfigMaps would be garbage to its controllers.
testProgressStorage(
  async () => configMapProgressStorage((await localCluster({ listen: false, controllers: false })).client),
  { describe, it },
);

it('remembers beside the object what is done, also through a restart', { timeout: GARBAGE_COLLECTION }, async () => {
  await using stage = await newStage();
  const before = await stage.run(handlers);
  const { metadata } = await stage.createExample();
  const records = async (): Promise<Record<string, { success: boolean }>> => {
    const { data = {} } = await stage.get('configmaps', `progress-${metadata?.uid}`);
    const entries = Object.entries<string>(data).map(([key, text]) => [key.split('.')[0], JSON.parse(text)]);
    return Object.fromEntries(entries);
  };
  await stage.eventually(() => expect(before.outcomes.of({ handler: 'second', how: 'retried' })).not.toHaveLength(0));
  await stage.eventually(async () =>
    expect(await records()).toMatchObject({ first: { success: true }, second: { success: false } }),
  );
  expect((await stage.get('kopfexamples', 'kopf-example-1')).metadata?.annotations).toEqual({
    someannotation: 'somevalue',
  });
  await before.stop();

  await using after = await stage.run(handlers);
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { ready: true } });
  await stage.eventually(() => expect(after.logs.find('Creation is processed: 2 succeeded; 0 failed.')).toBeDefined());
  expect(after.logs.find('The second step is done.')).toBeDefined();
  await stage.eventually(async () => expect(await records()).toEqual({}));

  await stage.delete('kopfexamples', 'kopf-example-1');
  await stage.gone('configmaps', `progress-${metadata?.uid}`);
});
