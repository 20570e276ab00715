import { type AnyObject, type Change, conditions } from '@kopf-ts/core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';

describeOnClusters('conditions', (cluster) => {
  let things: TestKind;
  let namespace: string;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
  });

  const conditionOf = async (name: string, type: string): Promise<AnyObject | undefined> =>
    (await things.get(namespace, name))?.['status']?.conditions?.find((each: AnyObject) => each['type'] === type);

  it('tell of which generation they are, and since when it is so; what is unchanged is not written', async () => {
    let ticks = 0;
    await startOperator(
      cluster(),
      ({ on, timer }) => {
        const set = ({ patch, body, spec }: Change): void => {
          conditions(patch, body).set('Ready', spec['size'] > 0, {
            reason: 'Sized',
            message: `It is ${spec['size']}.`,
          });
        };
        on.create(things.selector, { id: 'created' }, set);
        on.update(things.selector, { id: 'updated' }, set);
        timer(things.selector, { id: 'alive', interval: 0.2 }, ({ patch, body }) => {
          conditions(patch, body).set('Alive', true, { observedGeneration: null });
          ticks += 1;
        });
      },
      { namespaces: [namespace] },
    );
    await things.create(namespace, 'one', { spec: { size: 1 } });
    await eventually(async () => expect(await conditionOf('one', 'Ready')).toMatchObject({ status: 'True' }));
    await eventually(async () => expect(await conditionOf('one', 'Alive')).toMatchObject({ status: 'True' }));
    const before = await conditionOf('one', 'Ready');
    expect(before).toMatchObject({ reason: 'Sized', message: 'It is 1.', observedGeneration: 1 });

    await things.patch(namespace, 'one', { spec: { size: 2 } });
    await eventually(async () => {
      expect(await conditionOf('one', 'Ready')).toEqual({ ...before, message: 'It is 2.', observedGeneration: 2 });
    });

    await things.patch(namespace, 'one', { spec: { size: 0 } });
    await eventually(async () => expect(await conditionOf('one', 'Ready')).toMatchObject({ status: 'False' }));
    const since = ticks;
    await eventually(() => expect(ticks).toBeGreaterThan(since + 2));
    const settled = await things.get(namespace, 'one');
    await eventually(() => expect(ticks).toBeGreaterThan(since + 5));
    expect((await things.get(namespace, 'one'))?.metadata?.resourceVersion).toBe(settled?.metadata?.resourceVersion);
  });
});
