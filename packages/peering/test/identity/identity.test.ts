import { describe, expect, it } from 'vitest';
import { chooseHostName } from '../../src/identity/hostnames.js';
import { detectIdentity } from '../../src/index.js';

const known = {
  env: {},
  user: 'some-user',
  hostname: 'some-host',
  now: new Date('2020-12-31T23:59:59.123Z'),
  random: () => 0,
};

describe('identities', () => {
  it.each([false, true])('are those of the pods, if told so (manual: %s)', async (manual) => {
    expect(await detectIdentity({ ...known, manual, env: { POD_ID: 'some-pod' } })).toBe('some-pod');
  });

  it('are as the pod is told to have it, even empty', async () => {
    expect(await detectIdentity({ ...known, env: { POD_ID: '' } })).toBe('');
  });

  it('of people are the same each time', async () => {
    expect(await detectIdentity({ ...known, manual: true })).toBe('some-user@some-host');
  });

  it('of operators are of the moment and of chance', async () => {
    expect(await detectIdentity(known)).toBe('some-user@some-host/20201231235959/aaa');
    expect(await detectIdentity({ ...known, random: () => 0.9999 })).toBe('some-user@some-host/20201231235959/999');
  });

  it('have no letter g in the random part', async () => {
    const letters = new Set<string>();
    for (let i = 0; i < 36; i++) {
      const identity = await detectIdentity({ ...known, random: () => i / 36 });
      letters.add(identity.slice(-1));
    }
    expect([...letters].sort().join('')).toBe('0123456789abcdefhijklmnopqrstuvwxyz');
  });

  it.each([
    [{ LOGNAME: 'one', USER: 'two' }, 'one'],
    [{ USER: 'two', USERNAME: 'three' }, 'two'],
    [{ USERNAME: 'three' }, 'three'],
  ])('take the user from the environment: %o', async (env, user) => {
    const { user: _, ...rest } = known;
    expect(await detectIdentity({ ...rest, env, manual: true })).toBe(`${user}@some-host`);
  });

  it('take the host from the resolver, or as it is if that fails', async () => {
    const { hostname: _, ...rest } = known;
    const resolve = () => Promise.resolve({ name: 'full.example.com', aliases: [], addresses: [] });
    expect(await detectIdentity({ ...rest, manual: true, resolve })).toBe('some-user@full.example.com');
    const failing = () => Promise.reject(new Error('no such host'));
    expect(await detectIdentity({ ...rest, manual: true, resolve: failing })).toMatch(/^some-user@.+/);
  });
});

describe('host names', () => {
  const good = 'good.example.com';
  const bad = ['1.2.3.4', '::1', '4.3.2.1.in-addr.arpa', 'localhost', 'short'];

  it.each(bad)('that are full are better than %s, wherever they are', (name) => {
    expect(chooseHostName({ name: good, aliases: [name], addresses: [name] }, 'plain')).toBe(good);
    expect(chooseHostName({ name, aliases: [good], addresses: [name] }, 'plain')).toBe(good);
    expect(chooseHostName({ name, aliases: [name], addresses: [good] }, 'plain')).toBe(good);
  });

  it.each(['1.2.3.4', '::1', '4.3.2.1.in-addr.arpa', 'localhost'])('that are short are better than %s', (name) => {
    expect(chooseHostName({ name, aliases: ['short'], addresses: [name] }, 'plain')).toBe('short');
  });

  it.each(['1.2.3.4', '::1', '4.3.2.1.in-addr.arpa', 'localhost'])('that are plain are better than %s', (name) => {
    expect(chooseHostName({ name, aliases: [name], addresses: [name] }, 'plain')).toBe('plain');
  });

  it('are taken in order if equal: the name, the aliases, the addresses', () => {
    expect(chooseHostName({ name: 'a.b', aliases: ['c.d'], addresses: ['e.f'] }, 'plain')).toBe('a.b');
    expect(chooseHostName({ name: '', aliases: ['c.d', 'g.h'], addresses: ['e.f'] }, 'plain')).toBe('c.d');
    expect(chooseHostName({ name: '', aliases: [], addresses: ['e.f'] }, 'plain')).toBe('e.f');
  });

  it.each([
    'host.local',
    'host.localdomain',
    'host.local.local',
    'host.localdomain.local',
    'host.local.localdomain.localdomain',
  ])('lose what says nothing: %s', (name) => {
    expect(chooseHostName({ name, aliases: [], addresses: [] }, 'plain')).toBe('host');
  });
});
