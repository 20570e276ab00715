/** Finds the proxy for a server, if any. The environment is used only if it is trusted. */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { type ConnectionInfo, LoginError } from '@kopf-ts/core';
import { maskUrl } from '../auth/secret-masking.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy's URL for this server, or `undefined` for a direct connection. An explicit proxy wins over the
 * environment's.
 */
export function proxyOf(info: ConnectionInfo, env: Environment): string | undefined {
  const url = info.proxyUrl || (info.trustEnv ? proxyFromEnvironment(new URL(info.server), env) : undefined);
  return url === undefined ? undefined : checkedProxy(url);
}

function checkedProxy(url: string): string {
  // "socks5h" leaves name resolution to the proxy; ours always do.
  const normal = (url.includes('://') ? url : `http://${url}`).replace(/^socks5h:/i, 'socks5:');
  const isSupported = URL.canParse(normal) && /^(?:https?|socks5):$/.test(new URL(normal).protocol);
  if (isSupported) return normal;
  throw new LoginError(
    `The proxy "${maskUrl(url)}" cannot be used. Its URL has to begin with http://, https://, or socks5://.`,
    {
      code: 'KOPF_BAD_PROXY',
    },
  );
}

function proxyFromEnvironment(server: URL, env: Environment): string | undefined {
  const name = server.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const proxy = variable(env, name);
  return proxy !== undefined && !isExempt(server, variable(env, 'no_proxy') ?? '') ? proxy : undefined;
}

/** Both spellings are in use; the lower case is older, and wins. */
function variable(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

/**
 * Domains (with their subdomains), addresses or ranges of addresses, each with an optional port; or `*` for everything.
 */
function isExempt(server: URL, exemptions: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  return exemptions
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return isInRange(host, entry);
      const { name, port: onlyPort } = nameAndPort(entry);
      return (onlyPort === undefined || onlyPort === port) && isOfDomain(host, name);
    });
}

function nameAndPort(entry: string): { name: string; port: string | undefined } {
  if (isIPv6(entry)) return { name: entry, port: undefined };
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  return { name: bracketed ?? plain ?? entry, port };
}

/** `example.com` matches itself and its subdomains, `.example.com` and `*.example.com` only the subdomains. */
function isOfDomain(host: string, name: string): boolean {
  const suffix = name.replace(/^\*/, '');
  return suffix.startsWith('.') ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

function isInRange(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(network) === 0 || isIP(host) !== isIP(network) || !/^\d+$/.test(bits)) return false;
  if (Number(bits) > (family === 'ipv6' ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(host, family);
}
