import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('sees what happens, and leaves no traces', async () => {
  await using stage = await newStage();
  await stage.createExample();
  await using operator = await stage.run(handlers);
  const told = (text: string) => stage.eventually(() => expect(operator.logs.find(text)).toBeDefined());

  await told('LISTED: kopf-example-1 of generation 1.');
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { field: 'other' } });
  await told('MODIFIED: kopf-example-1 of generation 2.');
  const { metadata } = await stage.get('kopfexamples', 'kopf-example-1');
  expect(metadata?.finalizers).toBeUndefined();
  expect(metadata?.annotations).toEqual({ someannotation: 'somevalue' });
  await stage.createExample({ name: 'two' });
  await told('ADDED: two of generation 1.');
  await stage.delete('kopfexamples', 'two');
  await told('DELETED: two of generation 1.');

  const failures = operator.logs.messages('error').filter((message) => message.includes('Nobody is harmed by this.'));
  expect(failures).toHaveLength(4);
});

it('watches over pods, too, but only those of the label', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  const told = (text: string) => stage.eventually(() => expect(operator.logs.find(text)).toBeDefined());
  const pod = (name: string, app: string) => ({
    metadata: { name, labels: { app } },
    spec: { containers: [{ name: 'main', image: 'none' }] },
  });

  await stage.create('pods', pod('other', 'db'));
  await stage.create('pods', pod('web', 'web'));
  await told('The pod web is Pending.');
  await stage.delete('pods', 'web');
  await told('The pod web is gone.');
  expect(operator.logs.find('The pod other')).toBeUndefined();
});
