/** What containers would print and answer, if there were any: told by tests and by annotations. */
import type { Awaitable } from '@kopf-ts/core';
import type { ServedObject } from './objects.js';

/**
 * What a command in a simulated container is given.
 *
 * ```ts
 * import type { ExecRequest } from 'kopf-ts/testing';
 * const isQuery = ({ command, stdin }: ExecRequest): boolean => command[0] === 'psql' && stdin.startsWith('SELECT');
 * ```
 */
export interface ExecRequest {
  readonly command: readonly string[];
  readonly container: string;
  /** All that it was sent. */
  readonly stdin: string;
  readonly tty: boolean;
}

/**
 * What a command in a simulated container answers.
 *
 * ```ts
 * import type { ExecAnswer } from 'kopf-ts/testing';
 * const refusal: ExecAnswer = { stderr: 'no such table\n', exitCode: 1 };
 * ```
 */
export interface ExecAnswer {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exitCode?: number;
}

/**
 * Answers commands in simulated containers; nothing if it does not know them.
 *
 * ```ts
 * import { type ExecFunction, localCluster } from 'kopf-ts/testing';
 * const exec: ExecFunction = ({ command }) => (command[0] === 'date' ? { stdout: 'today\n' } : undefined);
 * await using cluster = await localCluster({ controllers: 'simulated', pods: { exec } });
 * ```
 */
export type ExecFunction = (request: ExecRequest) => Awaitable<ExecAnswer | undefined>;

/** One line of a log, with the time when it was printed. */
export interface LogLine {
  readonly text: string;
  readonly at: Date;
}

export interface Containers {
  logOf(pod: ServedObject): readonly LogLine[];
  /** Resolves when there is more, or when it has ended: whether it goes on. */
  whenPrinted(pod: ServedObject, after: number, signal: AbortSignal): Promise<boolean>;
  execOf(pod: ServedObject): ExecFunction;
}
