import { recordingLogger } from 'kopf-ts/testing';
import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';
import { firstObjects } from './main.js';

it('runs an operator until the program has got what it wants', async () => {
  await using stage = await newStage();
  const { client, clock, namespace } = stage;
  const logger = recordingLogger();
  const finding = firstObjects(2, { client, clock, logger, namespaces: [namespace], identity: 'embedded' });
  await stage.createExample({ name: 'one' });
  await stage.createExample({ name: 'two' });
  expect([...(await stage.during(finding))].sort()).toEqual(['one', 'two']);
  expect(logger.messages()).toContain('Operator has ended.');
});

it('tells the program if it cannot even begin', async () => {
  await using stage = await newStage();
  const { client, clock } = stage;
  // @ts-expect-error It is a list.
  const finding = firstObjects(1, { client, clock, namespaces: 'default' });
  await expect(finding).rejects.toThrow(/must be an array/);
});
