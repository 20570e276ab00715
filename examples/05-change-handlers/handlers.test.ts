import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('follows an object from its creation to its deletion, through a restart', async () => {
  await using stage = await newStage();
  const first = await stage.run(handlers);
  const { metadata } = await stage.createExample();
  const uid = metadata?.uid ?? '';
  await stage.eventually(async () => {
    const { status } = await stage.get('kopfexamples', 'kopf-example-1');
    expect(status).toEqual({ registration: { number: uid.slice(0, 8) } });
  });
  await stage.eventually(() => expect(first.logs.find('Creation is processed')).toBeDefined());
  expect(first.logs.find('The cache is there, because of: create.')).toBeDefined();
  expect(first.logs.find('kopf-example-1 is created.')).toBeDefined();
  expect(first.logs.find('There are 2 items now.')).toBeDefined();
  await first.stop();

  await using second = await stage.run(handlers);
  const told = (text: string) => stage.eventually(() => expect(second.logs.find(text)).toBeDefined());
  await told('The cache is there, because of: resume.');
  expect(second.logs.find('kopf-example-1 is created.')).toBeUndefined();

  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { field: 'other' } });
  await told('change of spec.field: value → other');
  expect(second.logs.find('items now.')).toBeUndefined();
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { items: ['a', 'b', 'c'] } });
  await told('There are 3 items now.');

  await stage.delete('kopfexamples', 'kopf-example-1');
  await stage.gone('kopfexamples', 'kopf-example-1');
  expect(second.logs.find('kopf-example-1 is let go.')).toBeDefined();
});
