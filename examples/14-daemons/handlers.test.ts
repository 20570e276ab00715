import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('runs the daemons as long as there is the object, which waits for all of them', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample();
  const told = (text: string | RegExp) => stage.eventually(() => expect(operator.logs.find(text)).toBeDefined());
  await told('Beat 1 with value.');
  await told('Beat 2 with value.');
  await told('Standing.');
  expect(operator.outcomes.of('fragile').map(({ how }) => how)).toEqual(['retried', 'retried']);

  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { field: 'other' } });
  await told(/^Beat \d+ with other\.$/);

  operator.logs.clear();
  await stage.delete('kopfexamples', 'kopf-example-1');
  await stage.gone('kopfexamples', 'kopf-example-1');
  const ends = operator.logs.messages('info').filter((message) => /^(Leaving|Broken off)/.test(message));
  expect(ends).toEqual([expect.stringMatching(/^Leaving after \d+ beats: resource-deleted\.$/), 'Broken off.']);
});

it('stops the daemons with the operator, and starts them with the next one', async () => {
  await using stage = await newStage();
  const first = await stage.run(handlers);
  await stage.createExample();
  await stage.eventually(() => expect(first.logs.find('Standing.')).toBeDefined());
  await first.stop();
  const { status } = await stage.get('kopfexamples', 'kopf-example-1');
  expect(status?.beats).toBeGreaterThan(0);
  expect(first.logs.find(/^Leaving after \d+ beats: operator-exiting\.$/)).toBeDefined();
  expect(first.logs.find('Broken off.')).toBeDefined();

  await using second = await stage.run(handlers);
  await stage.eventually(() => expect(second.logs.find('Standing.')).toBeDefined());
});
