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

  const attempts = (text: string | RegExp): number =>
    operator.logs.messages().filter((message) => message.startsWith('Handler') && message.search(text) >= 0).length;
  expect(attempts('There is no size, and nobody can guess it.')).toBe(1);
  expect(attempts(/Attempt \d is too early\./)).toBe(3);
  expect(attempts('Something is wrong with the network.')).toBe(3);
  expect(attempts('Once is enough.')).toBe(1);
  expect(attempts(/Not done in \d seconds\./)).toBeGreaterThan(1);
});

it('is as good as done where nothing fails', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample({ spec: { size: '1Gi' } });
  await stage.eventually(() =>
    expect(operator.logs.find('Creation is processed: 2 succeeded; 3 failed.')).toBeDefined(),
  );
});
