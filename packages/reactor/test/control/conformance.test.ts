import { type Mapping, TemporaryError } from '@kopf-ts/core';
import { type ControlUnderTest, testControl } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import { operated } from '../support/operated.js';

async function underControl(): Promise<ControlUnderTest> {
  const operator = await operated();
  const calls = new Map<string, number>();
  const fn = ({ name = '', spec }: { name: string | undefined; spec: Mapping }): void => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    if (spec['fails']) throw new TemporaryError('later', { delay: 3600 });
  };
  operator.registry.on.create('kopfexamples', { id: 'fn' }, fn);
  operator.registry.on.update('kopfexamples', { id: 'fn' }, fn);
  await operator.start();
  let edits = 0;
  return {
    control: operator.control,
    resource: 'kopfexamples',
    create: (name, { fails = false } = {}) => operator.create(name, { spec: { fails } }),
    edit: (name) => operator.edit(name, { spec: { field: `edited ${++edits}` } }),
    remove: (name) => operator.remove(name),
    async settle() {
      // After a pause, all is listed again.
      await operator.advance(1);
    },
    calls: (name) => calls.get(name) ?? 0,
    cleanUp: () => operator[Symbol.asyncDispose](),
  };
}

testControl(underControl, { describe, it });
