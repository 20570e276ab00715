/** What activities need of an operator, all under control of a test. */
import { createRegistry, type KubeClient, settings as makeSettings, type Registry, type Settings } from '@kopf-ts/core';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { vi } from 'vitest';
import type { OperatorParts } from '../../src/parts.js';

export interface PartsUnderTest extends OperatorParts {
  readonly registry: Registry;
  readonly settings: Settings;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
}

export function partsUnderTest(
  overrides: Partial<Pick<OperatorParts, 'client' | 'random' | 'facts'>> = {},
): PartsUnderTest {
  return {
    registry: createRegistry(),
    settings: makeSettings(),
    clock: manualClock(),
    logger: recordingLogger(),
    client: strangerClient,
    poster: { post: () => {} },
    random: () => 0,
    ...overrides,
  };
}

/** Nobody is supposed to use it. */
const strangerClient: KubeClient = {
  request: () => Promise.reject(new Error('no requests are expected')),
  stream: () => {
    throw new Error('no streams are expected');
  },
};

/** How a promise is doing, without waiting for it. */
export function followed<T>(promise: Promise<T>): {
  state: 'pending' | 'resolved' | 'rejected';
  value?: T;
  error?: unknown;
} {
  const status: ReturnType<typeof followed<T>> = { state: 'pending' };
  promise.then(
    (value) => Object.assign(status, { state: 'resolved', value }),
    (error: unknown) => Object.assign(status, { state: 'rejected', error }),
  );
  return status;
}

/** A promise that is settled from outside. */
export function deferred<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((resolver) => {
    resolve = resolver;
  });
  return { promise, resolve };
}

/** For what happens on real sockets, and takes real time: usually a few milliseconds. */
export function eventually(predicate: () => boolean): Promise<unknown> {
  return vi.waitUntil(predicate, { timeout: 4_500, interval: 5 });
}
