import { type ConnectionInfo, LoginError } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { vault } from '../../src/authentication/vault.js';
import { followed } from '../activities/operator-parts.js';

const UNAUTHORIZED = new Error('HTTP 401');
const NEVER = new AbortController().signal;

function underTest(options: { random?: () => number } = {}) {
  const clock = manualClock();
  const subject = vault({ clock, logger: recordingLogger(), random: () => 0, ...options });
  const inSeconds = (seconds: number) => new Date(clock.utc().getTime() + seconds * 1000);
  const populate = (logins: Record<string, ConnectionInfo>) => subject.populate(new Map(Object.entries(logins)));
  return { clock, vault: subject, inSeconds, populate };
}

describe('The vault', () => {
  it('is empty at first, and whoever asks waits', async () => {
    const { vault, clock } = underTest();
    expect(vault.want).toBe('initial');
    const asked = followed(vault.current());
    await clock.advance(1000);
    expect(asked.state).toBe('pending');
  });

  it('gives what was put in, also to those who were waiting', async () => {
    const { vault, clock, populate } = underTest();
    const asked = followed(vault.current());
    populate({ fn: { server: 'https://one', token: 't' } });
    await clock.settle();
    expect(asked).toEqual({ state: 'resolved', value: { server: 'https://one', token: 't' } });
    expect(vault.want).toBe(undefined);
  });

  it('gives the very same object each time, so that clients can keep connections for it', async () => {
    const { vault, populate } = underTest();
    populate({ fn: { server: 'https://one', token: 't' } });
    const first = await vault.current();
    expect(await vault.current()).toBe(first);
    populate({ fn: { server: 'https://one', token: 't' } });
    expect(await vault.current()).toBe(first);
    populate({ fn: { server: 'https://one', token: 'another' } });
    expect(await vault.current()).not.toBe(first);
  });

  it('stops waiting when whoever asked does not need it any more', async () => {
    const { vault, clock } = underTest();
    const controller = new AbortController();
    const asked = followed(vault.current(controller.signal));
    controller.abort(new Error('never mind'));
    await clock.settle();
    expect(asked).toMatchObject({ state: 'rejected', error: { message: 'never mind' } });
  });

  it('gives those of the highest priority', async () => {
    const { vault, populate } = underTest();
    populate({
      a: { server: 'https://a' },
      b: { server: 'https://b', priority: 20 },
      c: { server: 'https://c', priority: 10 },
    });
    expect((await vault.current()).server).toBe('https://b');
  });

  it.each([
    [0, 'https://a'],
    [0.5, 'https://b'],
    [0.999, 'https://b'],
  ])('gives any of the equally good ones: by chance %d, %s', async (chance, server) => {
    const { vault, populate } = underTest({ random: () => chance });
    populate({ a: { server: 'https://a' }, b: { server: 'https://b' }, c: { server: 'https://c', priority: -1 } });
    expect((await vault.current()).server).toBe(server);
  });

  it('keeps those under other ids when some are put in', async () => {
    const { vault, populate } = underTest();
    populate({ a: { server: 'https://a', priority: 1 } });
    populate({ b: { server: 'https://b' } });
    expect((await vault.current()).server).toBe('https://a');
  });
});

