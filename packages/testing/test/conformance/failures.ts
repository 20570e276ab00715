import { AssertionError } from 'node:assert';
import type { ConformanceCase } from '../../src/index.js';

/** The names of those cases that the implementation does not pass. */
export async function failures(cases: readonly ConformanceCase[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, run } of cases) {
    try {
      await run();
    } catch {
      names.push(name);
    }
  }
  return names;
}

/** Why the case fails, in the words that the author of an implementation would read. */
export async function complaint(cases: readonly ConformanceCase[], name: string): Promise<string> {
  const found = cases.find((one) => one.name === name);
  try {
    await found?.run();
  } catch (error) {
    if (error instanceof AssertionError) return error.message;
    throw error;
  }
  throw new Error(`The case does not fail, or does not exist: ${name}`);
}
