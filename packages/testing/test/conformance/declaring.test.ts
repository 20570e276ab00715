import { describe, expect, it } from 'vitest';
import { type ConformanceCase, declareCases, type TestRunner } from '../../src/index.js';

function recordingRunner(): TestRunner & { declared: string[]; runs: (() => Promise<void>)[] } {
  const declared: string[] = [];
  const runs: (() => Promise<void>)[] = [];
  return {
    declared,
    runs,
    describe: (name, declare) => {
      declared.push(`suite: ${name}`);
      declare();
    },
    it: (name, run) => {
      declared.push(`test: ${name}`);
      runs.push(run);
    },
  };
}

const cases: readonly ConformanceCase[] = [
  { name: 'one', run: async () => {} },
  { name: 'two', run: () => Promise.reject(new Error('two is broken')) },
];

describe('declaring conformance cases as tests', () => {
  it('declares a suite with a test for each case, and runs nothing yet', async () => {
    const runner = recordingRunner();
    declareCases('a thing', cases, runner);
    expect(runner.declared).toEqual(['suite: a thing', 'test: one', 'test: two']);
  });

  it('passes and fails the tests as the cases do', async () => {
    const runner = recordingRunner();
    declareCases('a thing', cases, runner);
    await expect(runner.runs[0]?.()).resolves.toBeUndefined();
    await expect(runner.runs[1]?.()).rejects.toThrow('two is broken');
  });

  it('says what to do if there is no runner at all', () => {
    expect(() => declareCases('a thing', cases)).toThrow(/describe, it/);
  });
});
