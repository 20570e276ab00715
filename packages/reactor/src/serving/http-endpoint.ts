/** The operator's own pages over HTTP: one socket per address, however many sites share it. */
import type { AddressInfo } from 'node:net';
import type { Clock, HttpEndpoint, HttpSite, Logger } from '@kopf-ts/core';
import { abortable, aborted, alarm } from '@kopf-ts/core/engine';
import { type Endpoint, endpointError, parseEndpoint } from './endpoint.js';
import { CLOSING_LIMIT, type PageServer, pageServer } from './page-server.js';

/**
 * The dependencies of the endpoint.
 *
 * ```ts
 * const options: kopf.reactor.HttpEndpointOptions = { clock: kopf.reactor.systemClock, logger };
 * ```
 */
export interface HttpEndpointOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Serves pages over plain HTTP. Operators with the same endpoint can share a port.
 *
 * ```ts
 * const httpEndpoint = kopf.reactor.httpEndpoint({ clock: kopf.reactor.systemClock, logger });
 * await kopf.run({ httpEndpoint, liveness: 'http://:8080/healthz' });
 * ```
 */
export function httpEndpoint({ clock, logger }: HttpEndpointOptions): HttpEndpoint {
  /** By their hosts and ports, until they are closed. */
  const servers = new Map<string, PageServer>();

  const serverAt = async (endpoint: Endpoint, signal: AbortSignal): Promise<PageServer> => {
    const { host, port } = endpoint;
    const key = `${host?.toLowerCase() ?? ''}:${port}`;
    // The last site may still be closing it.
    for (let old = servers.get(key); old?.closed !== undefined; old = servers.get(key)) {
      await abortable(old.closed, signal);
    }
    let server = servers.get(key);
    if (server === undefined) {
      server = pageServer({ host, port, clock, logger, onClosed: () => void servers.delete(key) });
      servers.set(key, server);
    }
    return server;
  };

  /** The reason why listening failed, in words. */
  const whyNot = ({ host, port }: Endpoint, error: NodeJS.ErrnoException): string => {
    if (error.code !== 'EADDRINUSE') return error.message;
    const neighbour = [...servers.values()].find((other) => other.port === port && other.host !== host);
    if (neighbour === undefined) return 'the port is in use; give it another one';
    return `the port is in use by ${neighbour.names.join(', ')} at another host; give it another port, or the same host`;
  };

  return {
    check: (site) => void parseEndpoint(site),
    async serve({ signal, onListening, ...site }) {
      const endpoint = parseEndpoint(site);
      if (signal.aborted) return;
      let leave = async (): Promise<void> => {};
      try {
        const server = await serverAt(endpoint, signal);
        const failed = server.failed.catch((error: NodeJS.ErrnoException) => {
          throw notServed(site, whyNot(endpoint, error), error);
        });
        leave = join(server, site, endpoint, clock);
        const address: AddressInfo = await abortable(Promise.race([server.listening, failed]), signal);
        logger.debug(`Serving the ${site.name} endpoint at ${site.url}, port ${address.port}.`);
        onListening?.(address);
        await Promise.race([aborted(signal), failed]);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        await leave();
      }
    },
  };
}

/** Returns a function that leaves: once it resolves, the site answers no more requests. */
function join(server: PageServer, site: HttpSite, { path }: Endpoint, clock: Clock): () => Promise<void> {
  const pages = new Map([...Object.entries(site.beside ?? {}), [path, site.page]]);
  for (const each of pages.keys()) {
    const owner = server.ownerOf(each);
    if (owner === undefined) continue;
    throw notServed(site, `the path ${each} is taken by the ${owner} endpoint there; give it another one`);
  }
  const answering = server.add(site.name, pages);
  return async () => {
    server.remove(pages);
    if (server.names.length === 0) return await server.close();
    // Other sites and the socket go on: only the site's own answers are awaited.
    const tooLong = new AbortController();
    const forget = alarm(clock, CLOSING_LIMIT, () => tooLong.abort());
    await abortable(answering(), tooLong.signal).catch(() => {});
    forget();
  };
}

function notServed({ name, url }: HttpSite, why: string, cause?: Error): Error {
  const message = `The ${name} endpoint ${url} cannot be served: ${why}.`;
  return endpointError(message, cause === undefined ? {} : { cause });
}
