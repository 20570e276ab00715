/** How this machine is called, for people to recognise it. */
import { lookup, lookupService } from 'node:dns/promises';
import { isIP } from 'node:net';

/**
 * All names of a host, as its resolver knows them.
 *
 * ```ts
 * const names: kopf.peering.HostNames = { name: 'web-1.example.com', aliases: ['web-1'], addresses: ['10.0.0.1'] };
 * ```
 */
export interface HostNames {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly addresses: readonly string[];
}

/** All names of this host by its plain name, as far as the resolver knows them. */
export async function resolveHostNames(hostname: string): Promise<HostNames> {
  const found = await lookup(hostname, { all: true });
  const addresses = found.map(({ address }) => address);
  const services = await Promise.allSettled(addresses.map((address) => lookupService(address, 0)));
  const names = services.flatMap((one) => (one.status === 'fulfilled' ? [one.value.hostname] : []));
  const [name = hostname, ...aliases] = names;
  return { name, aliases: [...aliases, hostname], addresses };
}

/**
 * The most telling of the names: a full one rather than a short one; and addresses, `localhost` or names of the
 * reverse zone only if there is nothing else at all. What says only that it is a local network is cut off.
 */
export function chooseHostName({ name, aliases, addresses }: HostNames, plainName: string): string {
  const candidates = [name, ...aliases, ...addresses].filter(isRealName);
  const chosen = candidates.find((one) => one.includes('.')) ?? candidates.find((one) => one !== 'localhost');
  return (chosen ?? plainName).replace(/(\.local|\.localdomain)+$/, '');
}

function isRealName(name: string): boolean {
  return name !== '' && isIP(name) === 0 && !name.endsWith('.arpa');
}
