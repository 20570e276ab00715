import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('deletes pods whose time is over, and leaves the others alone', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  const newPod = (name: string, annotations: Record<string, string>) =>
    stage.create('pods', { metadata: { name, annotations }, spec: { containers: [{ name: 'main', image: 'none' }] } });

  await newPod('other', {});
  await newPod('long', { 'example.kopf.dev/lifetime': '1000' });
  await newPod('short', { 'example.kopf.dev/lifetime': '2' });
  await stage.eventually(() => expect(operator.logs.find('The pod short has 2 seconds to live.')).toBeDefined());
  await stage.gone('pods', 'short');
  expect(operator.logs.find('The pod short has lived for long enough.')).toBeDefined();

  // Others may delete it, too: the task ends with the pod.
  await stage.delete('pods', 'long');
  await stage.gone('pods', 'long');
  expect(operator.logs.find('The pod long has lived for long enough.')).toBeUndefined();

  const { metadata } = await stage.get('pods', 'other');
  expect(metadata?.finalizers).toBeUndefined();
  expect(operator.logs.find('The pod other')).toBeUndefined();
});
