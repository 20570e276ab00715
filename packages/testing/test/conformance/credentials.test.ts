import type { ConnectionInfo, Credentials } from '@kopf-ts/core';
import { vault } from '@kopf-ts/reactor';
import { describe, expect, it } from 'vitest';
import { type CredentialsUnderTest, credentialsCases, manualClock, recordingLogger } from '../../src/index.js';
import { complaint, failures } from './failures.js';

/** A source with something wrong in it, made of a good one. */
function spoiled(spoil: (good: Credentials, all: readonly ConnectionInfo[]) => Partial<Credentials> = () => ({})) {
  return (): CredentialsUnderTest => {
    const good = vault({ clock: manualClock(), logger: recordingLogger() });
    const all: ConnectionInfo[] = [];
    const parts = spoil(good, all);
    return {
      credentials: {
        current: (signal) => (parts.current ?? good.current)(signal),
        invalidate: (info, cause) => (parts.invalidate ?? good.invalidate)(info, cause),
      },
      renew() {
        const info = { server: 'https://localhost', token: `token-${all.length}` };
        all.push(info);
        good.populate(new Map([['login', info]]));
        return info;
      },
    };
  };
}

const broken: [sin: string, caught: string, create: () => CredentialsUnderTest][] = [
  [
    'gives each only once',
    'returns the present credentials each time',
    spoiled((good) => {
      const given = new Set<ConnectionInfo>();
      return {
        async current(signal) {
          const info = await good.current(signal);
          if (given.has(info)) return await new Promise<never>(() => {});
          given.add(info);
          return info;
        },
      };
    }),
  ],
  [
    'gives something when there is nothing',
    'lets all clients wait for the first credentials',
    spoiled((good, all) => ({ current: async (signal) => (all.length === 0 ? { server: '' } : good.current(signal)) })),
  ],
  [
    'serves only the first who waits',
    'lets all clients wait for the first credentials',
    spoiled((good, all) => {
      let isAwaited = false;
      return {
        async current(signal) {
          if (all.length === 0 && isAwaited) return await new Promise<never>(() => {});
          isAwaited = true;
          return await good.current(signal);
        },
      };
    }),
  ],
  ['ignores refusals', 'never returns refused credentials again', spoiled(() => ({ invalidate: () => {} }))],
  [
    'fails with the second refusal',
    'accepts simultaneous refusals of many clients',
    spoiled((good) => {
      let isRefused = false;
      return {
        invalidate(info, cause) {
          if (isRefused) throw new Error('It is refused already.');
          isRefused = true;
          return good.invalidate(info, cause);
        },
      };
    }),
  ],
  [
    'refuses whatever is in use',
    'does not mistake a late refusal of old credentials for one of the new ones',
    spoiled((good) => ({ invalidate: async (_info, cause) => good.invalidate(await good.current(), cause) })),
  ],
  [
    'remembers the first ones for ever',
    'returns new credentials once there are any',
    spoiled((good) => {
      let first: Promise<ConnectionInfo> | undefined;
      return { current: (signal) => (first ??= good.current(signal)) };
    }),
  ],
  [
    'does not listen',
    'rejects waits that are aborted, with their reasons',
    spoiled((good) => ({ current: () => good.current() })),
  ],
  [
    'has reasons of its own',
    'rejects waits that are aborted, with their reasons',
    spoiled((good) => ({
      current: (signal) =>
        good.current(signal).catch(() => {
          throw new Error('aborted');
        }),
    })),
  ],
  [
    'never stops listening',
    'leaves no listeners behind',
    spoiled((good) => ({
      current(signal) {
        signal?.addEventListener('abort', () => {});
        return good.current(signal);
      },
    })),
  ],
];

const allCases = credentialsCases(spoiled()).map(({ name }) => name);

describe('the suite of credentials', () => {
  it('passes a good one', async () => {
    expect(await failures(credentialsCases(spoiled()))).toEqual([]);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    expect(await failures(credentialsCases(create))).toContain(caught);
  });

  it.each(allCases)('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('says what is wrong in words', async () => {
    const cases = credentialsCases(spoiled(() => ({ current: () => new Promise(() => {}) })));
    const name = 'returns the present credentials each time';
    expect(await complaint(cases, name)).toBe('there are credentials, but they are not given');
  });
});
