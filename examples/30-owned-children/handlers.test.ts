import { expect, it } from 'vitest';
import { newStage, type Stage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

const status = async (stage: Stage): Promise<unknown> => (await stage.get('kopfexamples', 'kopf-example-1'))['status'];

it('counts what is written and torn out, also while there is no operator', async () => {
  await using stage = await newStage();
  {
    await using operator = await stage.run(handlers);
    await stage.createExample({ spec: { pages: 3 } });
    await stage.eventually(async () => expect(await status(stage)).toMatchObject({ pages: 3, words: 0 }));
    await stage.patch('configmaps', 'kopf-example-1-1', { data: { text: 'once upon a time' } });
    await stage.eventually(async () => expect(await status(stage)).toMatchObject({ pages: 3, words: 4 }));
    expect(operator.logs.messages('info')).toContain('Page kopf-example-1-1 is changed.');
  }
  await stage.delete('configmaps', 'kopf-example-1-2');
  await stage.patch('configmaps', 'kopf-example-1-3', { data: { text: 'the end' } });
  await using operator = await stage.run(handlers);
  await stage.eventually(async () => expect(await status(stage)).toMatchObject({ pages: 2, words: 6 }));
  await stage.patch('kopfexamples', 'kopf-example-1', { spec: { pages: 4 } });
  await stage.eventually(() =>
    expect(operator.logs.messages('info')).toContain('There should be 4 pages, and there are 2.'),
  );
});
