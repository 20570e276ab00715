import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { newStage, type Stage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);

async function createObjects(stage: Stage): Promise<void> {
  const text = await readFile(new URL('objects.yaml', import.meta.url), 'utf8');
  for (const document of parseAllDocuments(text)) await stage.create('kopfexamples', document.toJS());
}

it('handles objects of three sorts', async () => {
  await using stage = await newStage();
  await using operator = await stage.run(handlers);
  const has = (name: string, status: object) =>
    stage.eventually(async () => expect((await stage.get('kopfexamples', name))['status']).toEqual(status));
  await createObjects(stage);

  await has('volume', { phase: '3 × 1Gi' });
  await stage.patch('kopfexamples', 'volume', { spec: { size: '2Gi' } });
  await has('volume', { phase: 'from 1Gi to 2Gi' });

  await has('tenant', { seats: 5 });
  await stage.patch('kopfexamples', 'tenant', { spec: { plan: 'paid' } });
  await has('tenant', { seats: 5, plan: 'paid' });
  const failure = await stage.during(operator.outcomes.next({ handler: 'welcome', name: 'odd-tenant' }));
  expect(failure.how).toBe('failed');
  expect(failure.error?.message).toMatch(/plan(.|\n)*seats/);

  const containers = [{ name: 'main', image: 'some-image' }];
  await stage.create('pods', { metadata: { name: 'web' }, spec: { containers } });
  await stage.eventually(() => expect(operator.logs.find('web is Pending with some-image.')).toBeDefined());
});
