import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('tries again, or does not', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample();
  await stage.eventually(() =>
    expect(operator.logs.find('Creation is processed: 1 succeeded; 4 failed.')).toBeDefined(),
  );

  const { status } = await stage.get('kopfexamples', 'kopf-example-1');
  expect(status).toEqual({ impatient: { attempts: 4 } });

  const outcomesOf = (handler: string) => operator.outcomes.of(handler).map(({ how }) => how);
  expect(outcomesOf('hopeless')).toEqual(['failed']);
  expect(outcomesOf('impatient')).toEqual(['retried', 'retried', 'retried', 'succeeded']);
  expect(outcomesOf('unlucky')).toEqual(['retried', 'retried', 'failed']);
  expect(outcomesOf('strict')).toEqual(['failed']);
  expect(outcomesOf('hasty').at(0)).toBe('retried');
  expect(outcomesOf('hasty').at(-1)).toBe('failed');
});

it('succeeds where there is nothing to complain about', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample({ spec: { size: '1Gi' } });
  await stage.eventually(() =>
    expect(operator.logs.find('Creation is processed: 2 succeeded; 3 failed.')).toBeDefined(),
  );
  expect(operator.outcomes.of({ handler: 'hopeless', how: 'succeeded' })).toHaveLength(1);
});
