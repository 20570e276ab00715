import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { Awaitable, ConnectionInfo, Credentials } from '@kopf-ts/core';
import { type ConformanceCase, declareCases, type TestRunner } from './cases.js';

/**
 * A source of credentials that has none yet, and how new ones come into it.
 *
 * ```ts
 * import type { CredentialsUnderTest } from 'kopf-ts/testing';
 * const connection = { server: 'http://127.0.0.1:8001' };
 * const subject: CredentialsUnderTest = {
 *   credentials: kopf.client.staticCredentials(connection),
 *   renew: () => connection,
 * };
 * ```
 */
export interface CredentialsUnderTest {
  readonly credentials: Credentials;
  /** Somebody logs in, or a file changes, or a token is issued: others than before, each time. Gives what has come. */
  renew(): Awaitable<ConnectionInfo>;
  /** Called after each case. */
  cleanUp?(): Awaitable<unknown>;
}

type Create = () => Awaitable<CredentialsUnderTest>;
type Bench = Omit<CredentialsUnderTest, 'cleanUp'>;

const REFUSAL = new Error('401 Unauthorized');

/**
 * What every source of credentials must hold.
 *
 * ```ts
 * import { credentialsCases } from 'kopf-ts/testing';
 * const create = () => {
 *   const vault = kopf.reactor.vault({ clock, logger });
 *   let count = 0;
 *   const renew = () => {
 *     const info = { server: 'https://cluster.example.com:6443', token: `token-${count++}` };
 *     vault.populate(new Map([['login', info]]));
 *     return info;
 *   };
 *   return { credentials: vault, renew };
 * };
 * for (const { name, run } of credentialsCases(create)) it(name, run);
 * ```
 */
export function credentialsCases(create: Create): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, run: (bench: Bench) => Promise<void>): void => {
    const runAnew = async (): Promise<void> => {
      const target = await create();
      try {
        await run(target);
      } finally {
        await target.cleanUp?.();
      }
    };
    cases.push({ name, run: runAnew });
  };

  add('returns the present credentials each time', async ({ credentials, renew }) => {
    const info = await renew();
    for (let turn = 0; turn < 3; turn++) assert.deepEqual(await given(credentials), info);
  });

  add('lets all clients wait for the first credentials', async ({ credentials, renew }) => {
    const waiting = [1, 2, 3].map(() => watched(credentials.current()));
    await someTurns();
    assert.ok(
      waiting.every(({ state }) => state === 'pending'),
      'somebody has got something that is not there',
    );
    const info = await renew();
    await someTurns();
    assert.deepEqual(
      waiting.map(({ value }) => value),
      [info, info, info],
    );
  });

  add('never returns refused credentials again', async ({ credentials, renew }) => {
    await renew();
    await credentials.invalidate(await given(credentials), REFUSAL);
    const waiting = watched(credentials.current());
    await someTurns();
    assert.equal(waiting.state, 'pending', 'the refused ones are given again');
    const info = await renew();
    await someTurns();
    assert.deepEqual(waiting.value, info);
  });

  add('accepts simultaneous refusals of many clients', async ({ credentials, renew }) => {
    await renew();
    const refused = await Promise.all([1, 2, 3].map(() => given(credentials)));
    await Promise.all(refused.map(async (info) => credentials.invalidate(info, REFUSAL)));
    const info = await renew();
    assert.deepEqual(await given(credentials), info);
  });

  add('does not mistake a late refusal of old credentials for one of the new ones', async ({ credentials, renew }) => {
    await renew();
    const old = await given(credentials);
    await credentials.invalidate(old, REFUSAL);
    const info = await renew();
    await credentials.invalidate(old, REFUSAL);
    assert.deepEqual(await given(credentials), info);
  });

  add('returns new credentials once there are any', async ({ credentials, renew }) => {
    await renew();
    await given(credentials);
    const info = await renew();
    assert.deepEqual(await given(credentials), info);
  });

  add('rejects waits that are aborted, with their reasons', async ({ credentials, renew }) => {
    const aborting = new AbortController();
    const [impatient, patient] = [watched(credentials.current(aborting.signal)), watched(credentials.current())];
    await someTurns();
    const reason = new Error('enough');
    aborting.abort(reason);
    await someTurns();
    assert.equal(impatient.state, 'rejected');
    assert.equal(impatient.error, reason);
    assert.equal(patient.state, 'pending', 'others are rejected, too');
    await renew();
    await someTurns();
    assert.equal(patient.state, 'resolved');
  });

  add('leaves no listeners behind', async ({ credentials, renew }) => {
    const { signal } = new AbortController();
    const waiting = watched(credentials.current(signal));
    await renew();
    await someTurns();
    assert.equal(waiting.state, 'resolved');
    await given(credentials, signal);
    assert.equal(getEventListeners(signal, 'abort').length, 0, 'somebody still listens');
  });

  return cases;
}

/**
 * Declares the cases above as tests.
 *
 * ```ts
 * import { testCredentials } from 'kopf-ts/testing';
 * let token = 0;
 * const load = () => ({ server: 'https://cluster.example.com:6443', token: `${token}` });
 * testCredentials(() => ({
 *   credentials: kopf.client.reloadingCredentials(load, { clock }),
 *   renew: () => {
 *     token += 1;
 *     return load();
 *   },
 * }), { describe, it });
 * ```
 */
export function testCredentials(create: Create, runner?: TestRunner): void {
  declareCases('credentials', credentialsCases(create), runner);
}

interface Watched {
  state: 'pending' | 'resolved' | 'rejected';
  value?: ConnectionInfo;
  error?: unknown;
}

function watched(promise: Promise<ConnectionInfo>): Watched {
  const result: Watched = { state: 'pending' };
  promise.then(
    (value) => Object.assign(result, { state: 'resolved', value }),
    (error: unknown) => Object.assign(result, { state: 'rejected', error }),
  );
  return result;
}

/** What is there now: a source that hangs must not make the tests hang. */
async function given(credentials: Credentials, signal?: AbortSignal): Promise<ConnectionInfo> {
  const current = watched(credentials.current(signal));
  await someTurns();
  if (current.state === 'rejected') throw current.error;
  return current.value ?? assert.fail('there are credentials, but they are not given');
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 16; turn++) await new Promise((resolve) => void setImmediate(resolve));
}
