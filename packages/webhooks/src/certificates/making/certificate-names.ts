/** Which names and addresses a certificate is for. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { KopfError } from '@kopf-ts/core';

export interface CertificateNames {
  /** The first hostname, even if an address precedes it; the first address if there are no hostnames. */
  readonly commonName: string;
  /** All of them, the addresses included: some callers look for addresses here, too. */
  readonly dns: readonly string[];
  /** The addresses only, in their canonical form. */
  readonly ips: readonly string[];
}

/** Nobody connects to these: they mean "any address of this machine". */
const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** X.509 limits common names, but not alternative ones; and it is the latter that callers look at. */
const LONGEST_COMMON_NAME = 64;

export function certificateNames(hosts: readonly string[]): CertificateNames {
  const known = [...new Set(hosts.map(canonicalHost))].filter((host) => host !== '' && !UNSPECIFIED.has(host));
  const ips = known.filter((host) => isIP(host) !== 0);
  const names = known.filter((host) => isIP(host) === 0);
  const candidates = [...names, ...ips];
  const commonName = candidates.find((name) => name.length <= LONGEST_COMMON_NAME) ?? candidates[0];
  if (commonName === undefined) {
    throw new KopfError(
      `A certificate needs a hostname or an address, but there is none among ${JSON.stringify(hosts)}. ` +
        'Addresses such as 0.0.0.0 and :: do not count: nobody can connect to them.',
      { code: 'KOPF_CERTIFICATE_NAMES' },
    );
  }
  return { commonName: commonName.slice(0, LONGEST_COMMON_NAME), dns: known, ips };
}

function canonicalHost(host: string): string {
  const bare = host.trim().replace(/^\[(.*)\]$/, '$1');
  const isIPv6 = isIP(bare) === 6;
  // The zone is a matter of this machine only, and no part of the address.
  if (isIPv6) return new URL(`http://[${bare.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is the whole of ASCII.
  return /^[\x00-\x7f]*$/.test(bare) ? bare : domainToASCII(bare);
}
