import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('does each item on its own: those that are done are not done again for the slow one', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample({ spec: { items: ['item1', 'slow', 'item2'] } });
  await stage.eventually(async () => {
    const { status } = await stage.get('kopfexamples', 'kopf-example-1');
    expect(status).toEqual({
      'createItems/item1': { made: true },
      'createItems/item2': { made: true },
      'createItems/slow': { made: true },
    });
  });
  const made = operator.logs.messages('info').filter((message) => message.startsWith('Made'));
  expect(made).toEqual(['Made item1.', 'Made item2.', 'Made slow.']);
});

it('makes what is added, removes what is not there any more, and goes on when all is done', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample();
  await stage.eventually(() => expect(operator.logs.find('Creation is processed')).toBeDefined());
  operator.logs.clear();
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { items: ['item1', 'item3'] } });
  await stage.eventually(() => expect(operator.logs.find('In sync: item1, item3.')).toBeDefined());
  const done = operator.logs.messages('info').filter((message) => /^(Made|Removed|In sync)/.test(message));
  expect(done).toEqual(['Made item3.', 'Removed item2.', 'In sync: item1, item3.']);
});
