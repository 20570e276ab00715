import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('thinks before it greets', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample();
  const call = await stage.eventually(() => {
    expect(operator.outcomes).toHaveLength(1);
    return operator.outcomes[0];
  });
  expect(call).toMatchObject({ handler: 'greet', reason: 'create', how: 'retried', delay: 300 });
});
