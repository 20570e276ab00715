import { type HttpSite, KopfError, type KopfErrorOptions } from '@kopf-ts/core';

/** Where to listen, and what to answer on. */
export interface Endpoint {
  /** The URL as given, for logs and errors. */
  readonly url: string;
  /** All interfaces, if absent. */
  readonly host: string | undefined;
  readonly port: number;
  readonly path: string;
}

const DEFAULT_PORT = 80;
/** Not `URL`: it refuses an absent host, which is what people write most. */
const PARTS =
  /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?<host>\[[^\]/]+\]|[^/:?#@[\]]*)(?::(?<port>\d+))?(?<path>\/[^?#]*)?$/i;

/** Parses `http://[host][:port][/path]`. */
export function parseEndpoint({ name, url }: Pick<HttpSite, 'name' | 'url'>): Endpoint {
  const bad = (why: string) => endpointError(`The ${name} endpoint "${url}" is not supported: ${why}.`);
  const { scheme, host = '', port, path = '/' } = PARTS.exec(url)?.groups ?? {};
  if (scheme === undefined) throw bad('it is not like http://[host][:port][/path]');
  if (scheme.toLowerCase() !== 'http') throw bad(`only http is supported, not ${scheme}`);
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (number > 65535) throw bad('there is no such port');
  return { url, host: host === '' ? undefined : host.replace(/^\[|\]$/g, ''), port: number, path };
}

/** Anything about the endpoint that makes it useless. */
export function endpointError(message: string, options: KopfErrorOptions = {}): KopfError {
  return new KopfError(message, { code: 'KOPF_BAD_ENDPOINT', ...options });
}
