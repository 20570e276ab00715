/** Certificates of several replicas that share the authorities through a Secret. */
import { KopfError, type Seconds } from '@kopf-ts/core';
import { backoffDelay, describeError } from '@kopf-ts/core/engine';
import { type Authority, makeAuthority } from '../making/authority.js';
import { checkedValidity, DEFAULT_AUTHORITY_VALIDITY, DEFAULT_VALIDITY } from '../making/lifetimes.js';
import { type AuthorityKeeper, rotatingCertificates } from '../rotation.js';
import { debutAmong, successionTime } from '../schedule.js';
import type { SelfSignedOptions } from '../self-signed-certificates.js';
import type { TlsSource, TlsSurroundings } from '../tls-source.js';
import { readAuthorities, type Secret } from './authority-records.js';
import { type AuthoritySecret, authoritySecret, type RequestLimits, type SecretReference } from './authority-secret.js';

/**
 * Where the authority is shared, and for whom certificates are issued.
 *
 * ```ts
 * const options: kopf.webhooks.SharedCertificatesOptions = {
 *   hosts: ['kopfexamples.operators.svc'],
 *   secret: { namespace: 'operators', name: 'kopfexamples-webhook-ca' },
 * };
 * ```
 */
export interface SharedCertificatesOptions extends SelfSignedOptions {
  /** Where the authorities are kept: made if it does not exist, adopted if it is ours or empty. */
  readonly secret: SecretReference;
  /** How often the Secret is looked at. Default: once a minute, and more often for short-living authorities. */
  readonly checkInterval?: Seconds | undefined;
}

/** The Secret is looked at so often in the time between the making and the publishing of an authority. */
const CHECKS_BEFORE_PUBLISHING = 3;

/** The time between these two, as a part of an authority's life. See `schedule.ts`. */
const UNTIL_PUBLISHED = 1 / 12;

const LONGEST_CHECK_INTERVAL: Seconds = 60;

/** In check intervals: how far apart the attempts may get when the Secret cannot be read or written. */
const LONGEST_RETRY = 8;

const LONGEST_REQUEST: Seconds = 10;

/** Others may be writing, too; but each of them only once or twice. */
const MAX_CONFLICTS = 10;

/**
 * Certificates issued by an authority that all replicas have in common: whichever of them a caller gets to, it trusts
 * it. The authorities are in a Secret; the certificates of the servers, and their keys, are each replica's own.
 *
 * Replicas make new authorities in turn, first come first served, long before the old ones expire; and they publish and
 * use them at the moments that are written in the Secret, so that all of them announce the same at the same time.
 *
 * Needs the permissions to get, create and update this one Secret.
 *
 * ```ts
 * const secret = { namespace: 'operators', name: 'kopfexamples-webhook-ca' };
 * const source = kopf.webhooks.sharedCertificates({ hosts: ['kopfexamples.operators.svc'], secret });
 * ```
 */
export function sharedCertificates(options: SharedCertificatesOptions): TlsSource {
  return shared(options);
}

export function shared(options: SharedCertificatesOptions, random: () => number = Math.random): TlsSource {
  const { secret, checkInterval = LONGEST_CHECK_INTERVAL } = options;
  const validity = checkedValidity('authorityValidity', options.authorityValidity ?? DEFAULT_AUTHORITY_VALIDITY);
  return rotatingCertificates(
    {
      hosts: options.hosts,
      validity: checkedValidity('validity', options.validity ?? DEFAULT_VALIDITY),
      password: options.password,
    },
    (at) => new SecretKeeper({ validity, checkInterval, at, random }, secret),
  );
}

interface KeeperParts {
  readonly validity: Seconds;
  readonly checkInterval: Seconds;
  readonly at: TlsSurroundings;
  readonly random: () => number;
}

