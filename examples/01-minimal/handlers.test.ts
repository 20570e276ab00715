import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('greets each new object once, and remembers that', async () => {
  await using stage = await newStage();
  {
    await using operator = await stage.run(handlers);
    await stage.createExample();
    await stage.eventually(async () => {
      const { status } = await stage.get('kopfexamples', 'kopf-example-1');
      expect(status).toEqual({ greet: { said: 'hello' } });
    });
    expect(operator.logs.messages('info')).toContain('Hello, kopf-example-1! Your field is value.');
  }
  await using restarted = await stage.run(handlers);
  await stage.createExample({ name: 'another' });
  await stage.eventually(() => expect(restarted.logs.find('Hello, another!')).toBeDefined());
  expect(restarted.logs.find('Hello, kopf-example-1!')).toBeUndefined();
});

it('comes to rest, and can be called twice', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  await stage.createExample();
  await stage.eventually(() => expect(operator.outcomes.of('greet')).toHaveLength(1));
  await operator.expectQuiescent();
  await operator.expectIdempotent();
});
