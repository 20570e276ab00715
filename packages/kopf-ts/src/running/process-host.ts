/** The process as `run()` sees it: signals come in, an exit code goes out. */
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import type { Seconds } from '@kopf-ts/core';

export type StopSignal = 'SIGINT' | 'SIGTERM';

export interface Host {
  /** Calls the function for each signal, instead of ending the process; returns how to stop that. */
  onSignal(listener: (name: StopSignal) => void): () => void;
  /** Signals come to main threads only. */
  readonly hasSignals: boolean;
  /** With which code the process is to end when there is nothing more to do. */
  setExitCode(code: number): void;
  /** Keeps the process alive, as listening to signals does not; returns how to stop that. */
  hold(): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
  /** Calls the function later, if the process still lives then: it is no reason to live. */
  later(delay: Seconds, callback: () => void): void;
  /** What the process is still waiting for: kinds of timers, sockets, etc. */
  pending(): readonly string[];
}

/** The code of a process that was ended by the signal, as shells count it. */
export function codeOfSignal(name: StopSignal): number {
  return 128 + constants.signals[name];
}

/** In milliseconds: as rarely as timers can. */
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
      // Another code was set for a reason: success is no reason to hide it.
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
