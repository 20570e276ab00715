/** Certificates of a process that has an authority of its own. */
import type { Seconds } from '@kopf-ts/core';
import { type Authority, makeAuthority } from './making/authority.js';
import { checkedValidity, DEFAULT_AUTHORITY_VALIDITY, DEFAULT_VALIDITY } from './making/lifetimes.js';
import { type AuthorityKeeper, rotatingCertificates } from './rotation.js';
import { debutAmong, successionTime } from './schedule.js';
import type { TlsSource, TlsSurroundings } from './tls-source.js';

/**
 * For whom certificates are issued, and for how long.
 *
 * ```ts
 * const options: kopf.webhooks.SelfSignedOptions = { hosts: ['localhost'], validity: 24 * 60 * 60 };
 * ```
 */
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
 *
 * ```ts
 * const source = kopf.webhooks.selfSignedCertificates({ hosts: ['localhost', '127.0.0.1'] });
 * for await (const { authorities } of source.materials({ signal, clock, logger, client })) {
 *   logger.info(`Trust these: ${authorities}`);
 * }
 * ```
 */
export function selfSignedCertificates(options: SelfSignedOptions): TlsSource {
  const validity = checkedValidity('authorityValidity', options.authorityValidity ?? DEFAULT_AUTHORITY_VALIDITY);
  return rotatingCertificates(
    {
      hosts: options.hosts,
      validity: checkedValidity('validity', options.validity ?? DEFAULT_VALIDITY),
      password: options.password,
    },
    (at) => keeperInMemory(validity, at),
  );
}

function keeperInMemory(validity: Seconds, { clock, logger }: TlsSurroundings): AuthorityKeeper {
  let authorities: readonly Authority[] = [];
  return {
    interval: Number.POSITIVE_INFINITY,
    async refresh() {
      const now = clock.utc();
      if (now.getTime() < successionTime(authorities, now.getTime())) return authorities;
      const made = await makeAuthority({ now, validity, debut: debutAmong(authorities, now.getTime()) });
      if (authorities.length > 0) logger.info('Renewed the certificate authority of the webhooks.');
      authorities = [...authorities.filter(({ until }) => now.getTime() < until), made];
      return authorities;
    },
  };
}
