import { operator } from 'kopf-ts';
import { recordingLogger } from 'kopf-ts/testing';
import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';
import { registry } from './handlers.js';

it('serves the objects of its shard, from their coming to their leaving', async () => {
  await using stage = await newStage();
  const { client, clock, namespace } = stage;
  const logger = recordingLogger();
  const path = `/apis/kopf.dev/v1/namespaces/${namespace}/kopfexamples`;
  const create = (name: string, shard: string) =>
    client.request({
      method: 'POST',
      path,
      body: { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name, labels: { shard } }, spec: {} },
    });
  const running = operator({ registry, client, clock, logger, namespaces: [namespace], standalone: true });
  await stage.during(running.ready);
  await create('ours', 'a');
  await create('theirs', 'b');
  await stage.eventually(() => expect(logger.messages('info')).toContain('Hello, ours!'));

  await client.request({
    method: 'PATCH',
    path: `${path}/ours`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { labels: { shard: 'b' } } },
  });
  await stage.eventually(() => expect(logger.messages('info')).toContain('Leaving ours.'));
  await stage.eventually(async () => {
    const left = await client.request<{ metadata: { finalizers?: readonly string[] } }>({
      method: 'GET',
      path: `${path}/ours`,
    });
    expect(left.metadata.finalizers ?? []).toEqual([]);
  });
  expect(logger.messages('info')).not.toContain('Hello, theirs!');
  await stage.during(running.stop());
});
