/** Certificates that renew themselves, together with the authorities behind them. */
import type { Seconds } from '@kopf-ts/core';
import { isCancellation } from '@kopf-ts/core/engine';
import { type Authority, issueLeaf, type Leaf, type LeafOptions } from './making/authority.js';
import { certificateNames } from './making/certificate-names.js';
import { issuerAmong, needsLeaf, published, renewalTime, successionTime } from './schedule.js';
import type { TlsMaterial, TlsSource, TlsSurroundings } from './tls-source.js';

/** Knows the authorities, and makes new ones in time. */
export interface AuthorityKeeper {
  /** All of them, also those not published yet; at least one of them is valid. */
  refresh(): Promise<readonly Authority[]>;
  /** How often to ask for them, even if nothing is planned. */
  readonly interval: Seconds;
}

/**
 * Plans are checked that often: the wall clock may jump, e.g. when a laptop is opened again, and timers do not notice.
 */
const LONGEST_SLEEP: Seconds = 10;

/** Whatever the reason to wake up, there is a pause between looking at the clock twice. */
const SHORTEST_SLEEP: Seconds = 0.05;

/** How long it takes for the callers to learn of an authority once it is announced: at most, as there is no hurry. */
const LONGEST_GRACE: Seconds = 5;

/** The part of the time that is left for it. */
const GRACE = 1 / 4;

/** Certificates for the hosts, issued by whatever authorities the keeper has. */
export function rotatingCertificates(
  options: LeafOptions,
  keeperOf: (at: TlsSurroundings) => AuthorityKeeper,
): TlsSource {
  // Mistakes in the names are to be known at once, and not when the server starts.
  certificateNames(options.hosts);
  return {
    async *materials(at) {
      const rotation = new Rotation(options, at, keeperOf(at));
      try {
        while (!at.signal.aborted) {
          const material = await rotation.changed();
          if (at.signal.aborted) return;
          if (material !== undefined) yield material;
          else await rotation.pause();
        }
      } catch (error) {
        if (!isCancellation(error, at.signal)) throw error;
      }
    },
  };
}

class Rotation {
  readonly #options: LeafOptions;
  readonly #at: TlsSurroundings;
  readonly #keeper: AuthorityKeeper;
  #authorities: readonly Authority[] = [];
  #leaf: Leaf | undefined;
  #material: TlsMaterial | undefined;
  #given: readonly Authority[] = [];
  /** When the callers will have learned of each of the authorities, by the monotonic clock. */
  readonly #knownSince = new Map<string, Seconds>();

  constructor(options: LeafOptions, at: TlsSurroundings, keeper: AuthorityKeeper) {
    this.#options = options;
    this.#at = at;
    this.#keeper = keeper;
  }

  /** What to use from now on; nothing, if it is the same as before. Asking means: the previous is announced. */
  async changed(): Promise<TlsMaterial | undefined> {
    this.#noteAnnounced();
    this.#authorities = await this.#keeper.refresh();
    await this.#renewLeaf();
    return this.#nextMaterial();
  }

  async pause(): Promise<void> {
    const { clock, signal } = this.#at;
    const now = clock.utc().getTime();
    const delays = this.#moments(now).map((moment) => (moment - now) / 1000);
    for (const known of this.#knownSince.values()) delays.push(known - clock.now());
    const delay = Math.min(LONGEST_SLEEP, this.#keeper.interval, ...delays.filter((each) => each > 0));
    await clock.sleep(Math.max(SHORTEST_SLEEP, delay), { signal });
  }

  async #renewLeaf(): Promise<void> {
    const { clock, logger } = this.#at;
    const serving = this.#leaf?.issuer;
    const isKnown = (id: string): boolean => (this.#knownSince.get(id) ?? Number.POSITIVE_INFINITY) <= clock.now();
    const issuer = issuerAmong(this.#authorities, clock.utc().getTime(), serving, isKnown);
    // All have expired, and the keeper cannot replace them now: it says so, and what there is remains.
    if (issuer === undefined) return;
    const { validity } = this.#options;
    if (!needsLeaf(this.#leaf, issuer, clock.utc().getTime(), validity)) return;
    this.#leaf = await issueLeaf(issuer, { ...this.#options, now: clock.utc() });
    const until = new Date(this.#leaf.until).toISOString();
    logger.debug(`Issued a certificate for the admission webhook server, valid until ${until}.`);
  }

  #nextMaterial(): TlsMaterial | undefined {
    const leaf = this.#leaf;
    if (leaf === undefined) return undefined;
    const now = this.#at.clock.utc().getTime();
    const given = published(this.#authorities, now, leaf.issuer);
    const authorities = given.map(({ certificate }) => certificate).join('');
    const isSame = this.#material?.secure.cert === leaf.certificate && this.#material.authorities === authorities;
    if (isSame || authorities === '') return undefined;
    const { password } = this.#options;
    const passphrase = password === undefined ? {} : { passphrase: password };
    this.#material = { secure: { cert: leaf.certificate, key: leaf.privateKey, ...passphrase }, authorities };
    this.#given = given;
    return this.#material;
  }

  #noteAnnounced(): void {
    const { clock } = this.#at;
    const serving = this.#given.find(({ id }) => id === this.#leaf?.issuer);
    const left = serving === undefined ? 0 : (serving.until - clock.utc().getTime()) / 1000;
    const grace = Math.min(LONGEST_GRACE, Math.max(0, left * GRACE));
    const ids = new Set(this.#given.map(({ id }) => id));
    for (const id of this.#knownSince.keys()) if (!ids.has(id)) this.#knownSince.delete(id);
    for (const id of ids) if (!this.#knownSince.has(id)) this.#knownSince.set(id, clock.now() + grace);
  }

  /** When something is to happen next. */
  #moments(now: number): number[] {
    const moments = [successionTime(this.#authorities, now)];
    for (const { publishedFrom, usedFrom, until } of this.#authorities) moments.push(publishedFrom, usedFrom, until);
    const leaf = this.#leaf;
    const issuer = this.#authorities.find(({ id }) => id === leaf?.issuer);
    if (leaf !== undefined && issuer !== undefined) moments.push(renewalTime(leaf, issuer, this.#options.validity));
    return moments;
  }
}
