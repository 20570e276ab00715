/** Whatever has an end, for the length of tests: of vitest by its fixtures, of all other runners by their hooks. */
import { type Awaitable, KopfError } from '@kopf-ts/core';

/**
 * A fixture as `test.extend()` of vitest (and of Playwright) takes it.
 *
 * ```ts
 * import { type Fixture, fixtureOf, type LocalCluster, localCluster } from 'kopf-ts/testing';
 * const cluster: Fixture<LocalCluster> = fixtureOf(() => localCluster());
 * ```
 */
export type Fixture<T> = (context: object, use: (value: T) => Promise<void>) => Promise<void>;

/**
 * A fixture that is made for each test which asks for it, and disposed of after that test.
 *
 * ```ts
 * import { test } from 'vitest';
 * import { fixtureOf, type LocalCluster, localCluster } from 'kopf-ts/testing';
 * const tests = test.extend<{ cluster: LocalCluster }>({ cluster: fixtureOf(() => localCluster()) });
 * ```
 */
export function fixtureOf<T extends AsyncDisposable>(create: () => Awaitable<T>): Fixture<T> {
  // The pattern is a must: these runners read the source of the function to see which other fixtures it needs.
  // biome-ignore lint/correctness/noEmptyPattern: it needs none of them
  return async ({}, use) => {
    await using value = await create();
    await use(value);
  };
}

/**
 * Two hooks of a test runner: `before` and `after`, or `beforeEach` and `afterEach`.
 *
 * ```ts
 * import type { Hooks } from 'kopf-ts/testing';
 * const hooks: Hooks = { before: beforeEach, after: afterEach };
 * ```
 */
export interface Hooks {
  before(run: () => Promise<void>): unknown;
  after(run: () => Promise<void>): unknown;
}

/**
 * What is made by the hooks; there is nothing before and after that.
 *
 * ```ts
 * import { type Hooked, hooked, type LocalCluster, localCluster } from 'kopf-ts/testing';
 * const cluster: Hooked<LocalCluster> = hooked({ before: beforeAll, after: afterAll }, () => localCluster());
 * it('begins with nothing', () => expect(cluster.current.list('pods')).toEqual([]));
 * ```
 */
export interface Hooked<T> {
  readonly current: T;
}

/**
 * Makes it in one hook, and disposes of it in the other; with the hooks of `node:test`, mocha, jest or vitest.
 *
 * ```ts
 * import { hooked, localCluster } from 'kopf-ts/testing';
 * const cluster = hooked({ before: beforeEach, after: afterEach }, () => localCluster());
 * ```
 */
export function hooked<T extends AsyncDisposable>({ before, after }: Hooks, create: () => Awaitable<T>): Hooked<T> {
  let made: { readonly value: T } | undefined;
  before(async () => {
    made = { value: await create() };
  });
  after(async () => {
    const last = made;
    made = undefined;
    await last?.value[Symbol.asyncDispose]();
  });
  return {
    get current() {
      if (made !== undefined) return made.value;
      const text = 'There is nothing yet, or nothing any more: it exists only between the hooks, that is, in tests.';
      throw new KopfError(text, { code: 'KOPF_NO_FIXTURE' });
    },
  };
}
