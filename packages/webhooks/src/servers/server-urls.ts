/** The addresses of servers: for callers, and for the logs. */
import { isIPv6 } from 'node:net';

const ACCESSIBLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** An address by which programs on the same host can reach a server that listens on this one. */
export function accessibleAddress(addr: string | undefined): string {
  if (addr === undefined) return 'localhost';
  return Object.hasOwn(ACCESSIBLE, addr) ? (ACCESSIBLE[addr] ?? addr) : addr;
}

export interface UrlParts {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** As it is. */
  readonly path: string;
}

export function formatUrl({ scheme, host, port, path }: UrlParts): string {
  const isUsual = port === (scheme === 'https' ? 443 : 80);
  return `${scheme}://${bracketed(host)}${isUsual ? '' : `:${port}`}${path}`;
}

export function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
