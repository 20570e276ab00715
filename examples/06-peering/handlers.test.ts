import { peering } from 'kopf-ts';
import { expect, it } from 'vitest';
import { newStage, type Stage } from '../support/stage.js';

const handlers = new URL('handlers.ts', import.meta.url);
const definitions = [new URL('../peering.yaml', import.meta.url)];

const newPeering = (stage: Stage) =>
  stage.create('kopfpeerings', { apiVersion: 'kopf.dev/v1', kind: 'KopfPeering', metadata: { name: 'default' } });

it('leaves the work to the operator of the highest priority, for as long as it lives', async () => {
  await using stage = await newStage({ apply: definitions });
  await newPeering(stage);
  await using deployed = await stage.run(handlers, { identity: 'deployed', priority: 0 });
  await stage.createExample({ name: 'one' });
  await stage.eventually(() => expect(deployed.logs.find('one is mine.')).toBeDefined());

  const developed = await stage.run(handlers, { identity: 'developed', priority: 666 });
  await stage.eventually(() =>
    expect(deployed.logs.find(/^Pausing operations in favour of .*developed/)).toBeDefined(),
  );
  await stage.createExample({ name: 'two' });
  await stage.eventually(() => expect(developed.logs.find('two is mine.')).toBeDefined());

  await stage.during(developed.stop());
  await stage.createExample({ name: 'three' });
  await stage.eventually(() => expect(deployed.logs.find('three is mine.')).toBeDefined());
  expect(deployed.logs.find('two is mine.')).toBeUndefined();
});

it('waits while people ask it to', async () => {
  await using stage = await newStage({ apply: definitions });
  await newPeering(stage);
  await using operator = await stage.run(handlers, { identity: 'deployed' });
  const { client, clock, namespace } = stage;
  const pausing = { client, clock, name: 'default', namespaces: [namespace], identity: 'somebody' };

  await peering.freeze({ ...pausing, lifetime: 600, message: 'maintenance' });
  await stage.eventually(() => expect(operator.logs.find(/^Pausing operations in favour of .*somebody/)).toBeDefined());
  await stage.createExample({ name: 'one' });
  await peering.resume(pausing);
  await stage.eventually(() => expect(operator.logs.find('one is mine.')).toBeDefined());
  const lines = operator.logs.messages().filter((message) => /^(Resuming operations|one is mine)/.test(message));
  expect(lines.slice(-2)).toEqual([expect.stringMatching(/^Resuming/), 'one is mine.']);
});
