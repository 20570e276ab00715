import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('does each step once, and goes on with the results', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample({ spec: { domain: 'shop.example.com' } });
  await stage.eventually(async () => {
    const { status } = await stage.get('kopfexamples', 'kopf-example-1');
    expect(status).toEqual({ network: expect.stringMatching(/^net-[0-9a-f]{8}$/), address: '10.0.0.7' });
  });
  const said = operator.logs.messages('info').filter((message) => /^(Ordering|Starting|shop)/.test(message));
  expect(said).toEqual([
    expect.stringMatching(/^Ordering a network/),
    expect.stringMatching(/^Starting a machine in net-/),
    'shop.example.com is 10.0.0.7.',
  ]);
});

it('can do without a step that fails', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample({ spec: {} });
  await stage.eventually(() => expect(operator.logs.find('goes without a domain')).toBeDefined());
  await stage.eventually(() => expect(operator.logs.find('Creation is processed: 1 succeeded')).toBeDefined());
});

it('goes on where another process was stopped', async () => {
  await using stage = await newStage();
  {
    await using first = await stage.run(handlers);
    await stage.createExample({ spec: {} });
    await stage.eventually(() => expect(first.logs.find('There is no machine left')).toBeDefined());
  }
  await using second = await stage.run(handlers);
  await stage.eventually(() => expect(second.logs.find('Starting a machine')).toBeDefined());
  expect(second.logs.find('Ordering a network')).toBeUndefined();
});
