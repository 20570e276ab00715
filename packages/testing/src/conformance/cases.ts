/**
 * Conformance suites: what everyone who implements a seam must hold, as lists of cases. A case is a name and
 * a function that throws if the implementation is wrong; so any test runner will do.
 */
import { KopfError } from '@kopf-ts/core';

/**
 * One thing that an implementation must hold.
 *
 * ```ts
 * import { type ConformanceCase, declareCases } from 'kopf-ts/testing';
 * const answers: ConformanceCase = { name: 'answers', run: async () => void (await fetch('http://127.0.0.1:8001')) };
 * declareCases('The proxy', [answers], { describe, it });
 * ```
 */
export interface ConformanceCase {
  readonly name: string;
  /** Rejects with an `AssertionError` if it does not. Each run makes an implementation anew. */
  run(): Promise<void>;
}

/**
 * What is needed of a test runner: vitest, jest, mocha and `node:test` all have these two.
 *
 * ```ts
 * import type { TestRunner } from 'kopf-ts/testing';
 * const runner: TestRunner = { describe, it };
 * ```
 */
export interface TestRunner {
  describe(name: string, declare: () => void): unknown;
  it(name: string, run: () => Promise<void>): unknown;
}

/**
 * Declares the cases as tests of the given runner; or, without one, of the runner that has its functions as globals.
 *
 * ```ts
 * import { declareCases, testCluster } from 'kopf-ts/testing';
 * const startsEmpty = async () => expect((await testCluster()).list('pods')).toEqual([]);
 * declareCases('A cluster', [{ name: 'starts empty', run: startsEmpty }], { describe, it });
 * ```
 */
export function declareCases(
  suite: string,
  cases: readonly ConformanceCase[],
  runner: TestRunner = globalRunner(),
): void {
  runner.describe(suite, () => {
    for (const { name, run } of cases) runner.it(name, run);
  });
}

function globalRunner(): TestRunner {
  const { describe, it } = globalThis as Partial<TestRunner>;
  if (typeof describe === 'function' && typeof it === 'function') return { describe, it };
  throw new KopfError(
    'There are no global functions "describe" and "it". Pass those of your test runner: testX(create, { describe, it }).',
    { code: 'KOPF_NO_TEST_RUNNER' },
  );
}