describe('Expiration', () => {
  it.each([
    ['in the past', -1],
    ['right now', 0],
  ])('%s is not given', async (_, seconds) => {
    const { vault, clock, inSeconds, populate } = underTest();
    populate({ fn: { server: 'https://one', expiration: inSeconds(seconds) } });
    const asked = followed(vault.current());
    await clock.settle();
    expect(asked.state).toBe('pending');
    expect(vault.want).toBe('expired');
  });

  it('a moment ahead is given', async () => {
    const { vault, inSeconds, populate } = underTest();
    populate({ fn: { server: 'https://one', expiration: inSeconds(0.001) } });
    expect((await vault.current()).server).toBe('https://one');
  });

  it('of some leaves the others', async () => {
    const { vault, clock, inSeconds, populate } = underTest();
    populate({
      a: { server: 'https://a', priority: 1, expiration: inSeconds(100) },
      b: { server: 'https://b', expiration: inSeconds(200) },
    });
    await clock.advance(99);
    expect((await vault.current()).server).toBe('https://a');
    await clock.advance(1);
    expect((await vault.current()).server).toBe('https://b');
  });

  it('of all makes those wait who ask, until there are new ones; also the same as before', async () => {
    const { vault, clock, inSeconds, populate } = underTest();
    populate({ fn: { server: 'https://one', expiration: inSeconds(100) } });
    await clock.advance(100);
    const asked = followed(vault.current());
    await clock.settle();
    expect(asked.state).toBe('pending');
    const renewed = new Map([['fn', { server: 'https://one', expiration: inSeconds(100) }]]);
    expect(vault.acceptable(renewed)).toEqual(renewed);
    vault.populate(renewed);
    await clock.settle();
    expect(asked.state).toBe('resolved');
  });

  it.each([
    ['the last tenth of the lifetime', 100, 90],
    ['five minutes of a long lifetime', 36_000, 35_700],
  ])('is cared for ahead of it: %s', async (_, lifetime, refreshAt) => {
    const { vault, clock, inSeconds, populate } = underTest();
    populate({ fn: { server: 'https://one', expiration: inSeconds(lifetime) } });
    const wanted = followed(vault.whenWanted(NEVER));
    await clock.advance(refreshAt - 1);
    expect(wanted.state).toBe('pending');
    await clock.advance(1);
    expect(wanted).toEqual({ state: 'resolved', value: 'ahead' });
    expect((await vault.current()).server).toBe('https://one');
  });

  it('that has moved on is noticed, while the object remains', async () => {
    const { vault, clock, inSeconds, populate } = underTest();
    populate({ fn: { server: 'https://one', token: 't', expiration: inSeconds(100) } });
    const first = await vault.current();
    await clock.advance(95);
    populate({ fn: { server: 'https://one', token: 't', expiration: inSeconds(100) } });
    expect(vault.want).toBe(undefined);
    await clock.advance(50);
    expect(await vault.current()).toBe(first);
  });
});

