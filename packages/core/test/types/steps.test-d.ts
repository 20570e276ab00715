import { expectTypeOf, it } from 'vitest';
import { createRegistry, type StepKwargs, step } from '../../src/index.js';

const { on } = createRegistry();

it('steps give what their functions return', () => {
  on.create('things', async () => {
    const network = await step('network', async ({ key }) => ({ id: 7, key }));
    expectTypeOf(network).toEqualTypeOf<{ id: number; key: string }>();
    const count = await step('count', { retries: 3, errors: 'permanent' }, () => network.id);
    expectTypeOf(count).toEqualTypeOf<number>();
    expectTypeOf(await step('nothing', () => {})).toEqualTypeOf<void>();
    await step('known', (kwargs) => expectTypeOf(kwargs).toEqualTypeOf<StepKwargs>().toString());
  });
});

it('steps have a name, a function, and no way to ignore errors', () => {
  // @ts-expect-error there would be no result
  void step('one', { errors: 'ignored' }, () => 1);
  // @ts-expect-error it is where the result is stored
  void step(() => 1);
  // @ts-expect-error there is nothing to do
  void step('one');
  // @ts-expect-error filters are for handlers
  void step('one', { labels: {} }, () => 1);
});
