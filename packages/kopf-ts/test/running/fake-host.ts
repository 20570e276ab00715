/** A process that does not end, and an operator that does as told. */
import { settings as makeSettings, type Settings } from '@kopf-ts/core';
import { onAbort } from '@kopf-ts/core/engine';
import type { Operator } from '@kopf-ts/reactor';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import type { Host, StopSignal } from '../../src/running/process-host.js';
import { runIn } from '../../src/running/run.js';

export interface FakeHost extends Host {
  /** The codes that the process was ended with; a real one would end with the first of them. */
  readonly exits: number[];
  exitCode: number | undefined;
  readonly listeners: number;
  /** How many need the process to live. */
  holders: number;
  send(name: StopSignal): void;
  /** What was planned for later, with the delays. */
  readonly planned: { readonly delay: number; readonly callback: () => void }[];
}

export function fakeHost({ hasSignals = true, pending = [] as string[] } = {}): FakeHost {
  const listeners = new Set<(name: StopSignal) => void>();
  const host: FakeHost = {
    exits: [],
    exitCode: undefined,
    planned: [],
    holders: 0,
    hasSignals,
    get listeners() {
      return listeners.size;
    },
    send(name) {
      for (const listener of [...listeners]) listener(name);
    },
    onSignal(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    setExitCode(code) {
      host.exitCode = code;
    },
    hold() {
      host.holders += 1;
      return () => {
        host.holders -= 1;
      };
    },
    exit(code) {
      host.exits.push(code);
    },
    later(delay, callback) {
      host.planned.push({ delay, callback });
    },
    pending: () => pending,
  };
  return host;
}

export interface Running {
  readonly host: FakeHost;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly settings: Settings;
  /** Why the operator was told to stop. */
  readonly reasons: unknown[];
  /** Ends the operator. */
  end(error?: unknown): void;
  readonly code: Promise<number>;
}

/** A run of an operator that ends when told to: `obedient` ones also when told to stop. */
export function running({
  host = fakeHost(),
  isObedient = true,
  signal = undefined as AbortSignal | undefined,
} = {}): Running {
  const clock = manualClock();
  const logger = recordingLogger();
  const settings = makeSettings();
  const reasons: unknown[] = [];
  let end = (_error?: unknown): void => {};
  const done = new Promise<void>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve() : reject(error));
  });
  const start = (stopping: AbortSignal): Operator => {
    onAbort(stopping, (reason) => {
      reasons.push(reason);
      if (isObedient) end();
    });
    return { ready: Promise.resolve(), done, stop: () => done, [Symbol.asyncDispose]: () => done };
  };
  const code = runIn(host, start, { clock, logger, settings, signal });
  return { host, clock, logger, settings, reasons, end: (error) => end(error), code };
}