describe('A refusal', () => {
  it('of some leaves the others', async () => {
    const { vault, populate } = underTest();
    populate({ a: { server: 'https://a', priority: 1 }, b: { server: 'https://b' } });
    vault.invalidate(await vault.current(), UNAUTHORIZED);
    expect((await vault.current()).server).toBe('https://b');
    expect(vault.want).toBe(undefined);
  });

  it('of the last ones makes those wait who ask, until there are new ones', async () => {
    const { vault, clock, populate } = underTest();
    populate({ fn: { server: 'https://one', token: 'old' } });
    const wanted = followed(vault.whenWanted(NEVER));
    vault.invalidate(await vault.current(), UNAUTHORIZED);
    const asked = followed(vault.current());
    await clock.settle();
    expect(wanted).toEqual({ state: 'resolved', value: 'refused' });
    expect(asked.state).toBe('pending');
    populate({ fn: { server: 'https://one', token: 'new' } });
    await clock.settle();
    expect(asked).toMatchObject({ state: 'resolved', value: { token: 'new' } });
  });

  it('of what was already replaced changes nothing, even if the new ones are equal', async () => {
    const { vault, populate } = underTest();
    const constant = { server: 'https://one', token: 't' };
    populate({ fn: constant });
    const old = await vault.current();
    vault.invalidate(old, UNAUTHORIZED);
    populate({ fn: constant });
    vault.invalidate(old, UNAUTHORIZED);
    vault.invalidate({ ...old }, UNAUTHORIZED);
    vault.invalidate(constant, UNAUTHORIZED);
    expect(await vault.current()).toEqual(constant);
  });

  it('is remembered for a while, and not for ever', async () => {
    const { vault, clock, populate, inSeconds } = underTest();
    populate({ fn: { server: 'https://one', token: 't' } });
    vault.invalidate(await vault.current(), UNAUTHORIZED);
    const same = new Map([['fn', { server: 'https://one', token: 't', priority: 5, expiration: inSeconds(1000) }]]);
    const another = new Map([['fn', { server: 'https://one', token: 'another' }]]);
    const elsewhere = new Map([['other', { server: 'https://one', token: 't' }]]);
    expect(vault.acceptable(same).size).toBe(0);
    expect(vault.unexpired(same).size).toBe(1);
    expect(vault.acceptable(another).size).toBe(1);
    expect(vault.acceptable(elsewhere).size).toBe(1);
    await clock.advance(120);
    expect(vault.acceptable(same).size).toBe(1);
  });

  it.each([
    ['certificates', { cert: new Uint8Array([1, 2]) }, { cert: new Uint8Array([1, 2]) }, true],
    ['other certificates', { cert: new Uint8Array([1, 2]) }, { cert: new Uint8Array([1, 3]) }, false],
    [
      'impersonation',
      { impersonate: { user: 'u', groups: ['g'] } },
      { impersonate: { user: 'u', groups: ['g'] } },
      true,
    ],
    ['another person', { impersonate: { user: 'u' } }, { impersonate: { user: 'v' } }, false],
    ['one more field', {}, { insecure: true }, false],
    ['another dispatcher', { dispatcher: new Map() }, { dispatcher: new Map() }, false],
  ])('is of the content, not of the object: %s', async (_, one, another, isSame) => {
    const { vault, populate } = underTest();
    populate({ fn: { server: 'https://one', ...one } });
    vault.invalidate(await vault.current(), UNAUTHORIZED);
    const again = new Map([['fn', { server: 'https://one', ...another }]]);
    expect(vault.acceptable(again).size).toBe(isSame ? 0 : 1);
  });
});

describe('The trouble with credentials', () => {
  it('is there until the first login, and then it is not', async () => {
    const { vault, populate } = underTest();
    expect(vault.trouble).toEqual({ why: 'not logged in yet', since: 0 });
    populate({ fn: { server: 'https://one' } });
    expect(vault.trouble).toBe(undefined);
  });

  it('is there from a refusal until new ones have served for a while', async () => {
    const { vault, clock, populate } = underTest();
    populate({ fn: { server: 'https://one' } });
    await clock.advance(1000);
    vault.invalidate(await vault.current(), UNAUTHORIZED);
    expect(vault.trouble).toEqual({ why: 'refused by the server', since: 1000 });
    populate({ fn: { server: 'https://one' } });
    await clock.advance(9);
    expect(vault.trouble).toEqual({ why: 'refused by the server', since: 1000 });
    await clock.advance(1);
    expect(vault.trouble).toBe(undefined);
  });

  it('is the same one if it comes back soon, and a new one if later', async () => {
    const { vault, clock, populate } = underTest();
    populate({ fn: { server: 'https://one' } });
    await clock.advance(1000);
    for (const pause of [50, 100, 131]) {
      vault.invalidate(await vault.current(), UNAUTHORIZED);
      expect(vault.trouble?.since).toBe(1000);
      populate({ fn: { server: 'https://one' } });
      await clock.advance(pause);
      expect(vault.trouble).toBe(undefined);
    }
    vault.invalidate(await vault.current(), UNAUTHORIZED);
    expect(vault.trouble?.since).toBe(1281);
  });
});

describe('A closed vault', () => {
  it('gives nothing to anybody, and says why', async () => {
    const { vault, clock, populate } = underTest();
    const asked = followed(vault.current());
    vault.close(new LoginError('no way'));
    await clock.settle();
    expect(asked).toMatchObject({ state: 'rejected', error: { message: 'no way' } });
    populate({ fn: { server: 'https://one' } });
    await expect(vault.current()).rejects.toThrow('no way');
  });
});
