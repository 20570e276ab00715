/** A tunnel of ngrok to a local server, for clusters that cannot reach this machine in any other way. */
import type { WebhookClientConfig, WebhookServer } from '@kopf-ts/core';
import { childController, describeError, isCancellation, onAbort } from '@kopf-ts/core/engine';
import {
  badOption,
  checkOptions,
  FUNCTION_OF,
  type OptionChecks,
  PATH,
  PORT,
  SECRET_TEXT,
  TEXT,
} from '../servers/option-checks.js';
import { bracketed } from '../servers/server-urls.js';
import type { ServerSurroundings } from '../servers/serving.js';
import { webhookServer } from '../servers/webhook-server.js';
import { openByBinary } from './ngrok-binary.js';
import { type NgrokPackage, openByPackage } from './ngrok-package.js';
import type { OpenTunnel, TunnelRequest } from './tunnel.js';

/**
 * Which tunnel leads to which server.
 *
 * ```ts
 * const options: kopf.webhooks.NgrokTunnelOptions = { token: process.env.NGROK_AUTHTOKEN, region: 'eu' };
 * ```
 */
export interface NgrokTunnelOptions {
  /** Where the local server listens. Default: on the loopback interface only. */
  readonly addr?: string | undefined;
  /** Of the local server. Default: any free port. */
  readonly port?: number | undefined;
  readonly path?: string | undefined;
  /** Of ngrok. Default: the variable `NGROK_AUTHTOKEN`, or what the binary is configured with. */
  readonly token?: string | undefined;
  /** Of ngrok. Default: the nearest one. */
  readonly region?: string | undefined;
  /** The program to run, instead of the package `@ngrok/ngrok`: `'ngrok'`, or the path of it. */
  readonly binary?: string | undefined;
  /** The package, if it cannot be found by its name: `await import('@ngrok/ngrok')`. */
  readonly ngrok?: NgrokPackage | undefined;
}

export const NGROK_CHECKS: OptionChecks<NgrokTunnelOptions> = {
  addr: TEXT,
  port: PORT,
  path: PATH,
  token: SECRET_TEXT,
  region: TEXT,
  binary: TEXT,
  ngrok: FUNCTION_OF('the package @ngrok/ngrok, or what has its function forward()', 'forward'),
};

const OWNER = 'ngrokTunnel()';

/**
 * A server behind a tunnel of ngrok: requests come by the internet, with a certificate of ngrok, and go on to a plain
 * HTTP server on this machine. For development only: callers are not authenticated,
 * and anybody who knows the address can send reviews. It needs the package `@ngrok/ngrok`, or the `binary`.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.ngrokTunnel({ binary: 'ngrok' });
 * });
 * ```
 */
export function ngrokTunnel(options: NgrokTunnelOptions = {}): WebhookServer {
  checkOptions(OWNER, options, NGROK_CHECKS);
  if (options.binary !== undefined && options.ngrok !== undefined) {
    throw badOption(`${OWNER} can be made either by the binary or by the package, not by both.`);
  }
  return { serve: (at) => serveThroughTunnel(at, options) };
}

async function* serveThroughTunnel(
  at: ServerSurroundings,
  options: NgrokTunnelOptions,
): AsyncGenerator<WebhookClientConfig, void, void> {
  if (at.signal.aborted) return;
  const { addr = '127.0.0.1', port, path = '', token, region } = options;
  const life = childController(at.signal);
  const { signal } = life;
  let tunnel: OpenTunnel | undefined;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    // It is over in any case, and there may be nobody to be told of it.
    closing ??= tunnel?.close().catch((error: unknown) => {
      at.logger.debug(`The ngrok tunnel was not closed properly: ${describeError(error)}`);
    });
    await closing;
  };
  // At once: the consumer of the addresses may be busy with the last one.
  const forget = onAbort(signal, () => void close());
  const configs = webhookServer({ addr, port, path, insecure: true })
    .serve({ ...at, signal })
    [Symbol.asyncIterator]();
  try {
    for (let next = await configs.next(); !next.done; ) {
      const local = new URL(next.value.url ?? '');
      const target = `${bracketed(addr)}:${local.port || 80}`;
      // The server has moved: the old tunnel leads to nowhere.
      await close();
      closing = undefined;
      tunnel = await openTunnel(options, { ...at, signal, target, token, region });
      if (signal.aborted) break;
      const url = `${tunnel.url.replace(/\/+$/, '')}${path}`;
      at.logger.info(`The ngrok tunnel leads from ${url} to http://${target}${path}`);
      yield { url };
      next = await Promise.race([configs.next(), tunnel.broken]);
    }
  } catch (error) {
    if (!isCancellation(error, at.signal)) throw error;
  } finally {
    forget();
    life.abort();
    await close();
    await configs.return?.();
  }
}

function openTunnel({ binary, ngrok }: NgrokTunnelOptions, request: TunnelRequest): Promise<OpenTunnel> {
  return binary === undefined ? openByPackage(ngrok, request) : openByBinary(binary, request);
}
