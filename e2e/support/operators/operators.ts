/** Operators in the process of the tests. */
import { type ConnectionInfo, createRegistry, type Registry, type SettingsOverrides, settings } from '@kopf-ts/core';
import { type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { type Operator, type OperatorOptions, operator } from 'kopf-ts';
import { expect, onTestFailed, onTestFinished, vi } from 'vitest';
import type { TestCluster } from './clusters.js';

export interface TestOperatorOptions extends Omit<OperatorOptions, 'registry' | 'settings' | 'logger'> {
  readonly overrides?: SettingsOverrides;
  /** As whom. Default: as the administrator. */
  readonly connection?: ConnectionInfo;
}

export interface TestOperator extends Operator {
  readonly logger: RecordingLogger;
}

/** Starts an operator with the handlers, and waits until it works. It ends with the test at the latest. */
export async function startOperator(
  cluster: Pick<TestCluster, 'connection'>,
  declare: (registry: Registry) => void,
  options: TestOperatorOptions,
): Promise<TestOperator> {
  const { connection = cluster.connection, overrides = {}, ...rest } = options;
  const [registry, logger] = [createRegistry(), recordingLogger()];
  registry.on.login(function login() {
    return connection;
  });
  declare(registry);
  const started = operator({ standalone: true, ...rest, registry, logger, settings: settings(overrides) });
  onTestFinished(() => started.stop().catch(() => {}));
  onTestFailed(() => console.log(shown(logger)));
  await started.ready;
  return Object.assign(started, { logger });
}

/** Except for those which tell only that the machine is busy. */
export function warningsOf({ logger }: TestOperator): readonly string[] {
  return logger.messages('warn').filter((message) => !message.includes('blocked the event loop'));
}

function shown(logger: RecordingLogger): string {
  return logger.lines
    .map(({ level, message, fields }) => {
      const error = fields['error'] instanceof Error ? `: ${fields['error'].stack}` : '';
      return `${level.padEnd(5)} ${message}${error}`;
    })
    .join('\n');
}

/** Waits until the assertions hold; else, fails with what they say. */
export async function eventually<T>(assertions: () => T | Promise<T>, withinSeconds = 30): Promise<T> {
  return await vi.waitFor(assertions, { timeout: withinSeconds * 1000, interval: 20 });
}

/** Waits until these are all the calls so far, and forgets them. */
export async function became(calls: string[], ...expected: readonly string[]): Promise<void> {
  await eventually(() => expect(calls).toEqual(expected));
  calls.length = 0;
}
