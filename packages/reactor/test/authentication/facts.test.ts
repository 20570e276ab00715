import { type Fact, type Observer, PermanentError } from '@kopf-ts/core';
import { facts } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { expect, it } from 'vitest';
import { info, loginsUnderTest } from './logins-harness.js';

function observedLogins() {
  const told: Fact[] = [];
  const observer: Observer = { wants: ['login.ended'], observe: (fact) => void told.push(fact) };
  const common = { operator: 'me', clock: manualClock(), logger: recordingLogger() };
  return { ...loginsUnderTest({ facts: facts({ observers: [observer], ...common }) }), told };
}

it('the end of a login is told, with how long it took', async () => {
  const { registry, start, clock, told, refuse } = observedLogins();
  registry.on.login({ id: 'slow' }, async () => {
    await clock.sleep(5);
    return info('t');
  });
  await start();
  expect(told).toEqual([]);
  await clock.advance(5);
  expect(told).toMatchObject([{ kind: 'login.ended', outcome: 'succeeded', error: undefined, duration: 5 }]);
  await refuse();
  await clock.advance(5);
  expect(told).toHaveLength(2);
});

it.each<[string, () => unknown, RegExp]>([
  ['fails for good', () => Promise.reject(new PermanentError('no such user')), /no such user/],
  ['gives nothing', () => undefined, /./],
])('the end of a login that %s is told with its error', async (_title, fn, text) => {
  const { registry, start, told } = observedLogins();
  registry.on.login({ id: 'fn' }, fn as never);
  await start();
  expect(told).toMatchObject([
    { kind: 'login.ended', outcome: 'failed', error: { message: expect.stringMatching(text) } },
  ]);
});
