import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('tells about the object where people look', async () => {
  await using stage = await newStage();
  await using _operator = await stage.run(handlers);
  const { metadata } = await stage.createExample();

  const events = await stage.eventually(async () => {
    const posted = await stage.list('events');
    expect(posted.length).toBeGreaterThanOrEqual(4);
    return posted;
  });
  const facts = events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`).sort();
  expect(facts).toEqual([
    expect.stringMatching(/^Error Parsing: It went wrong, and life goes on: .*JSON/),
    'Normal Anything: With a type of your choice.',
    'Normal Greeting: The object is seen.',
    'Warning Doubt: The field is value, which is unusual.',
  ]);
  for (const { involvedObject } of events) {
    expect(involvedObject).toMatchObject({ kind: 'KopfExample', name: 'kopf-example-1', uid: metadata?.uid });
  }
});
