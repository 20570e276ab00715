import { recordingLogger } from 'kopf-ts/testing';
import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';
import { operatorForTenants } from './main.js';

it('serves a namespace from its labelling to its unlabelling', async () => {
  await using stage = await newStage();
  const { client, clock, namespace } = stage;
  const logger = recordingLogger();
  const labelled = (label: string | null) =>
    client.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { 'example.com/tenant': label } } },
    });
  const operator = operatorForTenants({ client, clock, logger, identity: 'tenants', standalone: true });
  await stage.during(operator.ready);
  await stage.createExample({ name: 'one' });

  await labelled('shop');
  await stage.eventually(() => expect(logger.messages('info')).toContain(`Guarding ${namespace}/one.`));
  await stage.eventually(() => expect(logger.messages('info')).toContain(`Hello, ${namespace}/one!`));

  await labelled(null);
  await stage.eventually(() => expect(logger.messages('info')).toContain(`Leaving ${namespace}/one.`));
  await stage.createExample({ name: 'two' });

  await labelled('shop');
  await stage.eventually(() => expect(logger.messages('info')).toContain(`Hello, ${namespace}/two!`));
  expect(logger.messages('info').filter((message) => message.startsWith('Hello'))).toHaveLength(2);
  await stage.during(operator.stop());
});
