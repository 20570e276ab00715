import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);
const definitions = [new URL('deploy/crd.yaml', import.meta.url)];

it('publishes greetings, and revises them', async () => {
  await using stage = await newStage({ apply: definitions });
  await using operator = await stage.run(handlers);
  await stage.create('greetings', {
    apiVersion: 'example.com/v1',
    kind: 'Greeting',
    metadata: { name: 'hello' },
    spec: { text: 'Hello!' },
  });
  const published = await stage.eventually(async () => {
    const { status } = await stage.get('greetings', 'hello');
    expect(status?.published).toMatch(/^hello-/);
    return status.published;
  });
  expect((await stage.get('configmaps', published))['data']).toEqual({ text: 'Hello!' });

  await stage.eventually(() => expect(operator.logs.find('Creation is processed')).toBeDefined());
  await stage.patch('greetings', 'hello', { spec: { text: 'Good morning!' } });
  await stage.eventually(async () =>
    expect((await stage.get('configmaps', published))['data']).toEqual({ text: 'Good morning!' }),
  );

  await stage.delete('greetings', 'hello');
  await stage.gone('greetings', 'hello');
  expect(operator.logs.find('hello is retracted.')).toBeDefined();
});
