import { TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { applier } from '../../src/sending/apply.js';
import { operated } from '../support/operated.js';

describe('Results', () => {
  it.each([
    ['a mapping', { a: 1, deep: { b: [2] } }],
    ['a text', 'text'],
    ['a number', 0],
    ['a boolean', false],
    ['a list', [1, 2, 3]],
    ['an empty text', ''],
  ])('of %s are in the status, by the id of the handler', async (_what, result) => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => result);
    await operator.start();
    await operator.create('name1');
    expect((await operator.get('name1')).status).toEqual({ c: result });
    expect(operator.logger.messages('warn')).toEqual([]);
  });

  it.each([null, undefined])('of %s are none', async (result) => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => result);
    await operator.start();
    await operator.create('name1');
    expect((await operator.get('name1')).status).toBeUndefined();
  });

  it('are there as soon as the handler has succeeded, and not when all others have', async () => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c1' }, () => 'done');
    operator.registry.on.create('kopfexamples', { id: 'c2' }, ({ retry }) => {
      if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
      return 'done';
    });
    operator.registry.on.field('kopfexamples', { id: 'f', field: 'spec.field' }, () => 'field');
    await operator.start();
    await operator.create('name1');
    expect((await operator.get('name1')).status).toEqual({ c1: 'done', 'f/spec.field': 'field' });
    await operator.advance(10);
    expect((await operator.get('name1')).status).toEqual({ c1: 'done', c2: 'done', 'f/spec.field': 'field' });
  });

  it('that the schema of the kind does not permit are not sent, and that is told once', async () => {
    const prunes = (_resource: unknown, key: string) => key !== 'allowed';
    await using operator = await operated({
      applier: (options) => applier({ ...options, statusSchemas: { prunes } }),
    });
    operator.registry.on.create('kopfexamples', { id: 'pruned' }, () => 'lost');
    operator.registry.on.create('kopfexamples', { id: 'allowed' }, () => 'kept');
    await operator.start();
    await operator.create('name1');
    await operator.create('name2');
    expect((await operator.get('name1')).status).toEqual({ allowed: 'kept' });
    expect(operator.patches.filter(({ body }) => JSON.stringify(body).includes('lost'))).toEqual([]);
    expect(operator.logger.messages('warn')).toEqual([
      expect.stringMatching(/^Results in status\.pruned of kopfexamples\.v1\.kopf\.dev are not stored: the schema/),
    ]);
  });
});

describe('What the cluster does not keep of a patch', () => {
  it('is told of', async () => {
    await using operator = await operated({
      through: (client) => ({
        stream: (request) => client.stream(request),
        async request<T>(request: Parameters<typeof client.request>[0]): Promise<T> {
          const { status: _dropped, ...answer } = await client.request<Record<string, unknown>>(request);
          return answer as T;
        },
      }),
    });
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => 'lost');
    await operator.start();
    await operator.create('name1');
    expect(operator.logger.messages('warn')).toEqual([
      expect.stringMatching(/^Merge-patching finished with inconsistencies: .*"status"/),
    ]);
  });
});
