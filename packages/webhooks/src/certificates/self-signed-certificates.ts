/** Certificates of a process that has an authority of its own. */
import type { Seconds } from '@kopf-ts/core';
import { type Authority, makeAuthority } from './making/authority.js';
import { keySearch, type Workshop, workshop } from './making/keys.js';
import { checkedValidity, DEFAULT_AUTHORITY_VALIDITY, DEFAULT_VALIDITY } from './making/lifetimes.js';
import { type AuthorityKeeper, rotatingCertificates } from './rotation.js';
import { debutAmong, searchTime, successionTime } from './schedule.js';
import type { TlsSource, TlsSurroundings } from './tls-source.js';

export interface SelfSignedOptions {
  /** The hostnames and the addresses that the server is reached by. */
  readonly hosts: readonly string[];
  /** For how long a certificate of the server is valid. Default: 90 days. */
  readonly validity?: Seconds | undefined;
  /** For how long the authority behind them is valid. Default: a year. */
  readonly authorityValidity?: Seconds | undefined;
  /** Encrypts the private keys of the server's certificates. Default: not encrypted, as they never leave the memory. */
  readonly password?: string | undefined;
}

/**
 * Certificates issued by an authority that exists only in this process. Both renew themselves at two thirds of their
 * life; an authority is announced together with its predecessor before anything issued by it is used.
 *
 * For one process behind one address: the replicas would not trust each other's authorities.
 * For several replicas, there are {@link sharedCertificates}.
 */
export function selfSignedCertificates(options: SelfSignedOptions): TlsSource {
  return selfSigned(options, workshop);
}

export function selfSigned(options: SelfSignedOptions, workshop: Workshop): TlsSource {
  const validity = checkedValidity('authorityValidity', options.authorityValidity ?? DEFAULT_AUTHORITY_VALIDITY);
  return rotatingCertificates(
    {
      hosts: options.hosts,
      validity: checkedValidity('validity', options.validity ?? DEFAULT_VALIDITY),
      password: options.password,
    },
    (at) => keeperInMemory(validity, at, workshop),
    workshop,
  );
}

function keeperInMemory(validity: Seconds, { clock, logger }: TlsSurroundings, workshop: Workshop): AuthorityKeeper {
  let authorities: readonly Authority[] = [];
  const search = keySearch(workshop);
  return {
    interval: Number.POSITIVE_INFINITY,
    async refresh() {
      const before = clock.utc().getTime();
      if (before >= searchTime(authorities, before)) search.begin();
      if (before < successionTime(authorities, before)) return authorities;
      const keys = await search.take();
      // The search for keys takes a while: no plans are made before it.
      const now = clock.utc();
      const debut = debutAmong(authorities, now.getTime());
      const made = await makeAuthority({ keys, now, validity, debut }, workshop);
      if (authorities.length > 0) logger.info('The authority of webhook certificates is renewed.');
      authorities = [...authorities.filter(({ until }) => now.getTime() < until), made];
      return authorities;
    },
  };
}
