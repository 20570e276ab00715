import { createHash, randomBytes } from 'node:crypto';
import { AdmissionError } from '@kopf-ts/core';
import { webhookServer } from '@kopf-ts/webhooks';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { startAdmission } from './support/operators.js';
import { type Usage, usageOf } from './support/requests.js';

const MB = 1_000_000;
const payload = (size: number): string => randomBytes((size * 3) / 4).toString('base64');
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

describeOnClusters('large objects under review', (cluster) => {
  let things: TestKind;
  let namespace: string;
  let usage: Usage;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
    usage = usageOf(cluster().connection, things, namespace);
  });

  it('arrive as they are, twice in one review, and are mutated', async () => {
    const seen: unknown[] = [];
    await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, function look({ operation, old, new: updated }) {
          const digests = [old, updated].map((body) => body && digestOf(body['spec'].payload));
          seen.push([operation, ...digests]);
          if (updated?.['spec'].isBad) throw new AdmissionError('No, thank you.', { code: 422 });
        });
        on.mutate(things.selector, { operations: ['CREATE', 'UPDATE'] }, function sign({ spec, patch }) {
          patch.metadata.annotations['digest'] = digestOf(spec['payload']);
        });
      },
      { namespaces: [namespace] },
    );
    // The real server has a limit of 1.5 MB for what it stores; and nothing else has a lower one.
    const [first, second] = [payload(1.2 * MB), payload(1.3 * MB)];
    const created = await usage.create('one', { spec: { payload: first } });
    expect(created).toMatchObject({ status: 201, body: { metadata: { annotations: { digest: digestOf(first) } } } });
    const updated = await usage.patch('one', { spec: { payload: second } });
    expect(updated).toMatchObject({ status: 200, body: { metadata: { annotations: { digest: digestOf(second) } } } });
    expect(await usage.patch('one', { spec: { isBad: true } })).toMatchObject({ status: 422 });
    expect(await usage.delete('one')).toMatchObject({ status: 200 });
    // The API server may try a patch on a state that it has cached, and then again on the newest one.
    const outdated = JSON.stringify(['UPDATE', digestOf(first), digestOf(first)]);
    expect(seen.filter((review) => JSON.stringify(review) !== outdated)).toEqual([
      ['CREATE', undefined, digestOf(first)],
      ['UPDATE', digestOf(first), digestOf(second)],
      ['UPDATE', digestOf(second), digestOf(second)],
      ['DELETE', digestOf(second), undefined],
    ]);
  });

  it('are not accepted without a review if they are too large for the server', async () => {
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { id: 'look' }, () => {});
      },
      { namespaces: [namespace], server: webhookServer({ addr: '127.0.0.1', bodyLimit: 100_000 }) },
    );
    expect(await usage.create('small', { spec: { payload: payload(50_000) } })).toMatchObject({ status: 201 });
    expect(await usage.create('large', { spec: { payload: payload(1.2 * MB) } })).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining(`failed calling webhook "look.${operator.managed}"`) },
    });
    expect(await things.get(namespace, 'large')).toBeUndefined();
    expect(await usage.create('next', { spec: { payload: payload(50_000) } })).toMatchObject({ status: 201 });
    expect(operator.logger.messages('warn').filter((message) => message.includes('413'))).toHaveLength(1);
  });
});
