/**
 * Everything for testing operators in one place: an embedded cluster, operators that live as long as a test, a manual
 * clock, logs to assert on, faults, and the conformance suites of the seams.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading
import { fileURLToPath } from 'node:url';
import type { Settings } from '@kopf-ts/core';
import { systemClock } from '@kopf-ts/reactor';
import * as testing from '@kopf-ts/testing';
import { consoleLogger } from './logging/default-logger.js';
import { operator } from './operator.js';
import type { OperatorOptions } from './options.js';
import { ownCopyOf } from './cli/own-copies.js';
import { defaultSettings, withStorages } from './defaults.js';
import { journalMemory } from './testing/memories.js';

export * from '@kopf-ts/apiserver';
export * from '@kopf-ts/testing';
export {
  clusterFixture,
  clusterHooks,
  type TestCluster,
  testCluster,
  type TestClusterOptions,
} from './testing/clusters.js';

/**
 * The options of the operator, and those of the runner itself.
 *
 * ```ts
 * import { type OperatorRunnerOptions, operatorRunner, testCluster } from 'kopf-ts/testing';
 * const options: OperatorRunnerOptions = { cluster: await testCluster(), registry: kopf.createRegistry() };
 * await using runner = await operatorRunner(options);
 * ```
 */
export interface OperatorRunnerOptions extends OperatorOptions, testing.RunnerOptions {}

/**
 * Starts an operator for a test, and stops it at the end of the scope.
 * Does not wait until the operator is ready. Rejects if the handlers cannot be loaded.
 *
 * ```ts
 * import { operatorRunner, testCluster } from 'kopf-ts/testing';
 * it('greets', async () => {
 *   await using cluster = await testCluster({ apply: ['crd.yaml'] });
 *   await using runner = await operatorRunner({ cluster, handlers: new URL('./handlers.ts', import.meta.url) });
 *   await runner.ready;
 * });
 * ```
 */
export function operatorRunner(options: OperatorRunnerOptions = {}): Promise<testing.OperatorRunner> {
  return testing.operatorRunner(
    { operator, clock: systemClock, printer, load: loader(), memory: journalMemory, settings: settingsOf },
    options,
  );
}

/**
 * TypeScript files and their imports are loaded as the command line loads them. But where our own modules are transformed
 * (by vitest, if configured so), the files must be, too: otherwise, they would see other copies of our modules than the test.
 */
function loader(): testing.LoadHandlers | undefined {
  const isTransformed = (import.meta as { env?: unknown }).env !== undefined;
  if (isTransformed) return undefined;
  return async (file) => {
    const { loadAnew } = await import('@kopf-ts/cli');
    await loadAnew([fileURLToPath(file)], { resolve: ownCopyOf });
  };
}

function settingsOf(given: Settings | undefined): Settings {
  return withStorages(given ?? defaultSettings());
}

/** The output of an operator in a terminal, debugging lines included. */
function printer(write: (text: string) => void): ReturnType<typeof consoleLogger> {
  return consoleLogger({ level: 'debug', colors: false, stream: { write } });
}
