import type { Change } from '@kopf-ts/core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';

describeOnClusters('restarts of operators', (cluster) => {
  let things: TestKind;
  let namespace: string;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
  });

  it('let handlers know what was created, changed, deleted or left alone meanwhile', async () => {
    const calls: string[] = [];
    const note =
      (id: string) =>
      ({ name, initial }: Change): void =>
        void calls.push(`${id} ${name}${initial ? ' initially' : ''}`);
    const start = () =>
      startOperator(
        cluster(),
        ({ on }) => {
          on.create(things.selector, { id: 'create' }, note('create'));
          on.update(things.selector, { id: 'update' }, note('update'));
          on.delete(things.selector, { id: 'delete' }, note('delete'));
          on.resume(things.selector, { id: 'resume' }, note('resume'));
          on.resume(things.selector, { id: 'unmodified', only: 'unmodified' }, note('unmodified'));
        },
        { namespaces: [namespace] },
      );
    const first = await start();
    for (const name of ['changed', 'deleted', 'untouched']) await things.create(namespace, name, { spec: { size: 1 } });
    await eventually(() => expect(calls).toHaveLength(3));
    await eventually(async () => {
      const { metadata } = (await things.get(namespace, 'untouched')) ?? {};
      expect(metadata?.annotations).toHaveProperty(['kopf.zalando.org/last-handled-configuration']);
    });
    await first.stop();
    // They may be among the objects listed at first.
    const created = calls.splice(0).map((call) => call.replace(' initially', ''));
    expect(created.sort()).toEqual(['create changed', 'create deleted', 'create untouched']);

    await things.create(namespace, 'created', { spec: { size: 1 } });
    await things.patch(namespace, 'changed', { spec: { size: 2 } });
    await things.delete(namespace, 'deleted');
    await start();
    await eventually(() => {
      expect(calls.toSorted()).toEqual([
        'create created initially',
        'delete deleted initially',
        'resume changed initially',
        'resume untouched initially',
        'unmodified untouched initially',
        'update changed initially',
      ]);
    });
  });

  it('do not lose the progress of handlers, which others can see', async () => {
    const seen: unknown[] = [];
    const start = (isDone: boolean) =>
      startOperator(
        cluster(),
        ({ on }) => {
          on.create(things.selector, { id: 'slow', backoff: 0.1 }, () => {
            if (!isDone) throw new Error('Not in this life.');
          });
          on.create(things.selector, { id: 'curious', backoff: 0.1 }, ({ progress }) => {
            const { retries = 0, message, success } = progress.get('slow') ?? {};
            seen.push({ isTried: retries > 0, message, success });
            if (!success) throw new Error('Waiting.');
          });
        },
        { namespaces: [namespace] },
      );
    const first = await start(false);
    await things.create(namespace, 'one', { spec: { size: 1 } });
    const failed = { isTried: true, message: 'Not in this life.', success: false };
    await eventually(() => expect(seen).toContainEqual(failed));
    await first.stop();
    seen.length = 0;
    await start(true);
    await eventually(() => expect(seen.at(-1)).toMatchObject({ isTried: true, success: true }));
  });
});
