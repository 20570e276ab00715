import type { OperatorRunner } from 'kopf-ts/testing';
import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

const waysOfSeeing = ({ logs }: OperatorRunner, name: string): string[] => {
  const beginning = `${name} is seen `;
  const texts = logs.messages('info').filter((message) => message.startsWith(beginning));
  return texts.map((text) => text.slice(beginning.length, -1)).sort();
};

it('calls only the handlers that care for the object', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample();
  await stage.createExample({
    name: 'test-1',
    spec: { field: 'else', items: [] },
    annotations: { someannotation: '?' },
  });
  await stage.eventually(() => expect(operator.logs.messages().filter(isProcessed)).toHaveLength(2));
  expect(waysOfSeeing(operator, 'kopf-example-1')).toEqual([
    'annotated',
    'for real',
    'with several items',
    'with the field',
    'with the label',
    'with the value',
  ]);
  expect(waysOfSeeing(operator, 'test-1')).toEqual(['with the label', 'with the value']);

  operator.logs.clear();
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { field: 'other' } });
  await stage.eventually(() => expect(waysOfSeeing(operator, 'kopf-example-1')).toEqual(['from value to other']));
  operator.logs.clear();
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { field: null } });
  await stage.eventually(() => expect(waysOfSeeing(operator, 'kopf-example-1')).toEqual(['without the field']));
});

it('guards the object while it has the label', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample();
  const told = (text: string) => stage.eventually(() => expect(operator.logs.find(text)).toBeDefined());
  for (const round of ['first', 'second']) {
    await stage.patch('kopfexamples', 'kopf-example-1', { metadata: { labels: { guarded: 'yes', round } } });
    await told('kopf-example-1 is guarded.');
    await stage.patch('kopfexamples', 'kopf-example-1', { metadata: { labels: { guarded: null } } });
    await told('kopf-example-1 is not guarded any more.');
    operator.logs.clear();
  }
});

const isProcessed = (message: string): boolean => message.startsWith('Creation is processed');