class SecretKeeper implements AuthorityKeeper {
  readonly #parts: KeeperParts;
  readonly #secret: AuthoritySecret;
  #known: readonly Authority[] = [];
  #nextCheck: Seconds = Number.NEGATIVE_INFINITY;
  #failures = 0;
  /** What was in the Secret when it was read last. */
  #seen: { readonly version: string | undefined; readonly authorities: readonly Authority[] } = {
    version: undefined,
    authorities: [],
  };

  constructor(parts: KeeperParts, place: SecretReference) {
    const { client, signal } = parts.at;
    this.#parts = parts;
    this.#secret = authoritySecret(client, place, signal, () => this.#limits());
  }

  get interval(): Seconds {
    return Math.max(0, this.#nextCheck - this.#parts.at.clock.now());
  }

  async refresh(): Promise<readonly Authority[]> {
    const { clock, logger, signal } = this.#parts.at;
    if (clock.now() < this.#nextCheck) return this.#known;
    try {
      this.#known = await this.#synchronised();
      if (this.#failures > 0) logger.info('The authorities of webhook certificates are in sync with the secret again.');
      this.#failures = 0;
      this.#nextCheck = clock.now() + this.#checkInterval();
    } catch (error) {
      // At the start, there is nothing to go on with.
      if (this.#known.length === 0 || signal.aborted) throw error;
      this.#failures += 1;
      if (this.#failures === 1) logger.warn(`${describeError(error)} The server keeps using the authorities it knows.`);
      else logger.debug(`Still: ${describeError(error)}`);
      this.#nextCheck = clock.now() + this.#retryDelay();
    }
    return this.#known;
  }

  /** What the Secret has, what we have, and a new one if it is time for it; all of it is in the Secret then. */
  async #synchronised(): Promise<readonly Authority[]> {
    const { clock, logger } = this.#parts.at;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const secret = await this.#secret.read();
      const stored = this.#stored(secret);
      const isStored = ({ id }: Authority): boolean => stored.some((other) => other.id === id);
      // What others have removed by mistake, is put back: somebody may be using it.
      const all = unexpired(united(stored, this.#known), clock.utc().getTime());
      const isRestoring = !all.every(isStored);
      const isMaking = successionTime(all, clock.utc().getTime()) <= clock.utc().getTime();
      if (isMaking) all.push(await this.#make(all));
      if (!isMaking && !isRestoring) return all;
      if (!(await this.#secret.write(secret, all))) continue;
      if (isMaking) logger.info('Created a new certificate authority for the webhooks.');
      if (isRestoring)
        logger.warn('Certificate authorities of the webhooks were removed from the secret. Putting them back.');
      return all;
    }
    throw new KopfError('Others keep changing the secret with the certificate authorities of the webhooks.', {
      code: 'KOPF_SECRET_CONFLICTS',
    });
  }

  #stored(secret: Secret | undefined): readonly Authority[] {
    // Parsing takes longer than asking, and there is nothing new most of the time.
    const version = secret?.metadata.resourceVersion;
    if (version !== undefined && version === this.#seen.version) return this.#seen.authorities;
    try {
      const authorities = readAuthorities(secret?.data);
      this.#seen = { version, authorities };
      return authorities;
    } catch (error) {
      if (this.#known.length > 0) return [];
      throw new KopfError(
        `The secret with the authorities of webhook certificates cannot be used: ${describeError(error)}. ` +
          'If it is not needed by any running replica, delete it: a new one will be made.',
        { code: 'KOPF_AUTHORITIES_DAMAGED', cause: error },
      );
    }
  }

  #make(others: readonly Authority[]): Promise<Authority> {
    const { validity, at } = this.#parts;
    const now = at.clock.utc();
    return makeAuthority({ now, validity, debut: debutAmong(others, now.getTime()) });
  }

  #retryDelay(): Seconds {
    const base = this.#checkInterval();
    const cap = Math.max(base, Math.min(LONGEST_CHECK_INTERVAL, base * LONGEST_RETRY));
    return backoffDelay(this.#failures, { base, cap, random: this.#parts.random });
  }

  /** At the start, the client's own persistence is what we want; later, other things are not to wait for the Secret. */
  #limits(): RequestLimits {
    if (this.#known.length === 0) return {};
    const total = Math.min(LONGEST_REQUEST, Math.max(1, this.#checkInterval()));
    return { retries: 'none', timeouts: { total } };
  }

  #checkInterval(): Seconds {
    const lives = this.#known.map(({ from, until }) => (until - from) / 1000);
    const shortest = Math.min(...lives) * (UNTIL_PUBLISHED / CHECKS_BEFORE_PUBLISHING);
    return Math.min(this.#parts.checkInterval, shortest);
  }
}

function united(...lists: readonly (readonly Authority[])[]): Authority[] {
  const all = new Map<string, Authority>();
  for (const authority of lists.flat()) if (!all.has(authority.id)) all.set(authority.id, authority);
  return [...all.values()];
}

function unexpired(authorities: readonly Authority[], now: number): Authority[] {
  return authorities.filter(({ until }) => now < until);
}
