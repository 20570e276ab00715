/** The operator of `kopf dev`, seen from outside: a process that gets its handlers when it is its turn. */
import { spawn } from 'node:child_process';
import type { Clock, Seconds } from '@kopf-ts/core';
import type { Bundle } from '../loading/bundle.js';
import { CHILD_VARIABLE, type ToOperator } from './messages.js';

export interface OperatorProcess {
  /** The exit code, or the signal that has ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly isEnded: boolean;
  /** Begins to work with these handlers. */
  load(bundle: Bundle): void;
  /** Stops it gracefully, and by force if that takes too long; waits until it is over. */
  stop(reason: string): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

export interface OperatorProcessOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The only cluster for the operator. */
  readonly kubeconfig: string;
  readonly clock: Clock;
}

/** Operators have 25 seconds by default to stop. */
const STOPPING_LIMIT: Seconds = 30;

/** Starts the process; it prepares itself, and waits for the handlers. */
export function startOperator(options: OperatorProcessOptions): OperatorProcess {
  const [program = process.execPath, ...args] = options.command;
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...options.env, KUBECONFIG: options.kubeconfig, [CHILD_VARIABLE]: options.kubeconfig },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Ctrl-C goes to all processes of a terminal at once; but it is the parent who says when and why to stop.
    detached: process.platform !== 'win32',
  });
  let isEnded = false;
  const over = new AbortController();
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    const end = (outcome: number | NodeJS.Signals): void => {
      isEnded = true;
      over.abort();
      resolve(outcome);
    };
    child.once('exit', (code, signal) => end(code ?? signal ?? 1));
    child.once('error', () => end(1));
  });
  const send = (message: ToOperator): void => {
    // It may be gone in this very moment; that is noticed anyway.
    if (child.connected) child.send(message, () => {});
  };
  const kill = (): void => void child.kill('SIGKILL');

  return {
    ended,
    get isEnded() {
      return isEnded;
    },
    load: (bundle) => send({ kopf: 'load', bundle }),
    async stop(reason) {
      if (isEnded) return;
      send({ kopf: 'stop', reason });
      const isTooLate = options.clock.sleep(STOPPING_LIMIT, { wakeup: over.signal });
      await Promise.race([ended, isTooLate]);
      if (!isEnded) kill();
      await ended;
    },
    kill,
  };
}
