/** A way through a proxy that looks like a connection to the server: for what is not answered request by request. */
import { type RequestOptions, request } from 'node:http';
import { request as requestSecurely } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { KopfError } from '@kopf-ts/core';
import { anySignal } from '@kopf-ts/core/engine';
import { maskUrl } from '../auth/secret-masking.js';
import { failureText, KubeConnectionError } from '../errors.js';

export interface TunnelOptions {
  readonly proxy: string;
  /** Where it is to end. */
  readonly url: URL;
  readonly timeoutMs: number | undefined;
  readonly signals: readonly (AbortSignal | undefined)[];
}

/** Makes a connection of the opened tunnel: of that sort that the address of the server wants. */
export type ConnectThrough = (options?: object) => Socket;

/** Resolves when the proxy has agreed. */
export async function openTunnel({ proxy, url, timeoutMs, signals }: TunnelOptions): Promise<ConnectThrough> {
  const { protocol, hostname, port, username, password } = new URL(proxy);
  const title = `The proxy ${maskUrl(proxy)}`;
  if (protocol === 'socks5:') {
    throw new KopfError(`${title} speaks SOCKS, but commands in containers go through HTTP proxies only.`, {
      code: 'KOPF_CONNECT_BY_PROXY',
    });
  }
  const isSecure = /^(?:wss|https):$/.test(url.protocol);
  const place = `${url.hostname}:${url.port || (isSecure ? 443 : 80)}`;
  const user = [username, password].map(decodeURIComponent).join(':');
  const authorization =
    username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
  const waiting = anySignal(...signals);
  const options: RequestOptions = {
    ...{ method: 'CONNECT', path: place, agent: false, signal: waiting.signal },
    ...{ host: withoutBrackets(hostname), port: port || (protocol === 'https:' ? 443 : 80) },
    headers: { host: place, ...authorization },
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  };
  try {
    const socket = await new Promise<Socket>((resolve, reject) => {
      const asking = (protocol === 'https:' ? requestSecurely : request)(options);
      asking.once('connect', (answer, opened: Socket, rest) => {
        if (answer.statusCode === 200) {
          opened.setTimeout(0);
          if (rest.length > 0) opened.unshift(rest);
          resolve(opened);
        } else {
          opened.destroy();
          reject(new Error(`it answered with HTTP ${answer.statusCode}`));
        }
      });
      asking.once('timeout', () => asking.destroy(new Error('it has not answered in time')));
      asking.once('error', reject);
      asking.end();
    });
    const host = withoutBrackets(url.hostname);
    // An address is no name of a server that it could have several certificates for.
    const named = { host, servername: isIP(host) === 0 ? host : '' };
    return (given) => (isSecure ? connectSecurely({ ...given, ...named, path: undefined, socket } as object) : socket);
  } catch (error) {
    waiting.signal.throwIfAborted();
    throw new KubeConnectionError(`${title} gives no way to ${place}: ${failureText(error)}.`, { cause: error });
  } finally {
    waiting.dispose();
  }
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
