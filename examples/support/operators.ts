/** The operators of the examples, in the process of the tests. */
import { type OperatorRunner, type OperatorRunnerOptions, operatorRunner } from 'kopf-ts/testing';
import { onTestFailed } from 'vitest';
import type { Ground } from './grounds.js';

export interface RunOptions extends Omit<OperatorRunnerOptions, 'cluster' | 'clock' | 'clusterwide' | 'namespaces'> {}

/**
 * Waits until the operator is ready. The handlers are those of the file, or of the registry in the options.
 * With `client: undefined`, it is to log in by itself.
 */
export async function runOperator(
  { client, clock, during }: Ground,
  namespace: string,
  handlers: URL | undefined,
  options: RunOptions = {},
): Promise<OperatorRunner> {
  const runner = await operatorRunner({ client, ...options, handlers, clock, namespaces: [namespace] });
  onTestFailed(() => console.log(runner.output));
  await during(runner.ready);
  return runner;
}
