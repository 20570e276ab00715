import { type ConnectionInfo, KopfError, LoginError } from '@kopf-ts/core';
import { maskUrl } from '../auth/secret-masking.js';

export interface Address {
  readonly origin: string;
  /** Includes the query, and the base path of the server if it is not at the root of its host. */
  readonly path: string;
  /** Whether it is a server other than that of the credentials. */
  readonly isForeign: boolean;
}

interface Server {
  readonly origin: string;
  /** The base path, without a trailing slash. */
  readonly prefix: string;
}

// Cached: there is one per login, and it is needed for each request.
const servers = new WeakMap<ConnectionInfo, Server>();

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\//i;

/** The address of a request: relative to the server, or as given if it has a scheme and a host. */
export function addressOf(info: ConnectionInfo, path: string): Address {
  const { origin, prefix } = servers.get(info) ?? serverOf(info);
  if (path.startsWith('/') && !path.startsWith('//')) return { origin, path: `${prefix}${path}`, isForeign: false };
  if (ABSOLUTE.test(path)) {
    if (!URL.canParse(path)) {
      throw new KopfError(`The address of the request is not a valid URL: ${maskUrl(path)}`, {
        code: 'KOPF_BAD_ADDRESS',
      });
    }
    const url = new URL(path);
    return { origin: url.origin, path: `${url.pathname}${url.search}`, isForeign: url.origin !== origin };
  }
  return { origin, path: `${prefix}/${path.replace(/^\/+/, '')}`, isForeign: false };
}

function serverOf(info: ConnectionInfo): Server {
  const { server } = info;
  if (URL.canParse(server) && /^https?:$/.test(new URL(server).protocol)) {
    const { origin, pathname } = new URL(server);
    const known = { origin, prefix: pathname.replace(/\/+$/, '') };
    servers.set(info, known);
    return known;
  }
  throw new LoginError(`The server "${maskUrl(server)}" is not a URL that begins with https:// or http://.`, {
    code: 'KOPF_BAD_SERVER',
  });
}
