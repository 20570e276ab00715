import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('calls the handlers again and again; some of them only in quiet times', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  const started = stage.clock.now();
  await stage.createExample();
  await stage.eventually(async () => {
    const { status } = await stage.get('kopfexamples', 'kopf-example-1');
    expect(status?.ticks).toBeGreaterThan(2);
  });
  expect(stage.clock.now() - started).toBeGreaterThan(1.9);
  await stage.eventually(() => expect(operator.outcomes.of('tock').length).toBeGreaterThan(1));
  await stage.eventually(() => expect(operator.logs.find('kopf-example-1 is quiet with value.')).toBeDefined());
  expect(stage.clock.now() - started).toBeGreaterThan(2.9);

  await stage.eventually(() => expect(operator.outcomes.of('chime').length).toBeGreaterThan(1));
  expect(operator.logs.find('kopf-example-1 hears the chime.')).toBeDefined();

  const changed = stage.clock.now();
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { field: 'other' } });
  await stage.eventually(() => expect(operator.logs.find('kopf-example-1 is quiet with other.')).toBeDefined());
  expect(stage.clock.now() - changed).toBeGreaterThan(2.9);

  await stage.delete('kopfexamples', 'kopf-example-1');
  await stage.gone('kopfexamples', 'kopf-example-1');
});
