import type { Clock } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type SelfSignedOptions, selfSignedCertificates } from '../../src/certificates/self-signed-certificates.js';
import { certificatesOf, follow, handshake, isTrusted, leafOf, warmUp } from './support.js';

const quick = (options: Partial<SelfSignedOptions> = {}) =>
  selfSignedCertificates({ hosts: ['localhost'], ...options });

beforeAll(warmUp);

describe('self-signed certificates', { timeout: 60_000 }, () => {
  it('are accepted by those who trust the authority, for the given names only', async () => {
    const clock = manualClock({ start: new Date() });
    const source = selfSignedCertificates({ hosts: ['localhost', '127.0.0.1', '::1'] });
    await using follower = follow(source, { clock });
    while (follower.materials.length === 0) await clock.settle();
    const { secure, authorities = '' } = follower.current;
    for (const name of ['localhost', '127.0.0.1', '::1'])
      expect(await handshake(secure, authorities, name)).toBe('accepted');
    expect(await handshake(secure, authorities, 'elsewhere')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(leafOf(follower.current).ca).toBe(false);
    expect(certificatesOf(authorities).map(({ ca }) => ca)).toEqual([true]);
  });

  it('live for 90 days under an authority of a year, unless told otherwise', async () => {
    const clock = manualClock({ start: '2024-01-01T00:00:00Z' });
    await using follower = follow(quick(), { clock });
    await clock.settle();
    expect(new Date(leafOf(follower.current).validTo)).toEqual(new Date('2024-03-31T00:00:00Z'));
    const [authority] = certificatesOf(follower.current.authorities);
    expect(new Date(authority?.validTo ?? '')).toEqual(new Date('2024-12-31T00:00:00Z'));
  });

  it('are renewed at two thirds of their life by the same authority', async () => {
    const clock = manualClock();
    await using follower = follow(quick({ validity: 30 }), { clock });
    await clock.advance(61);
    expect(follower.materials.map(({ time }) => time)).toEqual([0, 20, 40, 60]);
    expect(new Set(follower.materials.map(({ material }) => material.authorities)).size).toBe(1);
    expect(new Set(follower.materials.map(({ material }) => material.secure.cert)).size).toBe(4);
    expect(new Set(follower.materials.map(({ material }) => material.secure.key)).size).toBe(4);
  });

  it('have the next authority announced before it is used, and the old one until it expires', async () => {
    const clock = manualClock();
    await using follower = follow(quick({ validity: 120, authorityValidity: 120 }), { clock });
    await clock.advance(121);
    const steps = follower.materials.map(({ time, material }) => {
      const authorities = certificatesOf(material.authorities);
      const issuers = authorities.map((each) => leafOf(material).checkIssued(each));
      return { time: Math.round(time), issuers };
    });
    expect(steps).toEqual([
      { time: 0, issuers: [true] },
      { time: 70, issuers: [true, false] },
      { time: 80, issuers: [false, true] },
      { time: 120, issuers: [true] },
    ]);
  });

  it('do not use the next authority while it is not announced, and then only after a while', async () => {
    const clock = manualClock();
    let delay = 0;
    const source = quick({ validity: 120, authorityValidity: 120 });
    await using follower = follow(source, { clock, announcingTakes: () => delay });
    await clock.advance(69);
    delay = 16;
    await clock.advance(1 + 16 + 4);
    expect(follower.materials).toHaveLength(2);
    delay = 0;
    await clock.advance(1);
    expect(follower.materials).toHaveLength(3);
    const [, announced, used] = follower.materials.map(({ material }) => material);
    expect(used?.authorities).toBe(announced?.authorities);
    expect(used?.secure.cert).not.toBe(announced?.secure.cert);
  });

  it('use the next authority at once when the old one expires before the next one could be announced', async () => {
    const clock = manualClock();
    let delay = 0;
    const source = quick({ validity: 120, authorityValidity: 120 });
    await using follower = follow(source, { clock, announcingTakes: () => delay });
    await clock.advance(69);
    delay = 60;
    await clock.advance(1 + 60);
    expect(follower.materials).toHaveLength(3);
    expect(isTrusted(leafOf(follower.current), follower.current.authorities ?? '', clock.utc())).toBe(true);
  });

  it.each([
    { validity: 20, authorityValidity: 20 },
    { validity: 20, authorityValidity: 60 },
    { validity: 60, authorityValidity: 20 },
    { validity: 7, authorityValidity: 31 },
  ])('are trusted at any moment if they live for $validity s of $authorityValidity s', async (lives) => {
    const clock = manualClock();
    await using follower = follow(quick(lives), { clock, announcingTakes: 0.3 });
    await clock.advance(0.5);
    for (let time = 0.5; time < 120; time += 0.5) {
      expect(isTrusted(leafOf(follower.current), follower.announced, clock.utc()), `at ${time}`).toBe(true);
      await clock.advance(0.5);
    }
    // An authority lives on for a half of its life until the next one; a certificate for up to 2/3 of its own.
    const authorities = 120 / (lives.authorityValidity / 2);
    const leaves = 120 / (Math.min(lives.validity, lives.authorityValidity) / 2) + authorities;
    const made = follower.materials.flatMap(({ material }) => [
      ...certificatesOf(material.authorities),
      leafOf(material),
    ]);
    const count = new Set(made.map(({ fingerprint256 }) => fingerprint256)).size;
    expect(count).toBeGreaterThan(authorities);
    expect(count).toBeLessThan(authorities + leaves + 4);
  });

  it('are replaced soon after the machine has slept longer than they live', async () => {
    const clock = manualClock();
    let slept = 0;
    const jumping: Clock = { ...clock, utc: () => new Date(clock.utc().getTime() + slept) };
    await using follower = follow(quick({ validity: 3600 }), { clock: jumping });
    await clock.advance(60);
    slept = 8 * 3600_000;
    expect(isTrusted(leafOf(follower.current), follower.announced, jumping.utc())).toBe(false);
    await clock.advance(10);
    expect(follower.materials).toHaveLength(2);
    expect(isTrusted(leafOf(follower.current), follower.announced, jumping.utc())).toBe(true);
  });

  it.each([
    { title: 'longer than the authority lives', jump: 400 * 86_400_000 },
    { title: 'back, to before it was made', jump: -3 * 86_400_000 },
  ])('begin anew when the clock jumps $title', async ({ jump }) => {
    const clock = manualClock();
    let jumped = 0;
    const jumping: Clock = { ...clock, utc: () => new Date(clock.utc().getTime() + jumped) };
    await using follower = follow(quick(), { clock: jumping });
    await clock.advance(60);
    const before = follower.announced;
    jumped = jump;
    await clock.advance(10);
    expect(follower.materials).toHaveLength(2);
    expect(certificatesOf(follower.announced)).toHaveLength(1);
    expect(follower.announced).not.toBe(before);
    expect(isTrusted(leafOf(follower.current), follower.announced, jumping.utc())).toBe(true);
  });

  it('have encrypted keys if there is a password', async () => {
    const clock = manualClock();
    await using follower = follow(quick({ password: 'secret' }), { clock });
    await clock.settle();
    expect(follower.current.secure).toMatchObject({
      key: expect.stringContaining('BEGIN ENCRYPTED PRIVATE KEY'),
      passphrase: 'secret',
    });
  });

  it('end when aborted, while waiting or not', async () => {
    const clock = manualClock();
    const follower = follow(quick(), { clock });
    await clock.advance(1);
    await follower.stop();
    expect(await follower.outcome).toBe('ended');
    expect(clock.sleepers).toBe(0);

    const early = follow(quick(), { clock });
    await early.stop();
    expect(await early.outcome).toBe('ended');
    expect(early.materials).toHaveLength(0);
  });

  it('refuse what they cannot be made of, at once', () => {
    expect(() => selfSignedCertificates({ hosts: ['0.0.0.0'] })).toThrow(/needs a hostname/);
    expect(() => selfSignedCertificates({ hosts: ['a'], validity: 0 })).toThrow(/"validity"/);
    expect(() => selfSignedCertificates({ hosts: ['a'], authorityValidity: -1 })).toThrow(/"authorityValidity"/);
  });
});
