/** An operator with nothing behind it: it does what the test tells it to. */
import type { Seconds } from '@kopf-ts/core';
import {
  type ManualClock,
  manualClock,
  operatorRunner,
  type RunnableOptions,
  type RunnerOptions,
} from '../../src/index.js';

interface FakeOptions extends RunnableOptions {
  readonly own?: string | undefined;
}

export interface FakeBehaviour {
  readonly startError?: Error | undefined;
  /** How long it takes to stop; for ever, if infinite. */
  readonly stopTime?: Seconds | undefined;
  readonly stopError?: Error | undefined;
}

/** What the operator was started with; and how to make it ready, or to fail. */
export interface Fake {
  readonly clock: ManualClock;
  readonly given: FakeOptions[];
  readonly stops: number;
  becomeReady(): void;
  fail(error: Error): void;
  run(options?: RunnerOptions & FakeOptions): ReturnType<typeof operatorRunner>;
}

export function fakeOperator({ startError, stopTime = 0, stopError }: FakeBehaviour = {}): Fake {
  const clock = manualClock();
  const given: FakeOptions[] = [];
  const [ready, done] = [deferred(), deferred()];
  for (const { promise } of [ready, done]) promise.catch(() => {});
  const fake = {
    clock,
    given,
    stops: 0,
    becomeReady: () => ready.resolve(),
    fail(error: Error) {
      ready.reject(error);
      done.reject(error);
    },
    run(options: RunnerOptions & FakeOptions = {}) {
      const operator = (options: FakeOptions) => {
        if (startError !== undefined) throw startError;
        given.push(options);
        return { ready: ready.promise, done: done.promise, stop };
      };
      return operatorRunner({ operator, clock }, options);
    },
  };
  const stop = async (): Promise<void> => {
    fake.stops += 1;
    if (stopTime > 0) await clock.sleep(stopTime);
    if (stopError === undefined) done.resolve();
    else done.reject(stopError);
    return done.promise;
  };
  return fake;
}

function deferred() {
  let resolve = (): void => {};
  let reject = (_error: Error): void => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
