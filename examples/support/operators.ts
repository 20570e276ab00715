/** The operators of the examples, in the process of the tests. */
import { type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import * as kopf from 'kopf-ts';
import { onTestFailed } from 'vitest';
import type { Ground } from './grounds.js';

export interface RunOptions extends Omit<kopf.OperatorOptions, 'logger' | 'clock' | 'clusterwide' | 'namespaces'> {}

export interface RunningOperator extends AsyncDisposable {
  /** All that it has logged, also below the usual level. */
  readonly logs: RecordingLogger;
  /** Stops it in good order, and waits for that. */
  stop(): Promise<void>;
}

let loaded = 0;

export async function runOperator(
  { client, clock, during }: Ground,
  namespace: string,
  handlers: URL,
  options: RunOptions = {},
): Promise<RunningOperator> {
  const registry = options.registry ?? kopf.createRegistry();
  kopf.setDefaultRegistry(registry);
  loaded += 1;
  await import(/* @vite-ignore */ `${handlers.href}?${loaded}`);
  kopf.setDefaultRegistry(undefined);
  const logs = recordingLogger();
  onTestFailed(() => console.log(logs.messages().join('\n')));
  const operator = kopf.operator({
    client,
    identity: 'the-example',
    ...options,
    registry,
    clock,
    logger: logs,
    namespaces: [namespace],
  });
  await during(operator.ready);
  const stop = (): Promise<void> => during(operator.stop());
  return { logs, stop, [Symbol.asyncDispose]: stop };
}
