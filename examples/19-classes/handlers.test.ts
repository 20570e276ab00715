import { expect, it } from 'vitest';
import { newStage } from '../support/stage.js';
import { Accountant, registry } from './handlers.js';

it('calls methods of the instance, with the memo of the object and of the operator', async () => {
  const ledger: string[] = [];
  new Accountant('Ada');
  await using stage = await newStage();
  await using operator = await stage.run(undefined, { registry, memo: { ledger } });
  await stage.createExample({ name: 'one' });
  await stage.createExample({ name: 'two' });
  await stage.eventually(async () => {
    const { status } = await stage.get('kopfexamples', 'one');
    expect(status?.visits).toBeGreaterThan(1);
  });
  await stage.delete('kopfexamples', 'one');
  await stage.gone('kopfexamples', 'one');

  expect(ledger.slice(0, 2).sort()).toEqual([
    'Ada opens an account for one: value.',
    'Ada opens an account for two: value.',
  ]);
  expect(ledger[2]).toMatch(/^Ada closes the account of one after [1-9]\d* visits\.$/);
  expect(operator.outcomes.of('Accountant.open')).toHaveLength(2);
});
