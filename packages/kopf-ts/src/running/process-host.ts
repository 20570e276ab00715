/** The process as `run()` sees it: signals come in, an exit code goes out. */
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import type { Seconds } from '@kopf-ts/core';

export type StopSignal = 'SIGINT' | 'SIGTERM';

export interface Host {
  /** Calls the function for each signal instead of ending the process. Returns a function that stops this. */
  onSignal(listener: (name: StopSignal) => void): () => void;
  /** Only main threads receive signals. */
  readonly hasSignals: boolean;
  /** The exit code of the process once it has nothing more to do. */
  setExitCode(code: number): void;
  /** Keeps the process alive, which listening to signals does not. Returns a function that stops this. */
  hold(): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
  /** Calls the function later if the process is still alive, without keeping it alive. */
  later(delay: Seconds, callback: () => void): void;
  /** What the process is still waiting for: kinds of timers, sockets, etc. */
  pending(): readonly string[];
}

/** The code of a process that was ended by the signal, as shells count it. */
export function codeOfSignal(name: StopSignal): number {
  return 128 + constants.signals[name];
}

/** In milliseconds: the longest interval of timers. */
const LONG = 2 ** 31 - 1;

const STOP_SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];

/** The process that this code runs in. */
export function processHost(): Host {
  return {
    hasSignals: isMainThread,
    onSignal(listener) {
      const relay = (name: NodeJS.Signals): void => listener(name as StopSignal);
      for (const name of STOP_SIGNALS) process.on(name, relay);
      return () => {
        for (const name of STOP_SIGNALS) process.off(name, relay);
      };
    },
    setExitCode(code) {
      // Another code was set for a reason: success must not hide it.
      if (code !== 0) process.exitCode = code;
    },
    hold() {
      const timer = setInterval(() => {}, LONG);
      return () => clearInterval(timer);
    },
    exit(code) {
      process.exit(code === 0 ? (process.exitCode ?? 0) : code);
    },
    later(delay, callback) {
      setTimeout(callback, delay * 1000).unref();
    },
    pending: () => process.getActiveResourcesInfo(),
  };
}
