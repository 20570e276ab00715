import { expect, it } from 'vitest';
import { newStage, type Stage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

const owned = async (stage: Stage): Promise<unknown> =>
  (await stage.list('configmaps'))
    .filter(({ metadata }) => metadata?.ownerReferences !== undefined)
    .map(({ metadata, data }) => `${metadata?.name}: ${data?.of}`)
    .sort();
const of = (count: number): string[] => Array.from({ length: count }, (_, n) => `kopf-example-1-${n}: kopf-example-1`);

it('makes, mends and removes, until it is as it should be', async () => {
  await using stage = await newStage();
  {
    await using _operator = await stage.run(handlers);
    await stage.createExample({ spec: { replicas: 3 } });
    await stage.eventually(async () => expect(await owned(stage)).toEqual(of(3)));
    await stage.delete('configmaps', 'kopf-example-1-1');
    await stage.patch('configmaps', 'kopf-example-1-2', { data: { of: 'nobody' } });
    await stage.eventually(async () => expect(await owned(stage)).toEqual(of(3)));
  }
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { replicas: 1 } });
  await stage.delete('configmaps', 'kopf-example-1-0');
  await using operator = await stage.run(handlers);
  await stage.eventually(async () => expect(await owned(stage)).toEqual(of(1)));
  await stage.eventually(async () => {
    expect((await stage.get('kopfexamples', 'kopf-example-1'))['status']).toMatchObject({ replicas: 1 });
  });
  await stage.delete('kopfexamples', 'kopf-example-1');
  await stage.gone('kopfexamples', 'kopf-example-1');
  expect(operator.logs.messages('info')).toContain('Goodbye, kopf-example-1.');
});
